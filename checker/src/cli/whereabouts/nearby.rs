//! Lines at which nothing concerns other agents: what is meant by them, or what is near.

use barcheck::whereabouts::{At, Spot, Who};
use barcheck_model::program::{AgentId, BarrierInstruction, MbarrierKind, Op, Program};
use barcheck_specs::Loaded;
use std::collections::BTreeMap;

/// Lines as they are meant, with a remark for each that was taken for another.
pub(super) struct Meant {
    pub(super) at: Vec<At>,
    pub(super) remarks: Vec<String>,
}

/// Takes lines inside the loop of a wait for the wait; `None` where there is no such line.
pub(super) fn meant(loaded: &Loaded, at: &[At]) -> Option<Meant> {
    let mut meant = Meant { at: at.to_vec(), remarks: Vec::new() };
    let lines: Vec<&str> = loaded.text.lines().collect();
    for wanted in &mut meant.at {
        let Spot::Line(line) = wanted.spot else { continue };
        let agents = agents(&loaded.program, &wanted.who);
        let is_elsewhere = |agent: &AgentId| !positions(&loaded.program, *agent).contains_key(&line);
        if agents.is_empty() || !agents.iter().all(is_elsewhere) {
            continue;
        }
        let waits: Vec<Option<u32>> =
            agents.iter().map(|agent| wait_around(&loaded.program, *agent, &lines, line)).collect();
        let Some(wait) = waits[0].filter(|wait| waits.iter().all(|other| *other == Some(*wait))) else {
            continue;
        };
        meant.remarks.push(format!(
            "line {line} is in the loop of the wait at line {wait}, `{}`: taken for that wait",
            shown(&loaded.program, agents[0], wait)
        ));
        wanted.spot = Spot::Line(wait);
    }
    (!meant.remarks.is_empty()).then_some(meant)
}

/// What is nearest before and behind the first line at which there is nothing.
pub(super) fn nearest(loaded: &Loaded, at: &[At]) -> Option<String> {
    let program = &loaded.program;
    let empty = at.iter().find_map(|wanted| {
        let Spot::Line(line) = wanted.spot else { return None };
        let agents = agents(program, &wanted.who).into_iter();
        let agent = agents.into_iter().find(|agent| !positions(program, *agent).contains_key(&line))?;
        Some((agent, line))
    });
    let (agent, line) = empty?;
    let all = positions(program, agent);
    let before = all.range(..line).next_back();
    let behind = all.range(line..).next();
    let told = |(line, text): (&u32, &String)| format!("line {line}, `{text}`");
    match (before.map(told), behind.map(told)) {
        (Some(before), Some(behind)) => {
            Some(format!("the nearest before it is {before}, and behind it {behind}"))
        }
        (Some(before), None) => Some(format!("the nearest before it is {before}")),
        (None, Some(behind)) => Some(format!("the nearest behind it is {behind}")),
        (None, None) => None,
    }
}

fn agents(program: &Program, who: &Who) -> Vec<AgentId> {
    let all = (0..program.agents.len()).map(AgentId::from_index);
    match who {
        Who::Agents(range) => all.filter(|agent| range.contains(&agent.0)).collect(),
        Who::Role(name) => {
            let role = |agent: &AgentId| program.roles[program.agents[agent.index()].index()].name.as_ref();
            all.filter(|agent| role(agent) == Some(name)).collect()
        }
    }
}

/// The lines at which an agent does something that concerns others, with the first instruction of each.
fn positions(program: &Program, agent: AgentId) -> BTreeMap<u32, String> {
    let code = program.code(agent);
    let mut lines = BTreeMap::new();
    for ((op, text), place) in code.ops.iter().zip(&code.texts).zip(&code.places) {
        let concerns =
            matches!(op, Op::Barrier(_) | Op::Access(..) | Op::Fence(_) | Op::Proxy(_) | Op::Any(..));
        if concerns && place.line > 0 {
            lines.entry(place.line).or_insert_with(|| text.clone());
        }
    }
    lines
}

fn shown(program: &Program, agent: AgentId, line: u32) -> String {
    positions(program, agent).remove(&line).unwrap_or_default()
}

/// The line of the only wait in the smallest loop around a line, from a label to a branch back to it, if
/// nothing else in that loop concerns others.
fn wait_around(program: &Program, agent: AgentId, lines: &[&str], line: u32) -> Option<u32> {
    let at = usize::try_from(line).ok()?.checked_sub(1)?;
    let (from, to) = loop_around(lines, at)?;
    let within = |line: &u32| (from..=to).contains(&(*line as usize - 1));
    let code = program.code(agent);
    let inside: Vec<u32> = positions(program, agent).into_keys().filter(within).collect();
    let [only] = inside.as_slice() else { return None };
    let is_wait = |op: &Op| match op {
        Op::Barrier(BarrierInstruction::Mbarrier(op)) => {
            matches!(op.kind, MbarrierKind::Wait { .. } | MbarrierKind::Test { .. })
        }
        _ => false,
    };
    let mut here = code.ops.iter().zip(&code.places).filter(|(_, place)| place.line == *only);
    here.any(|(op, _)| is_wait(op)).then_some(*only)
}

/// Lines of a loop, at most: that of a wait is short.
const MOST_LINES: usize = 64;

/// The smallest loop around a line, both ends counted from 0.
fn loop_around(lines: &[&str], at: usize) -> Option<(usize, usize)> {
    let first = at.saturating_sub(MOST_LINES);
    let mut loops = Vec::new();
    for from in first..=at.min(lines.len().checked_sub(1)?) {
        let Some(label) = label(lines[from]) else { continue };
        // A name may stand for another place in another block.
        let again = (from + 1..lines.len()).find(|line| self::label(lines[*line]) == Some(label));
        let until = again.unwrap_or(lines.len()).min(from + MOST_LINES);
        let back = (from + 1..until).rev().find(|line| branches_to(lines[*line], label));
        loops.extend(back.filter(|to| *to >= at).map(|to| (from, to)));
    }
    loops.into_iter().min_by_key(|(from, to)| to - from)
}

fn label(line: &str) -> Option<&str> {
    let name = line.trim().strip_suffix(':')?;
    (!name.is_empty() && !name.contains(char::is_whitespace)).then_some(name)
}

fn branches_to(line: &str, label: &str) -> bool {
    let is_of_name = |c: char| c.is_alphanumeric() || ['_', '$', '.', '%'].contains(&c);
    let mut words = line.split(|c: char| !is_of_name(c)).filter(|word| !word.is_empty());
    words.any(|word| word.to_ascii_lowercase().starts_with("bra")) && words.any(|word| word == label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loop_around_a_line_is_that_of_the_nearest_label_of_its_name() {
        let text =
            "{\nWAIT:\ntry;\n@p bra DONE;\nbra.uni WAIT;\nDONE:\n}\nnop;\n{\nWAIT:\ntry;\nbra WAIT;\n}";
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(loop_around(&lines, 3), Some((1, 4)));
        assert_eq!(loop_around(&lines, 11), Some((9, 11)));
        assert_eq!(
            (loop_around(&lines, 5), loop_around(&lines, 7), loop_around(&lines, 99)),
            (None, None, None)
        );
    }
}

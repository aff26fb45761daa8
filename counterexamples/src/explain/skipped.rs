//! Decisions by which agents passed by an arrival.

use super::case::Case;
use crate::names;
use crate::trace::{Event, Location, Step};

/// Words of an instruction that arrives.
const ARRIVES: [&str; 6] = ["arrive", "sync", "signal", "ARV", "BAR.", "Barrier"];

/// The decision that some agents, all of them, found false last, and the arrival that stands behind it:
/// `found `?` false, passing by `bar.arrive 3, 64``. The step of one of them is given with it.
pub(super) fn of<'t>(case: &Case<'t>, agents: &[u32], before: usize) -> Option<(String, &'t Step)> {
    if case.trace.protocol.format != "bar" || case.trace.is_excerpt() {
        return None;
    }
    let last = |agent: u32| {
        let declines = |step: &Step| {
            step.agent == agent
                && step.index < before
                && step.events.contains(&Event::Decided { value: 0 })
                && arrival_behind(&case.trace.protocol.source, step.location).is_some()
        };
        case.back(usize::MAX, declines)
    };
    let steps: Option<Vec<&Step>> = agents.iter().map(|agent| last(*agent)).collect();
    let steps = steps?;
    let step = *steps.first()?;
    let is_one_place = names::distinct(steps.iter().map(|step| step.location)).len() == 1;
    let arrival = arrival_behind(&case.trace.protocol.source, step.location).filter(|_| is_one_place)?;
    let says = format!("found `{}` false{}, passing by `{arrival}`", condition(step), case.at(step.location));
    Some((says, step))
}

fn condition(step: &Step) -> &str {
    step.instruction.trim_start_matches("if ").trim()
}

/// The arrival that stands alone in the block of the `if` at a place.
fn arrival_behind(source: &str, at: Location) -> Option<String> {
    let line = source.lines().nth(at.line.checked_sub(1)? as usize)?;
    let start: usize = line.chars().take(at.column.checked_sub(1)? as usize).map(char::len_utf8).sum();
    let is_if = line[..start].trim_end().ends_with("if") || line[start..].starts_with("if");
    let rest = &source[line.as_ptr() as usize - source.as_ptr() as usize + start..];
    let inside = rest.split_once('{')?.1.split_once('}')?.0.trim();
    let instruction = inside.trim_end_matches(';').trim();
    let is_alone = !instruction.contains(['{', ';']);
    let arrives = ARRIVES.iter().any(|word| instruction.contains(word)) && !instruction.contains("wait");
    (is_if && is_alone && arrives).then(|| instruction.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arrival_behind_a_decision_is_the_one_that_stands_alone_in_its_block() {
        let source = "if ? { bar.arrive 3, 64; }\nwhile ? { bar.sync 1; }\nif ? { bar.sync 1; read x; }";
        let behind = |line, column| arrival_behind(source, Location { line, column, length: 1 });
        assert_eq!(behind(1, 4).as_deref(), Some("bar.arrive 3, 64"));
        assert_eq!((behind(2, 7), behind(3, 4), behind(9, 1)), (None, None, None));
    }
}

//! How a run ends: every agent, every barrier, and why.

use unicode_width::UnicodeWidthStr;

use super::paint::{Ink, cut, pad, wrap};
use super::style::Style;
use crate::names::{self, noun, short};
use crate::render::harmless::harmless;
use crate::trace::{
    AgentState, Awaits, BarrierState, Doing, Fragment, OutcomeKind, Situation, Status, Trace,
};

/// `warps 0 and 1 producer, warps 2 and 3 consumer`; nothing where no role has a name.
pub(super) fn roles(trace: &Trace) -> String {
    let mut roles: Vec<(&str, Vec<u32>)> = Vec::new();
    for agent in &trace.agents {
        let Some(role) = agent.role.as_deref() else { continue };
        match roles.iter_mut().find(|(name, _)| *name == role) {
            Some((_, agents)) => agents.push(agent.index),
            None => roles.push((role, vec![agent.index])),
        }
    }
    let parts: Vec<String> = roles
        .iter()
        .map(|(role, agents)| format!("{role}: {}", names::agents(noun(trace), agents)))
        .collect();
    parts.join("; ")
}

/// Draws the situation at the end.
pub(super) fn draw(trace: &Trace, style: &Style, lines: &mut Vec<String>) {
    let end = trace.last_situation();
    lines.push(style.paint(Ink::Heading, "in the end"));
    agents(trace, &end, style, lines);
    let active: Vec<&BarrierState> =
        end.barriers.values().filter(|b| b.active || !b.notified.is_empty()).collect();
    if !active.is_empty() {
        lines.push(String::new());
        lines.push(style.paint(Ink::Heading, "barriers in use"));
        barriers(trace, &active, style, lines);
    }
}

/// The explanation.
pub(super) fn why(trace: &Trace, style: &Style, lines: &mut Vec<String>) {
    let heading = if trace.outcome.kind == OutcomeKind::State { "where they are" } else { "why" };
    lines.push(style.paint(Ink::Heading, heading));
    for sentence in trace.outcome.explanation.lines() {
        for (index, line) in
            wrap(&harmless(sentence), style.width.min(110).saturating_sub(4)).iter().enumerate()
        {
            lines.push(format!("{}{line}", if index == 0 { "  " } else { "    " }));
        }
    }
    lines.push(String::new());
}

/// Agents that are in the same situation.
struct Group<'a> {
    agents: Vec<u32>,
    state: &'a AgentState,
}

fn agents(trace: &Trace, end: &Situation, style: &Style, lines: &mut Vec<String>) {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for state in end.agents.values() {
        let same = groups.iter_mut().find(|g| {
            ends(trace, g.state) == ends(trace, state)
                && (g.state.status, g.state.location, g.state.waits)
                    == (state.status, state.location, state.waits)
                && (state.status == Status::Exited || g.state.fragments.len() == state.fragments.len())
        });
        match same {
            Some(group) => group.agents.push(state.agent),
            None => groups.push(Group { agents: vec![state.agent], state }),
        }
    }
    let rows: Vec<[(Ink, String); 4]> = groups.iter().map(|group| row(trace, end, group)).collect();
    table(&rows, style, lines);
}

/// The agent makes the step that the run ends at without a violation.
fn ends(trace: &Trace, state: &AgentState) -> bool {
    matches!(trace.outcome.kind, OutcomeKind::Fault | OutcomeKind::Cut) && trace.outcome.agent == state.agent
}

fn row(trace: &Trace, end: &Situation, group: &Group<'_>) -> [(Ink, String); 4] {
    let state = group.state;
    let (ink, status) = match state.status {
        Status::Running if ends(trace, state) => match trace.outcome.kind {
            OutcomeKind::Cut => (Ink::Bad, "cannot be followed"),
            _ => (Ink::Bad, "fails"),
        },
        Status::Running => (Ink::Plain, "could go on"),
        Status::Blocked => (Ink::Blocked, "blocked"),
        Status::Exited => (Ink::Faint, "exited"),
        Status::Failed => (Ink::Bad, "failed"),
    };
    let place = state.location.filter(|l| l.line > 0);
    let place = place.map_or_else(String::new, |l| format!("line {}", l.line));
    let mut doing = match state.instruction.as_str() {
        "}" => "the end of its block".to_owned(),
        // Nothing is written there but a loop without end.
        "" if state.status == Status::Running => "an endless loop".to_owned(),
        written => written.to_owned(),
    };
    if let Some(waits) = state.waits {
        let on = short(trace, waits.barrier);
        doing = match (waits.awaits, end.barriers.get(&waits.barrier).filter(|b| b.active)) {
            (Awaits::Lanes, _) => format!("{doing}: waits for its own lanes at {on}"),
            (Awaits::Agents, Some(barrier)) => format!("{doing}: waits for {on} ({})", barrier.counter()),
            (Awaits::Agents, None) => format!("{doing}: waits for {on}"),
        };
    }
    if state.fragments.len() > 1 {
        let parts: Vec<String> = state.fragments.iter().map(|f| fragment(trace, f)).collect();
        doing = format!("{doing}; {}", parts.join(", "));
    }
    [
        (Ink::Plain, names::agents(noun(trace), &group.agents)),
        (ink, status.to_owned()),
        (Ink::Plain, place),
        (Ink::Plain, doing),
    ]
}

/// Lanes, where they are and what they do there.
fn fragment(trace: &Trace, f: &Fragment) -> String {
    let doing = match (f.doing, f.barrier) {
        (Doing::Blocked | Doing::Parked, Some(barrier)) => format!(" wait for {}", short(trace, barrier)),
        (Doing::Joining, _) => " wait for the others".to_owned(),
        _ => String::new(),
    };
    // Where it begins to wait need not stand in the kernel.
    let place = if f.location.line > 0 { format!(" at line {}", f.location.line) } else { String::new() };
    format!("{}{doing}{place}", names::lanes_of(&f.lanes))
}

fn barriers(trace: &Trace, active: &[&BarrierState], style: &Style, lines: &mut Vec<String>) {
    let who = |agents: &[u32]| {
        if agents.is_empty() { "nobody".to_owned() } else { names::agents(noun(trace), agents) }
    };
    for state in active {
        let name = harmless(&short(trace, state.barrier));
        let mut facts = Vec::new();
        if state.active {
            let counts: Vec<String> =
                state.counts.iter().map(|c| format!("{}/{} {}", c.arrived, c.expected, c.of)).collect();
            let all = if state.all { " (every live one)" } else { "" };
            facts.push(format!("{}{all}", counts.join(", ")));
            facts.push(format!("arrived: {}", who(&state.arrived)));
            facts.push(format!("waiting: {}", who(&state.waiting)));
            facts.push(
                if state.missing.is_empty()
                    && state.counts.iter().any(|count| count.of == "arrivals")
                    && !state.arrived.is_empty()
                {
                    "nobody else could arrive".to_owned()
                } else if state.missing.is_empty() {
                    "nobody is left that could arrive".to_owned()
                } else {
                    format!("missing: {}", who(&state.missing))
                },
            );
        }
        if !state.notified.is_empty() {
            facts.push(format!("complete and not yet waited for by: {}", who(&state.notified)));
        }
        facts.push(match state.generation {
            0 => "no generation complete so far".to_owned(),
            1 => "1 generation complete so far".to_owned(),
            n => format!("{n} generations complete so far"),
        });
        let text = harmless(&facts.join("; "));
        let indent = name.width() + 4;
        for (index, line) in wrap(&text, style.width.saturating_sub(indent).max(20)).iter().enumerate() {
            let start = if index == 0 {
                format!("  {}  ", style.paint(Ink::Barrier, &name))
            } else {
                " ".repeat(indent)
            };
            lines.push(format!("{start}{line}"));
        }
    }
}

/// Rows in columns.
fn table(rows: &[[(Ink, String); 4]], style: &Style, lines: &mut Vec<String>) {
    let width = |column: usize| rows.iter().map(|r| r[column].1.width()).max().unwrap_or(0).min(40);
    let widths = [width(0), width(1), width(2)];
    for row in rows {
        let mut line = String::new();
        let mut used = 0;
        for ((ink, text), width) in row.iter().zip(widths) {
            line.push_str("  ");
            let text = cut(&harmless(text), width, style.unicode);
            line.push_str(&style.paint(*ink, &pad(&text, width)));
            used += width + 2;
        }
        let text = harmless(&row[3].1);
        for (index, part) in wrap(&text, style.width.saturating_sub(used + 2).max(20)).iter().enumerate() {
            if index > 0 {
                lines.push(std::mem::replace(&mut line, " ".repeat(used)));
            }
            line.push_str("  ");
            line.push_str(&style.paint(row[3].0, part));
        }
        lines.push(line);
    }
}

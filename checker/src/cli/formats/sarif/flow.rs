//! A counterexample as a code flow: all agents in one thread flow, since it is their order that matters.

use super::log::{CodeFlow, FlowLocation, Message, ThreadFlow};
use super::place::File;
use crate::cli::output::{counted, grouped};
use barcheck_counterexamples::Trace;
use barcheck_counterexamples::trace::{Event, Location, Step};
use barcheck_model::program::Place;

/// The most locations of a flow: those who read SARIF keep no more of a result.
const MOST: usize = 1000;

/// The steps of a counterexample, and what they lead to.
pub(super) fn flow(trace: &Trace, file: &File<'_>) -> CodeFlow {
    // Of an excerpt more is kept than here.
    let (steps, written) = (trace.length(), trace.steps.len());
    let mut locations = Vec::new();
    let (first, last) = kept(steps);
    for step in &trace.steps[..first] {
        locations.push(location(trace, step, file));
    }
    if let Some(next) = trace.steps[first..written - last].first() {
        let left_out = (steps - last - first) as u64;
        let to = grouped((steps - last) as u64);
        let message = format!("... {}, up to step {to}, left out here", counted(left_out, "step"));
        locations.push(at(file, next.location, message, first + 1, "important"));
    }
    for step in &trace.steps[written - last..] {
        locations.push(location(trace, step, file));
    }
    let outcome = &trace.outcome;
    locations.push(at(file, outcome.location, outcome.headline.clone(), steps + 1, "essential"));
    let mut message = format!("How it comes about, in {}", counted(steps as u64, "step"));
    if let Some(from) = outcome.cycle_from {
        message.push_str(&format!("; those from step {} on repeat for ever", grouped(from as u64 + 1)));
    }
    CodeFlow { message: message.into(), thread_flows: [ThreadFlow { locations }] }
}

/// How many steps are kept at the beginning and at the end, so that they, the outcome and the gap are not too
/// many.
fn kept(steps: usize) -> (usize, usize) {
    if steps < MOST {
        return (steps, 0);
    }
    let first = (MOST - 2) / 2;
    (first, MOST - 2 - first)
}

fn location(trace: &Trace, step: &Step, file: &File<'_>) -> FlowLocation {
    let importance = if step.events.iter().any(matters) { "essential" } else { "important" };
    at(file, step.location, words(trace, step), step.index + 1, importance)
}

fn matters(event: &Event) -> bool {
    matches!(event, Event::Violated { .. } | Event::Failed { .. } | Event::Cut { .. })
}

fn at(
    file: &File<'_>,
    place: Location,
    message: impl Into<Message>,
    execution_order: usize,
    importance: &'static str,
) -> FlowLocation {
    let place = Place { line: place.line, column: place.column, length: place.length };
    let location = file.location(Some(place), Some(message.into()));
    FlowLocation { location, execution_order, importance }
}

/// A step in words: `warp 0 (load): bar.sync 1, 64: arrives at barrier 1, blocks`.
fn words(trace: &Trace, step: &Step) -> String {
    let mut text = agent(trace, step.agent);
    let role = trace.agents.get(step.agent as usize).and_then(|agent| agent.role.as_ref());
    if let Some(role) = role {
        text.push_str(&format!(" ({role})"));
    }
    if let Some(lanes) = &step.lanes {
        text.push_str(&format!(", lanes {lanes}"));
    }
    text.push_str(&format!(": {}", step.resolved));
    let events: Vec<_> = step.events.iter().filter_map(|event| happened(trace, event)).collect();
    if !events.is_empty() {
        text.push_str(&format!(": {}", events.join(", ")));
    }
    text
}

fn happened(trace: &Trace, event: &Event) -> Option<String> {
    let name = |barrier: u32| {
        let known = trace.barriers.iter().find(|known| known.barrier == barrier);
        known.map_or_else(|| format!("barrier {barrier}"), |known| known.name.clone())
    };
    let all = |agents: &[u32]| agents.iter().map(|index| agent(trace, *index)).collect::<Vec<_>>().join(", ");
    Some(match event {
        Event::Parked { barrier } => format!("waits for its other lanes at {}", name(*barrier)),
        Event::Arrived { barrier } => format!("arrives at {}", name(*barrier)),
        Event::Blocked { barrier } => format!("blocks at {}", name(*barrier)),
        Event::Passed { barrier } => format!("passes {}", name(*barrier)),
        Event::Completed { barrier, generation, result } => {
            let result = result.map(|result| format!(" with the result {result}")).unwrap_or_default();
            format!("completes generation {generation} of {}{result}", name(*barrier))
        }
        Event::Released { agents, .. } => format!("releases {}", all(agents)),
        Event::Notified { agents, .. } => format!("notifies {}", all(agents)),
        Event::Issued { barrier, bytes: Some(bytes), .. } => {
            format!("begins to copy {bytes} bytes for {}", name(*barrier))
        }
        Event::Issued { barrier, .. } => format!("leaves something pending for {}", name(*barrier)),
        Event::Landed { barrier } => format!("lands on {}", name(*barrier)),
        Event::LanesExited { lanes } => format!("lanes {lanes} exit"),
        Event::Accessed { access, locations } if access == "atomic" => {
            format!("accesses {} atomically", locations.join(", "))
        }
        Event::Accessed { access, locations } => format!("{access}s {}", locations.join(", ")),
        Event::Decided { value } => format!("decides {value}"),
        Event::Spun {} => "goes round for ever".to_owned(),
        Event::Violated { rule, .. } => format!("violates {rule}"),
        Event::Failed { message } | Event::Cut { message } => message.clone(),
        // The instruction says it already.
        Event::Exited {}
        | Event::Fenced {}
        | Event::StateMoved {}
        | Event::Counted { .. }
        | Event::Asked { .. }
        | Event::Begun { .. } => return None,
    })
}

fn agent(trace: &Trace, index: u32) -> String {
    let known = trace.agents.get(index as usize);
    known.map_or_else(|| format!("agent {index}"), |agent| agent.name.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_middle_of_long_flows_is_left_out() {
        assert_eq!(kept(0), (0, 0));
        assert_eq!(kept(MOST - 1), (MOST - 1, 0));
        for steps in [MOST, MOST + 1, 10 * MOST] {
            let (first, last) = kept(steps);
            assert_eq!(first + last + 2, MOST);
        }
    }
}

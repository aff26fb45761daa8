//! What happened at a step, in few words.

use crate::names::{self, short};
use crate::trace::{Event, Trace};

/// An event in words: `b1 complete #2, result 3`, `releases w0-3`.
pub(crate) fn event(trace: &Trace, event: &Event) -> String {
    let short = |barrier: u32| short(trace, barrier);
    match event {
        Event::Parked { barrier } => format!("waits for its own lanes at {}", short(*barrier)),
        Event::Arrived { barrier } => format!("arrives on {}", short(*barrier)),
        Event::Blocked { barrier } => format!("blocks on {}", short(*barrier)),
        Event::Passed { barrier } => format!("passes {}", short(*barrier)),
        Event::Completed { barrier, generation, result } => {
            let result = result.map(|r| format!(", result {r}")).unwrap_or_default();
            format!("{} complete #{generation}{result}", short(*barrier))
        }
        Event::Released { agents, .. } => format!("releases {}", who(trace, agents)),
        Event::Notified { agents, .. } => format!("notifies {}", who(trace, agents)),
        Event::LanesExited { lanes } => {
            let lanes = names::lanes_of(lanes);
            format!("{lanes} exit{}", if lanes.starts_with("lane ") { "s" } else { "" })
        }
        Event::Exited => "exits".to_owned(),
        Event::Accessed { access, locations } => format!("{} {}", verb(access), locations.join(", ")),
        Event::Decided { value } => format!("decides {value}"),
        Event::Fenced => "fences".to_owned(),
        Event::StateMoved => "moves state".to_owned(),
        Event::Spun => "runs for ever".to_owned(),
        Event::Violated { rule, .. } => rule.clone(),
        Event::Failed { message } | Event::Cut { message } => message.clone(),
    }
}

fn verb(access: &str) -> &str {
    match access {
        "read" => "reads",
        "write" => "writes",
        "atomic" => "atomically updates",
        other => other,
    }
}

/// Agents by the letter of what they are called: `w0, w2-5`.
fn who(trace: &Trace, agents: &[u32]) -> String {
    let letter = names::noun(trace).chars().next().unwrap_or('a');
    format!("{letter}{}", names::numbers(agents).replace(" and ", ", ").replace(", ", &format!(", {letter}")))
}

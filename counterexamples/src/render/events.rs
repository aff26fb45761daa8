//! What happened at a step, in few words.

use crate::names::{self, short};
use crate::trace::{Event, Trace};

/// An event in words: `b1 complete #2, result 3`, `releases w0-3`.
pub(crate) fn in_words(trace: &Trace, event: &Event) -> String {
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
        Event::Released { agents, .. } => {
            format!("releases {}", names::agents_by_letter(names::noun(trace), agents))
        }
        Event::Notified { agents, .. } => {
            format!("notifies {}", names::agents_by_letter(names::noun(trace), agents))
        }
        Event::Asked { barrier, complete: true } => format!("finds {} complete", short(*barrier)),
        Event::Asked { barrier, complete: false } => format!("finds {} not complete", short(*barrier)),
        Event::Counted { barrier } => format!("announces bytes on {}", short(*barrier)),
        Event::Begun { barrier } => format!("begins {}", short(*barrier)),
        Event::Issued { barrier, bytes: Some(bytes), writes } => {
            let to = writes.as_ref().map(|location| format!(" to {location}")).unwrap_or_default();
            let plural = if *bytes == 1 { "" } else { "s" };
            format!("begins to copy {bytes} byte{plural}{to} for {}", short(*barrier))
        }
        Event::Issued { barrier, .. } => format!("leaves something pending for {}", short(*barrier)),
        Event::Landed { barrier } => format!("lands on {}", short(*barrier)),
        Event::LanesExited { lanes } => {
            let verb = if names::is_one_lane(lanes) { "exits" } else { "exit" };
            format!("{} {verb}", names::lanes_of(lanes))
        }
        Event::Exited {} => "exits".to_owned(),
        Event::Accessed { access, locations } => format!("{} {}", verb(access), locations.join(", ")),
        Event::Decided { value } => format!("decides {value}"),
        Event::Fenced {} => "fences".to_owned(),
        Event::StateMoved {} => "moves state".to_owned(),
        Event::Spun {} => "runs for ever".to_owned(),
        Event::Violated { rule, .. } => rule.clone(),
        Event::Failed { message } | Event::Cut { message } => message.clone(),
    }
}

fn verb(access: &str) -> &str {
    match access {
        "read" => "reads",
        "write" => "writes",
        "atomic" => "atomically updates",
        "store" => "begins a store of",
        "fill" => "begins a `cp.async` to",
        other => other,
    }
}

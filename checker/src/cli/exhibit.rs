//! A counterexample that is to be shown: read, and replayed before anybody believes it.

use super::deadline::Deadline;
use super::input;
use super::output::Status;
use barcheck::{Replayed, replay_within};
use barcheck_counterexamples::Trace;
use barcheck_specs::{Format, LoadOptions, Source, load};
use std::path::Path;

/// A trace, and where it departs from the model.
pub(crate) struct Exhibit {
    /// The trace.
    pub(crate) trace: Trace,
    /// Why what it shows may not be so.
    pub(crate) departure: Option<String>,
}

/// Reads and replays the trace in a file; one that departs from the model is shown only if `anyway`. The
/// error says what kind of failure it is, and why.
pub(crate) fn read(path: &Path, anyway: bool, deadline: &Deadline) -> Result<Exhibit, (Status, String)> {
    let bytes = input::trace(path, deadline.limit()).map_err(|why| (why.status(), why.to_string()))?;
    let (replayed, trace) = replay_within(&bytes, deadline.patience());
    let departure = match replayed {
        Replayed::Late => return Err((Status::Inconclusive, deadline.said("replayed"))),
        Replayed::Confirmed(_) => None,
        Replayed::Departs(_, reason) if anyway => Some(reason),
        Replayed::Departs(_, reason) => {
            let said = format!(
                "it departs from the model, so what it shows may not be so: {reason}; give --anyway to show it nevertheless"
            );
            return Err((Status::Failure, said));
        }
        Replayed::Unreadable(_) if trace.is_none() && is_protocol(path, &bytes) => {
            return Err((Status::Trouble, how_to_get_a_trace(path)));
        }
        Replayed::Unreadable(reason) => match &trace {
            Some(_) if anyway => Some(reason),
            _ => return Err((Status::Trouble, reason)),
        },
    };
    let Some(trace) = trace else { return Err((Status::Trouble, "it is no trace".to_owned())) };
    Ok(Exhibit { trace, departure })
}

fn is_protocol(path: &Path, bytes: &[u8]) -> bool {
    Format::of_name(path).is_some()
        || load(&Source::new(&path.to_string_lossy(), bytes), &LoadOptions::default()).is_ok()
}

fn how_to_get_a_trace(path: &Path) -> String {
    let name = input::display_name(path);
    let file = if input::is_standard_input(path) { "-" } else { &name };
    format!(
        "it is a protocol and no trace; `barcheck verify --trace hang.json {file}` writes the trace of its counterexample to hang.json"
    )
}

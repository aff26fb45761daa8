//! Counterexamples from files: nobody believes one that was not replayed.

use barcheck_counterexamples::{self as counterexamples, Trace};
use barcheck_specs::{Format, LoadOptions, Loaded, Source, load};
use std::error::Error;
use std::sync::Arc;

/// What a replay came to.
#[derive(Clone, Debug)]
pub enum Replayed {
    /// The trace does what it says.
    Confirmed(About),
    /// It does not, and where.
    Departs(About, String),
    /// It is none that could be replayed, and why.
    Unreadable(String),
}

/// What a trace is about.
#[derive(Clone, Debug)]
pub struct About {
    /// The protocol's file.
    pub protocol: String,
    /// The rule violated.
    pub rule: Option<String>,
    /// What the trace shows, in a line.
    pub headline: String,
    /// Number of steps.
    pub steps: usize,
}

/// Replays the counterexample that a file holds, on the model, against the protocol that it carries. With it
/// comes the trace, if the file holds one, whatever the replay comes to.
#[must_use]
pub fn replay(bytes: &[u8]) -> (Replayed, Option<Trace>) {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(_) => return (Replayed::Unreadable("it is not UTF-8".to_owned()), None),
    };
    match Trace::from_json(text) {
        Ok(trace) => (replay_trace(&trace), Some(trace)),
        Err(error) => (Replayed::Unreadable(error.to_string()), None),
    }
}

/// The protocol that a trace carries, read in the format that it names.
fn protocol(trace: &Trace) -> Result<Loaded, Box<dyn Error>> {
    let carried = &trace.protocol;
    let format = Some(Format::named(&carried.format)?);
    let source = Source { name: &carried.file, bytes: carried.source.as_bytes(), format };
    Ok(load(&source, &LoadOptions { defines: carried.defines.clone() })?)
}

fn replay_trace(trace: &Trace) -> Replayed {
    let program = match protocol(trace) {
        Ok(loaded) => Arc::new(loaded.program),
        Err(why) => {
            return Replayed::Unreadable(format!("the protocol that it carries cannot be read: {why}"));
        }
    };
    let about = About {
        protocol: trace.protocol.file.clone(),
        rule: trace.outcome.rule.clone(),
        headline: trace.outcome.headline.clone(),
        steps: trace.steps.len(),
    };
    match counterexamples::replay(trace, program) {
        Ok(_) => Replayed::Confirmed(about),
        Err(departure) => Replayed::Departs(about, departure.to_string()),
    }
}

//! Counterexamples from files: nobody believes one that was not replayed.

use barcheck_counterexamples::{self as counterexamples, Trace};
use barcheck_model::Patience;
use barcheck_model::program::Target;
use barcheck_model::rule::{Level, Rule};
use barcheck_specs::{Allow, Check, Format, LoadOptions, Loaded, Source, load_within};
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
    /// Patience ran out before that was known.
    Late,
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
    /// The level that the trace gives to its rule, where it is not the usual one, and that one: whoever made
    /// the trace has chosen it, which no replay confirms.
    pub chosen_level: Option<(Level, Level)>,
}

/// Replays the counterexample that a file holds, on the model, against the protocol that it carries. With it
/// comes the trace, if the file holds one, whatever the replay comes to.
#[must_use]
pub fn replay(bytes: &[u8]) -> (Replayed, Option<Trace>) {
    replay_within(bytes, &Patience::default())
}

/// The same as long as patience lasts.
#[must_use]
pub fn replay_within(bytes: &[u8], patience: &Patience) -> (Replayed, Option<Trace>) {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(_) => return (Replayed::Unreadable("it is not UTF-8".to_owned()), None),
    };
    match Trace::from_json(text) {
        Ok(mut trace) => match replay_trace(&mut trace, patience) {
            _ if patience.has_run_out() => (Replayed::Late, Some(trace)),
            replayed => (replayed, Some(trace)),
        },
        Err(error) => (Replayed::Unreadable(error.to_string()), None),
    }
}

/// The protocol that a trace carries, read in the format that it names.
fn protocol(trace: &Trace, patience: &Patience) -> Result<Loaded, Box<dyn Error>> {
    let carried = &trace.protocol;
    let format = Some(Format::named(&carried.format)?);
    let source = Source { name: &carried.file, bytes: carried.source.as_bytes(), format };
    Ok(load_within(&source, &LoadOptions { defines: carried.defines.clone() }, patience)?)
}

/// Replays a trace. What it shows is put into words anew: whatever the file says, these are shown.
fn replay_trace(trace: &mut Trace, patience: &Patience) -> Replayed {
    let Loaded { program, allows, .. } = match protocol(trace, patience) {
        Ok(loaded) => loaded,
        Err(why) => {
            return Replayed::Unreadable(format!("the protocol that it carries cannot be read: {why}"));
        }
    };
    let about = About {
        protocol: trace.protocol.file.clone(),
        rule: trace.outcome.rule.clone(),
        headline: trace.outcome.headline.clone(),
        steps: trace.steps.len(),
        chosen_level: chosen_level(trace, &allows),
    };
    match counterexamples::replay_within(trace, Arc::new(program), patience.clone()) {
        Ok(confirmed) => {
            trace.outcome = confirmed.outcome;
            Replayed::Confirmed(About { headline: trace.outcome.headline.clone(), ..about })
        }
        Err(departure) => Replayed::Departs(about, departure.to_string()),
    }
}

fn chosen_level(trace: &Trace, allows: &[Allow]) -> Option<(Level, Level)> {
    let rule = trace.outcome.rule.as_deref().and_then(Rule::from_name)?;
    let target = Target::from_name(&trace.protocol.target)?;
    let named = trace.outcome.level.as_deref()?;
    let levels = [Level::Allow, Level::Pedantic, Level::Warning, Level::Error];
    let chosen = levels.into_iter().find(|level| level.name() == named)?;
    let is_allowed = allows.iter().any(|allow| allow.check == Check::Rule(rule));
    let usual = match rule.default_level(target) {
        _ if is_allowed => Level::Allow,
        Level::Warning if counterexamples::announces_unread_data(trace) => Level::Error,
        level => level,
    };
    (chosen != usual).then_some((chosen, usual))
}

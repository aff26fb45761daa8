//! Counterexamples: built from the engine's path, replayed through the model before they are reported.

use super::input;
use super::output::{Look, Status};
use super::report::{Clause, Related, Reported};
use barcheck::{Found, ReachedFault};
use barcheck_counterexamples::{self as counterexamples, SourceInfo, Style, Trace, What};
use barcheck_model::machine::{Options, Path};
use barcheck_model::program::{Place, Program, Target};
use barcheck_model::rule::Rule;
use barcheck_specs::bar::{self, LoadOptions};
use barcheck_specs::clauses;
use std::path::Path as FilePath;
use std::sync::Arc;

/// A protocol, and where it comes from.
pub(crate) struct Case {
    /// The protocol.
    pub(crate) program: Arc<Program>,
    /// The readings in force.
    pub(crate) options: Options,
    /// Its text.
    pub(crate) source: SourceInfo,
}

impl Case {
    /// What is reported of a violation. The error says why its counterexample does not hold, which would be a
    /// defect of this program.
    pub(crate) fn report(&self, found: &Found) -> Result<Reported, String> {
        let finding = &found.finding;
        let trace = self.trace(&found.path, What::Finding(finding, found.level)).map_err(|departure| {
            format!("the counterexample of `{}` does not hold: {departure}", finding.rule)
        })?;
        let outcome = &trace.outcome;
        let place = outcome.location;
        Ok(Reported {
            rule: finding.rule,
            level: found.level,
            message: outcome.message.clone(),
            clause: clause(finding.rule, self.program.target),
            barrier: finding.barrier.map(|barrier| barrier.0),
            agents: finding.agents.iter().map(|agent| agent.0).collect(),
            place: Place { line: place.line, column: place.column, length: place.length },
            related: outcome.related.iter().map(related).collect(),
            fingerprint: counterexamples::fingerprint(&trace),
            trace,
        })
    }

    /// The way to an evaluation error. It explains the error and is not needed for the verdict.
    pub(crate) fn way_to(&self, fault: &ReachedFault) -> Result<Trace, String> {
        self.trace(&fault.path, What::Fault(fault.agent, &fault.fault))
            .map_err(|departure| format!("the way to the error does not hold: {departure}"))
    }

    fn trace(&self, path: &Path, what: What<'_>) -> Result<Trace, String> {
        let program = || Arc::clone(&self.program);
        let trace = counterexamples::build(program(), self.options, &self.source, path, what)
            .map_err(|departure| departure.to_string())?;
        // The search found it; what is reported must hold by itself, on the model alone.
        counterexamples::replay(&trace, program()).map_err(|departure| departure.to_string())?;
        Ok(trace)
    }
}

fn related(place: &counterexamples::trace::Related) -> Related {
    Related { agent: place.agent, line: place.line, column: place.column, role: place.role.clone() }
}

/// The clause that findings of a rule rest on.
fn clause(rule: Rule, target: Target) -> Clause {
    let catalogue = clauses::catalogue();
    let clause = catalogue.rule(rule.name()).and_then(|rule| catalogue.clause_of(rule, target));
    clause.map_or_else(Clause::default, |clause| Clause {
        document: clause.document.clone(),
        section: clause.section.clone(),
        id: clause.id.clone(),
    })
}

/// What a replay came to.
pub(crate) enum Replayed {
    /// The trace does what it says.
    Confirmed(About),
    /// It does not, and where.
    Departs(About, String),
    /// It is none that could be replayed, and why.
    Unreadable(String),
}

/// What a trace is about.
pub(crate) struct About {
    /// The protocol's file.
    pub(crate) protocol: String,
    /// The rule violated.
    pub(crate) rule: Option<String>,
    /// What the trace shows, in a line.
    pub(crate) headline: String,
    /// Number of steps.
    pub(crate) steps: usize,
}

/// Replays the counterexample that a file holds, against the protocol that it carries. With it comes the trace, if
/// the file holds one, whatever the replay comes to.
pub(crate) fn read_and_replay(bytes: &[u8]) -> (Replayed, Option<Trace>) {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(_) => return (Replayed::Unreadable("it is not UTF-8".to_owned()), None),
    };
    match Trace::from_json(text) {
        Ok(trace) => (replay_trace(&trace), Some(trace)),
        Err(error) => (Replayed::Unreadable(error.to_string()), None),
    }
}

/// Replays the counterexample that a file holds.
pub(crate) fn replay(bytes: &[u8]) -> Replayed {
    read_and_replay(bytes).0
}

fn replay_trace(trace: &Trace) -> Replayed {
    let options = LoadOptions { defines: trace.protocol.defines.clone() };
    let program = match bar::load(trace.protocol.source.as_bytes(), &options) {
        Ok(loaded) => Arc::new(loaded.program),
        Err(diagnostics) => {
            let first = diagnostics.first().map_or("malformed", |first| first.message.as_str());
            return Replayed::Unreadable(format!("the protocol that it carries cannot be read: {first}"));
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

/// The counterexample that a file holds, if it may be shown: it holds, or it is to be shown `anyway`. With it comes where it
/// departs from the model. The error says what kind of failure it is, and why.
pub(crate) fn to_show(path: &FilePath, anyway: bool) -> Result<(Trace, Option<String>), (Status, String)> {
    let bytes = input::trace(path).map_err(|error| (Status::Trouble, error))?;
    let (replayed, trace) = read_and_replay(&bytes);
    let departure = match replayed {
        Replayed::Confirmed(_) => None,
        Replayed::Departs(_, reason) if anyway => Some(reason),
        Replayed::Departs(_, reason) => {
            let said = format!(
                "it departs from the model, so what it shows may not be so: {reason}; give --anyway to show it nevertheless"
            );
            return Err((Status::Failure, said));
        }
        Replayed::Unreadable(reason) => match &trace {
            Some(_) if anyway => Some(reason),
            _ => return Err((Status::Trouble, reason)),
        },
    };
    let trace = trace.ok_or_else(|| (Status::Trouble, "it is no trace".to_owned()))?;
    Ok((trace, departure))
}

/// The story that a counterexample tells, below the line that says what it shows.
pub(crate) fn story(trace: &Trace, look: Look) -> String {
    let style = Style {
        colour: look.palette.colour(),
        width: look.width,
        unicode: look.unicode,
        headline: false,
        all: false,
    };
    counterexamples::story(trace, &style)
}

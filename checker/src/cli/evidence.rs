//! Counterexamples: built from the engine's path, replayed through the model before they are reported.

use super::output::Look;
use super::report::{Clause, Related, Reported};
use barcheck::{Found, Inconclusive, Outcome};
use barcheck_counterexamples::{self as counterexamples, SourceInfo, Style, Trace, What};
use barcheck_model::machine::{Options, Path};
use barcheck_model::program::{Place, Program, Target};
use barcheck_model::rule::Rule;
use barcheck_specs::bar::{self, LoadOptions};
use barcheck_specs::clauses;
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

    /// The way to an evaluation error, or to where a path could not be followed, if there is one. It explains the verdict and
    /// is not needed for it.
    pub(crate) fn way(&self, outcome: &Outcome) -> Result<Option<Trace>, String> {
        let (path, what) = match (&outcome.fault, &outcome.inconclusive) {
            (Some(reached), _) => (&reached.path, What::Fault(reached.agent, &reached.fault)),
            (None, Some(Inconclusive::Cut { agent, at, reason, path })) => {
                (path, What::Cut(*agent, *at, reason))
            }
            _ => return Ok(None),
        };
        let way = self.trace(path, what).map(Some);
        way.map_err(|departure| format!("the way to where the search stops does not hold: {departure}"))
    }

    fn trace(&self, path: &Path, what: What<'_>) -> Result<Trace, String> {
        // The search found it; what is reported must hold by itself, on the model alone.
        counterexamples::counterexample(&self.program, self.options, &self.source, path, what)
            .map_err(|departure| departure.to_string())
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

/// The story that a counterexample tells, below the line that says what it shows.
pub(crate) fn story(trace: &Trace, look: Look) -> String {
    let style = Style {
        colour: look.palette.colour(),
        width: look.width,
        unicode: look.unicode,
        headline: false,
        all: false,
    };
    counterexamples::narrative(trace, &style)
}

//! Counterexamples: built from the engine's path, replayed on the model before anybody hears of them.

use crate::decision::{Clause, Finding, Related};
use crate::purse::{Purse, Unshown, in_words};
use barcheck_counterexamples::{self as counterexamples, Counterexample, SourceInfo, Trace, What};
use barcheck_engine::{Found, Inconclusive, Levels, Outcome};
use barcheck_model::machine::{Options, Path};
use barcheck_model::program::{Place, Program, Target};
use barcheck_model::rule::{Level, Rule};
use std::sync::Arc;

/// A protocol, and where it comes from.
pub(crate) struct Case {
    /// The protocol.
    pub(crate) program: Arc<Program>,
    /// The readings in force.
    pub(crate) readings: Options,
    /// Its text.
    pub(crate) source: SourceInfo,
}

impl Case {
    /// A violation, replayed.
    pub(crate) fn finding(
        &self,
        found: &Found,
        levels: &Levels,
        purse: &Purse<'_>,
    ) -> Result<Finding, Unshown> {
        let finding = &found.finding;
        let shown = self.shown(&found.path, What::Finding(finding, found.level), purse);
        let Counterexample { mut trace, left_out, .. } = shown.map_err(|departure| {
            purse.unshown(format!("the counterexample of `{}` does not hold: {departure}", finding.rule))
        })?;
        let level = graver(found, levels, &trace);
        trace.outcome.level = Some(level.name().to_owned());
        let outcome = &trace.outcome;
        let place = outcome.location;
        Ok(Finding {
            rule: finding.rule,
            level,
            message: outcome.message.clone(),
            clause: clause(finding.rule, self.program.target, &trace),
            barrier: finding.barrier.map(|barrier| barrier.0),
            agents: finding.agents.iter().map(|agent| agent.0).collect(),
            place: Place { line: place.line, column: place.column, length: place.length },
            related: outcome.related.iter().map(related).collect(),
            data: Vec::new(),
            outcomes: Vec::new(),
            fingerprint: counterexamples::fingerprint(&trace),
            is_shortest: false,
            smaller: None,
            trace,
            left_out: left_out.map(in_words),
        })
    }

    /// Whether what a path leaves on another barrier than its trace is about may be graver.
    pub(crate) fn may_be_graver(&self, found: &Found, trace: &Trace) -> bool {
        let agents: Vec<u32> = found.finding.agents.iter().map(|agent| agent.0).collect();
        let barrier = found.finding.barrier;
        barrier.is_some_and(|barrier| counterexamples::leaves_unread_data(trace, barrier.0, &agents))
    }

    /// The path to an evaluation error, or to where a path could not be followed, if there is one. It
    /// explains the verdict and is not needed for it.
    pub(crate) fn path_to_stop(
        &self,
        outcome: &Outcome,
        purse: &Purse<'_>,
    ) -> Result<Option<Trace>, Unshown> {
        let (path, what) = match (&outcome.fault, &outcome.inconclusive) {
            (Some(reached), _) => (&reached.path, What::Fault(reached.agent, &reached.fault)),
            (None, Some(Inconclusive::Cut { agent, at, reason, path })) => {
                (path, What::Cut(*agent, *at, reason))
            }
            _ => return Ok(None),
        };
        let shown = self.shown(path, what, purse).map(|shown| Some(shown.trace));
        shown.map_err(|departure| {
            purse.unshown(format!("the way to where the search stops does not hold: {departure}"))
        })
    }

    fn shown(&self, path: &Path, what: What<'_>, purse: &Purse<'_>) -> Result<Counterexample, String> {
        // The search found it; what is reported must hold by itself, on the model alone.
        let shown = purse.within(|limits| {
            counterexamples::counterexample_within(
                &self.program,
                self.readings,
                &self.source,
                path,
                what,
                limits,
            )
        });
        let shown = shown.map_err(|departure| departure.to_string())?;
        purse.spend(shown.bytes);
        Ok(shown)
    }
}

/// The level of a finding: what is a warning is an error where data is lost, unless a level is named for it.
fn graver(found: &Found, levels: &Levels, trace: &Trace) -> Level {
    let is_named = || levels.changes.iter().any(|(named, _)| *named == found.finding.rule);
    let is_graver =
        found.level == Level::Warning && !is_named() && counterexamples::announces_unread_data(trace);
    if is_graver { Level::Error } else { found.level }
}

fn related(place: &counterexamples::trace::Related) -> Related {
    Related { agent: place.agent, line: place.line, column: place.column, role: place.role.clone() }
}

/// The clause that a finding of a rule rests on.
#[cfg(feature = "clauses")]
fn clause(rule: Rule, target: Target, trace: &Trace) -> Option<Clause> {
    let catalogue = barcheck_specs::clauses::catalogue();
    let usual = || catalogue.rule(rule.name()).and_then(|rule| catalogue.clause_of(rule, target));
    let own = counterexamples::clause(trace).and_then(|id| catalogue.clause(id));
    let clause = own.or_else(usual)?;
    Some(Clause { document: clause.document.clone(), section: clause.section.clone(), id: clause.id.clone() })
}

/// There is no catalogue to look it up in.
#[cfg(not(feature = "clauses"))]
fn clause(_: Rule, _: Target, _: &Trace) -> Option<Clause> {
    None
}

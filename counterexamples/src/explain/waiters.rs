//! Who waits in the end, and for what.

use super::case::Case;
use crate::trace::{Awaits, Location, Status};

/// Agents that wait at the same instruction for the same thing.
pub(super) struct Waiters {
    pub(super) barrier: u32,
    pub(super) awaits: Awaits,
    pub(super) location: Location,
    pub(super) instruction: String,
    pub(super) agents: Vec<u32>,
}

/// Those who wait in the end, who is in the message first.
pub(super) fn waiters(case: &Case<'_>) -> Vec<Waiters> {
    let mut groups: Vec<Waiters> = Vec::new();
    for state in case.end.agents.values().filter(|a| a.status == Status::Blocked) {
        let (Some(waits), Some(location)) = (state.waits, state.location) else { continue };
        let group = groups
            .iter_mut()
            .find(|g| (g.barrier, g.awaits, g.location) == (waits.barrier, waits.awaits, location));
        match group {
            Some(group) => group.agents.push(state.agent),
            None => groups.push(Waiters {
                barrier: waits.barrier,
                awaits: waits.awaits,
                location,
                instruction: state.instruction.clone(),
                agents: vec![state.agent],
            }),
        }
    }
    // Whoever is in the message comes first.
    let first = case.outcome.agent;
    groups.sort_by_key(|g| (!g.agents.contains(&first), g.barrier, g.location));
    groups
}

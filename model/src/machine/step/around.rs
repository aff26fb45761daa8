//! What barriers see of the group at a step.

use crate::barrier::{Around, BarrierId};
use crate::machine::{Machine, State};
use crate::program::AgentId;

/// The group around a step.
pub(super) struct Group<'s, K> {
    pub(super) machine: &'s Machine,
    pub(super) state: &'s State<K>,
}

impl<K> Group<'_, K> {
    fn has_exited(&self, agent: AgentId) -> bool {
        self.machine.automata[self.machine.class(agent)].has_exited(self.state.agents[agent.index()].config)
    }

    fn count(&self, is_counted: impl Fn(AgentId) -> bool) -> u32 {
        let counted = self.machine.agents().filter(|agent| self.has_exited(*agent) && is_counted(*agent));
        u32::try_from(counted.count()).unwrap_or(u32::MAX)
    }
}

impl<K> Around for Group<'_, K> {
    #[inline]
    fn agents(&self, barrier: BarrierId) -> u32 {
        match self.machine.program.home(barrier) {
            Some(_) => self.machine.program.agents_per_cta(),
            None => u32::try_from(self.machine.program.agents.len()).unwrap_or(u32::MAX),
        }
    }

    #[inline]
    fn exits_release(&self) -> bool {
        self.machine.exits_release()
    }

    #[inline]
    fn repeats_count(&self) -> bool {
        self.machine.program.repeats_count
    }

    fn exited(&self) -> u32 {
        self.count(|_| true)
    }

    fn is_in_flight(&self, barrier: BarrierId) -> bool {
        self.state.pending.iter().any(|pending| pending.operation.barrier() == barrier)
    }

    fn exited_outside(&self, barrier: BarrierId) -> u32 {
        let program = &self.machine.program;
        self.count(|agent| {
            program.shares(agent, barrier) && !self.state.agents[agent.index()].seat(barrier).arrived
        })
    }
}

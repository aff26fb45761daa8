//! What is in flight: operations are left pending, and land.

use super::{Making, Site};
use crate::agent::entrusted;
use crate::barrier::{AnyBarrier, AnyOperation, BarrierAction, Completion, Effect, NotModelled, Refusal};
use crate::machine::{Event, Pending};
use crate::memory::Knowledge;
use crate::program::AgentId;
use crate::rule::Rule;
use smallvec::SmallVec;

/// Operations pending at a time, at most: a loop that begins more and waits for none has states without end.
const MOST_IN_FLIGHT: usize = 4096;

impl<K: Knowledge> Making<'_, K> {
    /// The landing that the step is.
    pub(super) fn run_landing(&mut self, pending: Pending) -> Result<(), Refusal> {
        let site = self.state.site(pending.operation.barrier());
        if let Some(home) = self.machine.program.home(site.id) {
            self.in_time_for(home.cta)?;
        }
        let landing = pending.operation.land(self.state.at(site))?;
        self.log.events.push(Event::Landed(pending));
        if let Some(slot) = pending.operation.slot() {
            self.state.memory.land(self.machine.layout, slot, site.id);
        }
        self.state.set_barrier(site, landing.barrier);
        match landing.completed {
            Some(completion) => self.complete(site.id, completion),
            None => Ok(()),
        }
    }

    /// What the agent does to the shared memory of another CTA comes before that CTA has exited.
    // clause: ptx.remote-lifetime
    pub(super) fn in_time_for(&self, cta: u32) -> Result<(), Refusal> {
        let program = &self.machine.program;
        if program.ctas <= 1 || cta == program.cta_of(self.agent) {
            return Ok(());
        }
        let has_exited = self.machine.agents_of(cta).all(|agent| self.has_exited(agent));
        if has_exited { Err(Rule::RemoteAfterExit.into()) } else { Ok(()) }
    }

    /// The instruction that the step is leaves something pending.
    pub(super) fn leave(&mut self, operation: AnyOperation) -> Result<(), Refusal> {
        // clause: barcheck.not-modelled
        if self.state.pending.len() >= MOST_IN_FLIGHT {
            return Err(Refusal::NotModelled(NotModelled::ManyInFlight));
        }
        let pc = self.machine.made(self.agent, self.from, self.index).pc;
        let operation = self.in_slot(operation);
        let pending = Pending { agent: self.agent, pc, operation };
        if let Some(slot) = operation.slot() {
            self.begin_accesses(operation, slot);
        }
        self.state.leave(pending);
        self.log.events.push(Event::Issued(pending));
        Ok(())
    }

    /// What is left pending accesses memory from now on, or stands for copies that do.
    fn begin_accesses(&mut self, operation: AnyOperation, slot: u16) {
        let (layout, agent) = (self.machine.layout, self.agent);
        let begun: SmallVec<[_; 2]> =
            operation.accesses().filter(|(_, at)| self.machine.follows(*at)).collect();
        for begun in begun {
            let conflicts = self.state.memory.begun(layout, agent, slot, begun);
            self.note_conflicts(begun.0, conflicts);
        }
        let made = self.machine.made(agent, self.from, self.index);
        if layout.has_fills()
            && let Some(object) = made.action.on_barrier().and_then(BarrierAction::stands_for_fills)
        {
            let lanes = made.lanes;
            let config = self.machine.automata[self.machine.class(agent)].config(self.from);
            let covered = entrusted(config, lanes, object);
            self.state.memory.entrust(layout, agent, slot, &covered);
        }
    }

    /// The operation with a slot of its own for what its agent knows.
    fn in_slot(&mut self, operation: AnyOperation) -> AnyOperation {
        let used: SmallVec<[u16; 8]> = self.state.pending.iter().filter_map(|p| p.operation.slot()).collect();
        let mut slots = self.machine.layout.slots(operation.barrier());
        let operation = operation.with_slot(slots.find(|slot| !used.contains(slot)).unwrap_or(u16::MAX));
        if let Some(slot) = operation.slot() {
            self.state.memory.issue(self.machine.layout, self.agent, slot, operation.publishes());
        }
        operation
    }

    /// Whoever waits for what others give goes on once there is enough for it.
    pub(super) fn is_enough(&self, agent: AgentId, completion: Completion) -> bool {
        let lacks = || self.machine.config(self.state, agent).waiting.map_or(0, |waiting| waiting.lacks);
        completion.up_to.is_none_or(|most| lacks() <= most)
    }

    /// What the barrier waits for besides arrivals has changed.
    pub(super) fn count(&mut self, site: Site, effect: Effect<AnyBarrier>) -> Result<(), Refusal> {
        self.log.events.push(Event::Counted(site.id));
        let completed = effect.completed;
        self.take_seat(site, effect);
        completed.map_or(Ok(()), |completion| self.complete(site.id, completion))
    }
}

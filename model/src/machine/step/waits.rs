//! Waits, and questions that may be waits.

use super::{Making, Site};
use crate::agent::Outcome;
use crate::barrier::{AnyBarrier, Effect, Progress};
use crate::machine::Event;
use crate::memory::Knowledge;
use crate::program::{Scope, Semantics};

impl<K: Knowledge> Making<'_, K> {
    /// The agent asks whether a generation is complete: a wait that passes if it is.
    pub(super) fn ask(
        &mut self,
        site: Site,
        effect: Effect<AnyBarrier>,
        complete: Option<Option<(Scope, Semantics)>>,
    ) {
        self.log.events.push(Event::Asked(site.id, complete.is_some()));
        if let Some(acquires) = complete {
            self.acquire(site, &effect, acquires);
        }
        self.state.set_barrier(site, effect.barrier);
        self.state.agents[self.agent.index()].set_seat(site.id, effect.seat);
        self.go_on(Outcome::Tested(complete.is_some()));
    }

    /// A wait that the barrier has accepted.
    pub(super) fn wait(
        &mut self,
        site: Site,
        effect: Effect<AnyBarrier>,
        acquires: Option<(Scope, Semantics)>,
    ) {
        if effect.progress == Progress::Pass {
            self.acquire(site, &effect, acquires);
        }
        self.take_seat(site, effect);
    }

    /// A wait passes.
    fn acquire(&mut self, site: Site, effect: &Effect<AnyBarrier>, acquires: Option<(Scope, Semantics)>) {
        let last = !effect.barrier.is_kept_for_waits();
        let machine = &*self.machine;
        let memory = &mut self.state.memory;
        memory.pass_wait(machine.layout, &machine.program, site.id, self.agent, acquires, last);
        self.log.events.push(Event::Passed(site.id));
    }
}

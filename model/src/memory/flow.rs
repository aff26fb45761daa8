//! How knowledge travels: through arrivals, releases, notifications, waits and fences.
//!
//! Here stands once who learns what from whom; what "knowing" is kept as is up to whoever implements
//! [`Knowledge`]. The plain [`Memory`](super::Memory) keeps a set of holders for each access; an engine that
//! follows one run may keep vector clocks.

use super::Layout;
use super::layout::{
    DONE_TIME, GENERATION_MEMORY, GENERATION_TIME, PUBLISHED, RECEIVED_FAR, RECEIVED_NEAR, RELEASED_FAR,
    RELEASED_NEAR, carried,
};
use crate::barrier::{Arrival, BarrierId, Carries};
use crate::program::{
    AccessKind, AgentId, Begun, Fence, LocationId, Program, Reach, Scope, Semantics, Spaces, Transfer, Window,
};
use crate::rule::Rule;

/// An earlier access with which one conflicts that is not ordered after it: the rule violated, the location,
/// who made the earlier access, and how.
pub type Conflict = (Rule, LocationId, AgentId, AccessKind);

/// What holders know of some accesses. Holders are numbered by [`Layout`].
pub trait Known {
    /// `to` learns what `from` knows.
    fn pass(&mut self, from: usize, to: usize);
    /// The holder knows nothing any more.
    fn forget(&mut self, holder: usize);
}

/// What everybody knows of all accesses that may still matter.
pub trait Knowledge {
    /// What is known of accesses that travel together.
    type Known: Known;

    /// Whether there may be something that [`Knowledge::forget_settled`] forgets.
    fn settles(&self) -> bool;

    /// Calls `f` for all accesses.
    fn each(&mut self, f: impl FnMut(&mut Self::Known));

    /// Calls `f` for the accesses to locations of some storage classes.
    fn each_in(&mut self, program: &Program, spaces: Spaces, f: impl FnMut(&mut Self::Known));

    /// An access. Returns each earlier one that conflicts with it and is not ordered before it, with the
    /// rule.
    fn access(
        &mut self,
        layout: Layout,
        agent: AgentId,
        kind: AccessKind,
        locations: &[LocationId],
    ) -> Vec<Conflict>;

    /// An agent begins a copy, whose access nobody knows but what is in flight. Returns what an access does.
    fn begun(&mut self, layout: Layout, agent: AgentId, slot: u16, begun: Begun) -> Vec<Conflict>;

    /// What the agent's `cp.async` have written at these locations goes with what is in flight.
    fn entrust(&mut self, layout: Layout, agent: AgentId, slot: u16, locations: &[LocationId]);

    /// An agent begins an operation, which keeps what the agent knows now: in time, and in memory if its
    /// landing publishes that.
    fn issue(&mut self, layout: Layout, agent: AgentId, slot: u16, publishes: bool) {
        let [time, memory] = layout.slot(slot);
        self.each(|known| {
            known.pass(layout.time(agent), time);
            if publishes {
                known.pass(layout.memory(agent), memory);
            }
        });
    }

    /// An operation lands: the barrier's present generation carries what it has kept.
    fn land(&mut self, layout: Layout, slot: u16, barrier: BarrierId) {
        let [time, memory] = layout.slot(slot);
        self.each(|known| {
            known.pass(time, layout.barrier(barrier, GENERATION_TIME));
            known.pass(memory, layout.barrier(barrier, GENERATION_MEMORY));
            known.forget(time);
            known.forget(memory);
        });
    }

    /// The copies of a kind that an agent has begun at these locations have finished, and the agent knows it.
    fn finish(&mut self, layout: Layout, agent: AgentId, of: Transfer, locations: &[LocationId]);

    /// A fence between the proxies: the generic writes in its window that the agent knows of are fenced for
    /// whoever learns of the fence.
    fn fence_proxies(&mut self, layout: Layout, program: &Program, agent: AgentId, window: Window);

    /// The agent's own accesses to these spaces become known to it in memory.
    fn publish(&mut self, layout: Layout, program: &Program, agent: AgentId, spaces: Spaces);

    /// What the agent knows of objects that are initialised goes with its later arrivals.
    fn release_lives(&mut self, layout: Layout, program: &Program, agent: AgentId);

    /// Forgets accesses that every agent of `live` knows in every way that matters: nothing can conflict with
    /// them unordered any more.
    fn forget_settled(&mut self, layout: Layout, live: &[AgentId]);

    /// A fence: the agent's own accesses become known in memory (Intel's), or what it knows goes with later
    /// arrivals (PTX's).
    // clause: barcheck.fence-publishes, xegpu.mfence, ptx.fence-release
    fn fence(&mut self, layout: Layout, program: &Program, agent: AgentId, fence: Fence) {
        match fence {
            Fence::Publishes(spaces) if layout.has_fences() => {
                self.publish(layout, program, agent, spaces);
            }
            Fence::Orders { reach, acquires, releases } => self.each(|known| {
                // clause: ptx.fence-acquire
                if acquires && layout.acquires {
                    known.pass(layout.extra(agent, RECEIVED_NEAR), layout.memory(agent));
                    if reach == Reach::Cluster {
                        known.pass(layout.extra(agent, RECEIVED_FAR), layout.memory(agent));
                    }
                }
                if releases && layout.releases {
                    let released = match reach {
                        Reach::Cta => RELEASED_NEAR,
                        Reach::Cluster => RELEASED_FAR,
                    };
                    known.pass(layout.memory(agent), layout.extra(agent, released));
                }
            }),
            // clause: ptx.mbarrier-init-fence
            Fence::ReleasesInitialised if layout.releases => {
                self.release_lives(layout, program, agent);
            }
            Fence::Publishes(_) | Fence::ReleasesInitialised | Fence::Nothing => {}
        }
    }

    /// `OpMemoryBarrier`: acquires what earlier waits received, releases to later arrivals.
    // clause: split_barrier.memory-barrier
    fn memory_barrier(
        &mut self,
        layout: Layout,
        program: &Program,
        agent: AgentId,
        scope: Scope,
        semantics: Semantics,
    ) {
        let far = scope >= Scope::Workgroup;
        if scope == Scope::Invocation {
            return;
        }
        self.each_in(program, semantics.classes, |known| {
            if semantics.acquire {
                known.pass(layout.extra(agent, RECEIVED_NEAR), layout.memory(agent));
                if far {
                    known.pass(layout.extra(agent, RECEIVED_FAR), layout.memory(agent));
                }
            }
            if semantics.release {
                let released = if far { RELEASED_FAR } else { RELEASED_NEAR };
                known.pass(layout.memory(agent), layout.extra(agent, released));
            }
        });
    }

    /// An agent arrives: what it knows goes into the barrier's generation.
    // clause: barcheck.knowledge
    fn arrive(
        &mut self,
        layout: Layout,
        program: &Program,
        barrier: BarrierId,
        agent: AgentId,
        how: Arrival,
    ) {
        if !layout.is_shared(barrier) {
            return;
        }
        let far = || layout.barrier(barrier, carried(layout.subgroup(agent), true));
        let near = || layout.barrier(barrier, carried(layout.subgroup(agent), false));
        self.each(|known| {
            // clause: barcheck.transitive-order
            known.pass(layout.time(agent), layout.barrier(barrier, GENERATION_TIME));
            match how {
                Arrival::Publishing => {
                    // clause: barcheck.knowledge-in-memory, ptx.prior-performed
                    known.pass(layout.memory(agent), layout.barrier(barrier, GENERATION_MEMORY));
                }
                // clause: ptx.mbarrier-relaxed
                Arrival::InTimeAlone => {}
                // Without such fences nobody holds what they release.
                Arrival::AfterFence(_) if !layout.releases => {}
                // clause: ptx.fence-release
                Arrival::AfterFence(reach) => {
                    let carries = layout.barrier(barrier, GENERATION_MEMORY);
                    known.pass(layout.extra(agent, RELEASED_FAR), carries);
                    if reach == Reach::Cta {
                        known.pass(layout.extra(agent, RELEASED_NEAR), carries);
                    }
                }
                // clause: bcu.arv-no-memory
                Arrival::PublishedBefore => {
                    known.pass(layout.extra(agent, PUBLISHED), layout.barrier(barrier, GENERATION_MEMORY));
                }
                Arrival::Releasing(..) => {
                    known.pass(layout.extra(agent, RELEASED_FAR), far());
                    known.pass(layout.extra(agent, RELEASED_NEAR), near());
                }
            }
        });
        // clause: split_barrier.arrive-memory, split_barrier.storage-classes
        // clause: split_barrier.semantics-none
        if let Arrival::Releasing(scope, semantics) = how
            && semantics.release
        {
            // clause: split_barrier.memory-scope
            self.each_in(program, semantics.classes, |known| match scope {
                // clause: split_barrier.memory-own-accesses
                Scope::Workgroup | Scope::Device => known.pass(layout.memory(agent), far()),
                Scope::Subgroup => known.pass(layout.memory(agent), near()),
                Scope::Invocation => {}
            });
        }
    }

    /// The completing generation takes in, in time only, what exited agents knew.
    // clause: barcheck.exit-in-time
    fn take_in_exited(&mut self, layout: Layout, barrier: BarrierId, exited: &[AgentId]) {
        self.each(|known| {
            for agent in exited {
                known.pass(layout.time(*agent), layout.barrier(barrier, GENERATION_TIME));
            }
        });
    }

    /// The life of an mbarrier object begins or ends: what it carried before is lost.
    // clause: ptx.mbarrier-init
    fn begin(&mut self, layout: Layout, barrier: BarrierId) {
        let Some([time, memory]) = layout.phases(barrier) else { return };
        let gathering = [GENERATION_TIME, GENERATION_MEMORY].map(|offset| layout.barrier(barrier, offset));
        self.each(|known| {
            for holder in [time, memory].into_iter().chain(gathering) {
                known.forget(holder);
            }
        });
    }

    /// A phase of an mbarrier object is complete: what it carries is kept for waits that come later.
    // clause: ptx.mbarrier-acquire
    fn complete_phase(&mut self, layout: Layout, barrier: BarrierId) {
        let Some([time, memory]) = layout.phases(barrier) else { return };
        self.each(|known| {
            for (gathered, kept) in [(GENERATION_TIME, time), (GENERATION_MEMORY, memory)] {
                let gathered = layout.barrier(barrier, gathered);
                known.pass(gathered, kept);
                known.forget(gathered);
            }
        });
    }

    /// An agent learns what the completed phases of an mbarrier object carry: in memory at once, or, of a
    /// wait that is relaxed, with a later fence that reaches as far.
    // clause: ptx.mbarrier-relaxed-wait
    fn observe(
        &mut self,
        layout: Layout,
        barrier: BarrierId,
        agent: AgentId,
        acquires: Option<(Scope, Semantics)>,
    ) {
        let Some([time, memory]) = layout.phases(barrier) else { return };
        let learns = match acquires {
            None => Some(layout.memory(agent)),
            Some(_) if !layout.acquires => None,
            Some((Scope::Device, _)) => Some(layout.extra(agent, RECEIVED_FAR)),
            Some(_) => Some(layout.extra(agent, RECEIVED_NEAR)),
        };
        self.each(|known| {
            known.pass(time, layout.time(agent));
            if let Some(learns) = learns {
                known.pass(memory, learns);
            }
        });
    }

    /// An agent is released by the generation that completes.
    fn release(
        &mut self,
        layout: Layout,
        program: &Program,
        barrier: BarrierId,
        agent: AgentId,
        acquires: Option<(Scope, Semantics)>,
    ) {
        if layout.phases(barrier).is_some() {
            return self.observe(layout, barrier, agent, acquires);
        }
        if layout.carries == Carries::Released {
            return receive(self, layout, program, (barrier, false), agent, acquires);
        }
        self.each(|known| {
            // clause: barcheck.knowledge
            known.pass(layout.barrier(barrier, GENERATION_TIME), layout.time(agent));
            known.pass(layout.barrier(barrier, GENERATION_MEMORY), layout.memory(agent));
            if layout.carries == Carries::Published {
                // clause: barcheck.bcu-publishes, bcu.sync-memory, bcu.red-memory
                known.pass(layout.memory(agent), layout.extra(agent, PUBLISHED));
            }
        });
    }

    /// A consumer that is not waiting yet is notified by the generation that completes: the notification
    /// carries what it will learn.
    fn notify(&mut self, layout: Layout, barrier: BarrierId, agent: AgentId) {
        if layout.carries != Carries::Inboxes {
            return;
        }
        self.each(|known| {
            let inbox = 2 + agent.index();
            known.pass(layout.barrier(barrier, GENERATION_TIME), layout.barrier(barrier, inbox));
            known.pass(
                layout.barrier(barrier, GENERATION_MEMORY),
                layout.barrier(barrier, inbox + layout.agents),
            );
        });
    }

    /// The generation is over: the barrier forgets what it carried. `split_barrier` keeps it while `unwaited`
    /// agents have yet to wait.
    fn end_generation(&mut self, layout: Layout, barrier: BarrierId, unwaited: bool) {
        if layout.phases(barrier).is_some() || !layout.is_shared(barrier) {
            return;
        }
        self.each(|known| {
            let mut end = |carried: usize, done: usize| {
                known.forget(layout.barrier(barrier, done));
                if unwaited {
                    known.pass(layout.barrier(barrier, carried), layout.barrier(barrier, done));
                }
                known.forget(layout.barrier(barrier, carried));
            };
            if layout.carries == Carries::Released {
                end(GENERATION_TIME, DONE_TIME);
                for offset in 2..2 + 2 * layout.subgroups {
                    end(offset, offset + 2 * layout.subgroups);
                }
            } else {
                known.forget(layout.barrier(barrier, GENERATION_MEMORY));
                known.forget(layout.barrier(barrier, GENERATION_TIME));
            }
        });
    }

    /// An agent passes its wait for a generation that has completed before; `last` if nobody else has yet to
    /// wait.
    fn pass_wait(
        &mut self,
        layout: Layout,
        program: &Program,
        barrier: BarrierId,
        agent: AgentId,
        acquires: Option<(Scope, Semantics)>,
        last: bool,
    ) {
        if layout.phases(barrier).is_some() {
            return self.observe(layout, barrier, agent, acquires);
        }
        if layout.carries == Carries::Released {
            receive(self, layout, program, (barrier, true), agent, acquires);
            if last {
                forget_done(self, layout, barrier);
            }
            return;
        }
        // Whoever takes registers from a pool learns nothing of those that gave them: it has no inbox.
        if layout.carries != Carries::Inboxes {
            return;
        }
        self.each(|known| {
            let time = layout.barrier(barrier, 2 + agent.index());
            let memory = layout.barrier(barrier, 2 + layout.agents + agent.index());
            known.pass(time, layout.time(agent));
            known.pass(memory, layout.memory(agent));
            known.forget(time);
            known.forget(memory);
        });
    }
}

fn forget_done<K: Knowledge + ?Sized>(knowledge: &mut K, layout: Layout, barrier: BarrierId) {
    if !layout.is_shared(barrier) {
        return;
    }
    knowledge.each(|known| {
        known.forget(layout.barrier(barrier, DONE_TIME));
        for offset in 0..2 * layout.subgroups {
            known.forget(layout.barrier(barrier, 2 + 2 * layout.subgroups + offset));
        }
    });
}

/// A split-barrier agent learns what its generation carries (or carried, if it is `done`): in time all of it,
/// in memory what is acquired.
// clause: split_barrier.wait-memory
fn receive<K: Knowledge + ?Sized>(
    knowledge: &mut K,
    layout: Layout,
    program: &Program,
    (barrier, done): (BarrierId, bool),
    agent: AgentId,
    acquires: Option<(Scope, Semantics)>,
) {
    if !layout.is_shared(barrier) {
        return;
    }
    let base = if done { 2 * layout.subgroups } else { 0 };
    let time = layout.barrier(barrier, if done { DONE_TIME } else { GENERATION_TIME });
    let own = layout.subgroup(agent);
    let holder = |subgroup, far| layout.barrier(barrier, base + carried(subgroup, far));
    // clause: split_barrier.opencl-flags-meet, split_barrier.memory-scope
    let near = [holder(own, true), holder(own, false)];
    let far = || (0..layout.subgroups).filter(|subgroup| *subgroup != own).map(|s| holder(s, true));
    knowledge.each(|known| {
        known.pass(time, layout.time(agent));
        near.iter().for_each(|from| known.pass(*from, layout.extra(agent, RECEIVED_NEAR)));
        far().for_each(|from| known.pass(from, layout.extra(agent, RECEIVED_FAR)));
    });
    let Some((scope, semantics)) = acquires else { return };
    // clause: split_barrier.semantics-none, split_barrier.storage-classes
    if !semantics.acquire {
        return;
    }
    knowledge.each_in(program, semantics.classes, |known| {
        if scope >= Scope::Subgroup {
            near.iter().for_each(|from| known.pass(*from, layout.memory(agent)));
        }
        if scope >= Scope::Workgroup {
            far().for_each(|from| known.pass(from, layout.memory(agent)));
        }
    });
}

//! Order in time and order in memory: what each agent knows of the latest accesses to each location.
//!
//! Source: the semantics page, section 3.6, and each specification's clauses on memory. The state is
//! kept by access: for each access that may still matter, who knows it, and which barrier
//! generations and notifications carry that knowledge. When a newer access replaces one, all
//! knowledge of it goes with it.

use crate::barrier::BarrierId;
use crate::program::{AccessKind, AgentId, LocationId, Program, Scope, Semantics, Space, Spaces, Target};
use crate::rule::Rule;

/// One access that may still matter.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Access {
    /// The location.
    pub location: LocationId,
    /// Read, write or atomic.
    pub kind: AccessKind,
    /// Who made it.
    pub agent: AgentId,
    /// Who or what knows it.
    known: Holders,
}

/// A set of holders of knowledge, numbered by [`Layout`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Holders(Vec<u64>);

impl Holders {
    fn has(&self, holder: usize) -> bool {
        self.0.get(holder / 64).is_some_and(|word| word >> (holder % 64) & 1 == 1)
    }

    fn add(&mut self, holder: usize) {
        if self.0.len() <= holder / 64 {
            self.0.resize(holder / 64 + 1, 0);
        }
        self.0[holder / 64] |= 1 << (holder % 64);
    }

    fn remove(&mut self, holder: usize) {
        if let Some(word) = self.0.get_mut(holder / 64) {
            *word &= !(1 << (holder % 64));
            while self.0.last() == Some(&0) {
                self.0.pop();
            }
        }
    }

    /// `to` learns what `from` knows.
    fn pass(&mut self, from: usize, to: usize) {
        if self.has(from) {
            self.add(to);
        }
    }

    fn set(&mut self, holder: usize, is_in: bool) {
        if is_in { self.add(holder) } else { self.remove(holder) }
    }
}

/// Who can hold knowledge of an access, as numbers.
///
/// First what each agent knows in time and in memory, then what the target needs besides (`bcu`: what
/// a warp has published; `split_barrier`: what it has released and received), then what each barrier's
/// generations carry.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    target: Target,
    agents: usize,
    subgroup_size: usize,
    subgroups: usize,
}

impl Layout {
    /// The layout for a program.
    #[must_use]
    pub fn of(program: &Program) -> Self {
        let agents = program.agents.len();
        let subgroup_size = (program.subgroup_size as usize).max(1);
        Self { target: program.target, agents, subgroup_size, subgroups: agents.div_ceil(subgroup_size) }
    }

    fn time(self, agent: AgentId) -> usize {
        agent.index()
    }

    fn memory(self, agent: AgentId) -> usize {
        self.agents + agent.index()
    }

    /// What an agent holds besides: the meaning of `kind` depends on the target.
    fn extra(self, agent: AgentId, kind: usize) -> usize {
        (2 + kind) * self.agents + agent.index()
    }

    fn barrier(self, barrier: BarrierId, offset: usize) -> usize {
        let (extras, stride) = match self.target {
            Target::Ptx => (0, 2),
            Target::Bcu => (1, 2),
            Target::Nbarrier | Target::Xegpu => (0, 2 + 2 * self.agents),
            Target::SplitBarrier => (4, 2 + 4 * self.subgroups),
        };
        (2 + extras) * self.agents + barrier.0 as usize * stride + offset
    }

    fn subgroup(self, agent: AgentId) -> usize {
        agent.index() / self.subgroup_size
    }

    /// A split barrier that several agents share; an invocation's own barrier orders nothing between agents.
    fn is_shared(self, barrier: BarrierId) -> bool {
        self.target != Target::SplitBarrier || barrier.0 as usize <= self.subgroups
    }
}

/// `bcu`: what a warp knew when a SYNC or RED released it.
const PUBLISHED: usize = 0;
/// `split_barrier`: released by an `OpMemoryBarrier` to the workgroup.
const RELEASED_FAR: usize = 0;
/// `split_barrier`: released by an `OpMemoryBarrier` to the subgroup only.
const RELEASED_NEAR: usize = 1;
/// `split_barrier`: received by waits from other subgroups, whether acquired or not.
const RECEIVED_FAR: usize = 2;
/// `split_barrier`: received by waits from the agent's own subgroup.
const RECEIVED_NEAR: usize = 3;

/// What the generation carries in time.
const GENERATION_TIME: usize = 0;
/// What the generation carries in memory (`split_barrier`: what the completed one carries in time).
const GENERATION_MEMORY: usize = 1;
/// `split_barrier`: what the completed generation carries in time.
const DONE_TIME: usize = 1;

/// How an agent arrives, as far as memory is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// All that the agent knows in memory travels.
    Publishing,
    /// Only what it has published before travels (`BAR.ARV`).
    PublishedBefore,
    /// What these operands release travels, and what earlier memory barriers have released (`split_barrier`).
    Releasing(Scope, Semantics),
}

/// The accesses that may still matter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Memory {
    accesses: Vec<Access>,
}

impl Memory {
    /// Whether nothing is remembered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.accesses.is_empty()
    }

    /// The accesses that may still matter.
    #[must_use]
    pub fn accesses(&self) -> &[Access] {
        &self.accesses
    }

    /// An access. Returns each earlier one that conflicts with it and is not ordered before it, with the rule.
    pub fn access(
        &mut self,
        layout: Layout,
        agent: AgentId,
        kind: AccessKind,
        locations: &[LocationId],
    ) -> Vec<(Rule, LocationId, AgentId, AccessKind)> {
        let mut found = Vec::new();
        for earlier in self.accesses.iter().filter(|a| a.agent != agent && locations.contains(&a.location)) {
            let conflicts = match (earlier.kind, kind) {
                (AccessKind::Read, AccessKind::Read) | (AccessKind::Atomic, AccessKind::Atomic) => false,
                (AccessKind::Write, _) | (_, AccessKind::Write) => true,
                (AccessKind::Read, AccessKind::Atomic) | (AccessKind::Atomic, AccessKind::Read) => true,
            };
            let rule = if !conflicts {
                continue;
            } else if !earlier.known.has(layout.time(agent)) {
                // clause: barcheck.data-race, ptx.performed-read
                Rule::DataRace
            } else if needs_memory_order(layout.target, earlier.kind)
                && !earlier.known.has(layout.memory(agent))
            {
                // clause: barcheck.missing-fence, ptx.performed-write
                Rule::MissingFence
            } else {
                continue;
            };
            found.push((rule, earlier.location, earlier.agent, earlier.kind));
        }
        // clause: barcheck.knowledge-replaced
        self.accesses.retain(|a| {
            let replaced = kind == AccessKind::Write || (a.agent, a.kind) == (agent, kind);
            !(replaced && locations.contains(&a.location))
        });
        for location in locations {
            let mut known = Holders::default();
            known.add(layout.time(agent));
            // clause: nbarrier.no-memory
            if !matches!(layout.target, Target::Nbarrier | Target::Xegpu) {
                known.add(layout.memory(agent));
            }
            self.accesses.push(Access { location: *location, kind, agent, known });
        }
        self.accesses.sort_unstable();
        found
    }

    /// A fence of Intel's: the agent's own accesses to these spaces become known in memory.
    // clause: barcheck.fence-publishes, xegpu.mfence
    pub fn fence(&mut self, layout: Layout, program: &Program, agent: AgentId, spaces: Spaces) {
        if !matches!(layout.target, Target::Nbarrier | Target::Xegpu) {
            return;
        }
        for access in self.accesses.iter_mut().filter(|a| a.agent == agent) {
            // clause: xegpu.memory-kind
            if includes(program, spaces, access.location) {
                access.known.add(layout.memory(agent));
            }
        }
    }

    /// `OpMemoryBarrier`: acquires what earlier waits received, releases to later arrivals.
    // clause: split_barrier.memory-barrier
    pub fn memory_barrier(
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
        for access in &mut self.accesses {
            if !includes(program, semantics.classes, access.location) {
                continue;
            }
            let known = &mut access.known;
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
        }
    }

    /// An agent arrives: what it knows goes into the barrier's generation.
    // clause: barcheck.knowledge
    pub fn arrive(
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
        for access in &mut self.accesses {
            let known = &mut access.known;
            // clause: barcheck.transitive-order
            known.pass(layout.time(agent), layout.barrier(barrier, GENERATION_TIME));
            match how {
                Arrival::Publishing => {
                    // clause: barcheck.knowledge-in-memory, ptx.prior-performed
                    known.pass(layout.memory(agent), layout.barrier(barrier, GENERATION_MEMORY));
                }
                // clause: bcu.arv-no-memory
                Arrival::PublishedBefore => {
                    known.pass(layout.extra(agent, PUBLISHED), layout.barrier(barrier, GENERATION_MEMORY));
                }
                Arrival::Releasing(scope, semantics) => {
                    let far = layout.barrier(barrier, carried(layout.subgroup(agent), true));
                    let near = layout.barrier(barrier, carried(layout.subgroup(agent), false));
                    known.pass(layout.extra(agent, RELEASED_FAR), far);
                    known.pass(layout.extra(agent, RELEASED_NEAR), near);
                    // clause: split_barrier.arrive-memory, split_barrier.storage-classes
                    // clause: split_barrier.semantics-none
                    if semantics.release && includes(program, semantics.classes, access.location) {
                        // clause: split_barrier.memory-scope
                        match scope {
                            // clause: split_barrier.memory-own-accesses
                            Scope::Workgroup | Scope::Device => known.pass(layout.memory(agent), far),
                            Scope::Subgroup => known.pass(layout.memory(agent), near),
                            Scope::Invocation => {}
                        }
                    }
                }
            }
        }
    }

    /// The completing generation takes in, in time only, what exited agents knew.
    // clause: barcheck.exit-in-time
    pub fn take_in_exited(&mut self, layout: Layout, barrier: BarrierId, exited: &[AgentId]) {
        for access in &mut self.accesses {
            for agent in exited {
                access.known.pass(layout.time(*agent), layout.barrier(barrier, GENERATION_TIME));
            }
        }
    }

    /// An agent is released by the generation that completes.
    pub fn release(
        &mut self,
        layout: Layout,
        program: &Program,
        barrier: BarrierId,
        agent: AgentId,
        acquires: Option<(Scope, Semantics)>,
    ) {
        if layout.target == Target::SplitBarrier {
            return self.receive(layout, program, barrier, agent, acquires, false);
        }
        for access in &mut self.accesses {
            let known = &mut access.known;
            // clause: barcheck.knowledge
            known.pass(layout.barrier(barrier, GENERATION_TIME), layout.time(agent));
            known.pass(layout.barrier(barrier, GENERATION_MEMORY), layout.memory(agent));
            if layout.target == Target::Bcu {
                // clause: barcheck.bcu-publishes, bcu.sync-memory, bcu.red-memory
                known.pass(layout.memory(agent), layout.extra(agent, PUBLISHED));
            }
        }
    }

    /// A consumer that is not waiting yet is notified by the generation that completes: the notification carries what it will learn.
    pub fn notify(&mut self, layout: Layout, barrier: BarrierId, agent: AgentId) {
        if layout.target == Target::SplitBarrier {
            return;
        }
        for access in &mut self.accesses {
            let known = &mut access.known;
            let inbox = 2 + agent.index();
            known.pass(layout.barrier(barrier, GENERATION_TIME), layout.barrier(barrier, inbox));
            known.pass(
                layout.barrier(barrier, GENERATION_MEMORY),
                layout.barrier(barrier, inbox + layout.agents),
            );
        }
    }

    /// The generation is over: the barrier forgets what it carried. `split_barrier` keeps it while `unwaited` agents have yet to wait.
    pub fn end_generation(&mut self, layout: Layout, barrier: BarrierId, unwaited: bool) {
        if !layout.is_shared(barrier) {
            return;
        }
        for access in &mut self.accesses {
            let known = &mut access.known;
            if layout.target == Target::SplitBarrier {
                let keeps = |from: bool| unwaited && from;
                let time = known.has(layout.barrier(barrier, GENERATION_TIME));
                known.set(layout.barrier(barrier, DONE_TIME), keeps(time));
                for offset in 2..2 + 2 * layout.subgroups {
                    let carried = known.has(layout.barrier(barrier, offset));
                    let done = offset + 2 * layout.subgroups;
                    known.set(layout.barrier(barrier, done), keeps(carried));
                    known.remove(layout.barrier(barrier, offset));
                }
            } else {
                known.remove(layout.barrier(barrier, GENERATION_MEMORY));
            }
            known.remove(layout.barrier(barrier, GENERATION_TIME));
        }
    }

    /// An agent passes its wait for a generation that has completed before; `last` if nobody else has yet to wait.
    pub fn pass_wait(
        &mut self,
        layout: Layout,
        program: &Program,
        barrier: BarrierId,
        agent: AgentId,
        acquires: Option<(Scope, Semantics)>,
        last: bool,
    ) {
        if layout.target == Target::SplitBarrier {
            self.receive(layout, program, barrier, agent, acquires, true);
            if last {
                self.forget_done(layout, barrier);
            }
            return;
        }
        for access in &mut self.accesses {
            let known = &mut access.known;
            let time = layout.barrier(barrier, 2 + agent.index());
            let memory = layout.barrier(barrier, 2 + layout.agents + agent.index());
            known.pass(time, layout.time(agent));
            known.pass(memory, layout.memory(agent));
            known.remove(time);
            known.remove(memory);
        }
    }

    fn forget_done(&mut self, layout: Layout, barrier: BarrierId) {
        if !layout.is_shared(barrier) {
            return;
        }
        for access in &mut self.accesses {
            access.known.remove(layout.barrier(barrier, DONE_TIME));
            for offset in 0..2 * layout.subgroups {
                access.known.remove(layout.barrier(barrier, 2 + 2 * layout.subgroups + offset));
            }
        }
    }

    /// A split-barrier agent learns what its generation carries: in time all of it, in memory what is acquired.
    // clause: split_barrier.wait-memory
    fn receive(
        &mut self,
        layout: Layout,
        program: &Program,
        barrier: BarrierId,
        agent: AgentId,
        acquires: Option<(Scope, Semantics)>,
        done: bool,
    ) {
        if !layout.is_shared(barrier) {
            return;
        }
        let base = if done { 2 * layout.subgroups } else { 0 };
        let own = layout.subgroup(agent);
        for access in &mut self.accesses {
            let known = &mut access.known;
            known.pass(
                layout.barrier(barrier, if done { DONE_TIME } else { GENERATION_TIME }),
                layout.time(agent),
            );
            let holds = |subgroup, far| known.has(layout.barrier(barrier, base + carried(subgroup, far)));
            // clause: split_barrier.opencl-flags-meet, split_barrier.memory-scope
            let near = holds(own, true) || holds(own, false);
            let far = (0..layout.subgroups).any(|subgroup| subgroup != own && holds(subgroup, true));
            let (scope, semantics) = acquires.unwrap_or((Scope::Invocation, Semantics::default()));
            // clause: split_barrier.semantics-none, split_barrier.storage-classes
            let acquired = semantics.acquire
                && includes(program, semantics.classes, access.location)
                && (near && scope >= Scope::Subgroup || far && scope >= Scope::Workgroup);
            if near {
                known.add(layout.extra(agent, RECEIVED_NEAR));
            }
            if far {
                known.add(layout.extra(agent, RECEIVED_FAR));
            }
            if acquired {
                known.add(layout.memory(agent));
            }
        }
    }

    /// Forgets accesses that every agent of `live` knows in every way that matters: nothing can conflict with them unordered any more.
    pub fn forget_settled(&mut self, layout: Layout, live: &[AgentId]) {
        self.accesses.retain(|access| {
            let needs_memory = needs_memory_order(layout.target, access.kind);
            live.iter().any(|agent| {
                *agent != access.agent
                    && !(access.known.has(layout.time(*agent))
                        && (!needs_memory || access.known.has(layout.memory(*agent))))
            })
        });
    }

    /// The same memory with agents renamed: agent `i` becomes `to[i]`. Agents keep their subgroup.
    #[must_use]
    pub fn renamed(&self, layout: Layout, to: &[AgentId]) -> Self {
        let mut accesses: Vec<_> = self
            .accesses
            .iter()
            .map(|access| {
                let mut known = Holders::default();
                for (index, word) in access.known.0.iter().enumerate() {
                    let mut rest = *word;
                    while rest != 0 {
                        let holder = index * 64 + rest.trailing_zeros() as usize;
                        known.add(layout.renamed(holder, to));
                        rest &= rest - 1;
                    }
                }
                Access { agent: to[access.agent.index()], known, ..*access }
            })
            .collect();
        accesses.sort_unstable();
        Self { accesses }
    }
}

impl Layout {
    /// The number of a holder after agents have been renamed.
    fn renamed(self, holder: usize, to: &[AgentId]) -> usize {
        let first = self.barrier(BarrierId(0), 0);
        if holder < first {
            return holder - holder % self.agents + to[holder % self.agents].index();
        }
        if !matches!(self.target, Target::Nbarrier | Target::Xegpu) {
            return holder;
        }
        let offset = (holder - first) % (2 + 2 * self.agents);
        if offset < 2 {
            return holder;
        }
        let inbox = offset - 2;
        holder - inbox + (inbox - inbox % self.agents) + to[inbox % self.agents].index()
    }
}

/// Where a split barrier's generation keeps what a subgroup's agents have released to the workgroup (`far`) or to themselves.
fn carried(subgroup: usize, far: bool) -> usize {
    2 + 2 * subgroup + usize::from(far)
}

/// Whether an earlier access has to be known in memory too.
// clause: barcheck.fence-publishes
fn needs_memory_order(target: Target, kind: AccessKind) -> bool {
    !(matches!(target, Target::Nbarrier | Target::Xegpu) && kind == AccessKind::Read)
}

fn includes(program: &Program, spaces: Spaces, location: LocationId) -> bool {
    match program.array_of(location).space {
        Space::Shared => spaces.shared,
        Space::Global => spaces.global,
    }
}

impl Memory {
    /// What distinguishes an agent in this memory, other agents' names aside: for each access whether it is
    /// its own, and what it knows of it. Equal for interchangeable agents whose roles in memory are equal.
    #[must_use]
    pub fn profile(&self, layout: Layout, agent: AgentId) -> Vec<(LocationId, AccessKind, bool, u8)> {
        let extras = layout.barrier(BarrierId(0), 0) / layout.agents;
        let mut profile: Vec<_> = self
            .accesses
            .iter()
            .map(|access| {
                let knows = (0..extras)
                    .filter(|kind| access.known.has(kind * layout.agents + agent.index()))
                    .map(|kind| 1_u8 << kind)
                    .sum();
                (access.location, access.kind, access.agent == agent, knows)
            })
            .collect();
        profile.sort_unstable();
        profile
    }
}

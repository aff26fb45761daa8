//! Who can hold knowledge of an access.

use crate::barrier::{BarrierId, Carries, Facts, mbarrier};
use crate::program::{
    AccessKind, AgentId, ArrayId, BarrierInstruction, LocationId, MbarrierKind, Means, Op, Program, ProxyOp,
    Transfer,
};

/// Who can hold knowledge of an access, as numbers.
///
/// First what each agent knows in time and in memory, then what the target needs besides (`bcu`: what
/// a warp has published; `split_barrier`: what it has released and received; `ptx`: what it has released,
/// where that matters), then what each barrier's generations carry.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    pub(super) carries: Carries,
    /// Number of mbarrier objects.
    objects: usize,
    /// The barrier of the cluster, where it is used.
    cluster: Option<BarrierId>,
    /// The number after that of the last barrier.
    barriers: usize,
    fences_publish: bool,
    /// What fences have released may travel with later arrivals.
    pub(super) releases: bool,
    /// What waits that are relaxed have seen may be acquired by later fences.
    pub(super) acquires: bool,
    /// There are `cp.async`, whose completion arrivals stand for.
    fills: bool,
    pub(super) agents: usize,
    subgroup_size: usize,
    pub(super) subgroups: usize,
    /// Out of which copies may read.
    stored: Stored,
    /// Into which bulk copies may write.
    landed: Stored,
}

/// The locations that copies may read, or write, in each CTA: from the first up to the last.
#[derive(Clone, Copy, Debug)]
struct Stored {
    first: u32,
    end: u32,
    /// Locations of each CTA.
    declared: u32,
}

impl Layout {
    /// The layout for a program.
    #[must_use]
    pub fn of(program: &Program) -> Self {
        let agents = program.agents.len();
        let subgroup_size = (program.subgroup_size as usize).max(1);
        let &Facts { carries, fences_publish, .. } = program.target.facts();
        let subgroups = agents.div_ceil(subgroup_size);
        let objects = program.objects_in_all() as usize;
        let mut ops = program.roles.iter().flat_map(|role| &role.code.ops);
        let cluster = ops.any(Op::has_phases).then(|| program.cluster_barrier());
        let barriers = program.barrier_numbers() as usize;
        Self {
            carries,
            objects,
            cluster,
            barriers,
            fences_publish,
            releases: program.releases_by_fences(),
            acquires: program.acquires_by_fences(),
            fills: program.fills(),
            agents,
            subgroup_size,
            subgroups,
            stored: Stored::of(program, read_by),
            landed: Stored::of(program, written_by),
        }
    }

    /// Whether copies may read anything.
    #[must_use]
    pub fn has_stores(self) -> bool {
        self.stored.end > 0
    }

    /// Whether copies of the asynchronous proxy may read or write any location.
    #[must_use]
    pub fn asks_for_proxy_fences(self) -> bool {
        self.stored.end > 0 || self.landed.end > 0
    }

    /// Whether copies of the asynchronous proxy may read or write a location.
    #[must_use]
    #[inline]
    pub fn is_of_copies(self, location: LocationId) -> bool {
        self.stored.has(location) || self.landed.has(location)
    }

    /// Whether arrivals for `cp.async` stand for these alone.
    #[must_use]
    pub fn has_fills(self) -> bool {
        self.fills
    }

    /// What an agent knows in time.
    #[must_use]
    #[inline]
    pub fn time(self, agent: AgentId) -> usize {
        agent.index()
    }

    /// What an agent knows in memory.
    #[must_use]
    #[inline]
    pub fn memory(self, agent: AgentId) -> usize {
        self.agents + agent.index()
    }

    /// What an agent holds besides: the meaning of `kind` depends on the target.
    #[inline]
    pub(super) fn extra(self, agent: AgentId, kind: usize) -> usize {
        debug_assert!(kind < self.sizes().0, "it would be what a barrier carries");
        (2 + kind) * self.agents + agent.index()
    }

    /// How many kinds of holders each agent has besides, and how many holders a barrier has.
    #[inline]
    fn sizes(self) -> (usize, usize) {
        match self.carries {
            Carries::All if self.acquires => (4, 4),
            Carries::All if self.releases => (2, 4),
            Carries::All if self.objects > 0 || self.cluster.is_some() => (0, 4),
            Carries::All => (0, 2),
            Carries::Published => (1, 2),
            Carries::Inboxes => (0, 2 + 2 * self.agents),
            Carries::Released => (4, 2 + 4 * self.subgroups),
        }
    }

    /// What an agent's fences have released to other CTAs too (`ptx`).
    #[must_use]
    pub fn released_far(self, agent: AgentId) -> usize {
        self.extra(agent, RELEASED_FAR)
    }

    #[inline]
    pub(super) fn barrier(self, barrier: BarrierId, offset: usize) -> usize {
        let (extras, stride) = self.sizes();
        (2 + extras) * self.agents + barrier.0 as usize * stride + offset
    }

    /// What a barrier's completed phases carry in time and in memory, where waits may come at any later time.
    #[inline]
    pub(super) fn phases(self, barrier: BarrierId) -> Option<[usize; 2]> {
        let is_object = mbarrier::number(barrier).is_some_and(|number| (number as usize) < self.objects);
        (is_object || self.cluster == Some(barrier))
            .then(|| [PHASES_TIME, PHASES_MEMORY].map(|offset| self.barrier(barrier, offset)))
    }

    /// The slots for operations on a barrier, in the order in which they are taken. Each barrier has some of
    /// its own, so that states do not differ by which operation came first.
    pub(crate) fn slots(self, barrier: BarrierId) -> impl Iterator<Item = u16> {
        let number = mbarrier::number(barrier).unwrap_or(0) as usize;
        let own = number * OWN_SLOTS..(number + 1) * OWN_SLOTS;
        own.chain(self.objects * OWN_SLOTS..).map_while(|slot| u16::try_from(slot).ok())
    }

    /// What an operation in flight carries in time and in memory. Slots come after all barriers.
    #[inline]
    pub(super) fn slot(self, slot: u16) -> [usize; 2] {
        let first = self.barrier(BarrierId(u32::try_from(self.barriers).unwrap_or(u32::MAX)), 0);
        [first + 2 * usize::from(slot), first + 2 * usize::from(slot) + 1]
    }

    /// Whether a barrier completes phase after phase, and waits may come for any of them.
    #[must_use]
    pub fn has_phases(self, barrier: BarrierId) -> bool {
        self.phases(barrier).is_some()
    }

    /// What a barrier's present generation carries in time.
    #[must_use]
    #[inline]
    pub fn gathering(self, barrier: BarrierId) -> usize {
        self.barrier(barrier, GENERATION_TIME)
    }

    /// What a barrier's present generation carries in memory.
    #[must_use]
    #[inline]
    pub fn gathering_in_memory(self, barrier: BarrierId) -> usize {
        self.barrier(barrier, GENERATION_MEMORY)
    }

    #[inline]
    pub(super) fn subgroup(self, agent: AgentId) -> usize {
        agent.index() / self.subgroup_size
    }

    /// A split barrier that several agents share; an invocation's own barrier orders nothing between agents.
    #[inline]
    pub(super) fn is_shared(self, barrier: BarrierId) -> bool {
        self.carries != Carries::Released || barrier.0 as usize <= self.subgroups
    }

    /// The number of a holder after agents have been renamed.
    pub(super) fn renamed(self, holder: usize, to: &[AgentId]) -> usize {
        let first = self.barrier(BarrierId(0), 0);
        if holder < first {
            return holder - holder % self.agents + to[holder % self.agents].index();
        }
        if self.carries != Carries::Inboxes {
            return holder;
        }
        let offset = (holder - first) % (2 + 2 * self.agents);
        if offset < 2 {
            return holder;
        }
        let inbox = offset - 2;
        holder - inbox + (inbox - inbox % self.agents) + to[inbox % self.agents].index()
    }

    /// Whether an earlier access has to be known in memory too.
    // clause: barcheck.fence-publishes
    #[must_use]
    #[inline]
    pub fn needs_memory_order(self, kind: AccessKind) -> bool {
        !(self.has_fences() && kind == AccessKind::Read)
    }

    /// An access becomes known in memory only by its own agent's fence, from its very execution otherwise.
    // clause: nbarrier.no-memory
    #[must_use]
    #[inline]
    pub fn has_fences(self) -> bool {
        self.fences_publish
    }
}

impl Stored {
    fn has(self, location: LocationId) -> bool {
        let Self { first, end, declared } = self;
        end > 0 && (first..end).contains(&(location.0 % declared.max(1)))
    }

    fn of(program: &Program, touched: fn(&Op) -> Option<ArrayId>) -> Self {
        let declared = program.locations() / (program.ctas as usize).max(1);
        let mut stored =
            Self { first: u32::MAX, end: 0, declared: u32::try_from(declared).unwrap_or(u32::MAX) };
        for op in program.roles.iter().flat_map(|role| &role.code.ops) {
            if let Some(array) = touched(op) {
                let array = &program.arrays[array.index()];
                let end = array.first.0 + array.length.unwrap_or(1);
                (stored.first, stored.end) = (stored.first.min(array.first.0), stored.end.max(end));
            }
        }
        stored
    }
}

/// The array out of which an instruction lets a copy read.
fn read_by(op: &Op) -> Option<ArrayId> {
    match op {
        Op::Proxy(ProxyOp::Begin(Transfer::Store, array, _)) => Some(*array),
        Op::Barrier(BarrierInstruction::Mbarrier(op)) => match op.kind {
            MbarrierKind::Copy { by: Means::Across(array, _), .. } => Some(array),
            _ => None,
        },
        _ => None,
    }
}

/// The array into which it lets a bulk copy write.
fn written_by(op: &Op) -> Option<ArrayId> {
    let Op::Barrier(BarrierInstruction::Mbarrier(op)) = op else { return None };
    match &op.kind {
        MbarrierKind::Copy { to: Some((array, _)), by: Means::Bulk | Means::Across(..), .. } => Some(*array),
        _ => None,
    }
}

/// `bcu`: what a warp knew when a SYNC or RED released it.
pub(super) const PUBLISHED: usize = 0;
/// `split_barrier`: released by an `OpMemoryBarrier` to the workgroup; `ptx`: by a fence to other CTAs too.
pub(super) const RELEASED_FAR: usize = 0;
/// `split_barrier`: released by an `OpMemoryBarrier` to the subgroup only; `ptx`: by a fence to the own CTA.
pub(super) const RELEASED_NEAR: usize = 1;
/// `split_barrier`: received by waits from other subgroups, whether acquired or not; `ptx`: by relaxed waits,
/// so that fences of the cluster alone acquire it.
pub(super) const RECEIVED_FAR: usize = 2;
/// `split_barrier`: received by waits from the agent's own subgroup; `ptx`: by relaxed waits, so that a fence
/// of the CTA acquires it.
pub(super) const RECEIVED_NEAR: usize = 3;

/// What the generation carries in time.
pub(super) const GENERATION_TIME: usize = 0;
/// What the generation carries in memory (`split_barrier`: what the completed one carries in time).
pub(super) const GENERATION_MEMORY: usize = 1;
/// Slots of each mbarrier object for what is in flight. More in flight at a time take others.
const OWN_SLOTS: usize = 4;
/// mbarrier objects: what the completed phases carry in time.
const PHASES_TIME: usize = 2;
/// mbarrier objects: what the completed phases carry in memory.
const PHASES_MEMORY: usize = 3;
/// `split_barrier`: what the completed generation carries in time.
pub(super) const DONE_TIME: usize = 1;

/// Where a split barrier's generation keeps what a subgroup's agents have released to the workgroup (`far`)
/// or to themselves.
#[inline]
pub(super) fn carried(subgroup: usize, far: bool) -> usize {
    2 + 2 * subgroup + usize::from(far)
}

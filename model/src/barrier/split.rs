//! `SPV_INTEL_split_barrier`: `OpControlBarrierArriveINTEL`, `OpControlBarrierWaitINTEL`, beside
//! `OpControlBarrier`.
//!
//! Source: SPV_INTEL_split_barrier, revision 1; for the pairing of arrive and wait also
//! cl_intel_split_work_group_barrier and the Vulkan environment for SPIR-V.

pub use super::facts::Instance;
use super::facts::{
    Announced, Applied, Around, Arrival, BarrierState, Blocking, Carries, Dependence, Facts, Instruction,
    Nothing, Part, Standing, System,
};
use super::{BarrierId, Completion, Effect, NotModelled, Progress, Refusal, Seat};
use crate::program::{AgentId, Program, Scope, Semantics, SplitKind};
use crate::rule::{Level, Rule};

/// The workgroup and its division into subgroups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Workgroup {
    /// Invocations in the workgroup.
    pub invocations: u32,
    /// Invocations in a subgroup; the last may be smaller.
    pub subgroup_size: u32,
}

impl Workgroup {
    /// The workgroup of a protocol.
    #[must_use]
    pub fn of(program: &Program) -> Self {
        Self { invocations: program.threads, subgroup_size: program.subgroup_size }
    }

    /// Number of subgroups.
    #[must_use]
    pub fn subgroups(self) -> u32 {
        self.invocations.div_ceil(self.subgroup_size)
    }

    /// The subgroup of an invocation.
    #[must_use]
    pub fn subgroup_of(self, agent: AgentId) -> u32 {
        agent.0 / self.subgroup_size
    }

    /// The barrier of an execution scope, as `agent` sees it: the workgroup's is 0, then one for each
    /// subgroup, then one for each invocation by itself.
    ///
    /// # Errors
    /// The device is not modelled.
    pub fn barrier_of(self, scope: Scope, agent: AgentId) -> Result<BarrierId, NotModelled> {
        // clause: split_barrier.execution-scope
        match scope {
            Scope::Workgroup => Ok(BarrierId(0)),
            Scope::Subgroup => Ok(BarrierId(1 + self.subgroup_of(agent))),
            Scope::Invocation => Ok(BarrierId(1 + self.subgroups() + agent.0)),
            // clause: split_barrier.device-scope
            Scope::Device => Err(NotModelled::DeviceScope),
        }
    }

    /// The scope that a barrier belongs to.
    #[must_use]
    pub fn scope_of(self, barrier: BarrierId) -> Scope {
        match barrier.0 {
            0 => Scope::Workgroup,
            n if n <= self.subgroups() => Scope::Subgroup,
            _ => Scope::Invocation,
        }
    }

    /// Number of invocations that share a barrier.
    #[must_use]
    pub fn members(self, barrier: BarrierId) -> u32 {
        match self.scope_of(barrier) {
            Scope::Subgroup => {
                let first = (barrier.0 - 1) * self.subgroup_size;
                self.subgroup_size.min(self.invocations - first)
            }
            Scope::Invocation => 1,
            Scope::Workgroup | Scope::Device => self.invocations,
        }
    }
}

/// The barrier of an execution scope; see [`Workgroup::barrier_of`].
///
/// # Errors
/// The device is not modelled.
pub fn barrier_of(group: Workgroup, scope: Scope, agent: AgentId) -> Result<BarrierId, NotModelled> {
    group.barrier_of(scope, agent)
}

/// The state of a barrier: the generation that gathers, and what is left of the one before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Barrier {
    /// Agents that have arrived in the gathering generation.
    pub arrived: u32,
    /// Those of them that block already.
    pub waiting: u32,
    /// The instance from which they arrived.
    pub arrive: Option<Instance>,
    /// The instance from which those that block wait.
    pub wait: Option<Instance>,
    /// Agents of the completed generation that have yet to wait.
    pub unwaited: u32,
    /// The instance from which others of the completed generation waited.
    pub past_wait: Option<Instance>,
}

/// As a state keeps it: in a box, since it is much larger than those of other systems.
pub type Kept = Box<Barrier>;

/// Two agents meet from different dynamic instances.
fn meet(scope: Scope, there: Option<&Instance>, here: &Instance) -> Result<(), Refusal> {
    // clause: split_barrier.arrive-uniform, split_barrier.wait-uniform, barcheck.same-instance
    if there.is_none_or(|i| i == here) {
        return Ok(());
    }
    Err(if scope == Scope::Workgroup {
        Rule::NonuniformBarrier.into()
    } else {
        // clause: split_barrier.subgroup-client
        Refusal::NotModelled(NotModelled::SubgroupDivergence)
    })
}

/// An agent arrives at the barrier of `scope` that `members` agents share; with `waits`
/// (`OpControlBarrier`) it also waits.
///
/// # Errors
/// `repeated-arrival`, `nonuniform-barrier`; different instances in a subgroup are not modelled.
// clause: split_barrier.overview
pub fn arrive(
    scope: Scope,
    members: u32,
    barrier: &Barrier,
    seat: Seat,
    instance: &Instance,
    waits: bool,
) -> Result<Effect<Barrier>, Refusal> {
    // clause: split_barrier.opencl-no-second-arrive, split_barrier.vulkan-no-second-arrive
    // clause: barcheck.whole-barrier-counts
    if seat.arrived || seat.notified {
        return Err(Rule::RepeatedArrival.into());
    }
    // clause: split_barrier.arrive-uniform, split_barrier.opencl-all-arrive
    meet(scope, barrier.arrive.as_ref(), instance)?;
    let mut next = barrier.clone();
    next.arrived += 1;
    next.arrive = Some(instance.clone());
    if waits {
        // clause: split_barrier.control-barrier
        meet(scope, barrier.wait.as_ref(), instance)?;
        next.waiting += 1;
        next.wait = Some(instance.clone());
    }
    // clause: split_barrier.execution-scope
    let full = next.arrived == members;
    let completed = full.then_some(Completion {
        result: None,
        takes_in_exited: false,
        nobody_waits: next.waiting == 0,
        up_to: None,
    });
    if full {
        let unwaited = next.arrived - next.waiting;
        let past_wait = next.wait.filter(|_| unwaited > 0);
        next = Barrier { unwaited, past_wait, ..Barrier::default() };
    }
    Ok(Effect {
        barrier: next,
        seat: Seat { arrived: true, waiting: waits, ..Seat::default() },
        // clause: split_barrier.arrive
        progress: if waits { Progress::Block } else { Progress::Pass },
        completed,
        notes: &[],
    })
}

/// An agent waits for the generation in which it has arrived.
///
/// # Errors
/// `wait-without-arrive`, `nonuniform-barrier`; different instances in a subgroup are not modelled.
pub fn wait(
    scope: Scope,
    barrier: &Barrier,
    seat: Seat,
    instance: &Instance,
) -> Result<Effect<Barrier>, Refusal> {
    let mut next = barrier.clone();
    if seat.notified {
        // clause: split_barrier.wait-uniform, split_barrier.opencl-all-wait
        meet(scope, barrier.past_wait.as_ref(), instance)?;
        next.unwaited -= 1;
        next.past_wait = (next.unwaited > 0).then(|| instance.clone());
        let seat = Seat { notified: false, ..seat };
        return Ok(Effect { barrier: next, seat, progress: Progress::Pass, completed: None, notes: &[] });
    }
    // clause: split_barrier.opencl-wait-after-arrive, split_barrier.vulkan-wait-after-arrive
    if !seat.arrived {
        return Err(Rule::WaitWithoutArrive.into());
    }
    // clause: split_barrier.wait-uniform, split_barrier.opencl-all-wait
    meet(scope, barrier.wait.as_ref(), instance)?;
    next.waiting += 1;
    next.wait = Some(instance.clone());
    let seat = Seat { waiting: true, ..seat };
    // clause: split_barrier.wait
    Ok(Effect { barrier: next, seat, progress: Progress::Block, completed: None, notes: &[] })
}

/// What the completion of a generation makes of a seat: blocked agents go on, the others may pass their wait.
#[must_use]
pub fn complete(seat: Seat) -> Seat {
    Seat { notified: seat.notified || seat.arrived && !seat.waiting, ..Seat::default() }
}

/// Split barriers.
#[derive(Clone, Copy, Debug)]
pub struct Split;

impl System for Split {
    const FACTS: Facts = Facts {
        name: "split_barrier",
        agent_noun: "invocation",
        has_lanes: false,
        rules: &[Rule::NonuniformBarrier, Rule::WaitWithoutArrive, Rule::MissingWait],
        levels: &[(Rule::MissingWait, Level::Error)],
        waits_free: false,
        time_is_memory: false,
        fences_publish: false,
        exits_may_release: false,
        repeats_may_count: false,
        // clause: split_barrier.execution-scope
        has_subgroups: true,
        notes_nobody_waits: false,
        carries: Carries::Released,
        has_room: false,
    };

    #[inline]
    fn complete(seat: Seat) -> Result<Seat, Rule> {
        Ok(complete(seat))
    }

    // clause: split_barrier.opencl-all-wait
    fn owes_wait(seat: Seat) -> bool {
        seat.notified || seat.arrived
    }
}

impl BarrierState for Barrier {
    type Operation = Nothing;

    #[inline]
    fn is_initial(&self) -> bool {
        *self == Self::default()
    }

    fn holds_arrivals(&self) -> bool {
        self.arrived > 0
    }

    fn depends_on_exits(&self, _release: bool) -> bool {
        false
    }

    /// All share what their generation carries, until the last of them has waited.
    fn is_kept_for_waits(&self) -> bool {
        self.unwaited > 0
    }

    /// Arrivals announce nothing.
    fn room(&self, announced: Announced) -> Option<(u32, u32)> {
        announced.room()
    }

    fn instances(&self) -> [Option<&Instance>; 2] {
        [self.arrive.as_ref(), self.past_wait.as_ref()]
    }

    // clause: barcheck.exits-release-nothing
    fn completed_by_exit(&self, _id: BarrierId, _around: &impl Around) -> Option<(Self, Completion)> {
        None
    }
}

/// `OpControlBarrierArriveINTEL`, `OpControlBarrierWaitINTEL` or `OpControlBarrier`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    /// Arrive, wait, or both.
    pub kind: SplitKind,
    /// The barrier.
    pub barrier: BarrierId,
    /// Its scope.
    pub scope: Scope,
    /// Agents that share it.
    pub members: u32,
    /// The dynamic instance.
    pub instance: Instance,
    /// Memory scope.
    pub memory: Scope,
    /// Memory semantics.
    pub semantics: Semantics,
}

impl Instruction for Action {
    type Barrier = Barrier;

    #[inline]
    fn barrier(&self) -> BarrierId {
        self.barrier
    }

    fn part(&self) -> Part {
        match self.kind {
            SplitKind::Arrive | SplitKind::Both | SplitKind::MemoryBarrier => Part::Arrives,
            SplitKind::Wait => Part::Waits,
        }
    }

    fn standing(&self) -> Option<Standing> {
        None
    }

    fn dependence(&self, _release: bool) -> Dependence {
        Dependence::Barrier
    }

    fn ordering(&self) -> Option<(Scope, Semantics)> {
        Some((self.memory, self.semantics))
    }

    fn with_pick(&self, _pick: u32) -> Self {
        self.clone()
    }

    fn blocking(&self) -> Blocking {
        match self.kind {
            SplitKind::Wait => Blocking::Sometimes,
            SplitKind::Both => Blocking::Always,
            SplitKind::Arrive | SplitKind::MemoryBarrier => Blocking::Never,
        }
    }

    fn may_overtake_wait(&self, _seat: Seat) -> bool {
        false
    }

    fn is_alone(&self) -> bool {
        self.members == 1
    }

    fn is_by_fragment(&self) -> bool {
        false
    }

    fn most_counted(&self, _threads: u32) -> Option<u32> {
        None
    }

    #[inline]
    fn apply(
        &self,
        barrier: &Barrier,
        seat: Seat,
        _pick: u32,
        _around: &impl Around,
    ) -> Result<Applied<Barrier>, Refusal> {
        let Self { kind, scope, members, ref instance, memory, semantics, .. } = *self;
        if kind == SplitKind::Wait {
            // clause: split_barrier.wait-memory
            return Ok(Applied::Waits(wait(scope, barrier, seat, instance)?, Some((memory, semantics))));
        }
        let effect = arrive(scope, members, barrier, seat, instance, kind == SplitKind::Both)?;
        // clause: split_barrier.arrive-memory
        Ok(Applied::Arrives(effect, Arrival::Releasing(memory, semantics)))
    }
}

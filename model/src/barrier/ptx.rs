//! PTX ISA, `barrier{.cta}` and `bar{.cta}`: sixteen barriers in a CTA, counted in whole warps.
//!
//! Source: PTX ISA, section `barrier{.cta}` / `bar{.cta}`.

use super::facts::{
    Announced, Applied, Around, Arrival, BarrierState, Blocking, Carries, Dependence, Facts, Instruction,
    Nothing, Part, Standing, System,
};
use super::{BarrierId, Completion, Effect, Progress, Refusal, Seat};
use crate::program::{ReductionOp, Scope, Semantics, WARP_SIZE};
use crate::rule::Rule;

/// Barriers 0..=15.
// clause: ptx.sixteen-barriers
pub const BARRIERS: i64 = 16;

/// What a warp does when it arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operation {
    /// `sync`: arrive and wait.
    Sync,
    /// `arrive`: arrive and go on.
    Arrive,
    /// `red`: arrive, contribute to a reduction, and wait.
    Red(ReductionOp),
}

impl Operation {
    /// The operator of a reduction.
    #[must_use]
    #[inline]
    pub fn reduction(self) -> Option<ReductionOp> {
        match self {
            Self::Sync | Self::Arrive => None,
            Self::Red(op) => Some(op),
        }
    }

    #[inline]
    fn class(self) -> Class {
        match self {
            // clause: ptx.producer-consumer, ptx.count-agrees
            Self::Sync | Self::Arrive => Class::Plain,
            Self::Red(op) => Class::Red(op),
        }
    }
}

/// The class of an active barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// sync and arrive.
    Plain,
    /// Reductions with one operator.
    Red(ReductionOp),
}

/// Id, count and operation of a barrier instruction, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Announcement {
    /// The barrier.
    pub id: BarrierId,
    /// Threads expected; a missing operand means the CTA in whole warps.
    pub expected: u32,
    /// The count was left out.
    pub all: bool,
    /// The operation.
    pub operation: Operation,
}

impl Announcement {
    /// Findings about the instruction by itself, whatever the barrier's state.
    #[must_use]
    #[inline]
    pub fn notes(&self) -> &'static [Rule] {
        // clause: barcheck.reserved-barrier
        if self.id.0.is_multiple_of(16) && !self.all { &[Rule::ReservedBarrier] } else { &[] }
    }
}

/// The CTA as the barriers see it.
// clause: ptx.cta-scope, ptx.cta-qualifier
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cta {
    /// Warps in the CTA.
    pub warps: u32,
    /// The PTX 9.1 reading: a barrier on which somebody waits is also released once every warp that has not
    /// arrived has exited.
    // clause: barcheck.exited-switch
    pub exits_release: bool,
    /// Each arrival of a warp counts at a barrier with a count of its own.
    // clause: barcheck.repeated-switch
    pub repeats_count: bool,
}

impl Cta {
    /// Threads of the CTA rounded up to whole warps.
    #[must_use]
    #[inline]
    pub fn threads(self) -> u32 {
        self.warps * WARP_SIZE
    }
}

/// Checks the operands: id, then count.
///
/// # Errors
/// `barrier-id-range`, `arrive-needs-count`, `count-range`, in this order.
// clause: ptx.operand-types
pub fn check_operands(
    cta: Cta,
    operation: Operation,
    id: i64,
    count: Option<i64>,
) -> Result<Announcement, Rule> {
    // clause: ptx.sixteen-barriers
    if !(0..BARRIERS).contains(&id) {
        return Err(Rule::BarrierIdRange);
    }
    // clause: ptx.arrive-count
    if operation == Operation::Arrive && count.unwrap_or(0) == 0 {
        return Err(Rule::ArriveNeedsCount);
    }
    let expected = match count {
        // clause: ptx.count-default, barcheck.count-missing-is-size
        None => cta.threads(),
        Some(n) => u32::try_from(n)
            .ok()
            // clause: ptx.count-multiple, barcheck.count-zero, barcheck.count-bound
            .filter(|n| *n > 0 && n.is_multiple_of(WARP_SIZE) && *n <= cta.threads())
            .ok_or(Rule::CountRange)?,
    };
    #[expect(clippy::cast_sign_loss, clippy::cast_possible_truncation, reason = "checked to be 0..=15")]
    let id = BarrierId(id as u32);
    Ok(Announcement { id, expected, all: count.is_none(), operation })
}

/// The state of a barrier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Barrier {
    /// No arrival since the last completion.
    #[default]
    Idle,
    /// Gathering arrivals.
    Active {
        /// Threads expected.
        expected: u32,
        /// Every arrival so far left the count out: all live warps are awaited.
        all: bool,
        /// What may be mixed.
        class: Class,
        /// Warps that have arrived; each counts [`WARP_SIZE`] threads.
        arrived: u32,
        /// Those of them that block.
        waiting: u32,
        /// Lanes that contributed, and those of them whose predicate was true, as far as the operator needs
        /// it.
        predicates: u32,
    },
}

/// As a state keeps it.
pub type Kept = Barrier;

/// The neutral element, and how a contribution of `lanes` lanes with `truths` true predicates joins.
fn reduce(op: ReductionOp, before: Option<u32>, truths: u32, lanes: u32) -> u32 {
    match op {
        // clause: ptx.red-popc
        ReductionOp::Popc => before.unwrap_or(0) + truths,
        // clause: ptx.red-and-or
        ReductionOp::And => before.unwrap_or(1) & u32::from(truths == lanes),
        ReductionOp::Or => before.unwrap_or(0) | u32::from(truths > 0),
    }
}

/// The predicates that a warp contributes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Contribution {
    /// Lanes that execute the instruction.
    pub lanes: u32,
    /// Those whose predicate is true.
    pub truths: u32,
}

impl Contribution {
    /// The contribution once `open` predicates are picked: for POPC their number, otherwise all or none.
    #[must_use]
    #[inline]
    pub fn with_pick(self, op: Option<ReductionOp>, open: u32, pick: u32) -> Self {
        let truths = match op {
            Some(ReductionOp::Popc) => pick,
            Some(ReductionOp::And | ReductionOp::Or) | None => pick * open,
        };
        Self { truths: self.truths + truths, ..self }
    }
}

/// A fragment parked at a non-aligned barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Parked {
    /// The barrier instruction, operands checked.
    pub what: Announcement,
    /// Its lanes' predicates.
    pub contribution: Contribution,
}

/// A warp arrives. `exited` counts the warps that have exited without having arrived in this generation.
///
/// # Errors
/// `mixed-red`, `mixed-red-op`, `count-mismatch`, `repeated-arrival`, in this order.
#[inline]
pub fn arrive(
    cta: Cta,
    barrier: Barrier,
    seat: Seat,
    what: Announcement,
    contribution: Contribution,
    exited: u32,
) -> Result<Effect<Barrier>, Rule> {
    let class = what.operation.class();
    let (mut all, mut arrived, mut waiting, mut before) = (what.all, 0, 0, None);
    if let Barrier::Active { expected, all: a, class: c, arrived: n, waiting: w, predicates } = barrier {
        match (c, class) {
            (Class::Plain, Class::Plain) => {}
            // clause: barcheck.mixed-red-op
            (Class::Red(x), Class::Red(y)) if x != y => return Err(Rule::MixedRedOp),
            (Class::Red(_), Class::Red(_)) => {}
            // clause: ptx.red-not-mixed
            _ => return Err(Rule::MixedRed),
        }
        // clause: ptx.count-agrees
        if expected != what.expected {
            return Err(Rule::CountMismatch);
        }
        // clause: ptx.more-than-intended, barcheck.repeated-switch
        if seat.arrived && (what.all || !cta.repeats_count) {
            return Err(Rule::RepeatedArrival);
        }
        // clause: barcheck.count-missing-is-size
        (all, arrived, waiting, before) = (a && what.all, n, w, Some(predicates));
    }
    // clause: ptx.signals-arrival, ptx.warp-arrival
    arrived += 1;
    let blocks = what.operation != Operation::Arrive;
    waiting += u32::from(blocks);
    let predicates = match what.operation {
        // clause: ptx.red-combine
        Operation::Red(op) => reduce(op, before, contribution.truths, contribution.lanes),
        Operation::Sync | Operation::Arrive => 0,
    };
    let joined = Barrier::Active { expected: what.expected, all, class, arrived, waiting, predicates };
    let completed = completion(cta, joined, exited);
    Ok(Effect {
        // clause: ptx.complete-reinit
        barrier: if completed.is_some() { Barrier::Idle } else { joined },
        seat: Seat { arrived: true, waiting: blocks, ..Seat::default() },
        // clause: ptx.sync-waits, ptx.no-new-access, ptx.arrive-no-wait
        progress: if blocks { Progress::Block } else { Progress::Pass },
        completed,
        notes: what.notes(),
    })
}

/// Whether the generation is complete, given the warps that have exited without arriving in it.
/// Asked at every arrival and at every exit.
#[must_use]
#[inline]
pub fn completion(cta: Cta, barrier: Barrier, exited: u32) -> Option<Completion> {
    let Barrier::Active { expected, all, class, arrived, waiting, predicates } = barrier else {
        return None;
    };
    let full = arrived * WARP_SIZE == expected;
    let others_gone = arrived + exited == cta.warps;
    // clause: ptx.exited-threads, barcheck.exited-switch
    let released_by_exits = others_gone && (all || cta.exits_release && waiting > 0);
    (full || released_by_exits).then_some(Completion {
        result: match class {
            // clause: ptx.red-result
            Class::Red(_) => Some(predicates),
            Class::Plain => None,
        },
        takes_in_exited: all || !full,
        // clause: barcheck.nobody-waits
        nobody_waits: waiting == 0,
        up_to: None,
    })
}

/// What the completion of a generation makes of a seat: waiting warps go on, everybody is out.
#[must_use]
// clause: ptx.complete-reinit
#[inline]
pub fn complete(seat: Seat) -> Seat {
    // clause: ptx.mbarrier-token, ptx.cluster-wait
    Seat { notified: seat.consumer && !seat.waiting, token: seat.token.aged(), ..Seat::default() }
}

/// PTX barriers.
#[derive(Clone, Copy, Debug)]
pub struct Ptx;

impl System for Ptx {
    const FACTS: Facts = Facts {
        name: "ptx",
        agent_noun: "warp",
        has_lanes: true,
        rules: &[
            Rule::CountMismatch,
            Rule::CountRange,
            Rule::BarrierIdRange,
            Rule::ArrivalRace,
            Rule::DanglingArrival,
            Rule::ArriveNeedsCount,
            Rule::PartialWarp,
            Rule::ReservedBarrier,
            Rule::MixedRed,
            Rule::MixedRedOp,
            Rule::NobodyWaits,
            Rule::InFlightAtExit,
            Rule::CommitAtExit,
            Rule::MbarrierLive,
            Rule::MbarrierNotLive,
            Rule::NoComplete,
            Rule::OverArrival,
            Rule::OverDelivery,
            Rule::ParityRange,
            Rule::StaleCompletion,
            Rule::StaleToken,
            Rule::TxRange,
            Rule::UnobservedPhase,
            Rule::WaitWithoutArrive,
            Rule::RemoteAfterExit,
        ],
        levels: &[],
        waits_free: false,
        time_is_memory: true,
        fences_publish: false,
        exits_may_release: true,
        repeats_may_count: true,
        has_subgroups: false,
        notes_nobody_waits: true,
        carries: Carries::All,
        has_room: true,
    };

    #[inline]
    fn complete(seat: Seat) -> Result<Seat, Rule> {
        Ok(complete(seat))
    }

    fn owes_wait(_seat: Seat) -> bool {
        false
    }
}

impl BarrierState for Barrier {
    type Operation = Nothing;

    #[inline]
    fn is_initial(&self) -> bool {
        *self == Self::default()
    }

    fn holds_arrivals(&self) -> bool {
        *self != Self::Idle
    }

    fn depends_on_exits(&self, release: bool) -> bool {
        match self {
            Self::Idle => false,
            Self::Active { all, .. } => *all || release,
        }
    }

    fn is_kept_for_waits(&self) -> bool {
        false
    }

    fn room(&self, announced: Announced) -> Option<(u32, u32)> {
        match *self {
            Self::Idle => announced.room(),
            Self::Active { expected, all, arrived, .. } => {
                let whole = expected / WARP_SIZE;
                let left = whole - arrived;
                (announced == Announced::Whole(whole) && !all).then_some((left, left))
            }
        }
    }

    // clause: ptx.exited-threads
    fn completed_by_exit(&self, id: BarrierId, around: &impl Around) -> Option<(Self, Completion)> {
        let completed = completion(Cta::of(id, around), *self, around.exited_outside(id))?;
        Some((Self::Idle, completed))
    }
}

impl Cta {
    #[inline]
    fn of(barrier: BarrierId, around: &impl Around) -> Self {
        let repeats_count = around.repeats_count();
        let exits_release = around.exits_release() && !repeats_count;
        Self { warps: around.agents(barrier), exits_release, repeats_count }
    }
}

/// A warp's arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Action {
    /// The instruction, operands checked.
    pub what: Announcement,
    /// The predicates that are known.
    pub contribution: Contribution,
    /// Lanes whose predicate is open (`?`).
    pub open: u32,
}

impl Instruction for Action {
    type Barrier = Barrier;

    #[inline]
    fn barrier(&self) -> BarrierId {
        self.what.id
    }

    fn part(&self) -> Part {
        Part::Arrives
    }

    fn standing(&self) -> Option<Standing> {
        let announced = Announced::Whole(self.what.expected / WARP_SIZE);
        Some(Standing { barrier: self.what.id, announced, produces: true, consumes: true })
    }

    fn dependence(&self, release: bool) -> Dependence {
        if release {
            Dependence::More
        } else if self.what.all {
            Dependence::BarrierAndExits
        } else {
            Dependence::Barrier
        }
    }

    fn ordering(&self) -> Option<(Scope, Semantics)> {
        None
    }

    fn with_pick(&self, pick: u32) -> Self {
        let operator = self.what.operation.reduction();
        let contribution = self.contribution.with_pick(operator, self.open, pick);
        Self { contribution, open: 0, ..*self }
    }

    fn blocking(&self) -> Blocking {
        match self.what.operation {
            Operation::Arrive => Blocking::Never,
            Operation::Sync | Operation::Red(_) => Blocking::Always,
        }
    }

    fn may_overtake_wait(&self, _seat: Seat) -> bool {
        false
    }

    fn is_alone(&self) -> bool {
        false
    }

    // clause: ptx.warp-arrival
    fn is_by_fragment(&self) -> bool {
        false
    }

    fn most_counted(&self, threads: u32) -> Option<u32> {
        Some(threads)
    }

    #[inline]
    fn apply(
        &self,
        barrier: &Barrier,
        seat: Seat,
        pick: u32,
        around: &impl Around,
    ) -> Result<Applied<Barrier>, Refusal> {
        let Self { what, contribution, open } = *self;
        let cta = Cta::of(self.what.id, around);
        let contribution = contribution.with_pick(what.operation.reduction(), open, pick);
        // Nobody else's exit matters to an arrival with a count of its own.
        let exited = if what.all || cta.exits_release { around.exited_outside(what.id) } else { 0 };
        let effect = arrive(cta, *barrier, seat, what, contribution, exited)?;
        // clause: ptx.prior-performed
        Ok(Applied::Arrives(effect, Arrival::Publishing))
    }
}

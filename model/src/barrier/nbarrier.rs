//! Intel vISA `NBARRIER`: 32 named barriers in a thread group, with producers and consumers.
//!
//! Source: Intel vISA, NBARRIER (opcode 0x60).

use super::facts::{
    Announced, Applied, Around, Arrival, BarrierState, Blocking, Carries, Dependence, Facts, Instruction,
    Nothing, Part, Standing, System,
};
use super::{BarrierId, Completion, Effect, Progress, Refusal, Seat};
use crate::program::{Scope, Semantics};
use crate::rule::Rule;

/// Barriers 0..=31.
// clause: nbarrier.id-range, barcheck.xegpu-id-range
pub const BARRIERS: i64 = 32;

/// The type of a signal.
// clause: nbarrier.type-roles
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Type 0: counts as a producer and as a consumer.
    Both,
    /// Type 1: producer only.
    Producer,
    /// Type 2: consumer only.
    Consumer,
}

impl Kind {
    /// Counts among the producers.
    #[must_use]
    pub fn produces(self) -> bool {
        self != Self::Consumer
    }

    /// Counts among the consumers.
    #[must_use]
    pub fn consumes(self) -> bool {
        self != Self::Producer
    }
}

/// A signal's operands, checked.
// clause: nbarrier.named-barrier
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Announcement {
    /// The barrier.
    pub id: BarrierId,
    /// The type.
    pub kind: Kind,
    /// Producers announced.
    pub producers: u32,
    /// Consumers announced.
    pub consumers: u32,
}

/// Checks a barrier id.
///
/// # Errors
/// `barrier-id-range`.
pub fn check_id(id: i64) -> Result<BarrierId, Rule> {
    // clause: nbarrier.id-range
    u32::try_from(id).ok().filter(|id| i64::from(*id) < BARRIERS).map(BarrierId).ok_or(Rule::BarrierIdRange)
}

/// Checks a number of participants against the size of the group.
///
/// # Errors
/// `count-range`.
pub fn check_count(count: i64, group: u32) -> Result<u32, Rule> {
    // clause: nbarrier.thread-group-model, nbarrier.producers-range, nbarrier.consumers-range
    u32::try_from(count).ok().filter(|n| (1..=group).contains(n)).ok_or(Rule::CountRange)
}

/// Checks the operands of a signal; the baseline form is type 0 with both counts equal.
///
/// # Errors
/// `barrier-id-range`, `type-range`, `count-range`, in this order.
pub fn check_signal(
    id: i64,
    kind: i64,
    producers: i64,
    consumers: i64,
    group: u32,
) -> Result<Announcement, Rule> {
    let id = check_id(id)?;
    // clause: nbarrier.type-range, nbarrier.type-roles
    let kind = match kind {
        0 => Kind::Both,
        1 => Kind::Producer,
        2 => Kind::Consumer,
        _ => return Err(Rule::TypeRange),
    };
    // clause: nbarrier.producers-range
    let producers = check_count(producers, group)?;
    // clause: nbarrier.consumers-range
    let consumers = check_count(consumers, group)?;
    Ok(Announcement { id, kind, producers, consumers })
}

/// A generation that is gathering signals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Gathering {
    /// Producers announced.
    pub producers: u32,
    /// Consumers announced.
    pub consumers: u32,
    /// Producers that have signalled.
    pub produced: u32,
    /// Consumers that have signalled.
    pub consumed: u32,
    /// Consumers that block already.
    pub waiting: u32,
}

/// The state of a barrier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Barrier {
    /// The active generation, `None` when idle.
    pub gathering: Option<Gathering>,
    /// Consumers of completed generations that have yet to finish their wait.
    pub unwaited: u32,
}

/// As a state keeps it.
pub type Kept = Barrier;

/// A thread signals.
///
/// # Errors
/// `count-mismatch`, `repeated-arrival`, `too-many-participants`, in this order. The completion may
/// still fail for a consumer: see [`complete`].
pub fn signal(barrier: Barrier, seat: Seat, what: Announcement) -> Result<Effect<Barrier>, Rule> {
    let mut now = barrier.gathering.unwrap_or(Gathering {
        producers: what.producers,
        consumers: what.consumers,
        produced: 0,
        consumed: 0,
        waiting: 0,
    });
    // clause: nbarrier.participants-agree
    if (now.producers, now.consumers) != (what.producers, what.consumers) {
        return Err(Rule::CountMismatch);
    }
    // clause: nbarrier.signal-notifies
    if seat.arrived {
        return Err(Rule::RepeatedArrival);
    }
    // clause: nbarrier.type-roles, barcheck.type-0-counts-twice
    now.produced += u32::from(what.kind.produces());
    now.consumed += u32::from(what.kind.consumes());
    // clause: nbarrier.participant-total
    if now.produced > now.producers || now.consumed > now.consumers {
        return Err(Rule::TooManyParticipants);
    }
    // clause: nbarrier.wait-blocks
    let full = now.produced == now.producers && now.consumed == now.consumers;
    let completed = full.then_some(Completion {
        result: None,
        takes_in_exited: false,
        nobody_waits: now.waiting == 0,
        up_to: None,
    });
    // clause: nbarrier.free-after-waits
    let notes: &[Rule] = if barrier.unwaited > 0 { &[Rule::ReuseBeforeFree] } else { &[] };
    let barrier = if full {
        Barrier { gathering: None, unwaited: barrier.unwaited + now.consumed - now.waiting }
    } else {
        Barrier { gathering: Some(now), ..barrier }
    };
    let seat = Seat {
        arrived: true,
        consumer: what.kind.consumes(),
        produced_last: what.kind == Kind::Producer,
        ..seat
    };
    // clause: nbarrier.signal-notifies
    Ok(Effect { barrier, seat, progress: Progress::Pass, completed, notes })
}

/// A thread waits: it consumes a pending notification, or blocks if it has a consumer arrival in the
/// generation that is gathering.
///
/// # Errors
/// `producer-waits`, `wait-without-arrive`.
pub fn wait(barrier: Barrier, seat: Seat) -> Result<Effect<Barrier>, Rule> {
    if seat.notified {
        // clause: nbarrier.wait-blocks
        let barrier = Barrier { unwaited: barrier.unwaited - 1, ..barrier };
        let seat = Seat { notified: false, ..seat };
        return Ok(Effect { barrier, seat, progress: Progress::Pass, completed: None, notes: &[] });
    }
    let Some(now) = barrier.gathering.filter(|_| seat.arrived && seat.consumer) else {
        // clause: nbarrier.only-consumers-wait, barcheck.xegpu-wait-needs-arrive
        return Err(if seat.produced_last { Rule::ProducerWaits } else { Rule::WaitWithoutArrive });
    };
    // clause: nbarrier.wait-blocks
    let barrier = Barrier { gathering: Some(Gathering { waiting: now.waiting + 1, ..now }), ..barrier };
    let seat = Seat { waiting: true, ..seat };
    Ok(Effect { barrier, seat, progress: Progress::Block, completed: None, notes: &[] })
}

/// What the completion of a generation makes of a seat: a blocked consumer goes on, any other is notified.
///
/// # Errors
/// `lost-notification` for a consumer that has not consumed the previous notification.
pub fn complete(seat: Seat) -> Result<Seat, Rule> {
    let out = Seat { arrived: false, consumer: false, waiting: false, ..seat };
    if !(seat.arrived && seat.consumer) || seat.waiting {
        return Ok(out);
    }
    // clause: barcheck.lost-notification
    if seat.notified {
        return Err(Rule::LostNotification);
    }
    // clause: nbarrier.signal-notifies
    Ok(Seat { notified: true, ..out })
}

/// vISA named barriers.
#[derive(Clone, Copy, Debug)]
pub struct Nbarrier;

impl System for Nbarrier {
    const FACTS: Facts = Facts {
        name: "nbarrier",
        agent_noun: "thread",
        has_lanes: false,
        rules: &[
            Rule::CountMismatch,
            Rule::CountRange,
            Rule::BarrierIdRange,
            Rule::ArrivalRace,
            Rule::DanglingArrival,
            Rule::TooManyParticipants,
            Rule::LostNotification,
            Rule::ReuseBeforeFree,
            Rule::TypeRange,
            Rule::ProducerWaits,
            Rule::WaitWithoutArrive,
            Rule::MissingWait,
        ],
        levels: &[],
        // clause: nbarrier.free-after-waits
        waits_free: true,
        time_is_memory: false,
        // clause: nbarrier.no-memory
        fences_publish: true,
        exits_may_release: false,
        repeats_may_count: false,
        has_subgroups: false,
        notes_nobody_waits: false,
        carries: Carries::Inboxes,
        has_room: true,
    };

    #[inline]
    fn complete(seat: Seat) -> Result<Seat, Rule> {
        complete(seat)
    }

    // clause: nbarrier.free-after-waits
    fn owes_wait(seat: Seat) -> bool {
        seat.notified || seat.arrived && seat.consumer
    }
}

impl BarrierState for Barrier {
    type Operation = Nothing;

    #[inline]
    fn is_initial(&self) -> bool {
        *self == Self::default()
    }

    fn holds_arrivals(&self) -> bool {
        self.gathering.is_some()
    }

    fn depends_on_exits(&self, _release: bool) -> bool {
        false
    }

    /// Every consumer has an inbox of its own.
    fn is_kept_for_waits(&self) -> bool {
        false
    }

    fn room(&self, announced: Announced) -> Option<(u32, u32)> {
        let Some(now) = self.gathering else { return announced.room() };
        (announced == Announced::Sides(now.producers, now.consumers))
            .then(|| (now.producers - now.produced, now.consumers - now.consumed))
    }

    // clause: barcheck.exits-release-nothing
    fn completed_by_exit(&self, _id: BarrierId, _around: &impl Around) -> Option<(Self, Completion)> {
        None
    }
}

/// An instruction on a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A signal.
    Signal(Announcement),
    /// A wait.
    Wait(BarrierId),
}

impl Instruction for Action {
    type Barrier = Barrier;

    #[inline]
    fn barrier(&self) -> BarrierId {
        match self {
            Self::Signal(what) => what.id,
            Self::Wait(id) => *id,
        }
    }

    fn part(&self) -> Part {
        match self {
            Self::Signal(_) => Part::Arrives,
            Self::Wait(_) => Part::Waits,
        }
    }

    fn standing(&self) -> Option<Standing> {
        match self {
            Self::Signal(what) => Some(Standing {
                barrier: what.id,
                announced: Announced::Sides(what.producers, what.consumers),
                produces: what.kind.produces(),
                consumes: what.kind.consumes(),
            }),
            Self::Wait(_) => None,
        }
    }

    fn dependence(&self, _release: bool) -> Dependence {
        match self {
            Self::Signal(_) | Self::Wait(_) => Dependence::Barrier,
        }
    }

    fn ordering(&self) -> Option<(Scope, Semantics)> {
        None
    }

    fn with_pick(&self, _pick: u32) -> Self {
        *self
    }

    fn blocking(&self) -> Blocking {
        match self {
            Self::Signal(_) => Blocking::Never,
            Self::Wait(_) => Blocking::Sometimes,
        }
    }

    fn may_overtake_wait(&self, seat: Seat) -> bool {
        match self {
            Self::Signal(what) => what.kind.consumes() && seat.notified,
            Self::Wait(_) => false,
        }
    }

    fn is_alone(&self) -> bool {
        false
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
        Ok(match *self {
            Self::Signal(what) => Applied::Arrives(signal(*barrier, seat, what)?, Arrival::Publishing),
            Self::Wait(_) => Applied::Waits(wait(*barrier, seat)?, None),
        })
    }
}

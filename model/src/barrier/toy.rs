//! A barrier for the tests: its completion is delivered by an operation that the last arrival leaves pending.
//!
//! Source: none. Whoever arrives as the last of those announced makes the barrier *full* and leaves a
//! delivery pending; only its landing completes the generation. It shows that engines, traces and viewers are
//! ready for actors that come and go.

use super::facts::{
    Announced, Applied, Around, Arrival, BarrierState, Blocking, Carries, Dependence, Facts, Instruction,
    Landing, Part, Standing, System,
};
use super::{BarrierId, Completion, Effect, Progress, Refusal, Seat};
use crate::program::{Scope, Semantics};
use crate::rule::Rule;

/// Barriers 0..=3.
pub const BARRIERS: i64 = 4;

/// An arrival's operands, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Announcement {
    /// The barrier.
    pub id: BarrierId,
    /// Arrivals announced.
    pub count: u32,
}

/// Checks an arrival's operands.
///
/// # Errors
/// `barrier-id-range`, `count-range`, in this order.
pub fn check(id: i64, count: i64, group: u32) -> Result<Announcement, Rule> {
    let id = u32::try_from(id).ok().filter(|id| i64::from(*id) < BARRIERS).ok_or(Rule::BarrierIdRange)?;
    let count = u32::try_from(count).ok().filter(|n| (1..=group).contains(n)).ok_or(Rule::CountRange)?;
    Ok(Announcement { id: BarrierId(id), count })
}

/// The state of a barrier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Barrier {
    /// Nobody has arrived.
    #[default]
    Idle,
    /// Fewer have arrived than were announced.
    Gathering {
        /// Arrivals announced.
        count: u32,
        /// Arrivals made.
        arrived: u32,
    },
    /// All have arrived, and the delivery is pending.
    Full,
}

/// As a state keeps it.
pub type Kept = Barrier;

/// What the last arrival leaves pending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Delivery(u32);

impl super::Operation<Barrier> for Delivery {
    fn barrier(&self) -> BarrierId {
        BarrierId(self.0)
    }

    fn land(&self, _: &Barrier) -> Result<Landing<Barrier>, Rule> {
        let completed = Completion { result: None, takes_in_exited: false, nobody_waits: false, up_to: None };
        Ok(Landing { barrier: Barrier::Idle, completed: Some(completed) })
    }
}

/// A thread arrives: the barrier afterwards, and whether it is full now.
fn arrive(barrier: Barrier, seat: Seat, count: u32) -> Result<(Barrier, bool), Rule> {
    let arrived = match barrier {
        Barrier::Idle => 0,
        Barrier::Full => return Err(Rule::TooManyParticipants),
        Barrier::Gathering { count: announced, .. } if announced != count => return Err(Rule::CountMismatch),
        Barrier::Gathering { .. } if seat.arrived => return Err(Rule::RepeatedArrival),
        Barrier::Gathering { arrived, .. } => arrived,
    };
    let full = arrived + 1 == count;
    let after = if full { Barrier::Full } else { Barrier::Gathering { count, arrived: arrived + 1 } };
    Ok((after, full))
}

/// The toy.
#[derive(Clone, Copy, Debug)]
pub struct Toy;

impl System for Toy {
    const FACTS: Facts = Facts {
        name: "toy",
        agent_noun: "thread",
        has_lanes: false,
        rules: &[
            Rule::CountMismatch,
            Rule::CountRange,
            Rule::BarrierIdRange,
            Rule::DanglingArrival,
            Rule::TooManyParticipants,
        ],
        levels: &[],
        waits_free: false,
        time_is_memory: true,
        fences_publish: false,
        exits_may_release: false,
        repeats_may_count: false,
        has_subgroups: false,
        notes_nobody_waits: false,
        carries: Carries::All,
        has_room: false,
    };

    fn complete(seat: Seat) -> Result<Seat, Rule> {
        Ok(Seat { arrived: false, waiting: false, ..seat })
    }

    fn owes_wait(_: Seat) -> bool {
        false
    }
}

impl BarrierState for Barrier {
    type Operation = Delivery;

    fn is_initial(&self) -> bool {
        *self == Self::Idle
    }

    fn holds_arrivals(&self) -> bool {
        *self != Self::Idle
    }

    fn depends_on_exits(&self, _release: bool) -> bool {
        false
    }

    fn is_kept_for_waits(&self) -> bool {
        false
    }

    fn room(&self, announced: Announced) -> Option<(u32, u32)> {
        announced.room()
    }

    fn completed_by_exit(&self, _id: BarrierId, _around: &impl Around) -> Option<(Self, Completion)> {
        None
    }
}

/// An arrival; whether the thread blocks until the generation completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Action {
    /// The operands.
    pub what: Announcement,
    /// The thread blocks.
    pub blocks: bool,
}

impl Instruction for Action {
    type Barrier = Barrier;

    fn barrier(&self) -> BarrierId {
        self.what.id
    }

    fn part(&self) -> Part {
        Part::Arrives
    }

    fn standing(&self) -> Option<Standing> {
        None
    }

    fn dependence(&self, _release: bool) -> Dependence {
        Dependence::Barrier
    }

    fn ordering(&self) -> Option<(Scope, Semantics)> {
        None
    }

    fn with_pick(&self, _pick: u32) -> Self {
        *self
    }

    fn blocking(&self) -> Blocking {
        if self.blocks { Blocking::Always } else { Blocking::Never }
    }

    fn may_overtake_wait(&self, _seat: Seat) -> bool {
        false
    }

    /// Even a thread that is alone may come again before the delivery has landed.
    fn is_alone(&self) -> bool {
        false
    }

    fn is_by_fragment(&self) -> bool {
        false
    }

    fn most_counted(&self, _threads: u32) -> Option<u32> {
        None
    }

    fn apply(
        &self,
        barrier: &Barrier,
        seat: Seat,
        _pick: u32,
        _around: &impl Around,
    ) -> Result<Applied<Barrier, Delivery>, Refusal> {
        let (barrier, full) = arrive(*barrier, seat, self.what.count)?;
        let seat = Seat { arrived: true, waiting: self.blocks, ..seat };
        let progress = if self.blocks { Progress::Block } else { Progress::Pass };
        let effect = Effect { barrier, seat, progress, completed: None, notes: &[] };
        Ok(if full {
            Applied::Issues(effect, Arrival::Publishing, Delivery(self.what.id.0))
        } else {
            Applied::Arrives(effect, Arrival::Publishing)
        })
    }
}

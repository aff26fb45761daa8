//! PTX ISA, mbarrier objects: barriers in shared memory that count arrivals and bytes, phase by phase.
//!
//! Source: PTX ISA, sections on `mbarrier` and on asynchronous copies with `complete_tx`.

mod action;
mod delivery;

pub use action::{Acquire, Action, Keeping, Phase, What};
pub use delivery::{Delivery, Moved};

use super::{AnyBarrier, BarrierId, Completion, Progress};
use crate::program::{LocationId, Objects, Program};
use crate::rule::Rule;

/// Barriers with smaller numbers are those of `barrier{.cta}`.
const FIRST: u32 = 16;

/// Arrivals that an object can expect, and the greatest number of bytes, in either direction.
// clause: ptx.mbarrier-count-range, ptx.mbarrier-tx-range
pub const MOST: u32 = (1 << 20) - 1;

/// The barrier that the object of this number is.
#[must_use]
pub fn id(object: u32) -> BarrierId {
    BarrierId(FIRST + object)
}

/// The number of the object that a barrier is, if it is one.
#[must_use]
pub fn number(barrier: BarrierId) -> Option<u32> {
    barrier.0.checked_sub(FIRST)
}

/// The object that a barrier is, if it is one: its CTA, its array, and its number there.
fn object(program: &Program, barrier: BarrierId) -> Option<(u32, &Objects, u32)> {
    let home = program.home(barrier)?;
    let number = number(home.barrier).filter(|number| *number < program.objects_per_cta())?;
    let after = program.objects.partition_point(|objects| objects.first <= number);
    let objects = program.objects.get(after.checked_sub(1)?)?;
    Some((home.cta, objects, number - objects.first))
}

/// How the protocol writes the object that a barrier is: `full[3]`, or `done`; `None` for other barriers.
#[must_use]
pub fn object_name(program: &Program, barrier: BarrierId) -> Option<String> {
    let (cta, objects, index) = object(program, barrier)?;
    let name = match objects.length {
        Some(_) => format!("{}[{index}]", objects.name),
        None => objects.name.clone(),
    };
    Some(if program.ctas > 1 { format!("{name} of cta {cta}") } else { name })
}

/// The location that stands for whether the object that a barrier is, is initialised, if there is one.
#[must_use]
pub fn life(program: &Program, barrier: BarrierId) -> Option<LocationId> {
    if program.objects.iter().all(|objects| objects.lives.is_none()) {
        return None;
    }
    let (cta, objects, index) = object(program, barrier)?;
    Some(program.location_in(cta, objects.lives?, index))
}

/// The objects that are initialised before the first step, in order.
pub(crate) fn initialised(program: &Program) -> impl Iterator<Item = (BarrierId, AnyBarrier)> {
    (0..program.ctas).flat_map(move |cta| {
        program.objects.iter().flat_map(move |objects| {
            let first = program.object_in(cta, objects.first);
            let numbers = first..first + objects.length.unwrap_or(1);
            let live = objects.count.map(|count| AnyBarrier::Mbarrier(Barrier::Live(Live::new(count))));
            let each = live.into_iter();
            each.flat_map(move |live| numbers.clone().map(move |number| (id(number), live.clone())))
        })
    })
}

/// The state of an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Barrier {
    /// Not initialised, or not any more.
    #[default]
    Dead,
    /// In use.
    Live(Live),
}

/// The state of an object in use.
// clause: ptx.mbarrier-contents
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Live {
    /// Arrivals that the next phase expects.
    pub expected: u32,
    /// Arrivals that the present phase still waits for.
    pub pending: u32,
    /// Bytes that the present phase still waits for: below 0 while more have come than were announced.
    pub bytes: i32,
    /// Bytes announced in the present phase.
    pub announced: u32,
    /// The parity of the present phase.
    pub odd: bool,
    /// Some wait has seen the phase before this one complete.
    pub observed: bool,
    /// Somebody waits for the present phase.
    pub waited: bool,
}

/// As a state keeps it.
pub type Kept = Barrier;

/// What a change comes to: the object afterwards, and whether it has completed a phase.
pub type Changed = (Live, bool);

impl Live {
    /// An object as `init` leaves it.
    #[must_use]
    // clause: ptx.mbarrier-init
    pub fn new(count: u32) -> Self {
        Self {
            expected: count,
            pending: count,
            bytes: 0,
            announced: 0,
            odd: false,
            observed: true,
            waited: false,
        }
    }

    /// Lanes arrive, by hand or at a landing; `bytes` are announced with it.
    ///
    /// # Errors
    /// `unobserved-phase`, `over-arrival`, `tx-range`, `over-delivery`, in this order.
    pub fn arrive(self, arrivals: u32, bytes: i32) -> Result<Changed, Rule> {
        // clause: ptx.mbarrier-observed
        if !self.observed {
            return Err(Rule::UnobservedPhase);
        }
        // clause: ptx.mbarrier-pending-range
        let pending = self.pending.checked_sub(arrivals).ok_or(Rule::OverArrival)?;
        // clause: ptx.mbarrier-arrive, ptx.mbarrier-arrive-expect
        Self { pending, ..self }.count_bytes(bytes)
    }

    /// Bytes are announced, or, below 0, have come.
    ///
    /// # Errors
    /// `tx-range`, `over-delivery`, in this order.
    // clause: ptx.mbarrier-expect-tx, ptx.mbarrier-complete-tx
    pub fn count_bytes(self, bytes: i32) -> Result<Changed, Rule> {
        let announced = self.announced.saturating_add(u32::try_from(bytes).unwrap_or(0));
        Self { bytes: sum(self.bytes, bytes)?, announced, ..self }.completed()
    }

    /// Judges whether the phase is complete.
    // clause: ptx.mbarrier-phase-complete
    fn completed(self) -> Result<Changed, Rule> {
        if self.pending > 0 || self.bytes > 0 {
            return Ok((self, false));
        }
        // clause: barcheck.over-delivery
        if self.bytes < 0 {
            return Err(Rule::OverDelivery);
        }
        let (pending, odd, observed) = (self.expected, !self.odd, self.waited);
        let next = Self { pending, announced: 0, odd, observed, waited: false, ..self };
        Ok((next, true))
    }

    /// An agent waits for a phase: for the present one, or for one that is complete.
    #[must_use]
    pub fn wait(self, complete: bool) -> (Self, Progress) {
        match complete {
            true => (Self { observed: true, ..self }, Progress::Pass),
            false => (Self { waited: true, ..self }, Progress::Block),
        }
    }
}

/// A sum of bytes.
fn sum(bytes: i32, more: i32) -> Result<i32, Rule> {
    let sum = bytes.checked_add(more).filter(|sum| sum.unsigned_abs() <= MOST);
    sum.ok_or(Rule::TxRange)
}

/// Bytes within the range of the count.
fn to_bytes(bytes: u32) -> Result<i32, Rule> {
    i32::try_from(bytes).ok().filter(|_| bytes <= MOST).ok_or(Rule::TxRange)
}

const COMPLETION: Completion =
    Completion { result: None, takes_in_exited: false, nobody_waits: false, up_to: None };

/// Checks the number of arrivals that an object is to expect, or of those that are made.
///
/// # Errors
/// `count-range`.
// clause: ptx.mbarrier-count-range
pub fn check_count(count: i64) -> Result<u32, Rule> {
    u32::try_from(count).ok().filter(|count| (1..=MOST).contains(count)).ok_or(Rule::CountRange)
}

/// Checks a number of bytes.
///
/// # Errors
/// `tx-range`.
// clause: ptx.mbarrier-tx-range
pub fn check_bytes(bytes: i64) -> Result<i32, Rule> {
    u32::try_from(bytes).map_err(|_| Rule::TxRange).and_then(to_bytes)
}

/// Checks a parity.
///
/// # Errors
/// `parity-range`.
// clause: ptx.mbarrier-parity
pub fn check_parity(parity: i64) -> Result<bool, Rule> {
    match parity {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Rule::ParityRange),
    }
}

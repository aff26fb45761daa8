//! What lands on an mbarrier object: bytes of a copy, or the arrivals of a commit; and what a state says of
//! an object.

use super::{Barrier, COMPLETION, Live, MOST, id, to_bytes};
use crate::barrier::{Announced, Around, BarrierId, BarrierState, Completion, Landing, Operation};
use crate::program::{AccessKind, Begun, LocationId};
use crate::rule::Rule;

/// Arrivals that may be in flight besides those that an object expects, and more.
const MOST_BESIDES: u32 = 1 << 18;

/// What a copy accesses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Moved {
    /// The location that it writes, and how.
    pub to: Option<Begun>,
    /// The location that it reads, if it is one of shared memory.
    pub from: Option<LocationId>,
}

impl Moved {
    /// What a bulk copy from global memory does to a location.
    #[must_use]
    pub fn to(location: LocationId) -> Self {
        Self { to: Some((AccessKind::Copy, location)), from: None }
    }

    /// All its accesses.
    #[must_use]
    pub fn accesses(self) -> [Option<Begun>; 2] {
        [self.from.map(|from| (AccessKind::Source, from)), self.to]
    }
}

/// What an asynchronous operation does when it lands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Delivery {
    /// The object's number.
    pub(super) object: u32,
    /// Arrivals made.
    pub(super) arrivals: u32,
    /// Bytes delivered.
    pub(super) bytes: u32,
    /// The parity of the phase in which it was issued.
    pub(super) odd: bool,
    /// The locations that a copy accesses.
    pub(super) moved: Moved,
    /// Its landing publishes what its agent knew in memory too.
    pub(super) publishes: bool,
    /// Where memory keeps what its agent knew at the issue.
    pub(super) slot: Option<u16>,
}

impl Operation<Barrier> for Delivery {
    fn barrier(&self) -> BarrierId {
        id(self.object)
    }

    fn land(&self, barrier: &Barrier) -> Result<Landing<Barrier>, Rule> {
        // clause: barcheck.stale-completion
        let live = match *barrier {
            Barrier::Live(live) if live.odd == self.odd => live,
            Barrier::Live(_) | Barrier::Dead => return Err(Rule::StaleCompletion),
        };
        let (live, completed) = match self.arrivals {
            0 => live.count_bytes(-to_bytes(self.bytes)?)?,
            arrivals => live.arrive(arrivals, 0)?,
        };
        Ok(Landing { barrier: Barrier::Live(live), completed: completed.then_some(COMPLETION) })
    }

    /// A copy of no bytes is counted by nothing.
    fn is_awaited(&self) -> bool {
        self.arrivals > 0 || self.bytes > 0
    }

    fn slot(&self) -> Option<u16> {
        self.slot
    }

    fn with_slot(self, slot: u16) -> Self {
        Self { slot: Some(slot), ..self }
    }

    /// A commit stands for what its agent did before; a copy for its own write.
    // clause: ptx.commit-arrives
    fn publishes(&self) -> bool {
        self.publishes
    }

    fn is_arrival(&self) -> bool {
        self.arrivals > 0
    }

    fn bytes(&self) -> Option<u32> {
        (self.arrivals == 0).then_some(self.bytes)
    }

    fn accesses(&self) -> [Option<Begun>; 2] {
        self.moved.accesses()
    }
}

impl BarrierState for Barrier {
    type Operation = Delivery;

    #[inline]
    fn is_initial(&self) -> bool {
        *self == Self::Dead
    }

    /// Of arrivals or bytes.
    fn holds_arrivals(&self) -> bool {
        match self {
            Self::Dead => false,
            Self::Live(live) => live.pending != live.expected || live.bytes != 0,
        }
    }

    fn depends_on_exits(&self, _release: bool) -> bool {
        false
    }

    /// The bytes might leave their range, after all announcements or after all landings; or the arrivals
    /// might, if those come first that the phase expects besides.
    fn depends_on_order(&self) -> bool {
        let Self::Live(Live { bytes, announced, expected, .. }) = *self else { return false };
        let delivered = i64::from(announced) - i64::from(bytes);
        i64::from(announced).max(delivered) > i64::from(MOST) || expected > MOST - MOST_BESIDES
    }

    fn has_all_arrivals(&self) -> bool {
        matches!(self, Self::Live(live) if live.pending == 0)
    }

    /// A wait may come at any later time.
    fn is_kept_for_waits(&self) -> bool {
        true
    }

    fn room(&self, announced: Announced) -> Option<(u32, u32)> {
        announced.room()
    }

    fn completed_by_exit(&self, _id: BarrierId, _around: &impl Around) -> Option<(Self, Completion)> {
        None
    }
}

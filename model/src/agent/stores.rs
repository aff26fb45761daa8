//! Copies out of memory that an agent has begun, and what it does to them.

use crate::program::{LocationId, Locations, Pc, Window};
use smallvec::SmallVec;

/// The locations from which copies begin, in order, each with the lanes that begin them, as a bit mask.
pub type StoredFrom = SmallVec<[(LocationId, u32); 1]>;

/// An instruction of the asynchronous proxy, operands evaluated.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ProxyAction {
    /// Copies begin.
    Store(StoredFrom),
    /// Copies become a group.
    Commit,
    /// Waits for all groups but so many of the newest; the copies out of these locations have read then.
    Wait(u32, Locations),
    /// A fence between the proxies.
    Fence(Window),
}

/// The youngest copies of some lanes out of a location, which may still be reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OpenStore {
    /// The location.
    pub location: LocationId,
    /// 0 as long as they are in no group, 1 in the newest group of their lanes, 2 in the one before, and so
    /// on.
    pub age: u32,
    /// The instruction that began them.
    pub pc: Pc,
    /// The lanes, as a bit mask.
    pub lanes: u32,
}

impl ProxyAction {
    /// The locations that copies read from now on.
    #[must_use]
    pub fn stored(&self) -> Locations {
        match self {
            Self::Store(from) => from.iter().map(|(location, _)| *location).collect(),
            Self::Commit | Self::Wait(..) | Self::Fence(_) => Locations::new(),
        }
    }
}

impl OpenStore {
    /// Whether a wait for all groups but so many of the newest waits for it.
    pub(super) fn is_covered(self, newest: u32) -> bool {
        self.age > newest
    }
}

//! Copies that an agent has begun and waits for, and what it does to them.

use crate::program::{LocationId, Locations, Pc, Transfer, Window};
use smallvec::SmallVec;

/// The locations that copies read or write, in order, each with the lanes that begin them, as a bit mask.
pub type Transferred = SmallVec<[(LocationId, u32); 1]>;

/// An instruction of the asynchronous proxy, operands evaluated.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ProxyAction {
    /// Copies begin.
    Begin(Transfer, Transferred),
    /// Copies become a group.
    Commit(Transfer),
    /// Waits for all groups but so many of the newest, or for all copies; those of these locations have
    /// finished then.
    Wait(Transfer, Option<u32>, Locations),
    /// A fence between the proxies.
    Fence(Window),
}

/// The youngest copies of some lanes out of or into a location, which may not have finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OpenStore {
    /// What they do.
    pub transfer: Transfer,
    /// The location.
    pub location: LocationId,
    /// 0 as long as they are in no group, 1 in the newest group of their lanes, 2 in the one before, and so
    /// on.
    pub age: u32,
    /// The instruction that began them.
    pub pc: Pc,
    /// The mbarrier object on which the latest arrival stands for them, by its number.
    pub toward: Option<u32>,
    /// The lanes, as a bit mask.
    pub lanes: u32,
}

impl ProxyAction {
    /// The locations that copies read or write from now on.
    #[must_use]
    pub fn locations(&self) -> Locations {
        match self {
            Self::Begin(_, all) => all.iter().map(|(location, _)| *location).collect(),
            Self::Commit(_) | Self::Wait(..) | Self::Fence(_) => Locations::new(),
        }
    }

    /// What it does to these.
    #[must_use]
    pub fn transfer(&self) -> Option<Transfer> {
        match self {
            Self::Begin(transfer, _) => Some(*transfer),
            Self::Commit(_) | Self::Wait(..) | Self::Fence(_) => None,
        }
    }
}

impl OpenStore {
    /// Whether a wait for all groups but so many of the newest, or for all copies, waits for it.
    pub(super) fn is_covered(self, transfer: Transfer, newest: Option<u32>) -> bool {
        self.transfer == transfer && newest.is_none_or(|newest| self.age > newest)
    }
}

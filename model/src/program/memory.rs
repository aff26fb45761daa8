//! Memory: its locations, where they live, and how they are accessed.

use super::{AgentId, LocationId};
use smallvec::SmallVec;

/// The locations that an access touches, each once: most often one, several where lanes have different
/// indices.
pub type Locations = SmallVec<[LocationId; 2]>;

/// Where memory lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Space {
    /// Shared by the group: PTX `.shared`, SPIR-V WorkgroupMemory, Intel `slm`.
    Shared,
    /// Global: SPIR-V CrossWorkgroupMemory, Intel `ugm`.
    Global,
}

/// A named array of locations, or a single one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// Its name.
    pub name: String,
    /// Where it lives.
    pub space: Space,
    /// Its first location; arrays follow one another without gaps, in the order of `arrays`.
    pub first: LocationId,
    /// Number of elements, at least 1, or `None` for a scalar.
    pub length: Option<u32>,
}

/// What something in flight does to a location, at any time from its issue to its landing.
pub type Begun = (AccessKind, LocationId);

/// A set of memory spaces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Spaces {
    /// Includes `shared` locations.
    pub shared: bool,
    /// Includes `global` locations.
    pub global: bool,
}

/// What a fence does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fence {
    /// Nothing that would be told apart: what it orders is ordered anyway, or not asked for.
    Nothing,
    /// The agent's own accesses to these spaces become known in memory: vISA `fence`, XeGPU `mfence`.
    Publishes(Spaces),
    /// PTX `fence`, which reaches so far.
    Orders {
        /// How far it reaches.
        reach: Reach,
        /// What earlier waits that were `.relaxed` have seen is acquired.
        acquires: bool,
        /// What the agent knows goes with its later arrivals that are `.relaxed`.
        releases: bool,
    },
    /// The same for what the agent has initialised alone, in the whole cluster: `fence.mbarrier_init`.
    ReleasesInitialised,
}

/// How far an operation's scope reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reach {
    /// To the agents of the own CTA.
    Cta,
    /// To those of other CTAs too.
    Cluster,
}

/// The kinds of memory accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum AccessKind {
    /// A read.
    Read,
    /// A write.
    Write,
    /// An atomic read and write.
    Atomic,
    /// A write by a bulk copy that an agent began: not even the agent knows when it is made, before it has
    /// waited.
    Copy,
    /// A write that an agent sent to another CTA, likewise: `st.async`.
    Sent,
    /// An atomic read and write that an agent sent, likewise: `red.async`.
    Reduction,
    /// A read by a copy to another CTA, which completes on an object, likewise.
    Source,
    /// A read by a copy out of the location that an agent began, likewise.
    Store,
    /// A write by a `cp.async` that an agent began, likewise.
    Fill,
    /// An mbarrier object is initialised, or invalidated.
    Initialisation,
    /// An mbarrier object is used in any other way. Nothing is kept of that.
    Use,
}

/// What an access is to others.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Mode {
    Reads,
    IsAtomic,
    Writes,
}

impl Spaces {
    /// Whether locations of a space are included.
    #[must_use]
    pub fn includes(self, space: Space) -> bool {
        match space {
            Space::Shared => self.shared,
            Space::Global => self.global,
        }
    }
}

impl AccessKind {
    /// Whether it replaces what a location holds.
    #[must_use]
    pub fn overwrites(self) -> bool {
        match self {
            Self::Write | Self::Copy | Self::Sent | Self::Fill | Self::Initialisation => true,
            Self::Read | Self::Atomic | Self::Reduction | Self::Store | Self::Source | Self::Use => false,
        }
    }

    /// Whether several of one agent are remembered beside one another: none of them says that another one is
    /// over.
    // clause: ptx.red-async, ptx.bulk-copy-across
    #[must_use]
    pub fn is_one_of_several(self) -> bool {
        matches!(self, Self::Reduction | Self::Source)
    }

    /// Whether it reads by the path that copies take, the asynchronous proxy.
    // clause: ptx.proxies
    #[must_use]
    pub fn is_read_by_copy(self) -> bool {
        matches!(self, Self::Store | Self::Source)
    }

    /// Whether it takes the asynchronous proxy.
    // clause: ptx.proxies
    #[must_use]
    pub fn is_of_async_proxy(self) -> bool {
        self.is_read_by_copy() || self == Self::Copy
    }

    /// Whether it writes by the path that agents' own accesses take, the generic proxy.
    // clause: ptx.proxies
    #[must_use]
    pub fn is_generic_write(self) -> bool {
        match self {
            Self::Write | Self::Atomic | Self::Fill => true,
            Self::Read | Self::Copy | Self::Sent | Self::Reduction | Self::Store => false,
            Self::Source | Self::Initialisation | Self::Use => false,
        }
    }

    /// Whether an access that an agent makes now may conflict with one of this kind that `earlier` made. An
    /// agent's own accesses are ordered, but for what copies do that it began. Of several `cp.async` to one
    /// location each fills a part.
    // clause: ptx.cp-async
    #[must_use]
    pub fn is_apart_from(self, earlier: AgentId, (agent, kind): (AgentId, Self)) -> bool {
        earlier != agent
            || match self {
                Self::Copy | Self::Sent | Self::Reduction | Self::Store | Self::Source => true,
                Self::Fill => kind != Self::Fill,
                Self::Read | Self::Write | Self::Atomic | Self::Initialisation | Self::Use => false,
            }
    }

    /// Whether it is about the life of an object.
    #[must_use]
    pub fn is_about_life(self) -> bool {
        matches!(self, Self::Initialisation | Self::Use)
    }

    /// Whether it is made by something in flight, which lands on a barrier.
    #[must_use]
    pub fn is_in_flight(self) -> bool {
        matches!(self, Self::Copy | Self::Sent | Self::Reduction | Self::Source)
    }

    /// Whether an agent's own accesses are not ordered with one of this kind that it began.
    #[must_use]
    pub fn is_of_copy(self) -> bool {
        match self {
            Self::Copy | Self::Sent | Self::Reduction | Self::Store | Self::Source | Self::Fill => true,
            Self::Read | Self::Write | Self::Atomic | Self::Initialisation | Self::Use => false,
        }
    }

    /// Whether two accesses to one location by different agents conflict: one of them writes, and not both
    /// are atomic.
    // clause: barcheck.data-race
    #[must_use]
    pub fn conflicts_with(self, other: Self) -> bool {
        match self.mode().max(other.mode()) {
            Mode::Reads => false,
            // clause: ptx.red-async
            Mode::IsAtomic => self.mode() != other.mode(),
            Mode::Writes => true,
        }
    }

    fn mode(self) -> Mode {
        match self {
            Self::Read | Self::Store | Self::Source | Self::Use => Mode::Reads,
            Self::Atomic | Self::Reduction => Mode::IsAtomic,
            Self::Write | Self::Copy | Self::Sent | Self::Fill | Self::Initialisation => Mode::Writes,
        }
    }
}

//! What the systems share: barrier ids, an agent's seat at a barrier, what an instruction does, and the
//! questions that every system answers.
//!
//! Each system is one file that reads like its specification: operand checks, the states of a
//! barrier, its transition functions, and its answers ([`System`], [`BarrierState`], [`Instruction`]). They
//! are pure: [`crate::machine`] applies what they decide to the agents of the group.

pub mod bcu;
pub mod cluster;
mod facts;
pub mod mbarrier;
pub mod nbarrier;
pub mod ptx;
pub mod registers;
pub mod split;
mod systems;
#[cfg(feature = "toy")]
pub mod toy;
pub mod xegpu;

pub use bcu::{Opaque, ResultCopy};
pub use facts::{
    Announced, Applied, Around, Arrival, BarrierState, Blocking, Carries, Dependence, Facts, Instance,
    Instruction, Landing, Nothing, Operation, Part, Standing, System,
};
pub use ptx::{Contribution, Parked};
pub use split::Workgroup;
pub use systems::{AnyBarrier, AnyOperation, BarrierAction, room, state_as_value};
pub use xegpu::{Handle, alloc as allocate};

use crate::rule::Rule;

/// A barrier of the group. `ptx`, `bcu`: 0..=15, for mbarrier objects see [`mbarrier::id`], and in a cluster
/// [`Program::named_barrier`](crate::program::Program::named_barrier); `nbarrier`,
/// `xegpu`: 0..=31; `split_barrier`: see [`split::barrier_of`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BarrierId(pub u32);

/// What one agent has to do with one barrier. The default is "nothing".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Seat {
    /// Has arrived in the generation that is gathering.
    pub arrived: bool,
    /// Blocks until that generation completes.
    pub waiting: bool,
    /// Arrived as a consumer (`nbarrier`, `xegpu`).
    pub consumer: bool,
    /// A completed generation is waiting to be consumed (`nbarrier`, `xegpu`, `split_barrier`).
    pub notified: bool,
    /// The latest arrival was producer-only (`nbarrier`).
    pub produced_last: bool,
    /// How long ago the phase is whose token the agent holds (mbarrier objects).
    pub token: Token,
}

/// How long ago the phase of a token is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Token {
    /// The agent holds no token.
    #[default]
    None,
    /// It is the present phase.
    Present,
    /// It is the phase before.
    Before,
    /// It is longer ago: nobody can wait for it.
    Stale,
}

impl Token {
    /// One more phase is complete.
    #[must_use]
    pub fn aged(self) -> Self {
        match self {
            Self::None => Self::None,
            Self::Present => Self::Before,
            Self::Before | Self::Stale => Self::Stale,
        }
    }
}

impl Seat {
    /// Whether the agent has nothing to do with the barrier.
    #[must_use]
    #[inline]
    pub fn is_vacant(self) -> bool {
        self == Self::default()
    }
}

/// Whether the agent goes on after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Progress {
    /// It goes on.
    Pass,
    /// It blocks until the barrier's generation completes. If this very instruction completes it, the
    /// agent is released with all the others.
    Block,
}

/// A completed generation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Completion {
    /// The reduction's result, if it was one.
    pub result: Option<u32>,
    /// What exited agents knew in time is taken in: the generation waited for every live agent.
    pub takes_in_exited: bool,
    /// Nobody blocks on it.
    pub nobody_waits: bool,
    /// Only those go on that lack no more than so much; `None` for all.
    pub up_to: Option<u32>,
}

/// What an instruction does to the barrier and to the seat of the agent that executes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect<B> {
    /// The barrier afterwards (already idle again if the generation completed).
    pub barrier: B,
    /// The agent's seat, before the completion, if any, changes it with all the others'.
    pub seat: Seat,
    /// Whether the agent goes on.
    pub progress: Progress,
    /// The generation that this instruction completed.
    pub completed: Option<Completion>,
    /// Findings that do not end the path.
    pub notes: &'static [Rule],
}

impl<B> Effect<B> {
    /// The same for another kind of barrier.
    #[inline]
    pub(super) fn map<C>(self, wrap: impl FnOnce(B) -> C) -> Effect<C> {
        Effect {
            barrier: wrap(self.barrier),
            seat: self.seat,
            progress: self.progress,
            completed: self.completed,
            notes: self.notes,
        }
    }
}

/// Why a path cannot be followed at this step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// A rule that ends paths is violated.
    Violation(Rule),
    /// The model does not cover what happened.
    NotModelled(NotModelled),
}

impl From<Rule> for Refusal {
    fn from(rule: Rule) -> Self {
        Self::Violation(rule)
    }
}

/// What the model does not cover.
// clause: barcheck.not-modelled
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NotModelled {
    /// A barrier whose execution scope is the device.
    DeviceScope,
    /// A meeting of different dynamic instances at Subgroup scope, which the client API defines.
    SubgroupDivergence,
    /// `R2B` with a number that no `B2R` has read.
    ForgedState,
    /// Some lanes of a warp wait for a phase while others go on.
    DivergentWait,
    /// A loop asks for the completion of phases, of several or among other steps.
    AskingLoop,
    /// Some lanes of a warp come to the barrier of the cluster without the others.
    DivergentCluster,
    /// Lanes of a warp meet that are elsewhere at the moment.
    DivergentWarp,
    /// Tokens of several phases of one object at a time.
    SeveralTokens,
    /// Thousands of asynchronous operations in flight at a time.
    ManyInFlight,
}

impl NotModelled {
    /// In words.
    #[must_use]
    pub fn describe(self) -> &'static str {
        match self {
            Self::DeviceScope => "a barrier with execution scope Device is not modelled",
            Self::SubgroupDivergence => {
                "invocations of a subgroup meet at different barrier instances: the client API decides, not modelled"
            }
            Self::DivergentWait => {
                "some lanes of a warp wait on an mbarrier while others go on elsewhere: not modelled"
            }
            Self::AskingLoop => {
                "a loop that goes on while phases are not complete, and does more than ask: not modelled"
            }
            Self::DivergentCluster => {
                "lanes of a warp that come to the barrier of the cluster apart are not modelled"
            }
            Self::DivergentWarp => "`bar.warp.sync` of lanes that have separated is not modelled",
            Self::SeveralTokens => {
                "tokens of several phases of one mbarrier object held by one warp are not modelled"
            }
            Self::ManyInFlight => "so many asynchronous operations in flight are not modelled",
            Self::ForgedState => "R2B with a value that no B2R has read is not modelled",
        }
    }
}

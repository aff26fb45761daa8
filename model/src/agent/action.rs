//! What an agent does at one step, operands evaluated.

use super::eval::FaultKind;
use super::stores::ProxyAction;
use crate::barrier::{BarrierAction, BarrierId, Handle, NotModelled, Parked, ResultCopy, Standing};
use crate::program::{AccessKind, Fence, LocalId, Locations, Pc, Scope, Semantics, SequenceId};
use crate::rule::Rule;
use smallvec::SmallVec;

/// One thing that an agent could do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// The fragment that does it, by position in [`Config::fragments`](super::config::Config::fragments).
    pub fragment: usize,
    /// Its lanes, as a bit mask.
    pub lanes: u32,
    /// The operation.
    pub pc: Pc,
    /// What it is.
    pub action: Action,
    /// In how many ways it can go.
    pub choices: Choices,
}

/// In how many ways a move can go, for a reason that lies in the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choices {
    /// One.
    One,
    /// The agent picks one of this many, 0 first.
    Open(u64),
    /// 0 or 1, as the next decision of a sequence that all agents share.
    Uniform(SequenceId),
}

/// What a move is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// A step of a local loop without end.
    Spin,
    /// A decision: which way a condition goes, or which value a local gets.
    Decide,
    /// The fragment's lanes exit; if that leaves all others of the warp parked alike, they arrive (`ptx`).
    Exit(Option<BarrierAction>),
    /// An assertion and whether it holds.
    Assert(bool),
    /// A memory access; several locations where lanes have different indices.
    Access(AccessKind, Locations),
    /// A fence for locations of these spaces.
    Fence(Fence),
    /// An instruction of the asynchronous proxy (`ptx`).
    Proxy(ProxyAction),
    /// `OpMemoryBarrier`.
    MemoryBarrier(Scope, Semantics),
    /// A fragment parks at a non-aligned barrier, until the warp's other lanes come (`ptx`).
    Park(Parked, u32),
    /// An instruction on a barrier.
    Barrier(BarrierAction),
    /// `alloc_nbarrier` of this many.
    Alloc(i64),
    /// `init_nbarrier`.
    Init(LocalId, Handle),
    /// `B2R.RESULT`, and the result, if anything keeps it.
    Fetch(Option<u32>),
    /// `B2R.WARP`.
    SaveCopy(ResultCopy),
    /// `R2B.WARP`.
    RestoreCopy(ResultCopy),
    /// The operands violate a rule that ends the path; the offending value.
    Refuse(Rule, i64),
    /// The model does not cover what the operands ask for.
    NotModelled(NotModelled),
    /// The operands cannot be evaluated.
    Fault(FaultKind),
}

impl Action {
    /// The barrier that the action is about.
    #[must_use]
    #[inline]
    pub fn barrier(&self) -> Option<BarrierId> {
        match self {
            Self::Park(parked, _) => Some(parked.what.id),
            // Which other actions are about a barrier is said once, below.
            action => action.on_barrier().map(BarrierAction::barrier),
        }
    }

    /// The instruction on a barrier that the action is.
    #[must_use]
    #[inline]
    pub fn on_barrier(&self) -> Option<&BarrierAction> {
        match self {
            Self::Barrier(action) | Self::Exit(Some(action)) => Some(action),
            Self::Spin
            | Self::Decide
            | Self::Exit(None)
            | Self::Assert(_)
            | Self::Access(..)
            | Self::Fence(_)
            | Self::Proxy(_)
            | Self::MemoryBarrier(..)
            | Self::Park(..)
            | Self::Alloc(_)
            | Self::Init(..)
            | Self::Fetch(_)
            | Self::SaveCopy(_)
            | Self::RestoreCopy(_)
            | Self::Refuse(..)
            | Self::NotModelled(_)
            | Self::Fault(_) => None,
        }
    }

    /// The arrival with counts that a move with this action would be, if it would be one.
    #[must_use]
    #[inline]
    pub fn standing(&self) -> Option<Standing> {
        self.on_barrier()?.standing()
    }
}

/// The moves of a configuration: most often one.
pub type Moves = SmallVec<[Move; 1]>;

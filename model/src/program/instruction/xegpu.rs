//! XeGPU instructions.

use super::{BarrierOp, Expressions, ReductionOp, Scope, Written};
use crate::program::{Expr, LocalId};

/// XeGPU named-barrier instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum XegpuOp {
    /// `xegpu.alloc_nbarrier n`.
    Alloc {
        /// Number of barriers.
        count: Expr,
    },
    /// `%h = xegpu.init_nbarrier id, n`.
    Init {
        /// The handle.
        handle: LocalId,
        /// Barrier id.
        id: Expr,
        /// Number of participants.
        participants: Expr,
    },
    /// `xegpu.nbarrier_arrive %h`.
    Arrive(LocalId),
    /// `xegpu.nbarrier_wait %h`.
    Wait(LocalId),
}

impl BarrierOp for XegpuOp {
    fn expressions(&self) -> Expressions<'_> {
        match self {
            Self::Alloc { count } => Expressions::from_slice(&[count]),
            Self::Init { id, participants, .. } => Expressions::from_slice(&[id, participants]),
            Self::Arrive(_) | Self::Wait(_) => Expressions::new(),
        }
    }

    fn written(&self) -> Written {
        match self {
            Self::Init { handle, .. } => Written::from_slice(&[*handle]),
            Self::Alloc { .. } | Self::Arrive(_) | Self::Wait(_) => Written::new(),
        }
    }

    fn handle(&self) -> Option<LocalId> {
        match self {
            Self::Arrive(handle) | Self::Wait(handle) => Some(*handle),
            Self::Alloc { .. } | Self::Init { .. } => None,
        }
    }

    fn reduction(&self) -> Option<ReductionOp> {
        None
    }

    fn execution_scope(&self) -> Option<Scope> {
        None
    }

    fn is_of_all_lanes(&self) -> bool {
        false
    }

    fn may_count_exits(&self) -> bool {
        false
    }

    fn reads_state(&self) -> bool {
        false
    }
}

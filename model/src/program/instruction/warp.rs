//! PTX instructions of a warp by itself, and those on the registers of its CTA.

use super::{BarrierOp, Expressions, ReductionOp, Scope, Written};
use crate::program::{Expr, LocalId};

/// An instruction that all lanes of a warp execute together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WarpOp {
    /// `bar.warp.sync`, with the mask of its lanes.
    Sync(Expr),
    /// `setmaxnreg`.
    Registers {
        /// `.inc`: takes registers, and waits until there are enough; `.dec` gives some back.
        takes: bool,
        /// Registers of a thread from then on.
        count: Expr,
    },
}

impl BarrierOp for WarpOp {
    fn expressions(&self) -> Expressions<'_> {
        match self {
            Self::Sync(e) | Self::Registers { count: e, .. } => Expressions::from_slice(&[e]),
        }
    }

    fn written(&self) -> Written {
        Written::new()
    }

    fn handle(&self) -> Option<LocalId> {
        None
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

    fn reads_state(&self) -> bool {
        false
    }

    fn tries_again(&self) -> bool {
        matches!(self, Self::Registers { .. })
    }
}

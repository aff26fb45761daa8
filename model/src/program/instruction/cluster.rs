//! PTX `barrier.cluster` instructions.

use super::{BarrierOp, Expressions, ReductionOp, Scope, Written};
use crate::program::LocalId;

/// An instruction on the barrier of the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterOp {
    /// What it does.
    pub kind: ClusterKind,
    /// `.aligned`: all lanes of the warp execute it together.
    pub aligned: bool,
}

/// The forms of instructions on the barrier of the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClusterKind {
    /// `.arrive`.
    Arrive {
        /// `.relaxed`: orders in time, not in memory.
        relaxed: bool,
    },
    /// `.wait`.
    Wait,
}

impl BarrierOp for ClusterOp {
    fn expressions(&self) -> Expressions<'_> {
        Expressions::new()
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

    fn is_relaxed(&self) -> bool {
        matches!(self.kind, ClusterKind::Arrive { relaxed: true })
    }

    fn has_phases(&self) -> bool {
        true
    }
}

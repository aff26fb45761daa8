//! SPIR-V instructions.

use super::{BarrierOp, Expressions, ReductionOp, Scope, Semantics, Written};
use crate::program::LocalId;

/// SPIR-V barrier instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitOp {
    /// Which instruction.
    pub kind: SplitKind,
    /// Execution scope; unused by `OpMemoryBarrier`.
    pub execution: Scope,
    /// Memory scope.
    pub memory: Scope,
    /// Memory semantics.
    pub semantics: Semantics,
}

/// The SPIR-V barrier instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SplitKind {
    /// `OpControlBarrierArriveINTEL`.
    Arrive,
    /// `OpControlBarrierWaitINTEL`.
    Wait,
    /// `OpControlBarrier`: both at once.
    Both,
    /// `OpMemoryBarrier`.
    MemoryBarrier,
}

impl BarrierOp for SplitOp {
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
        match self.kind {
            SplitKind::Arrive | SplitKind::Wait | SplitKind::Both => Some(self.execution),
            // A memory barrier has no execution scope.
            SplitKind::MemoryBarrier => None,
        }
    }

    fn is_of_all_lanes(&self) -> bool {
        false
    }

    fn memory_scope(&self) -> Option<Scope> {
        Some(self.memory)
    }

    fn only_orders_memory(&self) -> bool {
        self.kind == SplitKind::MemoryBarrier
    }

    fn may_count_exits(&self) -> bool {
        false
    }

    fn reads_state(&self) -> bool {
        false
    }
}

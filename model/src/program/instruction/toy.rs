//! The toy's instructions.

use super::{BarrierOp, Expressions, ReductionOp, Scope, Written};
use crate::program::{Expr, LocalId};

/// `toy.arrive id, count` and `toy.sync id, count`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToyOp {
    /// The thread blocks until the generation completes.
    pub blocks: bool,
    /// Barrier id.
    pub id: Expr,
    /// Arrivals announced.
    pub count: Expr,
}

impl BarrierOp for ToyOp {
    fn expressions(&self) -> Expressions<'_> {
        Expressions::from_slice(&[&self.id, &self.count])
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

    fn leaves_pending(&self) -> bool {
        true
    }
}

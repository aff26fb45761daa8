//! PTX instructions.

use super::{BarrierOp, Expressions, Predicate, ReductionOp, Scope, Written};
use crate::program::{Expr, LocalId};

/// PTX `barrier{.cta}` instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PtxOp {
    /// What it does.
    pub kind: PtxKind,
    /// `.aligned`, as every `bar.*` is.
    pub aligned: bool,
    /// Operand a.
    pub id: Expr,
    /// Operand b.
    pub count: Option<Expr>,
}

/// The forms of PTX barrier instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PtxKind {
    /// `.sync`.
    Sync,
    /// `.arrive`.
    Arrive,
    /// `.red`.
    Red {
        /// The operator.
        op: ReductionOp,
        /// Operand c.
        predicate: Predicate,
        /// Destination, `None` for `_`.
        dest: Option<LocalId>,
    },
}

impl BarrierOp for PtxOp {
    fn expressions(&self) -> Expressions<'_> {
        let mut found = Expressions::from_slice(&[&self.id]);
        found.extend(&self.count);
        match &self.kind {
            PtxKind::Sync | PtxKind::Arrive => {}
            PtxKind::Red { predicate, .. } => found.extend(&predicate.value),
        }
        found
    }

    fn written(&self) -> Written {
        match &self.kind {
            PtxKind::Sync | PtxKind::Arrive => Written::new(),
            PtxKind::Red { dest, .. } => dest.iter().copied().collect(),
        }
    }

    fn handle(&self) -> Option<LocalId> {
        None
    }

    fn reduction(&self) -> Option<ReductionOp> {
        match &self.kind {
            PtxKind::Sync | PtxKind::Arrive => None,
            PtxKind::Red { op, .. } => Some(*op),
        }
    }

    fn execution_scope(&self) -> Option<Scope> {
        None
    }

    // clause: ptx.warp-arrival
    // clause: ptx.exited-threads
    fn may_count_exits(&self) -> bool {
        self.count.is_none()
    }

    fn is_of_all_lanes(&self) -> bool {
        true
    }

    fn reads_state(&self) -> bool {
        false
    }
}

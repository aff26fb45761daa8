//! BCU instructions.

use super::{BarrierOp, Expressions, Predicate, ReductionOp, Scope, Written};
use crate::program::{Expr, LocalId};

/// A BCU operand that is an immediate or a register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BcuOperand {
    /// Its value.
    pub value: Expr,
    /// Register form (`RZ` included): the hardware drops high bits. Otherwise an immediate, which must be
    /// in range.
    pub register: bool,
}

/// BCU instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BcuOp {
    /// `BAR.SYNC id[, count]`.
    Sync {
        /// Barrier id.
        id: BcuOperand,
        /// Count; omitted means 0.
        count: Option<BcuOperand>,
    },
    /// `BAR.ARV id, count`.
    Arv {
        /// Barrier id.
        id: BcuOperand,
        /// Count.
        count: BcuOperand,
    },
    /// `BAR.RED.op`.
    Red {
        /// The operator.
        op: ReductionOp,
        /// Where id and count come from.
        operands: BcuRedOperands,
        /// The predicate.
        predicate: Predicate,
    },
    /// `B2R.RESULT Rd[, Pu]`, `BAR.RESULT Rd, Pu`: `None` where the result is not kept (`RZ`, `PT`, omitted).
    Result {
        /// Gets the count of POPC.
        register: Option<LocalId>,
        /// Gets the truth value of AND and OR.
        predicate: Option<LocalId>,
    },
    /// `B2R[.BAR] Rd, id`: `None` for `RZ`.
    ReadBarrier {
        /// Destination.
        dest: Option<LocalId>,
        /// Barrier id.
        id: Expr,
    },
    /// `B2R.WARP Rd[, id]`: the id is checked and ignored.
    ReadWarp {
        /// Destination, `None` for `RZ`.
        dest: Option<LocalId>,
        /// Ignored id.
        id: Option<Expr>,
    },
    /// `R2B[.BAR] id, Ra`.
    WriteBarrier {
        /// Barrier id.
        id: Expr,
        /// Source register.
        source: Expr,
    },
    /// `R2B.WARP [id,] Ra`: the id is checked and ignored.
    WriteWarp {
        /// Ignored id.
        id: Option<Expr>,
        /// Source register.
        source: Expr,
    },
}

/// Where `BAR.RED` takes id and count from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BcuRedOperands {
    /// Two operands (an omitted count is 0).
    Separate(BcuOperand, Option<BcuOperand>),
    /// One register: id in bits 3..0, count in bits 15..4.
    Packed(Expr),
}

impl BarrierOp for BcuOp {
    fn expressions(&self) -> Expressions<'_> {
        let mut found = Expressions::new();
        match self {
            Self::Sync { id, count } => {
                found.push(&id.value);
                found.extend(count.iter().map(|c| &c.value));
            }
            Self::Arv { id, count } => found.extend([&id.value, &count.value]),
            Self::Red { operands, predicate, .. } => {
                match operands {
                    BcuRedOperands::Separate(id, count) => {
                        found.push(&id.value);
                        found.extend(count.iter().map(|c| &c.value));
                    }
                    BcuRedOperands::Packed(register) => found.push(register),
                }
                found.extend(&predicate.value);
            }
            Self::Result { .. } => {}
            Self::ReadBarrier { id, .. } => found.push(id),
            Self::ReadWarp { id, .. } => found.extend(id),
            Self::WriteBarrier { id, source } => found.extend([id, source]),
            Self::WriteWarp { id, source } => {
                found.extend(id);
                found.push(source);
            }
        }
        found
    }

    fn written(&self) -> Written {
        match self {
            Self::ReadBarrier { dest, .. } | Self::ReadWarp { dest, .. } => dest.iter().copied().collect(),
            Self::Result { register, predicate } => register.iter().chain(predicate).copied().collect(),
            Self::Sync { .. }
            | Self::Arv { .. }
            | Self::Red { .. }
            | Self::WriteBarrier { .. }
            | Self::WriteWarp { .. } => Written::new(),
        }
    }

    fn handle(&self) -> Option<LocalId> {
        None
    }

    fn reduction(&self) -> Option<ReductionOp> {
        match self {
            Self::Red { op, .. } => Some(*op),
            Self::Sync { .. }
            | Self::Arv { .. }
            | Self::Result { .. }
            | Self::ReadBarrier { .. }
            | Self::ReadWarp { .. }
            | Self::WriteBarrier { .. }
            | Self::WriteWarp { .. } => None,
        }
    }

    fn execution_scope(&self) -> Option<Scope> {
        None
    }

    fn is_of_all_lanes(&self) -> bool {
        false
    }

    fn may_count_exits(&self) -> bool {
        let is_zero = |count: Option<&BcuOperand>| {
            !count.is_some_and(|count| matches!(count.value, Expr::Int(n) if n != 0 && !count.register))
        };
        match self {
            Self::Sync { count, .. } => is_zero(count.as_ref()),
            Self::Red { operands: BcuRedOperands::Separate(_, count), .. } => is_zero(count.as_ref()),
            Self::Red { operands: BcuRedOperands::Packed(_), .. } => true,
            Self::Arv { .. }
            | Self::Result { .. }
            | Self::ReadBarrier { .. }
            | Self::ReadWarp { .. }
            | Self::WriteBarrier { .. }
            | Self::WriteWarp { .. } => false,
        }
    }

    fn reads_state(&self) -> bool {
        matches!(self, Self::ReadBarrier { .. })
    }
}

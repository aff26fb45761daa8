//! What operators yield, or why they yield nothing.

use super::{BinaryOp, UnaryOp};

/// Why an operator has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NoResult {
    /// The result does not fit into signed 64 bits.
    Overflow,
    /// Division by zero, or its remainder.
    DivisionByZero,
    /// A shift by less than 0 or more than 63.
    ShiftRange,
}

impl UnaryOp {
    /// The operator's result.
    ///
    /// # Errors
    /// Why there is none.
    pub fn apply(self, value: i64) -> Result<i64, NoResult> {
        match self {
            Self::Neg => value.checked_neg().ok_or(NoResult::Overflow),
            Self::Not => Ok(i64::from(value == 0)),
        }
    }
}

impl BinaryOp {
    /// The operator's result. `&&` and `||`, which do not always evaluate their right side, are given both
    /// here.
    ///
    /// # Errors
    /// Why there is none.
    pub fn apply(self, left: i64, right: i64) -> Result<i64, NoResult> {
        let shift = || u32::try_from(right).ok().filter(|bits| *bits < 64).ok_or(NoResult::ShiftRange);
        if right == 0 && matches!(self, Self::Div | Self::Rem) {
            return Err(NoResult::DivisionByZero);
        }
        let checked = match self {
            Self::Add => left.checked_add(right),
            Self::Sub => left.checked_sub(right),
            Self::Mul => left.checked_mul(right),
            Self::Div => left.checked_div(right),
            Self::Rem => left.checked_rem(right),
            Self::Shl => {
                let bits = shift()?;
                Some(left << bits).filter(|shifted| shifted >> bits == left)
            }
            Self::Shr => Some(left >> shift()?),
            Self::And => Some(left & right),
            Self::Or => Some(left | right),
            Self::Xor => Some(left ^ right),
            Self::LogicalAnd => Some(i64::from(left != 0 && right != 0)),
            Self::LogicalOr => Some(i64::from(left != 0 || right != 0)),
            Self::Eq => Some(i64::from(left == right)),
            Self::Ne => Some(i64::from(left != right)),
            Self::Lt => Some(i64::from(left < right)),
            Self::Le => Some(i64::from(left <= right)),
            Self::Gt => Some(i64::from(left > right)),
            Self::Ge => Some(i64::from(left >= right)),
        };
        checked.ok_or(NoResult::Overflow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(op: BinaryOp, left: i64, right: i64, expected: Result<i64, NoResult>) {
        assert_eq!(op.apply(left, right), expected);
    }

    #[test]
    fn results_that_do_not_fit_are_errors() {
        check(BinaryOp::Add, i64::MAX, 1, Err(NoResult::Overflow));
        check(BinaryOp::Div, i64::MIN, -1, Err(NoResult::Overflow));
        check(BinaryOp::Rem, i64::MIN, -1, Err(NoResult::Overflow));
        check(BinaryOp::Rem, 1, 0, Err(NoResult::DivisionByZero));
        check(BinaryOp::Shl, 1, 62, Ok(1 << 62));
        check(BinaryOp::Shl, 1, 63, Err(NoResult::Overflow));
        check(BinaryOp::Shl, -1, 63, Ok(i64::MIN));
        check(BinaryOp::Shr, -8, 1, Ok(-4));
        check(BinaryOp::Shr, 1, 64, Err(NoResult::ShiftRange));
        check(BinaryOp::Shl, 1, -1, Err(NoResult::ShiftRange));
        assert_eq!(UnaryOp::Neg.apply(i64::MIN), Err(NoResult::Overflow));
    }

    #[test]
    fn anything_but_0_is_true() {
        for (left, right, and, or) in [(0, 0, 0, 0), (0, 2, 0, 1), (2, 0, 0, 1), (2, -3, 1, 1)] {
            check(BinaryOp::LogicalAnd, left, right, Ok(and));
            check(BinaryOp::LogicalOr, left, right, Ok(or));
        }
        assert_eq!((UnaryOp::Not.apply(0), UnaryOp::Not.apply(2)), (Ok(1), Ok(0)));
    }
}

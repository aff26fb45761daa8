//! Constant expressions: what operators yield, or why they yield nothing.

use barcheck_model::program::{BinaryOp, UnaryOp};

/// Why an operator has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum EvalError {
    /// The result does not fit into 64 bits.
    Overflow,
    /// Division by zero, or its remainder.
    DivisionByZero,
    /// A shift by less than 0 or more than 63.
    ShiftRange,
}

impl EvalError {
    /// What happened, a fragment.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Self::Overflow => "the result does not fit into 64 bits",
            Self::DivisionByZero => "division by zero",
            Self::ShiftRange => "a shift outside 0..=63",
        }
    }
}

/// The result of an operator on one constant.
pub(crate) fn unary(op: UnaryOp, value: i64) -> Result<i64, EvalError> {
    match op {
        UnaryOp::Neg => value.checked_neg().ok_or(EvalError::Overflow),
        UnaryOp::Not => Ok(i64::from(value == 0)),
    }
}

/// The result of an operator on two constants.
pub(crate) fn binary(op: BinaryOp, left: i64, right: i64) -> Result<i64, EvalError> {
    let overflow = EvalError::Overflow;
    let shift = u32::try_from(right).ok().filter(|bits| *bits < 64).ok_or(EvalError::ShiftRange);
    let is_zero = matches!(op, BinaryOp::Div | BinaryOp::Rem) && right == 0;
    if is_zero {
        return Err(EvalError::DivisionByZero);
    }
    match op {
        BinaryOp::Add => left.checked_add(right).ok_or(overflow),
        BinaryOp::Sub => left.checked_sub(right).ok_or(overflow),
        BinaryOp::Mul => left.checked_mul(right).ok_or(overflow),
        BinaryOp::Div => left.checked_div(right).ok_or(overflow),
        BinaryOp::Rem => left.checked_rem(right).ok_or(overflow),
        BinaryOp::Shl => shift.and_then(|bits| {
            let shifted = left << bits;
            if shifted >> bits == left { Ok(shifted) } else { Err(overflow) }
        }),
        BinaryOp::Shr => shift.map(|bits| left >> bits),
        BinaryOp::And => Ok(left & right),
        BinaryOp::Or => Ok(left | right),
        BinaryOp::Xor => Ok(left ^ right),
        BinaryOp::LogicalAnd => Ok(i64::from(left != 0 && right != 0)),
        BinaryOp::LogicalOr => Ok(i64::from(left != 0 || right != 0)),
        BinaryOp::Eq => Ok(i64::from(left == right)),
        BinaryOp::Ne => Ok(i64::from(left != right)),
        BinaryOp::Lt => Ok(i64::from(left < right)),
        BinaryOp::Le => Ok(i64::from(left <= right)),
        BinaryOp::Gt => Ok(i64::from(left > right)),
        BinaryOp::Ge => Ok(i64::from(left >= right)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(op: BinaryOp, left: i64, right: i64, expected: Result<i64, EvalError>) {
        assert_eq!(binary(op, left, right), expected);
    }

    #[test]
    fn results_that_do_not_fit_are_errors() {
        check(BinaryOp::Add, i64::MAX, 1, Err(EvalError::Overflow));
        check(BinaryOp::Div, i64::MIN, -1, Err(EvalError::Overflow));
        check(BinaryOp::Rem, i64::MIN, -1, Err(EvalError::Overflow));
        check(BinaryOp::Rem, 1, 0, Err(EvalError::DivisionByZero));
        check(BinaryOp::Shl, 1, 62, Ok(1 << 62));
        check(BinaryOp::Shl, 1, 63, Err(EvalError::Overflow));
        check(BinaryOp::Shl, -1, 63, Ok(i64::MIN));
        check(BinaryOp::Shr, -8, 1, Ok(-4));
        check(BinaryOp::Shr, 1, 64, Err(EvalError::ShiftRange));
        check(BinaryOp::Shl, 1, -1, Err(EvalError::ShiftRange));
        assert_eq!(unary(UnaryOp::Neg, i64::MIN), Err(EvalError::Overflow));
    }
}

//! Functions that several kinds of instructions need.

use crate::kernel::code::{Function, Operation, Type};

/// A predicate.
pub(super) const BIT: Type = Type { bits: 1, signed: false };
/// The bits of most special registers.
pub(super) const WORD: Type = Type { bits: 32, signed: false };
/// All bits of the widest register that is followed.
pub(super) const LONG: Type = Type { bits: 64, signed: false };

pub(super) fn logical_not() -> Function {
    Function::Integer(Operation::LogicalNot, BIT)
}

/// The same bits, cut to the width of a type.
pub(super) fn copy(ty: Type) -> Function {
    Function::Integer(Operation::Convert(ty), ty)
}

//! Instructions, operands and barriers in words.

pub(crate) mod instruction;

//! What the readers must know of a system.

use barcheck_model::program::Op;

use crate::bar::ast::Instruction;
use crate::bar::foreign_syntax::Foreign;
use crate::bar::lower::RoleLowerer;
use crate::bar::notation::Notation;

/// All that the readers must know of a system.
pub(super) struct System {
    pub(super) notation: &'static Notation,
    /// The operation of an instruction; the inner `None` is that of a hint. After an error, which was
    /// reported, nothing.
    pub(super) lower: for<'a> fn(&mut RoleLowerer<'_, 'a>, &'a Instruction) -> Option<Option<Op>>,
    pub(super) foreign: &'static Foreign,
    /// The clauses of its specification, as a file of the catalogue.
    #[cfg(feature = "clauses")]
    pub(super) clauses: &'static str,
}

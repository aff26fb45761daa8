//! The systems whose protocols the language can write: the one list that names them. Each has a folder here
//! with all that the readers must know of it: its words and instructions, what they lower to, and what those
//! who know it from elsewhere may write by mistake. Nothing outside asks for a system by name.

mod bcu;
mod nbarrier;
mod ptx;
mod split;
mod xegpu;

use barcheck_model::program::{Op, Target};

use super::ast::Instruction;
use super::foreign_syntax::Foreign;
use super::lower::RoleLowerer;
use super::notation::Notation;

/// How the protocols of a system are written.
pub(crate) fn notation(target: Target) -> &'static Notation {
    match target {
        Target::Ptx => &ptx::NOTATION,
        Target::Bcu => &bcu::NOTATION,
        Target::Nbarrier => &nbarrier::NOTATION,
        Target::SplitBarrier => &split::NOTATION,
        Target::Xegpu => &xegpu::NOTATION,
    }
}

/// The operation of an instruction; the inner `None` is that of a hint. After an error, which was reported,
/// nothing.
pub(super) fn lower<'a>(role: &mut RoleLowerer<'_, 'a>, instruction: &'a Instruction) -> Option<Option<Op>> {
    match instruction.opcode.target() {
        Target::Ptx => role.ptx(instruction).map(Some),
        Target::Bcu => role.bcu(instruction).map(Some),
        Target::Nbarrier => role.nbarrier(instruction).map(Some),
        Target::SplitBarrier => role.split(instruction).map(Some),
        Target::Xegpu => role.xegpu(instruction),
    }
}

/// What people write who know the system from elsewhere.
pub(crate) fn foreign(target: Target) -> &'static Foreign {
    match target {
        Target::Ptx => &ptx::FOREIGN,
        Target::Bcu => &bcu::FOREIGN,
        Target::Nbarrier => &nbarrier::FOREIGN,
        Target::SplitBarrier => &split::FOREIGN,
        Target::Xegpu => &xegpu::FOREIGN,
    }
}

/// The clauses of the system's specification, as a file of the catalogue.
#[cfg(feature = "clauses")]
pub(crate) fn clauses(target: Target) -> &'static str {
    match target {
        Target::Ptx => ptx::CLAUSES,
        Target::Bcu => bcu::CLAUSES,
        Target::Nbarrier => nbarrier::CLAUSES,
        Target::SplitBarrier => split::CLAUSES,
        Target::Xegpu => xegpu::CLAUSES,
    }
}

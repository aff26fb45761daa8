//! The systems whose protocols the language can write: the one list that names them. Each has a folder here
//! with all that the readers must know of it: its words and instructions, what they lower to, and what those
//! who know it from elsewhere may write by mistake. Nothing outside asks for a system by name.

mod bcu;
mod definition;
mod nbarrier;
mod ptx;
mod split;
#[cfg(feature = "toy")]
mod toy;
mod xegpu;

use barcheck_model::program::{Op, Target};

use super::ast::Instruction;
use super::foreign_syntax::Foreign;
use super::lower::RoleLowerer;
use super::notation::Notation;
use definition::System;

/// The list.
fn of(target: Target) -> &'static System {
    match target {
        Target::Ptx => &ptx::SYSTEM,
        Target::Bcu => &bcu::SYSTEM,
        Target::Nbarrier => &nbarrier::SYSTEM,
        Target::SplitBarrier => &split::SYSTEM,
        Target::Xegpu => &xegpu::SYSTEM,
        #[cfg(feature = "toy")]
        Target::Toy => &toy::SYSTEM,
    }
}

/// How the protocols of a system are written.
pub(crate) fn notation(target: Target) -> &'static Notation {
    of(target).notation
}

/// The operation of an instruction; the inner `None` is that of a hint. After an error, which was reported,
/// nothing.
pub(super) fn lower<'a>(role: &mut RoleLowerer<'_, 'a>, instruction: &'a Instruction) -> Option<Option<Op>> {
    (of(instruction.opcode.target()).lower)(role, instruction)
}

/// What people write who know the system from elsewhere.
pub(crate) fn foreign(target: Target) -> &'static Foreign {
    of(target).foreign
}

/// The clauses of the system's specification, as a file of the catalogue.
#[cfg(feature = "clauses")]
pub(crate) fn clauses(target: Target) -> &'static str {
    of(target).clauses
}

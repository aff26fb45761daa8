//! The toy's words and instructions.

use std::sync::LazyLock;

use barcheck_model::program::{Op, Target, ToyOp};

use super::definition::System;
use crate::bar::ast::Instruction;
use crate::bar::foreign_syntax::Foreign;
use crate::bar::lower::RoleLowerer;
use crate::bar::notation::Notation;
use crate::bar::opcode::Mnemonics;
use crate::common::limits;

pub(super) static SYSTEM: System = System {
    notation: &NOTATION,
    lower: |role, instruction| lower(role, instruction).map(Some),
    foreign: &Foreign { compiled: &[], written: &[], statement: |_| None },
    #[cfg(feature = "clauses")]
    clauses: "clause = []",
};

static NOTATION: Notation = Notation {
    target: Target::Toy,
    size: "thread_group",
    unit: "threads",
    largest: limits::GROUP_SIZE,
    agents: "threads",
    subgroups: false,
    index_keeps_case: false,
    commas_optional: false,
    handles_from: None,
    objects: None,
    cluster: false,
    registers: None,
    mnemonics: || MNEMONICS.all(),
    unqualified: |_| None,
};

/// Whether the thread blocks.
static MNEMONICS: LazyLock<Mnemonics<bool>> = LazyLock::new(|| {
    let mut mnemonics = Mnemonics::new(Target::Toy);
    mnemonics.add(false, "toy.arrive");
    mnemonics.add(true, "toy.sync");
    mnemonics
});

fn lower<'a>(role: &mut RoleLowerer<'_, 'a>, instruction: &'a Instruction) -> Option<Op> {
    let blocks = MNEMONICS.operation(instruction.opcode);
    match instruction.operands.as_slice() {
        [id, count] => {
            let (id, count) = (role.number(id), role.number(count));
            Some(Op::from(ToyOp { blocks, id: id?, count: count? }))
        }
        _ => role.wrong_count(instruction, &["id, count"]),
    }
}

//! Intel vISA, `NBARRIER` and `fence`: words and instructions.

mod foreign;
mod lower;

use std::sync::LazyLock;

use barcheck_model::program::{Spaces, Target};

use crate::bar::notation::Notation;
use crate::bar::opcode::Mnemonics;
use crate::common::limits;

use super::definition::System;
use foreign::FOREIGN;

pub(super) static SYSTEM: System = System {
    notation: &NOTATION,
    lower: |role, instruction| role.nbarrier(instruction).map(Some),
    foreign: &FOREIGN,
    #[cfg(feature = "clauses")]
    clauses: include_str!("../../../../clauses/nbarrier.toml"),
};

static NOTATION: Notation = Notation {
    target: Target::Nbarrier,
    size: "thread_group",
    unit: "threads",
    largest: limits::GROUP_SIZE,
    agents: "threads",
    subgroups: false,
    index_keeps_case: false,
    commas_optional: true,
    handles_from: None,
    objects: None,
    cluster: false,
    registers: None,
    mnemonics: || MNEMONICS.all(),
    unqualified: |_| None,
};

/// What an instruction does.
#[derive(Clone, Copy, Debug)]
enum Operation {
    Signal,
    Wait,
    Fence(Spaces),
}

static MNEMONICS: LazyLock<Mnemonics<Operation>> = LazyLock::new(|| {
    let fence = |shared, global| Operation::Fence(Spaces { shared, global });
    let mut mnemonics = Mnemonics::new(Target::Nbarrier);
    // clause: nbarrier.mode
    mnemonics.add(Operation::Signal, "nbarrier.signal");
    mnemonics.add(Operation::Wait, "nbarrier.wait");
    mnemonics.add(fence(true, true), "fence");
    mnemonics.add(fence(true, false), "fence.slm");
    mnemonics.add(fence(false, true), "fence.ugm");
    mnemonics
});

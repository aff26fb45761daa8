//! XeGPU, named barriers and their handles: words and instructions.

mod foreign;
mod lower;

use std::sync::LazyLock;

use barcheck_model::program::Target;

use crate::bar::notation::Notation;
use crate::bar::opcode::{Form, Mnemonics};
use crate::common::limits;

use super::definition::System;
use foreign::FOREIGN;

pub(super) static SYSTEM: System = System {
    notation: &NOTATION,
    lower: |role, instruction| role.xegpu(instruction),
    foreign: &FOREIGN,
    #[cfg(feature = "clauses")]
    clauses: include_str!("../../../../clauses/xegpu.toml"),
};

static NOTATION: Notation = Notation {
    target: Target::Xegpu,
    size: "workgroup",
    unit: "subgroups",
    largest: limits::GROUP_SIZE,
    agents: "subgroups",
    subgroups: false,
    index_keeps_case: false,
    commas_optional: false,
    handles_from: Some(INIT),
    objects: None,
    cluster: false,
    registers: None,
    mnemonics: || MNEMONICS.all(),
    unqualified: |_| None,
};

/// The instruction that makes a handle.
const INIT: &str = "xegpu.init_nbarrier";

/// What an instruction does.
#[derive(Clone, Copy, Debug)]
enum Operation {
    Alloc,
    Init,
    Arrive,
    Wait,
    Fence,
    /// `xegpu.compile_hint`
    Hint,
}

static MNEMONICS: LazyLock<Mnemonics<Operation>> = LazyLock::new(|| {
    let mut mnemonics = Mnemonics::new(Target::Xegpu);
    mnemonics.add(Operation::Alloc, "xegpu.alloc_nbarrier");
    mnemonics.add_of(Form::YieldsHandle, Operation::Init, INIT);
    mnemonics.add(Operation::Arrive, "xegpu.nbarrier_arrive");
    mnemonics.add(Operation::Wait, "xegpu.nbarrier_wait");
    mnemonics.add_of(Form::Attributes, Operation::Fence, "xegpu.mfence");
    mnemonics.add_of(Form::Hint, Operation::Hint, "xegpu.compile_hint");
    mnemonics
});

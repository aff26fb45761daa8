//! SPIR-V, `SPV_INTEL_split_barrier`: words and instructions.

mod foreign;
mod lower;

use std::sync::LazyLock;

use barcheck_model::program::{SplitKind, Target};

use crate::bar::notation::Notation;
use crate::bar::opcode::{Form, Mnemonics};
use crate::common::limits;

use super::definition::System;
use foreign::FOREIGN;

pub(super) static SYSTEM: System = System {
    notation: &NOTATION,
    lower: |role, instruction| role.split(instruction).map(Some),
    foreign: &FOREIGN,
    #[cfg(feature = "clauses")]
    clauses: include_str!("../../../../clauses/split_barrier.toml"),
};

static NOTATION: Notation = Notation {
    target: Target::SplitBarrier,
    size: "workgroup",
    unit: "invocations",
    largest: limits::GROUP_SIZE,
    agents: "invocations",
    subgroups: true,
    // `Subgroup` is also a scope.
    index_keeps_case: true,
    commas_optional: false,
    handles_from: None,
    objects: None,
    cluster: false,
    registers: None,
    mnemonics: || MNEMONICS.all(),
    unqualified: |_| None,
};

static MNEMONICS: LazyLock<Mnemonics<SplitKind>> = LazyLock::new(|| {
    let mut mnemonics = Mnemonics::new(Target::SplitBarrier);
    let mut add = |kind, text: String, alias| {
        mnemonics.add_of(Form::JoinedWords, kind, text);
        if alias {
            mnemonics.mark_alias();
        }
    };
    // clause: split_barrier.ext-names
    for (suffix, alias) in [("INTEL", false), ("EXT", true)] {
        add(SplitKind::Arrive, format!("OpControlBarrierArrive{suffix}"), alias);
        add(SplitKind::Wait, format!("OpControlBarrierWait{suffix}"), alias);
    }
    add(SplitKind::Both, "OpControlBarrier".to_owned(), false);
    add(SplitKind::MemoryBarrier, "OpMemoryBarrier".to_owned(), false);
    mnemonics
});

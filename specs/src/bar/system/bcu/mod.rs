//! The BCU instruction set, `BAR`, `BAR.RED`, `B2R`, `R2B`: words and instructions.

mod foreign;
mod lower;
mod registers;

use std::sync::LazyLock;

use barcheck_model::program::{ReductionOp, Target};

use crate::bar::notation::Notation;
use crate::bar::opcode::Mnemonics;
use crate::common::limits;

use super::definition::System;
use foreign::FOREIGN;

pub(super) static SYSTEM: System = System {
    notation: &NOTATION,
    lower: |role, instruction| role.bcu(instruction).map(Some),
    foreign: &FOREIGN,
    #[cfg(feature = "clauses")]
    clauses: include_str!("../../../../clauses/bcu.toml"),
};

static NOTATION: Notation = Notation {
    target: Target::Bcu,
    size: "cta",
    unit: "threads",
    largest: limits::CTA_THREADS,
    agents: "warps",
    subgroups: false,
    index_keeps_case: false,
    commas_optional: false,
    handles_from: None,
    objects: None,
    cluster: false,
    registers: Some(registers::REGISTERS),
    mnemonics: || MNEMONICS.all(),
    unqualified: |_| None,
};

/// What an instruction does.
#[derive(Clone, Copy, Debug)]
enum Operation {
    /// `BAR.SYNC`
    Sync,
    /// `BAR.ARV`
    Arv,
    /// `BAR.RED`
    Red(ReductionOp),
    /// `B2R.RESULT`
    B2rResult,
    /// `BAR.RESULT`, the same with both operands.
    BarResult,
    /// `B2R`, `B2R.BAR`
    B2r,
    /// `B2R.WARP`
    B2rWarp,
    /// `R2B`, `R2B.BAR`
    R2b,
    /// `R2B.WARP`
    R2bWarp,
}

static MNEMONICS: LazyLock<Mnemonics<Operation>> = LazyLock::new(|| {
    let mut mnemonics = Mnemonics::new(Target::Bcu);
    mnemonics.add(Operation::Sync, "BAR.SYNC");
    mnemonics.add(Operation::Arv, "BAR.ARV");
    mnemonics.add(Operation::Red(ReductionOp::Popc), "BAR.RED.POPC");
    mnemonics.add(Operation::Red(ReductionOp::And), "BAR.RED.AND");
    mnemonics.add(Operation::Red(ReductionOp::Or), "BAR.RED.OR");
    // clause: bcu.b2r-result
    mnemonics.add(Operation::B2rResult, "B2R.RESULT");
    mnemonics.add(Operation::BarResult, "BAR.RESULT");
    // clause: bcu.b2r-default-mode
    mnemonics.add(Operation::B2r, "B2R");
    mnemonics.add(Operation::B2r, "B2R.BAR");
    mnemonics.add(Operation::B2rWarp, "B2R.WARP");
    // clause: bcu.r2b-default-mode
    mnemonics.add(Operation::R2b, "R2B");
    mnemonics.add(Operation::R2b, "R2B.BAR");
    mnemonics.add(Operation::R2bWarp, "R2B.WARP");
    mnemonics
});

//! The BCU in words.

use barcheck_model::barrier::{AnyBarrier, BarrierAction, BarrierId, bcu};
use barcheck_model::program::{BarrierInstruction, BcuOp, BcuOperand, BcuRedOperands, Program, WARP_SIZE};

use super::expressions::{Lanes, mnemonic};
use super::figures::{Gathering, Naming, Present, count, plain};
use super::system::{Counts, EXIT_OF_WARP, IDS_OF_16, Parties, Unpublished, Wording};
use crate::names::reduction;
use crate::trace::Operands;

pub(super) struct Bcu;

impl Wording for Bcu {
    fn ids(&self) -> Option<&'static str> {
        Some(IDS_OF_16)
    }

    fn counts(&self, _: &str, _: u32) -> Option<Counts> {
        let says =
            "A count is a multiple of 32 that fits 12 bits; 0 means every live warp and is not for ARV.";
        Some(Counts::usual(says.to_owned(), true))
    }

    fn mixed(&self) -> Option<&'static str> {
        Some("A barrier id that is used by RED must not be used by SYNC or ARV, in any generation.")
    }

    fn exit(&self) -> &'static str {
        EXIT_OF_WARP
    }

    fn unpublished(&self, parties: Parties<'_>) -> Unpublished {
        if !parties.arrives {
            return Unpublished::by_exit(parties);
        }
        Unpublished {
            why: "BAR.ARV signals without publishing: only BAR.SYNC and BAR.RED are memory barriers"
                .to_owned(),
            fix: format!("let {} publish by BAR.SYNC or BAR.RED after its access", parties.earlier),
        }
    }

    fn instruction(&self, op: &BarrierInstruction, lanes: &dyn Lanes, written: &str, pick: u32) -> String {
        let BarrierInstruction::Bcu(op) = op else { return written.to_owned() };
        instruction(op, lanes, written, pick)
    }

    fn operands(&self, action: &BarrierAction) -> Option<Operands> {
        let BarrierAction::Bcu(action) = action else { return None };
        Some(operands(action))
    }

    fn may_use(&self, op: &BarrierInstruction, naming: &Naming<'_>) -> bool {
        matches!(op, BarrierInstruction::Bcu(op) if may_use(op, naming))
    }

    fn gathering(
        &self,
        _: &Program,
        _: BarrierId,
        barrier: &AnyBarrier,
        present: Present,
    ) -> Option<Gathering> {
        let AnyBarrier::Bcu(barrier) = barrier else { return None };
        gathering(barrier, present)
    }
}

/// An instruction with its operands' values.
fn instruction(op: &BcuOp, lanes: &dyn Lanes, written: &str, pick: u32) -> String {
    let (canonical, operands) = match op {
        BcuOp::Sync { id, count } => ("BAR.SYNC", id_and_count(id, count.as_ref(), lanes)),
        BcuOp::Arv { id, count } => ("BAR.ARV", id_and_count(id, Some(count), lanes)),
        BcuOp::Red { op, operands, predicate } => {
            let mut shown: Vec<String> = match operands {
                BcuRedOperands::Separate(id, count) => id_and_count(id, count.as_ref(), lanes),
                BcuRedOperands::Packed(register) => match lanes.first(register) {
                    Some(n) => {
                        let (id, count, _) = bcu::unpack(n);
                        vec![format!("0x{n:x} = {}, {}", id.value, count.value)]
                    }
                    None => vec![lanes.show(register)],
                },
            };
            shown.push(lanes.truths(*op, predicate, pick));
            ("BAR.RED", shown)
        }
        BcuOp::Result { .. } | BcuOp::ReadWarp { .. } => return written.to_owned(),
        BcuOp::ReadBarrier { id, .. } => return format!("{written} (barrier {})", lanes.show(id)),
        BcuOp::WriteBarrier { id, source } => ("R2B.BAR", vec![lanes.show(id), lanes.show(source)]),
        BcuOp::WriteWarp { source, .. } => ("R2B.WARP", vec![lanes.show(source)]),
    };
    format!("{} {}", mnemonic(written, canonical), operands.join(", "))
}

fn id_and_count(id: &BcuOperand, count: Option<&BcuOperand>, lanes: &dyn Lanes) -> Vec<String> {
    let id = operand(id, bcu::ID_MASK, lanes);
    let count = count.map(|count| operand(count, bcu::COUNT_MASK, lanes));
    std::iter::once(id).chain(count).collect()
}

fn operand(operand: &BcuOperand, mask: i64, lanes: &dyn Lanes) -> String {
    match lanes.first(&operand.value) {
        // A register keeps only its low bits: both values matter.
        Some(n) if operand.register && n & !mask != 0 => format!("{} (of 0x{n:x})", n & mask),
        _ => lanes.show(&operand.value),
    }
}

/// The operands of an instruction.
fn operands(action: &bcu::Action) -> Operands {
    match action {
        bcu::Action::Arrive { what, .. } => announced(what),
        bcu::Action::ReadState(id) => plain("read-state", *id, Vec::new()),
        bcu::Action::WriteState(id, _) => plain("write-state", *id, Vec::new()),
    }
}

fn announced(what: &bcu::Announcement) -> Operands {
    let operation = match what.operation {
        bcu::Operation::Sync => "sync",
        bcu::Operation::Arv => "arrive",
        bcu::Operation::Red(op) => reduction(op),
    };
    let counts = vec![count("threads", 32, what.count)];
    Operands { all: what.count == 0, ..plain(operation, what.id, counts) }
}

/// The generation that gathers at a barrier.
fn gathering(barrier: &bcu::Barrier, present: Present) -> Option<Gathering> {
    let live = barrier.live?;
    let all = live.count == 0;
    let expected = if all { present.live.saturating_mul(WARP_SIZE) } else { live.count };
    let arrived = live.arrivals.saturating_mul(WARP_SIZE);
    Some(Gathering { all, class: class(&live).to_owned(), counts: vec![count("threads", arrived, expected)] })
}

fn class(live: &bcu::Live) -> &'static str {
    live.red.map_or("plain", reduction)
}

/// What a register holds that is no number.
pub(super) fn opaque(opaque: &bcu::Opaque) -> String {
    match opaque {
        bcu::Opaque::Barrier(None) => "state(idle)".to_owned(),
        bcu::Opaque::Barrier(Some(live)) => {
            let arrived = live.arrivals.saturating_mul(WARP_SIZE);
            format!("state({}, {arrived} of {} threads)", class(live), live.count)
        }
        bcu::Opaque::Unknown(_) => "state".to_owned(),
        bcu::Opaque::Warp(copy) => format!("result({}, {})", reduction(copy.op), copy.result),
    }
}

/// Whether an instruction may name a barrier.
fn may_use(op: &BcuOp, naming: &Naming<'_>) -> bool {
    match op {
        BcuOp::Sync { id, .. }
        | BcuOp::Arv { id, .. }
        | BcuOp::Red { operands: BcuRedOperands::Separate(id, _), .. } => {
            id.register || naming.names(&id.value)
        }
        BcuOp::Red { operands: BcuRedOperands::Packed(_), .. } => true,
        // None of these arrives.
        BcuOp::Result { .. }
        | BcuOp::ReadBarrier { .. }
        | BcuOp::WriteBarrier { .. }
        | BcuOp::ReadWarp { .. }
        | BcuOp::WriteWarp { .. } => false,
    }
}

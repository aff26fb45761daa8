//! What is laid out for warps whose lanes have parted: `BRA.DIV UR4, L`, and at L all lanes come together for
//! one instruction.

use crate::sass::operand::{Kind, Operand};
use crate::sass::syntax::Statement;

use super::half;
use super::state::Lowerer;

/// Instructions before the one that lanes execute together.
const NEAR: usize = 16;

impl<'m> Lowerer<'m> {
    /// Whether the code at a place brings all lanes together for the barrier that stands at another, and goes
    /// on behind that: `MOV R1, 0x2; MOV R0, 0x100; WARPSYNC.COLLECTIVE.ALL M; SHF.L.U32 R0, R0, 0x10, RZ;
    /// LOP3.LUT R0, R0, 0xf, R1, 0xf8, !PT; BAR.SYNC R0, R0; …; ENDCOLLECTIVE; M: BRA behind`.
    pub(super) fn is_same_barrier(&self, place: usize, barrier: usize) -> bool {
        let function = self.function();
        let [Some(wanted), Some(code)] =
            [function.statements.get(barrier..), function.statements.get(place..)]
        else {
            return false;
        };
        let Some(wanted) = wanted.first().filter(|wanted| wanted.guard.is_none()) else { return false };
        let ([id, count], "BAR.SYNC.DEFER_BLOCKING") = (wanted.operands.as_slice(), wanted.opcode) else {
            return false;
        };
        let Some(together) = code.iter().take(NEAR).position(|s| s.opcode == "WARPSYNC.COLLECTIVE.ALL")
        else {
            return false;
        };
        let (before, [_, shift, both, sync, rest @ ..]) = code.split_at(together) else { return false };
        let prepares =
            |s: &Statement<'_>| s.guard.is_none() && (s.opcode == "BSSY" || moved(self, s).is_some());
        let ([packed, number], true) = (
            [shift.operands.first(), both.operands.get(3)],
            before.iter().all(prepares) && code.iter().take(together + 8).all(|s| s.trouble.is_none()),
        ) else {
            return false;
        };
        let (Some(packed), Some(number)) = (packed, number) else { return false };
        let value = |register: &str| {
            let last = before.iter().rev().find(|s| s.operands.first() == Some(&register))?;
            moved(self, last)
        };
        let given = |text: &str| match Operand::of(text).kind {
            Kind::Number(number) => Some(number),
            _ => None,
        };
        let is = |s: &Statement<'_>, opcode: &str, operands: &[&str]| {
            s.opcode == opcode && s.guard.is_none() && s.operands == operands
        };
        let idles = |s: &&Statement<'_>| s.opcode == "BSYNC" || s.opcode == "ENDCOLLECTIVE";
        let [unpacks, rest @ ..] = rest else { return false };
        let back = rest.iter().find(|s| !idles(s));
        is(shift, "SHF.L.U32", &[packed, packed, "0x10", "RZ"])
            && is(both, "LOP3.LUT", &[packed, packed, "0xf", number, "0xf8", "!PT"])
            && is(sync, wanted.opcode, &[packed, packed])
            && unpacks.opcode.starts_with("SHF.R.U32")
            && unpacks.operands.first() == Some(packed)
            && given(id).is_some_and(|id| value(number) == Some(id))
            && given(count).is_some_and(|count| value(packed) == Some(count))
            && back.is_some_and(|back| {
                let to = back.operands.first().and_then(|to| function.target(to));
                back.opcode == "BRA" && back.guard.is_none() && to == Some(barrier + 1)
            })
    }
}

/// The number that a statement puts into a register.
fn moved(lowerer: &Lowerer<'_>, statement: &Statement<'_>) -> Option<u64> {
    let number = |text: &&str| match Operand::of(text).kind {
        Kind::Number(number) => Some(number & 0xffff_ffff),
        _ => None,
    };
    match (statement.opcode, statement.operands.as_slice()) {
        ("MOV", [_, from]) | ("IMAD.MOV.U32", [_, "RZ", "RZ", from]) => number(from),
        ("HFMA2" | "HFMA2.MMA", _) => {
            let current = lowerer.current(0, statement);
            half::constant(&current, current.operands.get(1..)?)
        }
        _ => None,
    }
}

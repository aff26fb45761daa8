//! Registers of 64 bits that are made of two of 32: `mov.b64 %rd1, {%r1, %r2}`.
//!
//! Compilers pack what has nothing to do with one another, such as the two counters of a loop, and unpack it
//! elsewhere. Beside each such register two others hold its halves. Whatever writes it writes them too, so
//! that each is the half of what the register holds at any time; who unpacks the register reads them.

use std::collections::BTreeSet;

use crate::kernel::code::{Action, Argument, Function, Operation, Register};
use crate::ptx::syntax::{Body, Operand};

use super::functions::{LONG, WORD, copy};
use super::state::{Current, Lowerer};

impl<'m> Lowerer<'m> {
    /// Gives their halves to the registers of a body that are packed, the first of which is at `first`.
    pub(super) fn give_halves(&mut self, body: &'m Body, first: Register) {
        let mut packed: BTreeSet<u32> = BTreeSet::new();
        loop {
            let before = packed.len();
            for instruction in &body.instructions {
                if instruction.opcode.text(self.source) != "mov.b64" {
                    continue;
                }
                match instruction.operands.as_slice() {
                    [Operand::Register(to, _), Operand::Group(parts)] if parts.len() == 2 => {
                        packed.insert(*to);
                    }
                    [Operand::Register(to, _), Operand::Register(from, _)] if packed.contains(from) => {
                        packed.insert(*to);
                    }
                    _ => {}
                }
            }
            if packed.len() == before {
                break;
            }
        }
        for register in packed {
            let half = |code: &mut crate::kernel::code::Code| {
                let half = code.register("half");
                code.bits[half as usize] = WORD.bits;
                half
            };
            let halves = [half(&mut self.code), half(&mut self.code)];
            self.halves.insert(first + register, halves);
        }
    }

    /// What has been written is written to the halves.
    pub(super) fn halve(&mut self, current: &Current<'m>, whole: Register) {
        let Some(halves) = self.halves.get(&whole).copied() else { return };
        let whole = Argument::Register(whole);
        let by = Argument::Number(u64::from(WORD.bits));
        let high = self.intermediate(current, Function::Integer(Operation::ShiftRight, LONG), &[whole, by]);
        for (to, from) in halves.into_iter().zip([whole, high]) {
            let arguments = vec![from];
            self.emit_always(current, Action::Compute { to, function: copy(WORD), arguments });
        }
    }

    /// The halves of what has been written are known as such.
    pub(super) fn set_halves(&mut self, current: &Current<'m>, whole: Register, parts: [Argument; 2]) {
        let Some(halves) = self.halves.get(&whole).copied() else { return };
        for (half, part) in halves.into_iter().zip(parts) {
            self.compute(current, half, copy(WORD), &[part]);
        }
    }

    /// The halves of a register, if it has any.
    pub(super) fn halves(&mut self, operand: &Operand) -> Option<[Argument; 2]> {
        let Operand::Register(register, false) = operand else { return None };
        let register = self.register(*register);
        self.halves.get(&register).map(|halves| halves.map(Argument::Register))
    }
}

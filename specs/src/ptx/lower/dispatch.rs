//! Which instruction is laid out by whom.

use crate::kernel::code::{Action, Function, Guard};
use crate::ptx::syntax::{self, Operand};

use super::opcodes::{self, Effect};
use super::state::{Current, Lowerer};
use super::stores;

impl<'m> Lowerer<'m> {
    /// The code of an instruction.
    pub(super) fn instruction(&mut self, instruction: &'m syntax::Instruction) {
        let opcode = self.text(instruction.opcode);
        let parts: Vec<&str> = opcode.split('.').collect();
        let guard = instruction.guard.map(|(register, negated)| {
            let register = self.register(register);
            Guard { register, negated }
        });
        let current = Current { instruction, opcode, parts, guard };
        if self.is_meeting(&current) {
            self.code.meetings.insert(self.code.instructions.len());
            self.emit(&current, Action::Nothing);
        }
        match opcodes::effect(opcode) {
            None => self.emit(&current, Action::Beyond(format!("`{opcode}`, which is not known"))),
            Some(Effect::Synchronises) => self.object(&current),
            Some(Effect::Barrier) => self.barrier(&current),
            Some(Effect::Registers) => self.registers(&current),
            Some(Effect::Flow) => self.flow(&current),
            Some(Effect::Pure) => self.arithmetic(&current),
            Some(Effect::Loads) => self.load(&current),
            Some(Effect::Lanes) => self.lanes(&current),
            Some(Effect::OfWarp) => self.opaque(&current, Function::OfWarp),
            Some(Effect::Unknown) => {
                if stores::writes(opcode) {
                    self.changes(&current);
                }
                self.opaque(&current, Function::Unknown);
            }
            Some(Effect::Reads) => self.store(&current),
        }
    }

    /// Whether all lanes of a warp execute an instruction together: those that are aligned, and those that
    /// name all lanes. Barriers of the CTA are told elsewhere.
    fn is_meeting(&mut self, current: &Current<'m>) -> bool {
        let is_all = |operand: &Operand| matches!(operand, Operand::Number(mask) if *mask as u32 == u32::MAX);
        let names_all = match current.parts.as_slice() {
            ["bar" | "barrier", "warp", "sync", ..] | ["shfl" | "vote" | "redux" | "match", ..] => {
                current.has("sync") && current.operands().last().is_some_and(is_all)
            }
            ["elect", "sync", ..] => current.operands().get(1).is_some_and(is_all),
            ["bar" | "barrier", ..] => false,
            _ => current.has("aligned"),
        };
        current.guard.is_none() && names_all
    }
}

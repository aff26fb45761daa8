//! Which instruction is laid out by whom.

use crate::kernel::code::{Action, Function, Guard};
use crate::ptx::syntax;

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
        match opcodes::effect(opcode) {
            None => self.emit(&current, Action::Beyond(format!("`{opcode}`, which is not known"))),
            Some(Effect::Synchronises) => self.object(&current),
            Some(Effect::Barrier) => self.barrier(&current),
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
}

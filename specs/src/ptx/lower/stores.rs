//! Instructions that write memory, as far as addresses tell what.

use crate::kernel::code::{Action, Memory, Written};
use crate::ptx::syntax::{Module, Operand};

use super::calls::reaching;
use super::data::{Space, space};
use super::state::{Current, Lowerer};
use super::types;

/// Opcodes, by the part before the first dot, that write at the first address among their operands.
const WRITERS: [&str; 7] = ["st", "red", "atom", "cp", "stmatrix", "multimem", "wmma"];

/// Memories that an opcode names.
const SPACES: [&str; 4] = ["shared", "global", "local", "param"];

/// Whether an opcode writes memory that others can see.
pub(super) fn writes(opcode: &str) -> bool {
    let mut parts = opcode.split('.');
    let is_own = |part: &str| matches!(part.split("::").next(), Some("param" | "local"));
    WRITERS.contains(&parts.next().unwrap_or_default()) && !parts.any(is_own)
}

/// Whether an opcode may write shared memory: by an address of its own, or of any memory.
fn writes_shared(opcode: &str) -> bool {
    // Where it copies, what it writes is named first.
    let space =
        opcode.split('.').find_map(|part| part.split("::").next().filter(|part| SPACES.contains(part)));
    writes(opcode) && space.is_none_or(|space| space == "shared")
}

/// For each function of the module, whether it writes memory that others can see, itself or in what it calls.
pub(super) fn writing(source: &str, module: &Module) -> Vec<bool> {
    reaching(source, module, |opcode, _| writes(opcode))
}

/// The same for shared memory.
pub(super) fn sharing(source: &str, module: &Module) -> Vec<bool> {
    reaching(source, module, |opcode, _| writes_shared(opcode))
}

/// The same for what says that it writes shared memory.
pub(in crate::ptx) fn shares(source: &str, module: &Module) -> Vec<bool> {
    reaching(source, module, |opcode, _| writes_shared(opcode) && opcode.contains(".shared"))
}

impl<'m> Lowerer<'m> {
    /// What an instruction writes into memory, if it does.
    pub(super) fn changes(&mut self, current: &Current<'m>) {
        let address = current.operands().iter().find_map(|operand| match operand {
            Operand::Address(base, offset) => Some((*base, *offset)),
            _ => None,
        });
        let memory = match space(current) {
            Space::Param | Space::Memory(Memory::Constant) => None,
            Space::Memory(memory) => Some(memory),
            // Its own memory, or what may be any.
            Space::Other if current.has("local") => None,
            Space::Other => Some(Memory::Global),
        };
        let (Some((base, offset)), Some(memory), true) = (address, memory, writes(current.opcode)) else {
            return self.emit(current, Action::Nothing);
        };
        self.code.is_written_from_elsewhere |=
            current.has("shared::cluster") && !current.has("global") && self.launch.groups() > 1;
        let base = self.base(current, base);
        let written = self.stored(current);
        self.emit(current, Action::Store { address: Some((base, offset)), memory, written });
    }

    /// What it writes.
    fn stored(&mut self, current: &Current<'m>) -> Written {
        let parts = &current.parts;
        match parts.first().copied() {
            Some("atom" | "red" | "multimem") => return Written::Exchange,
            Some("st") if !current.has("async") => {}
            _ => return Written::Data,
        }
        let bytes = parts.last().and_then(|ty| types::bytes(ty)).and_then(|bytes| u8::try_from(bytes).ok());
        let operands = match current.operands() {
            [Operand::Address(..), Operand::Group(values)] => values.as_slice(),
            [Operand::Address(..), value] => std::slice::from_ref(value),
            _ => return Written::Data,
        };
        let Some(bytes) = bytes else { return Written::Data };
        Written::Values(operands.iter().map(|value| (self.argument(current, value), bytes)).collect())
    }
}

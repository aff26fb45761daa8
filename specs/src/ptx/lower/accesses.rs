//! Accesses to shared memory, where memory is followed.

use crate::kernel::code::{Access, Action, Argument, Touch};
use crate::kernel::fills;
use crate::ptx::syntax::Operand;

use super::data::{Space, space};
use super::state::{Current, Lowerer};
use super::types;
use crate::kernel::code::Memory;

/// Modifiers of accesses that do not race with one another: `.volatile` is `.relaxed` with system scope (PTX
/// ISA, Memory Consistency Model).
const STRONG: [&str; 5] = ["volatile", "relaxed", "acquire", "release", "mmio"];

/// Bytes of a row of a matrix, whose address one lane gives (PTX ISA, ldmatrix).
const ROW: u32 = 16;

impl<'m> Lowerer<'m> {
    /// Notes what an instruction accesses.
    pub(super) fn access(&mut self, current: &Current<'m>) {
        if !self.code.follows_memory {
            return;
        }
        let is_strong = STRONG.iter().any(|word| current.has(word));
        if current.parts.first() == Some(&"atom") || current.parts.first() == Some(&"ld") && is_strong {
            let written = self.written(current);
            self.code.seen.extend(written);
        }
        if let Some(access) = self.accessed(current, is_strong) {
            self.emit(current, Action::Access(access));
        }
        if let Some(step) = self.of_groups(current).filter(|_| !self.copies_arrive) {
            self.emit(current, step);
        }
    }

    /// What is said of the groups of `cp.async`.
    fn of_groups(&self, current: &Current<'m>) -> Option<Action> {
        match (current.parts.as_slice(), current.operands()) {
            (["cp", "async", "commit_group"], _) => Some(fills::commit_group()),
            (["cp", "async", "wait_all"], _) => Some(fills::wait_group(None)),
            (["cp", "async", "wait_group"], [Operand::Number(newest)]) => {
                Some(fills::wait_group(Some(Argument::Number(*newest))))
            }
            _ => None,
        }
    }

    /// Notes that an instruction may access what nobody knows.
    pub(super) fn accesses_somewhere(&mut self, current: &Current<'m>) {
        if self.code.follows_memory {
            let (touch, is_generic) = (Touch::Write, false);
            let access = Access { touch, address: None, is_generic, bytes: 0, value: None, lanes: u32::MAX };
            self.emit(current, Action::Access(access));
        }
    }

    fn accessed(&mut self, current: &Current<'m>, is_strong: bool) -> Option<Access> {
        let is_shared = space(current) == Space::Memory(Memory::Shared);
        let is_generic = space(current) == Space::Other && !current.has("local");
        let unknown =
            |touch| Access { touch, address: None, is_generic, bytes: 0, value: None, lanes: u32::MAX };
        let read = if is_strong { Touch::StrongRead } else { Touch::Read };
        let write = if is_strong { Touch::StrongWrite } else { Touch::Write };
        let touch = match current.parts.as_slice() {
            // It reads and writes what addresses in registers or descriptors say, while others go on.
            ["wgmma", "mma_async", ..] | ["tcgen05", "mma" | "cp", ..] => return Some(unknown(Touch::Read)),
            // They write answers, addresses or descriptors there.
            ["clusterlaunchcontrol", "try_cancel", ..] | ["tcgen05", "alloc", ..] | ["tensormap", ..] => {
                return Some(unknown(Touch::Write));
            }
            ["cp", "async", "bulk", ..] | ["cp", "reduce", "async", ..]
                if current.opcode.contains("shared") =>
            {
                return Some(unknown(Touch::Write));
            }
            ["cp", "async", "mbarrier" | "commit_group" | "wait_group" | "wait_all", ..] => return None,
            // It writes while others go on; who waits for it knows from an object when it has.
            ["cp", "async", ..] if self.copies_arrive => return Some(unknown(Touch::Write)),
            ["cp", "async", ..] if current.has("shared") || current.has("shared::cta") => Touch::Fill,
            ["st" | "red", "async", ..] => return Some(unknown(Touch::StrongWrite)),
            _ if !is_shared && !is_generic => return None,
            ["ld" | "ldu" | "ldmatrix", ..] => read,
            ["st" | "stmatrix", ..] => write,
            ["atom" | "red", ..] => Touch::StrongWrite,
            ["wmma", "load", ..] => return Some(unknown(Touch::Read)),
            ["wmma", "store", ..] => return Some(unknown(Touch::Write)),
            _ => return None,
        };
        if current.has("shared::cluster") {
            return Some(unknown(touch));
        }
        Some(self.known(current, touch, is_generic).unwrap_or_else(|| unknown(touch)))
    }

    /// An access whose address and length its operands say.
    fn known(&mut self, current: &Current<'m>, touch: Touch, is_generic: bool) -> Option<Access> {
        let found = current.operands().iter().find_map(|operand| match operand {
            Operand::Address(base, offset) => Some((*base, *offset)),
            _ => None,
        });
        let (base, offset) = found?;
        let (bytes, lanes) = match current.parts.first().copied()? {
            "ldmatrix" | "stmatrix" if current.has("m8n8") => {
                let count = current.parts.iter().find_map(|part| match *part {
                    "x1" => Some(8),
                    "x2" => Some(16),
                    "x4" => Some(32),
                    _ => None,
                });
                (ROW, u32::MAX >> (32 - count?))
            }
            "ldmatrix" | "stmatrix" => return None,
            "cp" => match current.operands().get(2)? {
                Operand::Number(bytes @ (4 | 8 | 16)) => (*bytes as u32, u32::MAX),
                _ => return None,
            },
            _ => {
                let of_one = types::bytes(current.parts.last()?)?;
                let times = current.parts.iter().find_map(|part| match *part {
                    "v2" => Some(2),
                    "v4" => Some(4),
                    "v8" => Some(8),
                    _ => None,
                });
                (u32::try_from(of_one).ok()? * times.unwrap_or(1), u32::MAX)
            }
        };
        let (written, of_one) = match (current.parts.first(), current.operands()) {
            (Some(&"st"), [Operand::Address(..), Operand::Group(values)]) => {
                let first = values.first().filter(|first| values.iter().all(|value| value == *first));
                (first, bytes / u32::try_from(values.len().max(1)).ok()?)
            }
            (Some(&"st"), [Operand::Address(..), value]) => (Some(value), bytes),
            _ => (None, bytes),
        };
        let value = written.map(|value| (self.argument(current, value), of_one));
        let address: Argument = self.address(current, base, offset);
        Some(Access { touch, address: Some(address), is_generic, bytes, value, lanes })
    }
}

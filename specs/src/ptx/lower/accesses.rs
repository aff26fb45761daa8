//! Accesses to shared memory, where memory is followed.

use crate::kernel::access::{Access, Bytes, Touch};
use crate::kernel::code::{Action, Argument};
use crate::kernel::groups::{Groups, fence, initialised, release, wait_all};
use crate::ptx::syntax::Operand;

use super::data::{Space, space};
use super::state::{Current, Lowerer};
use super::types;
use crate::kernel::code::Memory;

/// Modifiers of accesses that do not race with one another: `.volatile` is `.relaxed` with system scope
/// (PTX ISA, Memory Consistency Model).
const STRONG: [&str; 5] = ["volatile", "relaxed", "acquire", "release", "mmio"];

/// Bytes of a row of a matrix, whose address one lane gives (PTX ISA, ldmatrix).
const ROW: u32 = 16;

/// Bytes of the smallest copy in bulk.
const LEAST: u32 = 16;

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
        if let Some(step) = self.of_groups(current) {
            self.emit(current, step);
        }
    }

    /// What is said of groups of copies, and fences.
    fn of_groups(&self, current: &Current<'m>) -> Option<Action> {
        match (current.parts.as_slice(), current.operands()) {
            (["cp", "async", rest @ ..], _) if rest.first() != Some(&"bulk") && self.copies_arrive => None,
            (["cp", "async", "commit_group"], _) => Some(Groups::Fills.commit()),
            (["cp", "async", "wait_all"], _) => Some(wait_all()),
            (["cp", "async", "wait_group"], [Operand::Number(newest)]) => {
                Some(Groups::Fills.wait(Argument::Number(*newest)))
            }
            (["cp", "async", "bulk", "commit_group"], _) if self.copies_out => Some(Groups::Drains.commit()),
            (["cp", "async", "bulk", "wait_group", ..], [Operand::Number(newest)]) if self.copies_out => {
                Some(Groups::Drains.wait(Argument::Number(*newest)))
            }
            (
                ["fence", "proxy", "async"] | ["fence", "proxy", "async", "shared::cta" | "shared::cluster"],
                _,
            ) if self.copies_out || self.lands => Some(fence()),
            (["fence", "mbarrier_init", ..], _) if self.releases => Some(initialised()),
            (["fence", "acq_rel" | "sc", "cta"] | ["membar", "cta"], _) if self.releases => {
                Some(release("cta"))
            }
            (["fence", "acq_rel" | "sc", "cluster" | "gpu" | "sys"] | ["membar", "gl" | "sys"], _)
                if self.releases =>
            {
                Some(release("cluster"))
            }
            _ => None,
        }
    }

    /// Notes that an instruction may access what nobody knows.
    pub(super) fn accesses_somewhere(&mut self, current: &Current<'m>) {
        if self.code.follows_memory {
            self.emit(current, Action::Access(Access::unknown(Touch::Write, false)));
        }
    }

    fn accessed(&mut self, current: &Current<'m>, is_strong: bool) -> Option<Access> {
        let is_shared = space(current) == Space::Memory(Memory::Shared);
        let is_generic = space(current) == Space::Other && !current.has("local");
        let unknown = |touch| Access::unknown(touch, is_generic);
        let read = if is_strong { Touch::StrongRead } else { Touch::Read };
        let write = if is_strong { Touch::StrongWrite } else { Touch::Write };
        let touch = match current.parts.as_slice() {
            // It reads and writes what addresses in registers or descriptors say, while others go on.
            ["wgmma", "mma_async", ..] | ["tcgen05", "mma" | "cp", ..] => return Some(unknown(Touch::Read)),
            // They write addresses or descriptors there.
            ["tcgen05", "alloc", ..] | ["tensormap", ..] => return Some(unknown(Touch::Write)),
            _ if lands(current) => return None,
            ["cp", "async", "bulk", "prefetch" | "commit_group" | "wait_group", ..] => return None,
            ["cp", "async", "bulk", ..] | ["cp", "reduce", "async", ..] if drains(current) => {
                return Some(self.drained(current).unwrap_or_else(|| unknown(Touch::Drain)));
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

    /// What a copy writes that completes bytes on an object: from where on. How many bytes there are is
    /// known later.
    pub(super) fn written_by_copy(&mut self, current: &Current<'m>) -> Option<Access> {
        if !self.code.follows_memory || !lands(current) {
            return None;
        }
        let address = match current.operands().first() {
            Some(Operand::Address(base, offset)) => Some(self.address(current, *base, *offset)),
            _ => None,
        };
        let touch = Touch::Land;
        Some(Access { address, bytes: Bytes::These(1), ..Access::unknown(touch, false) })
    }

    /// What a copy to global memory reads: at least 16 bytes, where a tensor map says how much it is (PTX
    /// ISA, cp.async.bulk: addresses and sizes are multiples of 16).
    fn drained(&mut self, current: &Current<'m>) -> Option<Access> {
        let [_, Operand::Address(base, offset), rest @ ..] = current.operands() else { return None };
        let bytes = match rest.first() {
            Some(bytes) if !current.has("tensor") => Bytes::Said(self.argument(current, bytes)),
            _ => Bytes::AtLeast(LEAST),
        };
        let address = Some(self.address(current, *base, *offset));
        Some(Access { address, bytes, ..Access::unknown(Touch::Drain, false) })
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
        let bytes = Bytes::These(bytes);
        Some(Access { touch, address: Some(address), is_generic, bytes, value, lanes })
    }
}

/// Whether this is a copy from shared memory to global memory for which its thread waits.
fn drains(current: &Current<'_>) -> bool {
    current.has("bulk_group") && current.has("global") && current.has("shared::cta")
}

/// Whether this is a copy to shared memory of the own CTA that completes bytes on an object (PTX ISA,
/// cp.async.bulk: where it goes stands before where it comes from).
fn lands(current: &Current<'_>) -> bool {
    let goes_to = current.parts.iter().find(|part| part.starts_with("shared") || **part == "global");
    match current.parts.as_slice() {
        ["cp", "async", "bulk", "prefetch" | "commit_group" | "wait_group", ..] => false,
        ["cp", "async", "bulk", ..] => {
            current.has("global") && goes_to.is_some_and(|space| space.starts_with("shared"))
        }
        ["clusterlaunchcontrol", "try_cancel", ..] => true,
        _ => false,
    }
}

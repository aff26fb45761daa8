//! Loads and stores.

use crate::common::span::Span;
use crate::kernel::code::{Action, Argument, Function, Memory, Operation, Written};
use crate::spirv::opcodes::op;
use crate::spirv::syntax::{Instruction, Operand};

use super::pointers::registers;
use super::state::{Lowerer, Pointer, Root};
use super::values::{LONG, copy};

impl Lowerer<'_> {
    pub(super) fn load(&mut self, instruction: &Instruction) {
        let span = instruction.span;
        let to = self.result(instruction.result);
        let pointer = instruction.id(0).and_then(|id| self.pointer(id, span));
        let Some(pointer) = pointer.filter(|pointer| !pointer.is_watched && !is_watched(instruction)) else {
            return self.opaque(instruction.result, Function::Unknown, span);
        };
        match &pointer.root {
            Root::Local(_) if pointer.is_exact => {
                let from = registers(&pointer);
                let from = from.get(pointer.first..).unwrap_or_default();
                self.copy_all(&to, from, span);
            }
            Root::Builtin(builtin) if pointer.is_exact => {
                let ty = self.integer_type(instruction.ty).unwrap_or(LONG);
                for (at, to) in to.into_iter().enumerate() {
                    let from = self.builtin(*builtin, pointer.first + at, span);
                    self.compute(span, to, copy(ty), &[from]);
                }
            }
            Root::Memory(memory, address) => {
                let scalar = self.integer_type(instruction.ty).filter(|_| to.len() == 1);
                for (at, to) in (0_u64..).zip(to) {
                    let sum = Function::Integer(Operation::Add, LONG);
                    let place = if at == 0 {
                        *address
                    } else {
                        self.intermediate(span, sum, &[*address, Argument::Number(at * 8)])
                    };
                    let ty = match scalar {
                        Some(ty) => self.same(&format!("u{}", ty.bits)),
                        None => {
                            let ty = self.listing.id_name(instruction.ty);
                            self.same(&format!("%type {at} of {ty}"))
                        }
                    };
                    self.compute(span, to, Function::Load(*memory), &[place, ty]);
                }
            }
            Root::Local(_) | Root::Builtin(_) | Root::Anywhere => {
                self.opaque(instruction.result, Function::Unknown, span);
            }
        }
    }

    pub(super) fn store(&mut self, instruction: &Instruction) {
        let span = instruction.span;
        let Some(pointer) = instruction.id(0).and_then(|id| self.pointer(id, span)) else {
            return self.changes(None, span);
        };
        let to = registers(&pointer);
        match (&pointer.root, instruction.id(1)) {
            (Root::Local(_), Some(value)) if pointer.is_exact => {
                let from = self.leaves(value, span);
                let is_whole = self.declarations.leaves(pointer.ty) == Some(from.len());
                match to.get(pointer.first..pointer.first + from.len()).filter(|_| is_whole) {
                    Some(to) => self.copy_all(to, &from, span),
                    None => self.changes(Some(&pointer), span),
                }
            }
            _ => self.changes(Some(&pointer), span),
        }
    }

    /// Something is written through a pointer: what, is not known.
    pub(super) fn changes(&mut self, pointer: Option<&Pointer>, span: Span) {
        match pointer.map(|pointer| &pointer.root) {
            Some(Root::Local(_)) => {
                for to in pointer.map(registers).unwrap_or_default() {
                    self.compute(span, to, Function::Unknown, &[]);
                }
            }
            Some(Root::Memory(Memory::Constant, _) | Root::Builtin(_)) => {}
            Some(Root::Memory(memory, address)) => {
                self.emit(
                    span,
                    Action::Store { address: Some((*address, 0)), memory: *memory, written: Written::Data },
                );
            }
            Some(Root::Anywhere) | None => {
                for memory in [Memory::Global, Memory::Shared] {
                    self.emit(span, Action::Store { address: None, memory, written: Written::Data });
                }
            }
        }
    }

    /// An instruction that writes through whatever pointers it is given.
    pub(super) fn writes(&mut self, instruction: &Instruction) {
        let span = instruction.span;
        let used = match instruction.opcode {
            Some(op::COPY_MEMORY | op::COPY_MEMORY_SIZED) => instruction.id(0).into_iter().collect(),
            _ => instruction.used(),
        };
        for id in used {
            if let Some(pointer) = self.pointer(id, span) {
                self.changes(Some(&pointer), span);
            }
        }
        self.opaque(instruction.result, Function::Unknown, span);
    }
}

/// Whether an access is one by which invocations wait for what others write.
fn is_watched(load: &Instruction) -> bool {
    /// Volatile, and not private to the invocation.
    const WATCHED: u64 = 0x1 | 0x20;
    match load.operands.get(1) {
        Some(Operand::Number(mask)) => mask & WATCHED != 0,
        Some(Operand::Word(words)) => {
            words.split('|').any(|word| word.starts_with("Volatile") || word.starts_with("NonPrivate"))
        }
        _ => false,
    }
}

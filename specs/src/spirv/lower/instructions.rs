//! Which instruction is laid out by whom.

use crate::kernel::code::Function;
use crate::spirv::declarations::Type;
use crate::spirv::opcodes::{Effect, op};
use crate::spirv::syntax::Instruction;

use super::state::{Lowerer, Value};

impl Lowerer<'_> {
    /// Registers for the results of a function, but for pointers that are followed.
    pub(super) fn reserve_results(&mut self, body: std::ops::Range<usize>) {
        let listing = self.listing;
        for instruction in &listing.instructions[body] {
            if instruction.result == 0 || instruction.ty == 0 || self.is_pointer(instruction) {
                continue;
            }
            let leaves = self.reserve(instruction.result, instruction.ty);
            self.frame().values.insert(instruction.result, Value::Leaves(leaves));
        }
    }

    /// Whether the result is a pointer that is known from what it is made of.
    fn is_pointer(&self, instruction: &Instruction) -> bool {
        let is_pointer = matches!(self.declarations.types.get(&instruction.ty), Some(Type::Pointer(..)));
        let follows = matches!(
            instruction.opcode,
            Some(
                op::VARIABLE
                    | op::ACCESS_CHAIN
                    | op::IN_BOUNDS_ACCESS_CHAIN
                    | op::PTR_ACCESS_CHAIN
                    | op::IN_BOUNDS_PTR_ACCESS_CHAIN
                    | op::COPY_OBJECT
                    | op::COPY_LOGICAL
                    | op::BITCAST
                    | op::PTR_CAST_TO_GENERIC
                    | op::GENERIC_CAST_TO_PTR
            )
        );
        is_pointer && follows
    }

    /// The code of an instruction of a function.
    pub(super) fn instruction(&mut self, at: usize) {
        let listing = self.listing;
        let instruction = &listing.instructions[at];
        let span = instruction.span;
        let Some(row) = instruction.row() else {
            let word = span.text(&listing.text).split_whitespace().find(|word| word.starts_with("Op"));
            let what = format!("`{}`, which is not known", word.unwrap_or("an instruction"));
            return self.beyond(span, what);
        };
        match row.number {
            op::LABEL => self.label(instruction, at),
            op::VARIABLE => self.variable(instruction),
            op::LOAD => self.load(instruction),
            op::STORE => self.store(instruction),
            op::UNDEF => self.opaque(instruction.result, Function::Unknown, span),
            op::FUNCTION_CALL => self.call(instruction),
            op::EXT_INST => self.extended(instruction),
            op::LIFETIME_START | op::LIFETIME_STOP | op::PHI => {}
            _ if self.is_pointer(instruction) => self.derived(instruction),
            _ => match row.effect {
                Effect::Declares => {}
                Effect::Pure => self.arithmetic(instruction),
                Effect::Reads => self.opaque(instruction.result, Function::Unknown, span),
                Effect::Writes => self.writes(instruction),
                Effect::Collective => self.collective(instruction),
                Effect::Barrier => self.barrier(instruction),
                Effect::Flow => self.flow(instruction),
                Effect::Synchronises => self.beyond(span, format!("`Op{}`", row.name)),
            },
        }
    }
}

//! A module as a list of instructions, whichever way it is written: words or text.

use crate::common::span::Span;

use super::opcodes::{Effect, Opcode, by_number, op};

/// An operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Operand {
    /// An id, a number, or an enumerant as a number.
    Number(u64),
    /// An enumerant as a word; a number that is no integer.
    Word(Box<str>),
    /// A string.
    Text(Box<str>),
}

/// An instruction.
#[derive(Clone, Debug)]
pub(super) struct Instruction {
    /// `None` if nobody knows it.
    pub(super) opcode: Option<u16>,
    /// The id of the type of its result, 0 for none.
    pub(super) ty: u32,
    /// Its result, 0 for none.
    pub(super) result: u32,
    /// What follows behind both.
    pub(super) operands: Vec<Operand>,
    /// All of it in the text.
    pub(super) span: Span,
}

impl Instruction {
    pub(super) fn is(&self, number: u16) -> bool {
        self.opcode == Some(number)
    }

    pub(super) fn row(&self) -> Option<Opcode> {
        self.opcode.and_then(by_number)
    }

    /// What it does. What is not known may do anything.
    pub(super) fn effect(&self) -> Effect {
        self.row().map_or(Effect::Synchronises, |row| row.effect)
    }

    /// The number at a position among the operands.
    pub(super) fn number(&self, at: usize) -> Option<u64> {
        match self.operands.get(at)? {
            Operand::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// The id at a position among the operands.
    pub(super) fn id(&self, at: usize) -> Option<u32> {
        u32::try_from(self.number(at)?).ok().filter(|id| *id > 0)
    }

    /// All ids from a position on.
    pub(super) fn ids(&self, from: usize) -> impl Iterator<Item = u32> {
        (from..self.operands.len()).filter_map(|at| self.id(at))
    }

    /// The string at a position among the operands.
    pub(super) fn text(&self, at: usize) -> Option<&str> {
        match self.operands.get(at)? {
            Operand::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The enumerant at a position, as a number or one of these words.
    pub(super) fn enumerant(&self, at: usize, words: &[(&str, u32)]) -> Option<u32> {
        match self.operands.get(at)? {
            Operand::Number(number) => u32::try_from(*number).ok(),
            Operand::Word(word) => words.iter().find(|(known, _)| **known == **word).map(|(_, value)| *value),
            Operand::Text(_) => None,
        }
    }

    /// The ids among the operands, by the layout of the instruction; of one that nobody knows, whatever may
    /// be an id.
    pub(super) fn used(&self) -> Vec<u32> {
        let Some(row) = self.row() else { return self.ids(0).collect() };
        let is_id = |at: &usize| matches!(row.kind(*at), b'i' | b'+');
        (0..self.operands.len()).filter(is_id).filter_map(|at| self.id(at)).collect()
    }
}

/// A module.
#[derive(Debug, Default)]
pub(super) struct Listing {
    /// What people read, and what spans refer to.
    pub(super) text: String,
    pub(super) instructions: Vec<Instruction>,
    /// What ids are called in the text, from 1 on; of others their number is their name.
    pub(super) ids: Vec<String>,
}

impl Listing {
    /// An id as the text has it, without the `%`.
    pub(super) fn id_name(&self, id: u32) -> String {
        let known = (id as usize).checked_sub(1).and_then(|at| self.ids.get(at));
        known.cloned().unwrap_or_else(|| id.to_string())
    }
}

/// Which values are 64 bits wide: their literals take two words.
#[derive(Debug, Default)]
pub(super) struct Widths {
    types: std::collections::HashSet<u32>,
    values: std::collections::HashSet<u32>,
}

impl Widths {
    /// Puts the two words of a literal of 64 bits together.
    pub(super) fn join(&mut self, instruction: &mut Instruction) {
        match instruction.opcode {
            Some(op::TYPE_INT | op::TYPE_FLOAT) if instruction.number(0) == Some(64) => {
                self.types.insert(instruction.result);
            }
            Some(op::CONSTANT | op::SPEC_CONSTANT) if instruction.operands.len() == 2 => {
                if let Some(long) = long(instruction, 0) {
                    instruction.operands = vec![Operand::Number(long)];
                }
            }
            Some(op::SWITCH) if instruction.id(0).is_some_and(|id| self.values.contains(&id)) => {
                let mut operands: Vec<Operand> = instruction.operands.iter().take(2).cloned().collect();
                let mut at = 2;
                while at + 2 < instruction.operands.len() {
                    operands.extend(long(instruction, at).map(Operand::Number));
                    operands.push(instruction.operands[at + 2].clone());
                    at += 3;
                }
                instruction.operands = operands;
            }
            _ => {}
        }
        if self.types.contains(&instruction.ty) && instruction.result > 0 {
            self.values.insert(instruction.result);
        }
    }
}

/// The number of 64 bits in two words.
fn long(instruction: &Instruction, at: usize) -> Option<u64> {
    Some(instruction.number(at)? & 0xffff_ffff | instruction.number(at + 1)? << 32)
}

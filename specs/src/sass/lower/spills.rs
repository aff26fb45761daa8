//! Registers that a thread keeps in memory of its own while it needs them for something else: `STL [R1+0x8],
//! R4` and, later, `LDL R4, [R1+0x8]`.
//!
//! By the convention that all compilers keep to, `R1` is the stack pointer. Where a function only sets it at
//! its beginning, and uses it for nothing but such loads and stores, nobody has the address of a word of its
//! stack. Each word is a register then.

use crate::kernel::code::{Action, Argument, Function};
use crate::sass::opcodes;
use crate::sass::operand::{File, number};
use crate::sass::syntax::{self, Statement};

use super::arithmetic::copy;
use super::state::{Current, Lowerer, WORD};

const POINTER: &str = "R1";

/// Instructions among which the stack pointer is set.
const BEGINNING: usize = 32;

/// Whether the words of the stack of a function are registers.
pub(super) fn is_of_words(function: &syntax::Function<'_>) -> bool {
    // Under a name of its own it may be anything.
    let is_named = function.shares_registers || function.registers.values().any(|number| *number == 1);
    if is_named || !function.statements.iter().any(is_access) {
        return false;
    }
    function.statements.iter().enumerate().all(|(at, statement)| {
        let operands = &statement.operands;
        if is_access(statement) {
            let place = operands.iter().find(|operand| operand.starts_with('['));
            let others = operands.iter().filter(|operand| !operand.starts_with('['));
            return width(statement).is_some()
                && place.is_some_and(|place| word(place).is_some())
                && !others.into_iter().any(|operand| mentions(operand));
        }
        let sets = at < BEGINNING
            && statement.guard.is_none()
            && operands.first().is_some_and(|to| *to == POINTER)
            && !function.statements[..at].iter().any(|before| is_access(before) || before.opcode == "BRA");
        let overlaps = operands.first().is_some_and(|to| *to == "R0") && opcodes::width(statement.opcode) > 1;
        sets || !overlaps && !operands.iter().any(|operand| mentions(operand))
    })
}

fn is_access(statement: &Statement<'_>) -> bool {
    ["LDL", "STL"].contains(&statement.opcode.split('.').next().unwrap_or_default())
}

/// Whether an operand has the stack pointer in it.
fn mentions(operand: &str) -> bool {
    operand.split(|c: char| !c.is_ascii_alphanumeric()).any(|part| part == POINTER)
}

/// The words that are loaded or stored; `None` where it is a part of one.
fn width(statement: &Statement<'_>) -> Option<u32> {
    let mut words = 1;
    for part in statement.opcode.split('.').skip(1) {
        words = match part {
            "64" => 2,
            "128" => 4,
            "32" | "LU" | "EL" | "CI" | "CA" | "WT" => continue,
            _ => return None,
        };
    }
    Some(words)
}

/// The number of a word on the stack: `[R1+0x8]` is 2.
fn word(place: &str) -> Option<u32> {
    let place = place.strip_prefix('[')?.strip_suffix(']')?;
    let behind = match place.strip_prefix(POINTER)? {
        "" => 0,
        offset => number(offset.strip_prefix('+')?)?,
    };
    u32::try_from(behind / 4).ok().filter(|_| behind.is_multiple_of(4))
}

impl<'m> Lowerer<'m> {
    /// The register for a word that is loaded, so many words behind the first.
    pub(super) fn spilled(&mut self, current: &Current<'m>, behind: u32) -> Option<Argument> {
        let first = self.first_spilled(current)?;
        Some(Argument::Register(self.cell(File::Local, first + behind)))
    }

    /// `STL.64 [R1+0x8], R4`
    pub(super) fn spill(&mut self, current: &Current<'m>) {
        let words = self.first_spilled(current).zip(width(current.statement));
        let Some((first, words)) = words else { return self.emit(current, Action::Nothing) };
        let from = current.operands.get(1).and_then(|value| value.plain());
        for word in 0..words {
            let to = self.cell(File::Local, first + word);
            match from {
                Some(register) => {
                    let value = self.register(current, register, word);
                    self.compute(current, to, copy(WORD), &[value]);
                }
                None => self.compute(current, to, Function::Unknown, &[]),
            }
        }
    }

    fn first_spilled(&self, current: &Current<'m>) -> Option<u32> {
        let place = current.statement.operands.iter().find(|operand| operand.starts_with('['))?;
        // What is called has a stack of its own.
        word(place).filter(|_| self.has_words && self.here() == self.entry)
    }
}

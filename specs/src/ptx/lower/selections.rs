//! Numbers that are chosen by what is not computed here: `selp.b32 %r1, 352, 320, %p1`, where `%p1` comes of
//! a comparison of real numbers.
//!
//! As a branch that decides for one of the two the choice has a name, by which all who ask for the same
//! agree. As a term it would be unknown, and so would the count of a barrier that is chosen so.

use std::collections::HashSet;

use crate::kernel::code::{Action, Guard, Type};
use crate::ptx::syntax::{Body, Operand};

use super::functions::copy;
use super::state::{Current, Lowerer};
use super::types;

/// The predicates of a body that come of comparisons of real numbers.
pub(super) fn of_reals(source: &str, body: &Body) -> HashSet<u32> {
    let mut found = HashSet::new();
    loop {
        let before = found.len();
        for instruction in &body.instructions {
            let mut parts = instruction.opcode.text(source).split('.');
            let [Operand::Register(to, _), operands @ ..] = instruction.operands.as_slice() else { continue };
            let is_found =
                |operand: &Operand| matches!(operand, Operand::Register(of, _) if found.contains(of));
            let comes = match parts.next() {
                Some("setp") => parts.any(types::is_real) || operands.last().is_some_and(is_found),
                Some("and" | "or" | "xor" | "not" | "mov") => {
                    parts.next() == Some("pred") && operands.iter().any(is_found)
                }
                _ => false,
            };
            if comes {
                found.insert(*to);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

impl<'m> Lowerer<'m> {
    /// A choice between two numbers as a branch; `None` if it is none, or not by real numbers.
    pub(super) fn choice(&mut self, current: &Current<'m>, ty: Type) -> Option<()> {
        let [_, one @ Operand::Number(_), other @ Operand::Number(_), Operand::Register(condition, negated)] =
            current.operands()
        else {
            return None;
        };
        if current.guard.is_some() || !self.frame().of_reals.contains(condition) {
            return None;
        }
        let to = self.destination(current)?;
        if self.halves.contains_key(&to) {
            return None;
        }
        let [one, other] = [one, other].map(|operand| self.argument(current, operand));
        let guard = Guard { register: self.register(*condition), negated: *negated };
        let chosen = |argument| Action::Compute { to, function: copy(ty), arguments: vec![argument] };
        let at = self.code.instructions.len();
        self.emit_always(current, Action::Jump(at + 3));
        self.code.instructions[at].guard = Some(guard);
        self.emit_always(current, chosen(other));
        self.emit_always(current, Action::Jump(at + 4));
        self.emit_always(current, chosen(one));
        Some(())
    }
}

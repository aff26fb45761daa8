//! Barriers, and what all invocations of a scope do together.

use crate::common::span::Span;
use crate::kernel::code::{Action, Awaited, Function, Synchronisation};
use crate::spirv::declarations::Constant;
use crate::spirv::opcodes::op;
use crate::spirv::syntax::{Instruction, Operand};
use crate::spirv::words::{execution_scope, hands_on, memory_scope, semantics};

use super::state::Lowerer;

impl Lowerer<'_> {
    /// The number that an operand of a barrier is. It has to be a constant; one that is set when the module
    /// is specialised has its default, which is said.
    fn fixed(&mut self, id: u32) -> Option<u64> {
        match self.declarations.constants.get(&id)? {
            Constant::Number(number) => Some(*number),
            Constant::Null => Some(0),
            Constant::Composite(_) => None,
            Constant::Specialised(default) => {
                let name = self.called(id);
                if let Some(given) = self.launch.param(None, &name) {
                    return u64::try_from(given).ok();
                }
                if let Some(launched) = self.launched.get(&id) {
                    return Some(*launched);
                }
                let span = self.declarations.specialised.get(&id).copied().unwrap_or_default();
                let note = (format!("`{name}` is not specialised, and is {default}"), span);
                if !self.code.assumed.contains(&note) {
                    self.code.assumed.push(note);
                }
                Some(*default)
            }
        }
    }

    pub(super) fn barrier(&mut self, instruction: &Instruction) {
        let span = instruction.span;
        let Some(row) = instruction.row() else { return };
        let mut ids = instruction.ids(0);
        let execution = if row.number == op::MEMORY_BARRIER { None } else { ids.next() };
        let (Some(memory), Some(meaning)) = (ids.next(), ids.next()) else {
            return self.beyond(span, format!("`Op{}`, as it is written here", row.name));
        };
        let at_runtime = |what: &str| format!("`Op{}` with {what} known only when it runs", row.name);
        let scope = match execution.map(|id| self.fixed(id)) {
            None => None,
            Some(None) => return self.beyond(span, at_runtime("a scope")),
            Some(Some(scope)) => match execution_scope(scope) {
                None => return self.beyond(span, format!("`Op{}` of scope {scope}", row.name)),
                scope => scope,
            },
        };
        let Some(reach) = self.fixed(memory) else { return self.beyond(span, at_runtime("a scope")) };
        let Some(reach) = memory_scope(reach) else {
            return self.beyond(span, format!("`Op{}` of scope {reach}", row.name));
        };
        let Some(bits) = self.fixed(meaning) else { return self.beyond(span, at_runtime("semantics")) };
        let Some(words) = semantics(bits) else {
            return self.beyond(span, format!("`Op{}` with semantics {bits:#x}", row.name));
        };
        self.has_subgroups |= scope == Some("Subgroup") || reach == "Subgroup";
        let scope_word = scope.map(|scope| format!("{scope}, ")).unwrap_or_default();
        let statement = format!("Op{} {scope_word}{reach}, {words}", row.name);
        let is_of_all = row.number == op::CONTROL_BARRIER
            && matches!(scope, Some("Workgroup" | "Device"))
            && matches!(reach, "Workgroup" | "Device")
            && hands_on(bits);
        self.synchronise(statement, is_of_all, span);
    }

    /// What is called in two places is not the same in both: that is where invocations may not meet.
    /// `is_of_all`: what all invocations of the group have stored before is seen behind.
    fn synchronise(&mut self, mut statement: String, is_of_all: bool, span: Span) {
        if self.frames.len() > 1 {
            statement.push_str(&format!(" /* call {} */", self.frame().call));
        }
        let awaited = if is_of_all { Awaited::Group } else { Awaited::Nobody };
        let operands = Vec::new();
        self.emit(span, Action::Synchronise(Synchronisation { statement, operands, awaited }));
    }

    /// `OpGroup…`: all invocations of the scope have to come to it, as to a barrier that orders nothing.
    pub(super) fn collective(&mut self, instruction: &Instruction) {
        /// The group operation that has one result for all.
        const REDUCE: u64 = 0;
        let span = instruction.span;
        let Some(row) = instruction.row() else { return };
        let scope = instruction.id(0).and_then(|id| self.fixed(id)).and_then(execution_scope);
        match scope {
            Some("Subgroup") => self.opaque(instruction.result, Function::Unknown, span),
            Some("Workgroup") if !self.has_halves => {
                let statement = "OpControlBarrier Workgroup, Workgroup, None".to_owned();
                self.synchronise(statement, false, span);
                let is_plain = matches!(row.name, "GroupAll" | "GroupAny" | "GroupBroadcast");
                let is_reduced = match instruction.operands.get(1) {
                    Some(Operand::Word(word)) => **word == *"Reduce",
                    Some(Operand::Number(number)) => row.kind(1) == b'n' && *number == REDUCE,
                    _ => false,
                };
                let function = if is_plain || is_reduced { Function::Shared } else { Function::Unknown };
                self.opaque(instruction.result, function, span);
            }
            _ => self.beyond(span, format!("`Op{}`, as it is written here", row.name)),
        }
    }
}

//! Blocks, and how control goes on from one to another.

use crate::common::span::Span;
use crate::kernel::code::{Action, Argument, Comparison, Function, Guard, Operation, Register};
use crate::spirv::opcodes::op;
use crate::spirv::syntax::Instruction;

use super::state::Lowerer;
use super::values::{BIT, LONG, copy};

impl Lowerer<'_> {
    pub(super) fn label(&mut self, label: &Instruction, at: usize) {
        let here = self.code.instructions.len();
        let frame = self.frame();
        frame.labels.insert(label.result, here);
        frame.block = label.result;
        frame.phis.insert(label.result, at + 1);
    }

    pub(super) fn flow(&mut self, instruction: &Instruction) {
        let span = instruction.span;
        match instruction.opcode {
            Some(op::BRANCH) => match instruction.id(0) {
                Some(to) => self.go(to, span),
                None => self.beyond(span, "a jump that leads nowhere"),
            },
            Some(op::BRANCH_CONDITIONAL) => {
                let (Some(condition), Some(then), Some(otherwise)) =
                    (instruction.id(0), instruction.id(1), instruction.id(2))
                else {
                    return self.beyond(span, "a jump that leads nowhere");
                };
                let condition = self.leaf(Some(condition), span);
                self.go_if(condition, then, span);
                self.go(otherwise, span);
            }
            Some(op::SWITCH) => self.switch(instruction),
            Some(op::RETURN | op::RETURN_VALUE) => self.end(instruction),
            Some(op::KILL | op::TERMINATE_INVOCATION) => self.emit(span, Action::Exit),
            // Whoever comes here has no meaning.
            Some(op::UNREACHABLE) => self.emit(span, Action::Abort),
            // What only says how the others belong together.
            _ if instruction.row().is_some_and(|row| row.name.ends_with("Merge")) => {}
            _ => self.beyond(span, "a jump that is not known"),
        }
    }

    /// Goes on in a block, whose phis get what comes from here.
    fn go(&mut self, to: u32, span: Span) {
        self.phis(to, span);
        let at = self.code.instructions.len();
        self.emit(span, Action::Jump(usize::MAX));
        self.frame().jumps.push((at, to));
    }

    /// The same if a condition holds.
    fn go_if(&mut self, condition: Argument, to: u32, span: Span) {
        let condition = match condition {
            Argument::Register(register) => register,
            other => self.register_of(other, span),
        };
        // The phis of the block get their values only if control goes there.
        let at = self.code.instructions.len();
        let guard = Guard { register: condition, negated: true };
        self.emit_if(guard, span, Action::Jump(usize::MAX));
        self.go(to, span);
        let behind = self.code.instructions.len();
        self.code.instructions[at].action = Action::Jump(behind);
    }

    fn register_of(&mut self, argument: Argument, span: Span) -> Register {
        let to = self.code.register("c");
        self.compute(span, Argument::Register(to), copy(BIT), &[argument]);
        to
    }

    /// The phis of a block, all at once.
    fn phis(&mut self, to: u32, span: Span) {
        let listing = self.listing;
        let frame = self.frame();
        let block = u64::from(frame.block);
        let first = frame.phis.get(&to).copied().or_else(|| self.label_of(to)).unwrap_or(usize::MAX);
        let mut copies = Vec::new();
        for phi in listing.instructions.get(first..).unwrap_or_default() {
            if phi.is(op::LINE) || phi.is(op::NO_LINE) {
                continue;
            }
            if !phi.is(op::PHI) {
                break;
            }
            let comes = |pair: usize| phi.number(pair * 2 + 1) == Some(block);
            let from =
                (0..phi.operands.len() / 2).find(|pair| comes(*pair)).and_then(|pair| phi.id(pair * 2));
            let to = self.result(phi.result);
            let from = match from {
                Some(from) => self.leaves(from, span),
                None => Vec::new(),
            };
            copies.push((to, from));
        }
        if let [(to, from)] = copies.as_slice() {
            return self.copy_all(to, from, span);
        }
        let mut between = Vec::new();
        for (to, from) in copies {
            let kept: Vec<Argument> =
                from.iter().map(|from| self.intermediate(span, copy(LONG), &[*from])).collect();
            between.push((to, kept));
        }
        for (to, kept) in between {
            self.copy_all(&to, &kept, span);
        }
    }

    /// Where the phis of a block that has not been laid out yet begin.
    fn label_of(&self, label: u32) -> Option<usize> {
        let at = *self.declarations.definitions.get(&label)?;
        self.listing.instructions[at].is(op::LABEL).then_some(at + 1)
    }

    /// `OpSwitch`: one comparison for each target, the default for what is left.
    fn switch(&mut self, instruction: &Instruction) {
        let span = instruction.span;
        let (Some(selector), Some(default)) = (instruction.id(0), instruction.id(1)) else {
            return self.beyond(span, "a jump that leads nowhere");
        };
        let ty = self.integer(Some(selector)).unwrap_or(LONG);
        let selector = self.leaf(Some(selector), span);
        let equal = Function::Integer(Operation::Compare(Comparison::Equal), ty);
        for pair in 1..instruction.operands.len() / 2 {
            let (Some(literal), Some(to)) = (instruction.number(pair * 2), instruction.id(pair * 2 + 1))
            else {
                return self.beyond(span, "a jump that leads nowhere");
            };
            let literal = if ty.bits < 64 { literal & ((1 << ty.bits) - 1) } else { literal };
            let is_it = self.intermediate(span, equal, &[selector, Argument::Number(literal)]);
            self.go_if(is_it, to, span);
        }
        self.go(default, span);
    }

    /// The function ends, and with the entry the invocation.
    fn end(&mut self, instruction: &Instruction) {
        let span = instruction.span;
        if let Some(value) = instruction.id(0).filter(|_| instruction.is(op::RETURN_VALUE)) {
            let from = self.leaves(value, span);
            let to = self.frame().result.clone();
            self.copy_all(&to, &from, span);
        }
        if self.frames.len() == 1 {
            return self.emit(span, Action::Exit);
        }
        let at = self.code.instructions.len();
        self.emit(span, Action::Jump(usize::MAX));
        self.frame().returns.push(at);
    }
}

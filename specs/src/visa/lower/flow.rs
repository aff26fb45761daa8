//! Regions of code, jumps, calls and ends.

use std::collections::BTreeSet;

use crate::kernel::code::{Action, Function, Guard, Instruction};
use crate::visa::opcodes::{Effect, effect, may_synchronise, root};
use crate::visa::syntax::Statement;

use super::state::{Current, Frame, Lowerer};

/// Calls inside one another, and the most instructions that are laid out.
const DEPTH: usize = 32;
const INSTRUCTIONS: usize = 2_000_000;

impl<'m> Lowerer<'m> {
    fn target(&self, statement: &Statement<'_>) -> Option<usize> {
        self.function.labels.get(statement.operands.last()?).copied()
    }

    /// The instructions that are reached from one, calls left out.
    fn reached(&self, start: usize) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut work = vec![start];
        while let Some(at) = work.pop() {
            let Some(statement) = self.function.statements.get(at).filter(|_| found.insert(at)) else {
                continue;
            };
            let root = root(statement.opcode);
            if ["jmp", "goto"].contains(&root.as_str()) {
                work.extend(self.target(statement));
            }
            let ends = ["jmp", "goto", "ret", "fret", "eot"].contains(&root.as_str());
            work.extend((!ends || statement.guard.is_some() || root == "goto").then_some(at + 1));
        }
        found
    }

    /// Lays out what is reached from an instruction.
    pub(super) fn region(&mut self, start: usize) {
        let function = self.function;
        let reached = self.reached(start);
        let first = self.code.instructions.len();
        let span = function.statements.get(start).map_or(function.span, |statement| statement.span);
        self.code.instructions.push(Instruction { guard: None, action: Action::Nothing, span });
        self.frames.push(Frame { entered: start, jumps: vec![(first, start)], ..Frame::default() });
        for at in reached {
            let here = self.code.instructions.len();
            if let Some(frame) = self.frames.last_mut() {
                frame.starts.insert(at, here);
            }
            if here > INSTRUCTIONS {
                let action = Action::Beyond("calls that come to too many instructions".to_owned());
                self.code.instructions.push(Instruction { guard: None, action, span });
                break;
            }
            self.statement(at, &function.statements[at]);
        }
        let end = self.code.instructions.len();
        let action = Action::Beyond("the kernel does not end with `ret`".to_owned());
        let span = function.statements.last().map_or(function.span, |statement| statement.span);
        self.code.instructions.push(Instruction { guard: None, action, span });
        let back = self.code.instructions.len();
        let is_called = self.frames.len() > 1;
        let Some(frame) = self.frames.pop() else { return };
        for (at, to) in frame.jumps {
            let to = frame.starts.get(&to).copied().unwrap_or(end);
            self.code.instructions[at].action = Action::Jump(to);
        }
        for at in frame.returns {
            self.code.instructions[at].action = if is_called { Action::Jump(back) } else { Action::Exit };
        }
    }

    fn jump(&mut self, current: &Current<'m>, guard: Option<Guard>, to: usize) {
        let at = self.code.instructions.len();
        let (action, span) = (Action::Nothing, current.statement.span);
        self.code.instructions.push(Instruction { guard, action, span });
        if let Some(frame) = self.frames.last_mut() {
            frame.jumps.push((at, to));
        }
    }

    pub(super) fn flow(&mut self, current: &Current<'m>) {
        let name = current.statement.opcode;
        let target = self.target(current.statement);
        match (current.root.as_str(), target) {
            ("jmp", Some(to)) => self.jump(current, current.guard, to),
            ("goto", Some(to)) => self.parts(current, to),
            ("call", Some(to)) => self.call(current, to),
            ("jmp" | "goto" | "call", None) => {
                let last = current.statement.operands.last().copied().unwrap_or_default();
                self.beyond(current, &format!("`{name}` to `{last}`, which is not in this kernel"));
            }
            ("ret", _) => {
                if current.statement.lanes > 1 && current.guard.is_some() {
                    return self.beyond(current, "lanes of a thread that return without the others");
                }
                let at = self.code.instructions.len();
                self.emit(current, Action::Nothing);
                if let Some(frame) = self.frames.last_mut() {
                    frame.returns.push(at);
                }
            }
            ("eot", _) => self.emit(current, Action::Exit),
            ("subroutine", _) => self.emit(current, Action::Nothing),
            _ => self.beyond(current, &format!("`{name}`")),
        }
    }

    /// `goto`: lanes whose predicate holds go on at the label, the others here; whoever has nothing to do
    /// waits. Where lanes of one thread part, it is followed only if there is no barrier before they meet.
    fn parts(&mut self, current: &Current<'m>, to: usize) {
        let Some(guard) = current.guard else {
            // All lanes that are here go there.
            return self.jump(current, None, to);
        };
        if current.statement.lanes == 1 {
            return self.jump(current, Some(guard), to);
        }
        let (from, until) = if to > current.at { (current.at + 1, to) } else { (to, current.at) };
        let is_plain = |statement: &Statement<'_>| {
            !may_synchronise(statement.opcode) && effect(statement.opcode) != Some(Effect::Flow)
        };
        if !self.function.statements[from..until].iter().all(is_plain) {
            return self
                .beyond(current, "lanes of a thread that part, with a barrier or a jump before they meet");
        }
        let unknown = self.intermediate(current, Function::Unknown, &[]);
        let crate::kernel::code::Argument::Register(register) = unknown else { return };
        self.jump(current, Some(Guard { register, negated: false }), to);
    }

    fn call(&mut self, current: &Current<'m>, to: usize) {
        if self.frames.iter().any(|frame| frame.entered == to) {
            return self.beyond(current, "a recursive call");
        }
        if self.frames.len() >= DEPTH {
            return self.beyond(current, "a call too deep inside other calls");
        }
        if current.guard.is_some() {
            return self.beyond(current, "a call under a predicate");
        }
        self.region(to);
    }
}

//! What is being laid out: the code so far, and what is known of the values around.

use std::collections::HashMap;

use crate::common::span::Span;
use crate::kernel::code::{
    Action, Argument, Awaited, Code, Function, Guard, Instruction, Operation as Op, Synchronisation, Type,
};
use crate::module::Launch;
use crate::xegpu::error::MlirError;
use crate::xegpu::kernels::Agents;
use crate::xegpu::syntax::{Operation, integer};
use crate::xegpu::tree::Tree;

/// All bits of the widest register that is followed.
pub(super) const LONG: Type = Type { bits: 64, signed: true };
/// A truth value.
pub(super) const BIT: Type = Type { bits: 1, signed: false };

/// The same bits, cut to the width of a type.
pub(super) fn copy(ty: Type) -> Function {
    Function::Integer(Op::Convert(ty), ty)
}

/// What a value stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Leaf(Argument),
    /// A handle of a named barrier: which one, in the order of the code.
    Handle(usize),
}

/// A named barrier, as it was initialised.
#[derive(Clone, Copy, Debug)]
pub(super) struct Handle {
    pub(super) id: Argument,
    pub(super) role: Argument,
    pub(super) producers: Argument,
    pub(super) consumers: Argument,
}

/// What the end of a region hands on, and to whom.
#[derive(Debug)]
pub(super) enum Context {
    /// `scf.yield` gives these their values.
    Yield(Vec<Value>),
    /// `scf.condition` leaves the loop, or goes on with these.
    Condition {
        results: Vec<Value>,
        after: Vec<Value>,
        exits: Vec<usize>,
    },
    /// A function that was called: its results, and jumps to its end.
    Return {
        results: Vec<Value>,
        jumps: Vec<usize>,
    },
    Entry,
}

/// The blocks of a region.
#[derive(Debug, Default)]
pub(super) struct Blocks<'s> {
    pub(super) labels: HashMap<&'s str, usize>,
    pub(super) params: HashMap<&'s str, Vec<Value>>,
    pub(super) jumps: Vec<(usize, &'s str)>,
}

pub(super) struct Lowerer<'m, 's> {
    pub(super) source: &'s str,
    pub(super) tree: &'m Tree<'m, 's>,
    pub(super) launch: &'m Launch,
    pub(super) agents: &'m Agents,
    pub(super) code: Code,
    pub(super) names: HashMap<String, u32>,
    /// Values by name, of the regions around, the innermost last.
    pub(super) scopes: Vec<HashMap<String, Value>>,
    pub(super) contexts: Vec<Context>,
    pub(super) blocks: Vec<Blocks<'s>>,
    /// Functions that are being laid out, the innermost last.
    pub(super) calls: Vec<&'s str>,
    pub(super) handles: Vec<Handle>,
    /// Barriers of the whole group so far.
    pub(super) whole: u64,
    /// The first thing that is wrong.
    pub(super) error: Option<MlirError>,
}

impl<'s> Lowerer<'_, 's> {
    pub(super) fn emit(&mut self, span: Span, action: Action) {
        self.code.instructions.push(Instruction { guard: None, action, span });
    }

    pub(super) fn beyond(&mut self, span: Span, what: impl Into<String>) {
        self.emit(span, Action::Beyond(what.into()));
    }

    pub(super) fn compute(&mut self, span: Span, to: Value, function: Function, arguments: &[Argument]) {
        if let Value::Leaf(Argument::Register(to)) = to {
            self.emit(span, Action::Compute { to, function, arguments: arguments.to_vec() });
        }
    }

    /// The value of a function, in a register of this reader's own.
    pub(super) fn intermediate(
        &mut self,
        span: Span,
        function: Function,
        arguments: &[Argument],
    ) -> Argument {
        let to = Argument::Register(self.code.register("t"));
        self.compute(span, Value::Leaf(to), function, arguments);
        to
    }

    pub(super) fn unknown(&mut self, span: Span) -> Argument {
        self.intermediate(span, Function::Unknown, &[])
    }

    /// The position of a name.
    pub(super) fn name(&mut self, name: &str) -> u32 {
        if let Some(known) = self.names.get(name) {
            return *known;
        }
        let position = self.code.names.len() as u32;
        self.code.names.push(name.to_owned());
        self.names.insert(name.to_owned(), position);
        position
    }

    pub(super) fn same(&mut self, name: &str) -> Argument {
        Argument::Same(self.name(name))
    }

    pub(super) fn synchronise(
        &mut self,
        span: Span,
        statement: String,
        operands: Vec<(Argument, &'static str)>,
        awaited: Awaited,
    ) {
        self.emit(span, Action::Synchronise(Synchronisation { statement, operands, awaited }));
    }

    /// A jump that is to be set.
    pub(super) fn jump(&mut self, span: Span) -> usize {
        self.emit(span, Action::Jump(usize::MAX));
        self.code.instructions.len() - 1
    }

    /// A jump that is to be set, for those for whom the condition does not hold.
    pub(super) fn jump_unless(&mut self, condition: Argument, span: Span) -> usize {
        let register = match condition {
            Argument::Register(register) => register,
            other => {
                let to = self.code.register("c");
                self.compute(span, Value::Leaf(Argument::Register(to)), copy(BIT), &[other]);
                to
            }
        };
        let guard = Some(Guard { register, negated: true });
        self.code.instructions.push(Instruction { guard, action: Action::Jump(usize::MAX), span });
        self.code.instructions.len() - 1
    }

    /// Sets a jump to what comes next.
    pub(super) fn land(&mut self, jump: usize) {
        let here = self.code.instructions.len();
        self.code.instructions[jump].action = Action::Jump(here);
    }

    pub(super) fn define(&mut self, name: &str, value: Value) {
        if self.scopes.is_empty() {
            self.scopes.push(HashMap::new());
        }
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_owned(), value);
        }
    }

    /// A register for a value of this name.
    pub(super) fn reserve(&mut self, name: &str) -> Value {
        let value = Value::Leaf(Argument::Register(self.code.register(name.trim_start_matches('%'))));
        self.define(name, value);
        value
    }

    /// Registers for the results of an operation.
    pub(super) fn reserve_results(&mut self, operation: &Operation<'s>) {
        /// Beyond so many registers nothing is followed.
        const MOST: usize = 1_000_000;
        if self.code.registers.len() > MOST {
            return self.beyond(operation.span, "a kernel of more values than are followed");
        }
        for (name, count) in &operation.results {
            for at in 0..*count {
                let value = self.reserve(&format!("{name}#{at}"));
                if *count == 1 {
                    self.define(name, value);
                }
            }
        }
    }

    /// What the results of an operation stand for.
    pub(super) fn results(&mut self, operation: &Operation<'s>) -> Vec<Value> {
        let mut results = Vec::new();
        for (name, count) in &operation.results {
            for at in 0..*count {
                let value = self.find(&format!("{name}#{at}"));
                results.extend(value);
            }
        }
        results
    }

    fn find(&self, name: &str) -> Option<Value> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name).copied())
    }

    /// What a name stands for.
    pub(super) fn value(&mut self, name: &str, span: Span) -> Value {
        let found = self.find(name);
        found.unwrap_or_else(|| {
            if self.error.is_none() {
                self.error = Some(MlirError::Undefined(name.to_owned(), span));
            }
            Value::Leaf(self.unknown(span))
        })
    }

    /// The number that a name or a literal stands for.
    pub(super) fn leaf(&mut self, name: &str, span: Span) -> Argument {
        if !name.starts_with('%') {
            return match integer(name) {
                Some(number) => Argument::Number(number as u64),
                None => self.unknown(span),
            };
        }
        match self.value(name, span) {
            Value::Leaf(leaf) => leaf,
            Value::Handle(_) => self.unknown(span),
        }
    }

    /// The values that an operation is given.
    pub(super) fn leaves(&mut self, operation: &Operation<'s>) -> Vec<Argument> {
        let names = operation.values(self.source);
        names.into_iter().map(|name| self.leaf(name, operation.span)).collect()
    }

    /// Values one by one, all at once. Handles have to stay what they are.
    pub(super) fn hand_over(&mut self, to: &[Value], from: &[Value], span: Span) {
        let mut kept = Vec::new();
        for (to, from) in to.iter().zip(from) {
            match (to, from) {
                (Value::Leaf(_), Value::Leaf(leaf)) if to != from => {
                    // Another may get its value from what this one writes.
                    let leaf = self.intermediate(span, copy(LONG), &[*leaf]);
                    kept.push((*to, Some(leaf)));
                }
                (Value::Leaf(_), Value::Handle(_)) => kept.push((*to, None)),
                (Value::Handle(_), _) if to != from => {
                    self.beyond(span, "a barrier's handle that changes from iteration to iteration");
                }
                _ => {}
            }
        }
        for (to, from) in kept {
            match from {
                Some(from) => self.compute(span, to, copy(LONG), &[from]),
                None => self.compute(span, to, Function::Unknown, &[]),
            }
        }
        if to.len() != from.len() {
            self.beyond(span, "a region that hands on another number of values than is taken");
        }
    }

    /// Every result is unknown.
    pub(super) fn opaque(&mut self, operation: &Operation<'s>) {
        for to in self.results(operation) {
            self.compute(operation.span, to, Function::Unknown, &[]);
        }
    }
}

//! Statements, laid out as documented at [`Op`].

use barcheck_model::program::{
    AccessKind, BinaryOp, Condition, ConstructId, ConstructKind, Expr, LocalId, LocalKind, Op, Pc, UnaryOp,
};

use super::code::Source;
use super::places::Used;
use super::role::{Loop, RoleLowerer};
use crate::bar::ast::{
    self, Block, Else, ExprKind, Guard, Instruction, Name, Statement, StatementKind, Value,
};
use crate::bar::meaning_error::MeaningError;
use crate::bar::system;
use crate::common::span::Span;

impl<'a> RoleLowerer<'_, 'a> {
    /// The statements of a block in a scope of their own.
    pub(super) fn block(&mut self, block: &'a Block) {
        self.scopes.enter();
        for statement in &block.statements {
            // An error has been reported; the next statement may have one of its own.
            let _ = self.statement(statement);
        }
        self.scopes.leave();
    }

    fn statement(&mut self, statement: &'a Statement) -> Option<()> {
        self.depth += 1;
        let lowered = self.may_go_deeper(statement.span).and_then(|()| self.nested(statement));
        self.depth -= 1;
        lowered
    }

    fn nested(&mut self, statement: &'a Statement) -> Option<()> {
        let source = self.source(statement.span);
        match &statement.kind {
            StatementKind::Use(name, arguments) => self.use_of(name, arguments, statement.span),
            StatementKind::Advance { stage, parity, stages } => {
                self.advance((stage, parity), stages, &source)
            }
            StatementKind::Instruction(guard, instruction) => match guard {
                Some(guard) => self.guarded(guard, instruction, &source),
                None => self.instruction(instruction, &source),
            },
            StatementKind::For { variable, from, to, body } => {
                self.for_loop(variable, (from, to), body, &source)
            }
            StatementKind::Loop(body) => self.loop_around(None, body, &source),
            StatementKind::While(condition, body) => {
                self.note_switch(condition, &source);
                self.loop_around(Some(condition), body, &source)
            }
            StatementKind::If { condition, then, otherwise } => {
                self.branch(condition, then, otherwise.as_ref(), &source)
            }
            StatementKind::Let(name, Value::Uniform { name: sequence, from, to, span }) => {
                let local = self.declare(name, false)?;
                self.lets.push((local, (&name.text, name.span)));
                self.uniform_number(local, (sequence.as_ref(), *span), (from, to), &source)
            }
            StatementKind::Assign(name, Value::Uniform { name: sequence, from, to, span }) => {
                let local = self.assigned(&name.text, name.span)?;
                self.uniform_number(local, (sequence.as_ref(), *span), (from, to), &source)
            }
            StatementKind::Let(name, value) => self.let_value(name, value, &source),
            StatementKind::Assign(name, Value::Result(instruction)) => {
                let local = self.assigned(&name.text, name.span)?;
                self.yielding(local, instruction, &source)
            }
            StatementKind::Assign(name, value) => {
                let assigned = self.assigned(&name.text, name.span);
                self.assigning = assigned;
                let value = self.value(value);
                self.assigning = None;
                let op = value?(assigned?);
                self.builder.emit(op, &source);
                Some(())
            }
            StatementKind::Access { kind, array, index, cta } => {
                self.access(*kind, array, (index.as_ref(), cta.as_ref()), &source)
            }
            StatementKind::Break => self.leave_iteration("break", statement.span, &source),
            StatementKind::Continue => self.leave_iteration("continue", statement.span, &source),
            StatementKind::Exit => {
                self.builder.emit(Op::Exit, &source);
                Some(())
            }
            StatementKind::Assert(expr) => {
                let expr = self.expr(expr)?;
                self.builder.emit(Op::Assert(expr), &source);
                Some(())
            }
        }
    }

    /// What an assignment does, once it is known to which local.
    fn value(
        &mut self,
        value: &'a Value,
    ) -> Option<impl FnOnce(barcheck_model::program::LocalId) -> Op + use<>> {
        let (from, to) = match value {
            Value::Expr(expr) => (self.expr(expr)?, None),
            Value::Any(from, to) => {
                let (from, to) = (self.expr(from), self.expr(to));
                (from?, Some(to?))
            }
            // Statements of their own have been made of them.
            Value::Uniform { .. } | Value::Result(_) => return None,
        };
        Some(move |local| match to {
            None => Op::Set(local, from),
            Some(to) => Op::Any(local, from, to),
        })
    }

    fn let_value(&mut self, name: &'a Name, value: &'a Value, source: &Source) -> Option<()> {
        if let Value::Result(instruction) = value {
            let local = self.declare(name, false)?;
            return self.yielding(local, instruction, source);
        }
        // The value is read first: in `let x = x + 1;` it is the outer `x` that counts.
        let value = self.value(value);
        let local = self.declare(name, false)?;
        self.lets.push((local, (&name.text, name.span)));
        let op = value?(local);
        self.builder.emit(op, source);
        Some(())
    }

    fn guarded(&mut self, guard: &'a Guard, instruction: &'a Instruction, source: &Source) -> Option<()> {
        let value = self.value_of(&guard.name.text, guard.name.span);
        let construct = self.builder.open(ConstructKind::If);
        // clause: bcu.predicate-guard
        let value = value.map(|value| match (guard.negated, value) {
            (false, value) => value,
            (true, Expr::Int(value)) => Expr::Int(i64::from(value == 0)),
            (true, value) => Expr::Unary(UnaryOp::Not, Box::new(value)),
        });
        let condition = Condition::Value(value.unwrap_or(Expr::Int(0)));
        let branch = Op::Branch { construct, condition, otherwise: Pc(0) };
        let guard_source = self.source(guard.span);
        let branch = self.builder.emit(branch, &guard_source);
        let inner = self.source(instruction.span);
        let lowered = self.instruction(instruction, &inner);
        let end = self.builder.close(construct, source);
        self.builder.set_target(branch, end);
        lowered
    }

    fn for_loop(
        &mut self,
        variable: &'a Name,
        (from, to): (&'a ast::Expr, &'a ast::Expr),
        body: &'a Block,
        source: &Source,
    ) -> Option<()> {
        let (from, to) = (self.expr(from), self.expr(to));
        self.scopes.enter();
        // After an error the variable still exists, so that its uses are not reported as well.
        let local = self.declare(variable, true);
        let (from, to) = (from.unwrap_or(Expr::Int(0)), to.unwrap_or(Expr::Int(0)));
        let lowered = local.map(|local| {
            self.builder.emit(Op::Set(local, from), source);
            let bound = match to {
                Expr::Int(_) => to,
                _ => {
                    let bound = self.builder.local(".end", LocalKind::Integer);
                    self.builder.emit(Op::Set(bound, to), source);
                    Expr::Local(bound)
                }
            };
            let i = || Box::new(Expr::Local(local));
            let test = Expr::Binary(BinaryOp::Lt, i(), Box::new(bound));
            let construct = self.enter_loop(source);
            let head = self.builder.here();
            let condition = Condition::Value(test);
            self.builder.emit(Op::Test { construct, condition }, source);
            self.block(body);
            let next = Expr::Binary(BinaryOp::Add, i(), Box::new(Expr::Int(1)));
            let step = self.builder.emit_silent(Op::Set(local, next), source);
            self.leave_loop(head, step, source);
        });
        self.scopes.leave();
        lowered
    }

    /// `loop`, or `while` with its condition.
    fn loop_around(
        &mut self,
        condition: Option<&'a ast::Condition>,
        body: &'a Block,
        source: &Source,
    ) -> Option<()> {
        let construct = self.enter_loop(source);
        let head = self.builder.here();
        // After an error the body is lowered all the same, for the errors in it.
        let condition = condition.map(|condition| self.condition(condition));
        let lowered = condition.as_ref().is_none_or(Option::is_some);
        if let Some(condition) = condition.flatten() {
            self.builder.emit(Op::Test { construct, condition }, source);
        }
        self.block(body);
        let back = self.builder.here();
        self.leave_loop(head, back, source);
        lowered.then_some(())
    }

    /// An instruction that yields a number to a local.
    fn yielding(&mut self, local: LocalId, instruction: &'a Instruction, source: &Source) -> Option<()> {
        self.result = Some(local);
        let lowered = self.instruction(instruction, source);
        if self.result.take().is_some() {
            lowered?;
            let mnemonic = instruction.mnemonic.text(self.context.source);
            let expected = "an instruction that yields a value".to_owned();
            let help = Some(format!("write `{mnemonic} …;` by itself"));
            self.report(&MeaningError::Operand { expected, span: instruction.span, help });
            return None;
        }
        lowered
    }

    fn enter_loop(&mut self, source: &Source) -> ConstructId {
        let construct = self.builder.open(ConstructKind::Loop);
        self.builder.emit_silent(Op::Enter(construct), source);
        self.loops.push(Loop { construct, continues: Vec::new() });
        construct
    }

    /// Ends the innermost loop: back to `head`, with `continue` leading to `next`.
    fn leave_loop(&mut self, head: Pc, next: Pc, source: &Source) {
        if let Some(Loop { construct, continues }) = self.loops.pop() {
            self.builder.emit_silent(Op::Back(construct, head), source);
            self.builder.close(construct, source);
            for pc in continues {
                self.builder.set_target(pc, next);
            }
        }
    }

    fn leave_iteration(&mut self, word: &'static str, span: Span, source: &Source) -> Option<()> {
        let Some(construct) = self.loops.last().map(|open| open.construct) else {
            self.report(&MeaningError::OutsideLoop { word, span });
            return None;
        };
        if word == "break" {
            self.builder.emit(Op::Break(construct), source);
        } else {
            let pc = self.builder.emit(Op::Continue(construct, Pc(0)), source);
            if let Some(open) = self.loops.last_mut() {
                open.continues.push(pc);
            }
        }
        Some(())
    }

    fn branch(
        &mut self,
        condition: &'a ast::Condition,
        then: &'a Block,
        otherwise: Option<&'a Else>,
        source: &Source,
    ) -> Option<()> {
        self.note_switch(condition, source);
        // After an error the arms are lowered all the same, for the errors in them.
        let condition = self.condition(condition).unwrap_or(Condition::Private);
        let construct = self.builder.open(ConstructKind::If);
        let op = Op::Branch { construct, condition, otherwise: Pc(0) };
        let branch = self.builder.emit(op, source);
        self.block(then);
        let Some(otherwise) = otherwise else {
            let end = self.builder.close(construct, source);
            self.builder.set_target(branch, end);
            return Some(());
        };
        let jump = self.builder.emit_silent(Op::Jump(Pc(0)), source);
        let start = self.builder.here();
        self.builder.set_target(branch, start);
        match otherwise {
            Else::Block(block) => self.block(block),
            Else::If(statement) => {
                let _ = self.statement(statement);
            }
        }
        let end = self.builder.close(construct, source);
        self.builder.set_target(jump, end);
        Some(())
    }

    /// Notes a condition that is the name of a constant alone, or its negation.
    fn note_switch(&mut self, condition: &ast::Condition, source: &Source) {
        let ast::Condition::Value(expr) = condition else { return };
        let mut expr = expr;
        while let ExprKind::Parenthesized(inner) | ExprKind::Unary(UnaryOp::Not, inner) = &expr.kind {
            expr = inner;
        }
        if let ExprKind::Name(name) = &expr.kind
            && self.scopes.find(name).is_none()
            && self.context.globals.names.contains_key(&**name)
        {
            self.context.switches.insert(source.place);
        }
    }

    fn condition(&mut self, condition: &'a ast::Condition) -> Option<Condition> {
        Some(match condition {
            ast::Condition::Value(expr) => {
                self.no_number(expr);
                Condition::Value(self.expr(expr)?)
            }
            ast::Condition::Private => Condition::Private,
            ast::Condition::Uniform { name, span } => {
                if name.is_none() && self.uses.is_empty() {
                    self.context.unnamed.get_or_insert(*span);
                }
                Condition::Uniform(self.context.sequence(name.as_ref(), None, *span)?)
            }
            ast::Condition::Answer { negated, instruction } => {
                let answer = self.builder.local(".answer", LocalKind::Integer);
                let source = self.source(instruction.span);
                self.yielding(answer, instruction, &source)?;
                let answer = Expr::Local(answer);
                Condition::Value(match negated {
                    true => Expr::Unary(UnaryOp::Not, Box::new(answer)),
                    false => answer,
                })
            }
        })
    }

    fn access(
        &mut self,
        kind: AccessKind,
        array: &'a Name,
        (index, cta): (Option<&'a ast::Expr>, Option<&'a ast::Expr>),
        source: &Source,
    ) -> Option<()> {
        let used = Used { name: &array.text, span: array.span, index };
        let (id, index) = self.location(used)?;
        let cta = self.in_cta(cta)?;
        self.builder.emit(Op::Access(kind, id, index, cta), source);
        Some(())
    }

    /// An instruction, by the rules of its system.
    fn instruction(&mut self, instruction: &'a Instruction, source: &Source) -> Option<()> {
        if let Some(op) = system::lower(self, instruction)? {
            self.builder.emit(op, source);
        }
        for (condition, op) in std::mem::take(&mut self.several) {
            self.under(condition, op, source);
        }
        Some(())
    }

    /// An operation that is executed under a condition.
    fn under(&mut self, condition: Expr, op: Op, source: &Source) {
        match condition {
            Expr::Int(0) => {}
            Expr::Int(_) => drop(self.builder.emit(op, source)),
            condition => {
                let construct = self.builder.open(ConstructKind::If);
                let condition = Condition::Value(condition);
                let branch = Op::Branch { construct, condition, otherwise: Pc(0) };
                let branch = self.builder.emit_silent(branch, source);
                self.builder.emit(op, source);
                let end = self.builder.close(construct, source);
                self.builder.set_target(branch, end);
            }
        }
    }

    /// How many CTAs there are, 1 after an error.
    pub(in crate::bar) fn ctas(&self) -> u32 {
        let ctas = self.context.globals.cluster.and_then(|(ctas, _)| ctas);
        ctas.and_then(|ctas| u32::try_from(ctas).ok()).map_or(1, |ctas| ctas.min(16))
    }

    /// The CTA that is named after `@ cta`.
    pub(in crate::bar) fn in_cta(&mut self, cta: Option<&'a ast::Expr>) -> Option<Option<Expr>> {
        let Some(expr) = cta else { return Some(None) };
        let lowered = self.expr(expr)?;
        let ctas = self.context.globals.cluster.map_or(Some(1), |(ctas, _)| ctas);
        if let (Expr::Int(value), Some(ctas)) = (&lowered, ctas)
            && !(0..ctas).contains(value)
        {
            let expected = format!("the rank of a CTA, 0 to {}", ctas - 1);
            let help = Some("the CTAs are as many as `cluster` declares".to_owned());
            self.report(&MeaningError::Operand { expected, span: expr.span, help });
            return None;
        }
        Some(Some(lowered))
    }
}

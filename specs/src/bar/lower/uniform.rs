//! Numbers that all agents share, and stages that move on.

use barcheck_model::program::{BinaryOp, Condition, ConstructKind, Expr, LocalId, LocalKind, Op, Pc};

use super::code::Source;
use super::role::RoleLowerer;
use super::scopes::Binding;
use crate::bar::ast::{self, Name};
use crate::bar::meaning_error::MeaningError;
use crate::common::limits;
use crate::common::span::Span;

impl<'a> RoleLowerer<'_, 'a> {
    /// The next number of a sequence that all agents share. It is asked for bit by bit, the highest first, by
    /// decisions of that sequence: whoever shares the decisions has the same number.
    pub(super) fn uniform_number(
        &mut self,
        local: LocalId,
        (name, span): (Option<&'a Name>, Span),
        (from, to): (&'a ast::Expr, &'a ast::Expr),
        source: &Source,
    ) -> Option<()> {
        let (first, end) = (self.context.constant(from), self.context.constant(to));
        let (first, end) = (first?, end?);
        let size = i128::from(end) - i128::from(first);
        if !(1..=limits::UNIFORM_NUMBERS).contains(&size) {
            let most = limits::UNIFORM_NUMBERS;
            self.report(&MeaningError::UniformRange { size, most, span: from.span.to(to.span) });
            return None;
        }
        if name.is_none() && self.uses.is_empty() {
            self.context.unnamed.get_or_insert(span);
        }
        let sequence = self.context.sequence(name, Some((first, end)), span)?;
        self.builder.emit(Op::Set(local, Expr::Int(first)), source);
        let value = || Box::new(Expr::Local(local));
        let highest = 127 - (size - 1).max(1).leading_zeros();
        for bit in (0..=highest).rev().filter(|_| size > 1) {
            let step = 1_i64 << bit;
            let more = Expr::Binary(BinaryOp::Add, value(), Box::new(Expr::Int(step)));
            let inside = Expr::Binary(BinaryOp::Lt, Box::new(more.clone()), Box::new(Expr::Int(end)));
            let fits = self.builder.open(ConstructKind::If);
            let condition = Condition::Value(inside);
            let op = Op::Branch { construct: fits, condition, otherwise: Pc(0) };
            let outer = self.builder.emit_silent(op, source);
            let decided = self.builder.open(ConstructKind::If);
            let condition = Condition::Uniform(sequence);
            let op = Op::Branch { construct: decided, condition, otherwise: Pc(0) };
            let asked = Source { text: format!("{}: {step} more ?", source.text), ..source.clone() };
            let inner = self.builder.emit(op, &asked);
            self.builder.emit_silent(Op::Set(local, more), source);
            let end = self.builder.close(decided, source);
            self.builder.set_target(inner, end);
            let end = self.builder.close(fits, source);
            self.builder.set_target(outer, end);
        }
        Some(())
    }

    /// The next stage of a ring, and the other parity where it begins anew.
    pub(super) fn advance(
        &mut self,
        (stage, parity): (&'a Name, &'a Name),
        stages: &'a ast::Expr,
        source: &Source,
    ) -> Option<()> {
        let stage = self.assigned(&stage.text, stage.span);
        let parity = self.assigned(&parity.text, parity.span);
        let stages = self.expr(stages);
        let (stage, parity, stages) = (stage?, parity?, stages?);
        let one = || Box::new(Expr::Int(1));
        let next = || Box::new(Expr::Binary(BinaryOp::Add, Box::new(Expr::Local(stage)), one()));
        let anew = Expr::Binary(BinaryOp::Eq, next(), Box::new(stages.clone()));
        let flipped = Expr::Binary(BinaryOp::Xor, Box::new(Expr::Local(parity)), Box::new(anew));
        self.builder.emit(Op::Set(parity, flipped), source);
        let moved = Expr::Binary(BinaryOp::Rem, next(), Box::new(stages));
        self.builder.emit_silent(Op::Set(stage, moved), source);
        Some(())
    }

    /// Whether nothing has this name.
    pub(super) fn is_new(&self, name: &str) -> bool {
        let context = &self.context;
        let is_register = context.notation.register(name).is_some()
            || context.notation.registers.as_ref().is_some_and(|known| (known.looks_like_one)(name));
        !is_register && self.scopes.find(name).is_none() && !context.globals.names.contains_key(name)
    }

    /// Whether a name stands for what is declared before the blocks.
    pub(in crate::bar) fn is_global(&self, name: &str) -> bool {
        self.scopes.find(name).is_none() && self.context.globals.names.contains_key(name)
    }

    /// Declares the local that an instruction's result goes to.
    pub(super) fn declare_result(&mut self, name: &'a str, span: Span) -> LocalId {
        let local = self.builder.local(name, LocalKind::Integer);
        self.lets.push((local, (name, span)));
        self.scopes.declare(name, Binding { local, declared: span, loop_variable: false });
        local
    }
}

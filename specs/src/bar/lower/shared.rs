//! Shared blocks: what they say stands in the place of each use.

use std::collections::HashMap;

use barcheck_model::program::{LocalKind, Op};

use super::context::GlobalKind;
use super::role::{RoleLowerer, Use};
use super::scopes::Binding;
use crate::bar::ast::{self, ExprKind, Name};
use crate::bar::meaning_error::{MeaningError, NameKind};
use crate::common::limits;
use crate::common::span::Span;

/// What a parameter stands for.
enum Argument<'a> {
    /// A number, in a local of its own.
    Number(barcheck_model::program::Expr),
    /// A location or an object.
    Named(&'a str),
}

impl<'a> RoleLowerer<'_, 'a> {
    /// The declared name that `name` stands for: itself, unless it is a parameter for memory or an object.
    pub(super) fn meant(&self, name: &'a str) -> &'a str {
        self.uses.last().and_then(|here| here.stands_for.get(name)).copied().unwrap_or(name)
    }

    /// Whether statements may be nested deeper; that they may not is reported.
    pub(super) fn may_go_deeper(&mut self, span: Span) -> Option<()> {
        // A text alone is never this deep: uses of blocks inside one another are.
        if self.depth <= limits::NESTING + 1 {
            return Some(());
        }
        self.report(&MeaningError::UsesTooDeep { span });
        None
    }

    /// Lowers the statements of a block with these arguments. They know its parameters and what is declared
    /// outside the blocks, but nothing of where it is used.
    pub(super) fn use_of(&mut self, name: &'a Name, arguments: &'a [ast::Expr], span: Span) -> Option<()> {
        let Some(shared) = self.context.globals.block(&name.text) else {
            let kind = NameKind::Value;
            let (text, target) = (name.text.to_string(), self.context.target);
            let error =
                MeaningError::UnknownName { name: text, kind, suggestion: None, target, span: name.span };
            self.report(&error);
            return None;
        };
        self.context.globals.uses(&name.text);
        let declared = shared.name.span;
        let text = name.text.to_string();
        if shared.parameters.len() != arguments.len() {
            let (takes, found) = (shared.parameters.len(), arguments.len());
            self.report(&MeaningError::Arguments { name: text, takes, found, span, declared });
            return None;
        }
        if self.uses.iter().any(|outer| *outer.block == *shared.name.text) {
            self.report(&MeaningError::UsesItself { name: text, span, declared });
            return None;
        }
        // It is said once, and the uses that follow are no news.
        if self.context.expanded > limits::EXPANDED {
            return None;
        }
        self.context.expanded += count(&shared.block);
        if self.context.expanded > limits::EXPANDED {
            self.report(&MeaningError::TooMuchExpanded { span });
            return None;
        }
        let given: Vec<_> = arguments.iter().map(|argument| self.argument(argument)).collect();
        let mut here = Use { block: &shared.name.text, stands_for: HashMap::new() };
        let outer = std::mem::take(&mut self.scopes);
        let loops = std::mem::take(&mut self.loops);
        self.scopes.enter();
        for ((parameter, given), argument) in shared.parameters.iter().zip(given).zip(arguments) {
            match given {
                Some(Argument::Named(stands_for)) => {
                    here.stands_for.insert(&parameter.text, stands_for);
                }
                // After an error the parameter still exists, so that its uses are not reported as well.
                None => {
                    self.declare(parameter, false);
                }
                Some(Argument::Number(value)) => {
                    let local = self.builder.local(&parameter.text, LocalKind::Integer);
                    let binding = Binding { local, declared: parameter.span, loop_variable: false };
                    self.scopes.declare(&parameter.text, binding);
                    let source = self.source(argument.span);
                    self.builder.emit(Op::Set(local, value), &source);
                }
            }
        }
        self.uses.push(here);
        self.block(&shared.block);
        self.uses.pop();
        self.scopes = outer;
        self.loops = loops;
        Some(())
    }

    /// What is given for a parameter: the name of a location or an object, or a number.
    fn argument(&mut self, argument: &'a ast::Expr) -> Option<Argument<'a>> {
        if let ExprKind::Name(name) = &argument.kind
            && self.scopes.find(name).is_none()
        {
            let meant = self.meant(name);
            let global = self.context.globals.names.get(meant);
            if let Some(GlobalKind::Memory(_) | GlobalKind::Objects(_)) = global.map(|global| global.kind) {
                return Some(Argument::Named(meant));
            }
        }
        self.expr(argument).map(Argument::Number)
    }
}

/// The statements of a block, those inside others among them.
fn count(block: &ast::Block) -> usize {
    let mut left = vec![block];
    let mut counted = 1;
    while let Some(block) = left.pop() {
        counted += block.statements.len();
        for statement in &block.statements {
            let mut statement = statement;
            loop {
                match &statement.kind {
                    ast::StatementKind::For { body, .. }
                    | ast::StatementKind::Loop(body)
                    | ast::StatementKind::While(_, body) => left.push(body),
                    ast::StatementKind::If { then, otherwise, .. } => {
                        left.push(then);
                        match otherwise {
                            Some(ast::Else::Block(block)) => left.push(block),
                            Some(ast::Else::If(nested)) => {
                                statement = nested;
                                continue;
                            }
                            None => {}
                        }
                    }
                    _ => {}
                }
                break;
            }
        }
    }
    counted
}

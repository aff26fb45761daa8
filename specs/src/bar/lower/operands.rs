//! Operands, as the instructions of several targets read them.

use barcheck_model::program::{BinaryOp, Expr, LocalId, Predicate, UnaryOp};

use super::role::RoleLowerer;
use crate::bar::ast::{self, ExprKind, Instruction, Operand, OperandKind};
use crate::bar::meaning_error::MeaningError;
use crate::common::lint::Lint;
use crate::common::span::Span;

/// The expression that an operand is, if it is one.
pub(in crate::bar) fn expr_of(operand: &Operand) -> Option<&ast::Expr> {
    match &operand.kind {
        OperandKind::Expr(expr) => Some(expr),
        _ => None,
    }
}

/// The bare name that an operand is, if it is one.
pub(in crate::bar) fn name_of(operand: &Operand) -> Option<&str> {
    match &expr_of(operand)?.kind {
        ExprKind::Name(name) => Some(name),
        _ => None,
    }
}

impl<'a> RoleLowerer<'_, 'a> {
    /// Reports that the number of operands is wrong; `takes` shows each of the right forms.
    pub(in crate::bar) fn wrong_count<T>(
        &mut self,
        instruction: &Instruction,
        takes: &'static [&'static str],
    ) -> Option<T> {
        let mnemonic = instruction.mnemonic.text(self.context.source).to_owned();
        let (found, span) = (instruction.operands.len(), instruction.span);
        self.report(&MeaningError::OperandCount { mnemonic, takes, found, span });
        None
    }

    /// Reports that an operand is not what it should be.
    pub(in crate::bar) fn wrong_operand<T>(
        &mut self,
        operand: &Operand,
        expected: &str,
        help: Option<&str>,
    ) -> Option<T> {
        let (expected, help) = (expected.to_owned(), help.map(str::to_owned));
        self.report(&MeaningError::Operand { expected, span: operand.span, help });
        None
    }

    /// An operand that is a number.
    pub(in crate::bar) fn number(&mut self, operand: &'a Operand) -> Option<Expr> {
        match expr_of(operand) {
            Some(expr) => self.expr(expr),
            None if matches!(operand.kind, OperandKind::Choice { .. }) => {
                let help = "an arbitrary number is a local: `let x = any 0..4;`";
                self.wrong_operand(operand, "a number", Some(help))
            }
            None => self.wrong_operand(operand, "a number", None),
        }
    }

    /// The predicate of a reduction.
    pub(in crate::bar) fn predicate(&mut self, operand: &'a Operand) -> Option<Predicate> {
        let expr = match &operand.kind {
            OperandKind::Choice { negated } => {
                return Some(Predicate { negated: *negated, value: None });
            }
            OperandKind::Expr(expr) => expr,
            _ => return self.wrong_operand(operand, "a predicate", None),
        };
        // clause: ptx.red-negation, bcu.red-predicate
        let (negated, expr) = match &expr.kind {
            ExprKind::Unary(UnaryOp::Not, inner) => (true, &**inner),
            _ => (false, expr),
        };
        if let ExprKind::Int(value) = expr.kind
            && !(0..=1).contains(&value)
        {
            let message = format!("the predicate of this reduction is the number {value}");
            let diagnostic = Lint::NumberAsPredicate
                .says(message, operand.span)
                .label("every number but 0 is true")
                .help("is the predicate missing behind it?");
            let subject = operand.span.text(self.context.source);
            self.context.lints.push(Lint::NumberAsPredicate, subject, diagnostic);
        }
        let value = self.expr(expr)?;
        Some(Predicate { negated, value: Some(value) })
    }

    /// Says so where a number stands as a truth, as in `warp == 1 || 2`.
    pub(super) fn no_number(&mut self, condition: &'a ast::Expr) {
        let ExprKind::Binary(BinaryOp::LogicalAnd | BinaryOp::LogicalOr, left, right) = &condition.kind
        else {
            return;
        };
        for side in [left, right] {
            match side.kind {
                ExprKind::Int(value) if !(0..=1).contains(&value) => {
                    let diagnostic = Lint::NumberAsPredicate
                        .says(format!("a side of this condition is the number {value}"), side.span)
                        .label("every number but 0 is true")
                        .help("each side is a comparison: `a == 1 || a == 2`");
                    let subject = condition.span.text(self.context.source);
                    self.context.lints.push(Lint::NumberAsPredicate, subject, diagnostic);
                }
                _ => self.no_number(side),
            }
        }
    }

    /// The local that gets a result, `None` for `_`.
    /// The local of a name that gets a result, which need not be declared; none for `_`.
    pub(in crate::bar) fn result_named(&mut self, name: &'a str, span: Span) -> Option<Option<LocalId>> {
        match name {
            "_" => Some(None),
            name if self.is_new(name) => Some(Some(self.declare_result(name, span))),
            name => self.assigned(name, span).map(Some),
        }
    }

    pub(in crate::bar) fn destination(&mut self, operand: &'a Operand) -> Option<Option<LocalId>> {
        match name_of(operand) {
            Some(name) => self.result_named(name, operand.span),
            None => {
                let help = "the first operand gets the result; `_` drops it";
                self.wrong_operand(operand, "a local variable or `_`", Some(help))
            }
        }
    }
}

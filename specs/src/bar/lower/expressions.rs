//! Expressions, with constants folded.

use barcheck_model::program::{BinaryOp, Expr, NoResult, UnaryOp};

use crate::bar::ast::{self, ExprKind, IndexWord};
use crate::common::span::Span;

/// What the words in an expression stand for. `None` says that an error was reported.
pub(super) trait Resolve<'e> {
    /// The value of a name.
    fn name(&mut self, name: &'e str, span: Span) -> Option<Expr>;
    /// The value of an agent's index.
    fn index(&mut self, word: IndexWord, span: Span) -> Option<Expr>;
    /// An operator on constants has no result. True if that was reported; otherwise it is left to the run,
    /// which may never come to it.
    fn fails(&mut self, reason: NoResult, span: Span) -> bool;
    /// Begins or ends an operand that is never evaluated.
    fn skip(&mut self, enter: bool);
}

/// Lowers `expr`. An operator whose operands are constants becomes its result, unless it has none.
pub(super) fn lower_expr<'e>(names: &mut impl Resolve<'e>, expr: &'e ast::Expr) -> Option<Expr> {
    match &expr.kind {
        ExprKind::Int(value) => Some(Expr::Int(*value)),
        ExprKind::Name(name) => names.name(name, expr.span),
        ExprKind::Index(word) => names.index(*word, expr.span),
        ExprKind::Parenthesized(inner) => lower_expr(names, inner),
        ExprKind::Unary(op, operand) => {
            let operand = lower_expr(names, operand)?;
            unary(names, *op, operand, expr.span)
        }
        ExprKind::Binary(op, left, right) => binary(names, *op, left, right, expr.span),
    }
}

fn unary<'e>(names: &mut impl Resolve<'e>, op: UnaryOp, operand: Expr, span: Span) -> Option<Expr> {
    if let Expr::Int(value) = operand {
        match op.apply(value) {
            Ok(value) => return Some(Expr::Int(value)),
            Err(reason) if names.fails(reason, span) => return None,
            Err(_) => {}
        }
    }
    Some(Expr::Unary(op, Box::new(operand)))
}

fn binary<'e>(
    names: &mut impl Resolve<'e>,
    op: BinaryOp,
    left: &'e ast::Expr,
    right: &'e ast::Expr,
    span: Span,
) -> Option<Expr> {
    let left = lower_expr(names, left);
    let decided = match (&left, op) {
        (Some(Expr::Int(0)), BinaryOp::LogicalAnd) => Some(0),
        (Some(Expr::Int(value)), BinaryOp::LogicalOr) if *value != 0 => Some(1),
        _ => None,
    };
    if decided.is_some() {
        names.skip(true);
    }
    // Both sides are looked at, so that errors in both are found.
    let right = lower_expr(names, right);
    if decided.is_some() {
        names.skip(false);
    }
    let (left, right) = (left?, right?);
    if let Some(value) = decided {
        return Some(Expr::Int(value));
    }
    if let (Expr::Int(left), Expr::Int(right)) = (&left, &right) {
        match op.apply(*left, *right) {
            Ok(value) => return Some(Expr::Int(value)),
            Err(reason) if names.fails(reason, span) => return None,
            Err(_) => {}
        }
    }
    Some(Expr::Binary(op, Box::new(left), Box::new(right)))
}

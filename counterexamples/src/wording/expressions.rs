//! Expressions, and what the lanes that execute an instruction know of them.

use barcheck_model::program::{BinaryOp, Expr, LocalId, Predicate, ReductionOp};

/// The lanes that execute an instruction, as its operands are shown for them.
pub(crate) trait Lanes {
    /// A number in the first lane, `None` where it cannot be evaluated.
    fn first(&self, expr: &Expr) -> Option<i64>;
    /// The value in all lanes, as text.
    fn show(&self, expr: &Expr) -> String;
    /// In how many lanes a predicate is true; `pick` decides one that is open.
    fn truths(&self, op: ReductionOp, predicate: &Predicate, pick: u32) -> String;
    /// A local's name.
    fn local_name(&self, local: LocalId) -> &str;
}

/// An expression's value, with `leaf` for what it names; `None` where it has none.
pub(super) fn evaluate(expr: &Expr, leaf: &dyn Fn(&Expr) -> Option<i64>) -> Option<i64> {
    let of = |expr: &Expr| evaluate(expr, leaf);
    match expr {
        Expr::Int(n) => Some(*n),
        Expr::Agent | Expr::Lane | Expr::Local(_) => leaf(expr),
        Expr::Unary(op, a) => op.apply(of(a)?).ok(),
        Expr::Binary(BinaryOp::LogicalAnd, a, b) => Some(i64::from(of(a)? != 0 && of(b)? != 0)),
        Expr::Binary(BinaryOp::LogicalOr, a, b) => Some(i64::from(of(a)? != 0 || of(b)? != 0)),
        Expr::Binary(op, a, b) => op.apply(of(a)?, of(b)?).ok(),
    }
}

/// The mnemonic as the user spelt it, a guard left out.
pub(super) fn mnemonic(written: &str, canonical: &str) -> String {
    let mut words = written.split_whitespace().skip_while(|word| word.starts_with('@'));
    let first = words.next().unwrap_or("").trim_end_matches(';');
    if first.contains('.') { first.to_owned() } else { canonical.to_owned() }
}

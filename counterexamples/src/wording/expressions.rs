//! Expressions, and what the lanes that execute an instruction know of them.

use barcheck_model::program::{BinaryOp, Expr, LocalId, Predicate, ReductionOp, UnaryOp};

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
        Expr::Agent | Expr::Cta | Expr::Lane | Expr::Elect | Expr::Local(_) => leaf(expr),
        Expr::Unary(op, a) => op.apply(of(a)?).ok(),
        Expr::Binary(BinaryOp::LogicalAnd, a, b) => Some(i64::from(of(a)? != 0 && of(b)? != 0)),
        Expr::Binary(BinaryOp::LogicalOr, a, b) => Some(i64::from(of(a)? != 0 || of(b)? != 0)),
        Expr::Binary(op, a, b) => op.apply(of(a)?, of(b)?).ok(),
    }
}

/// The least and the greatest value that an expression may have, with `ends` those of what `leaf` does not
/// tell; `None` where nothing is known of it. A value beyond 64 bits ends the run, and is none.
pub(super) fn range(
    expr: &Expr,
    leaf: &dyn Fn(&Expr) -> Option<i64>,
    ends: &dyn Fn(&Expr) -> Option<(i64, i64)>,
) -> Option<(i64, i64)> {
    if let Some(value) = evaluate(expr, leaf) {
        return Some((value, value));
    }
    let Expr::Binary(op, a, b) = expr else {
        return match expr {
            Expr::Unary(UnaryOp::Not, _) => Some((0, 1)),
            _ => ends(expr),
        };
    };
    let of = |expr: &Expr| range(expr, leaf, ends);
    match op {
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => {
            let ((a, most_a), (b, most_b)) = (of(a)?, of(b)?);
            let of = |a: i64, b: i64| match op {
                BinaryOp::Add => a.saturating_add(b),
                BinaryOp::Sub => a.saturating_sub(b),
                _ => a.saturating_mul(b),
            };
            let all = [of(a, b), of(a, most_b), of(most_a, b), of(most_a, most_b)];
            Some((*all.iter().min()?, *all.iter().max()?))
        }
        BinaryOp::Div | BinaryOp::Shr => {
            let ((least, most), by) = (of(a)?, evaluate(b, leaf).filter(|by| *by > 0)?);
            Some((op.apply(least, by).ok()?, op.apply(most, by).ok()?))
        }
        BinaryOp::Rem => {
            let most = evaluate(b, leaf)?.checked_abs()?.checked_sub(1)?;
            let is_negative = of(a).is_none_or(|(least, _)| least < 0);
            Some((if is_negative { -most } else { 0 }, most))
        }
        BinaryOp::And => {
            let mask = evaluate(b, leaf).or_else(|| evaluate(a, leaf)).filter(|mask| *mask >= 0)?;
            Some((0, mask))
        }
        BinaryOp::Shl | BinaryOp::Or | BinaryOp::Xor => None,
        _ => Some((0, 1)),
    }
}

/// The mnemonic as the user spelt it, a guard left out.
pub(super) fn mnemonic(written: &str, canonical: &str) -> String {
    let mut words = written.split_whitespace().skip_while(|word| word.starts_with('@'));
    let first = words.next().unwrap_or("").trim_end_matches(';');
    if first.contains('.') { first.to_owned() } else { canonical.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_depends_on_a_local_has_a_range_where_it_is_reduced() {
        let local = || Expr::Local(LocalId(0));
        let binary = |op, a, b| Expr::Binary(op, Box::new(a), Box::new(b));
        let lanes = |leaf: &Expr| matches!(leaf, Expr::Lane).then_some((0, 31));
        let of = |expr: &Expr| range(expr, &|_| None, &lanes);
        let stage = || binary(BinaryOp::Rem, local(), Expr::Int(2));
        assert_eq!(of(&local()), None);
        assert_eq!(of(&stage()), Some((-1, 1)), "a local may be negative");
        assert_eq!(of(&binary(BinaryOp::Rem, Expr::Lane, Expr::Int(8))), Some((0, 7)));
        assert_eq!(of(&binary(BinaryOp::Add, Expr::Int(3), stage())), Some((2, 4)));
        let twice = binary(BinaryOp::Mul, Expr::Int(-2), stage());
        assert_eq!(of(&binary(BinaryOp::Sub, twice, Expr::Int(1))), Some((-3, 1)));
        assert_eq!(of(&binary(BinaryOp::And, local(), Expr::Int(3))), Some((0, 3)));
        let most = binary(BinaryOp::Add, Expr::Int(i64::MAX), stage());
        assert_eq!(of(&most), Some((i64::MAX - 1, i64::MAX)), "no value is beyond 64 bits");
        assert_eq!(of(&binary(BinaryOp::Div, stage(), Expr::Int(-1))), None);
        assert_eq!(of(&binary(BinaryOp::Lt, local(), Expr::Int(3))), Some((0, 1)));
        assert_eq!(of(&binary(BinaryOp::Rem, local(), Expr::Int(i64::MIN))), None);
    }
}

//! Locals of which only the remainder matters.
//!
//! A stage counter that is only ever used as `i % 4` or `(i / 4) & 1` takes as many values as a loop has
//! rounds, though only eight of them can be told apart. Where every use is so, the counter is kept modulo
//! the least common multiple of its periods, and a loop without end has finitely many configurations.
//!
//! An expression f of a local i is *stepped* with d if f(i + d·t) = f(i) + t for all i, t ≥ 0, and f(i) ≥ 0:
//! so is i itself with 1, f + k with d for a constant k ≥ 0, and f / a with d·a for a constant a > 0. Then f
//! % c has the period d·c, and so has f & (c - 1) for a power of two. Any other operator has the periods of
//! its operands, which are defined for all values, or for none, alike.

use crate::program::{BinaryOp, Code, Expr, LocalId, Op, UnaryOp};

/// Periods up to this one are made use of.
const LONGEST: i64 = 1 << 16;

/// For each local the number modulo which it can be kept.
// clause: barcheck.state-equal
pub(super) fn periods(code: &Code) -> Vec<Option<i64>> {
    (0..code.locals.len()).map(|local| period_of(code, LocalId::from_index(local))).collect()
}

fn period_of(code: &Code, local: LocalId) -> Option<i64> {
    let mut counts = false;
    let mut period = 1;
    for op in &code.ops {
        match op {
            Op::Set(to, value) if *to == local => match value {
                Expr::Int(0..LONGEST) => {}
                // A counter goes up by a constant.
                _ if stepped(value, local) == Some(1) => counts = true,
                _ => return None,
            },
            _ if op.written().contains(&local) || op.handle() == Some(local) => return None,
            _ => {
                for expr in op.expressions() {
                    period = least_common_multiple(period, period_in(expr, local)?)?;
                }
            }
        }
    }
    counts.then_some(period)
}

/// The period of an expression in a local.
fn period_in(expr: &Expr, local: LocalId) -> Option<i64> {
    match expr {
        Expr::Local(other) => (*other != local).then_some(1),
        Expr::Int(_) | Expr::Agent | Expr::Lane => Some(1),
        Expr::Unary(UnaryOp::Neg | UnaryOp::Not, a) => period_in(a, local),
        Expr::Binary(op, a, b) => {
            let modulus = match (op, &**b) {
                (BinaryOp::Rem, Expr::Int(by @ 1..)) => Some(*by),
                (BinaryOp::And, Expr::Int(mask @ 0..LONGEST)) if (mask + 1).count_ones() == 1 => {
                    Some(mask + 1)
                }
                _ => None,
            };
            let stepped = modulus.and_then(|modulus| stepped(a, local)?.checked_mul(modulus));
            if let Some(period) = stepped.filter(|period| *period <= LONGEST) {
                return Some(period);
            }
            least_common_multiple(period_in(a, local)?, period_in(b, local)?)
        }
    }
}

/// With what an expression is stepped in a local.
fn stepped(expr: &Expr, local: LocalId) -> Option<i64> {
    match expr {
        Expr::Local(other) => (*other == local).then_some(1),
        Expr::Binary(BinaryOp::Add, a, b) => match (&**a, &**b) {
            (a, Expr::Int(0..LONGEST)) => stepped(a, local),
            (Expr::Int(0..LONGEST), b) => stepped(b, local),
            _ => None,
        },
        Expr::Binary(BinaryOp::Div, a, by) => match **by {
            Expr::Int(by @ 1..=LONGEST) => stepped(a, local)?.checked_mul(by).filter(|d| *d <= LONGEST),
            _ => None,
        },
        _ => None,
    }
}

fn least_common_multiple(a: i64, b: i64) -> Option<i64> {
    let (mut divisor, mut rest) = (a, b);
    while rest != 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    (a / divisor).checked_mul(b).filter(|multiple| *multiple <= LONGEST)
}

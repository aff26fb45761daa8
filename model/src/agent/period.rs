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

use crate::program::{BinaryOp, Code, Expr, Local, LocalId, LocalKind, Op, UnaryOp};

/// Periods up to this one are made use of.
const LONGEST: i64 = 1 << 16;

/// Locals in one expression beyond which it is not looked at.
const MOST_LOCALS: usize = 16;

/// What is known of a local so far.
#[derive(Clone, Copy)]
struct Uses {
    /// It goes up by a constant somewhere.
    counts: bool,
    /// A common period of all uses, if there is one.
    period: Option<i64>,
}

/// For each local the number modulo which it can be kept.
// clause: barcheck.state-equal
pub(super) fn periods(code: &Code) -> Vec<Option<i64>> {
    // A register has 32 bits, and that a counter leaves them is an error which it must not be kept from.
    let period = |local: &Local| (local.kind == LocalKind::Integer).then_some(1);
    let mut uses: Vec<_> =
        code.locals.iter().map(|local| Uses { counts: false, period: period(local) }).collect();
    for op in &code.ops {
        match op {
            Op::Set(_, Expr::Int(0..LONGEST)) => {}
            Op::Set(local, value) if stepped(value, *local) == Some(1) => uses[local.index()].counts = true,
            _ => {
                for local in op.written().into_iter().chain(op.handle()) {
                    uses[local.index()].period = None;
                }
                op.expressions().into_iter().for_each(|expr| used(expr, &mut uses));
            }
        }
    }
    uses.into_iter().map(|uses| uses.period.filter(|_| uses.counts)).collect()
}

/// The locals of an expression are used in it.
fn used(expr: &Expr, uses: &mut [Uses]) {
    let mut locals = Vec::new();
    expr.leaves(&mut |leaf| {
        if let Expr::Local(local) = leaf {
            locals.push(*local);
        }
    });
    locals.sort_unstable();
    locals.dedup();
    let few = locals.len() <= MOST_LOCALS;
    for local in locals {
        let period = &mut uses[local.index()].period;
        *period =
            period.filter(|_| few).and_then(|period| least_common_multiple(period, period_in(expr, local)?));
    }
}

/// The period of an expression in a local.
fn period_in(expr: &Expr, local: LocalId) -> Option<i64> {
    match expr {
        Expr::Local(other) => (*other != local).then_some(1),
        Expr::Int(_) | Expr::Agent | Expr::Cta | Expr::Lane | Expr::Elect => Some(1),
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

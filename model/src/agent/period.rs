//! Locals of which only the remainder matters, from some value on.
//!
//! A stage counter that is only ever used as `i % 4` or `(i / 4) & 1` takes as many values as a loop has
//! rounds, though only eight of them can be told apart. Where every use is so, the counter is kept modulo
//! the least common multiple of its periods, and a loop without end has finitely many configurations.
//!
//! An expression f of a local i is *stepped* with d from some value on if f(i + d·t) = f(i) + t for all i
//! from there on and t ≥ 0, and f(i) ≥ 0: so is i itself with 1 from 0 on, f + k with d for a constant k ≥
//! 0, and f / a with d·a for a constant a > 0. As f(i) ≥ t where i is d·t further, f - k is, from d·k
//! further on. Then f % c has the period d·c from there, and so has f & (c - 1) for a power of two. Any
//! other operator has the periods of its operands, which are defined for all values, or for none, alike.
//!
//! A comparison of i + k with a constant has one outcome from some i on, and so the period 1 from there.
//!
//! A local that is copied has the periods that its copy has, from where its copy has them. Where a counter
//! has w bits, `i = (i + 1) & (2^w - 1)`, those that divide 2^w from 0 on are periods still: i + 1 and what
//! is left of it differ by a multiple of 2^w, and so of the period.
//!
//! The low bits of an expression are those of its operands' low bits alone where numbers are added,
//! multiplied and the like, and those of higher bits where it is shifted to the right. So `e & m` with a
//! number m of k bits has the period that the low k bits of e have: 2^k if e is i, that of the low k - z bits
//! of f if e is f times a multiple of 2^z, and d·2^k from where a quotient e is stepped with d, as in
//! `(i / 3 ^ -1) & 1`. Factors of either sign are below 2^16, so that
//! nothing leaves 64 bits before i has counted to 2^47.

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
    period: Option<Period>,
}

/// From some value on, values that differ by a multiple of something cannot be told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Period {
    from: i64,
    length: i64,
}

impl Period {
    /// Any two values are alike.
    const NONE: Self = Self { from: 0, length: 1 };

    fn of(length: i64) -> Self {
        Self { from: 0, length }
    }

    /// So many times as long, if that is not too long.
    fn times(self, by: i64) -> Option<Self> {
        let length = self.length.checked_mul(by).filter(|length| *length <= LONGEST)?;
        Some(Self { length, ..self })
    }

    fn and(self, other: Self) -> Option<Self> {
        let length = least_common_multiple(self.length, other.length)?;
        Some(Self { from: self.from.max(other.from), length })
    }

    /// The value that stands for all that are like this one.
    pub(super) fn kept(self, value: i64) -> i64 {
        if value < self.from { value } else { self.from + (value - self.from) % self.length }
    }
}

/// For each local the period with which it can be kept.
// clause: barcheck.state-equal
pub(super) fn periods(code: &Code) -> Vec<Option<Period>> {
    // A register has 32 bits, and that a counter leaves them is an error which it must not be kept from.
    let period = |local: &Local| (local.kind == LocalKind::Integer).then_some(Period::NONE);
    let mut uses: Vec<_> =
        code.locals.iter().map(|local| Uses { counts: false, period: period(local) }).collect();
    let mut copies = Vec::new();
    for op in &code.ops {
        match op {
            Op::Set(_, Expr::Int(0..LONGEST)) => {}
            Op::Set(local, value) => match wrapped(value) {
                Some((from, None)) if from == *local => uses[local.index()].counts = true,
                Some((from, wraps)) => {
                    uses[local.index()].counts |= !matches!(value, Expr::Local(_));
                    copies.push(Copied { to: *local, from, wraps });
                }
                None => {
                    uses[local.index()].period = None;
                    used(value, &mut uses);
                }
            },
            _ => {
                for local in op.written().into_iter().chain(op.handle()) {
                    uses[local.index()].period = None;
                }
                op.expressions().into_iter().for_each(|expr| used(expr, &mut uses));
            }
        }
    }
    while copies.iter().any(|copy| settle(*copy, &mut uses)) {}
    uses.into_iter().map(|uses| uses.period.filter(|_| uses.counts)).collect()
}

/// From which value on no use of a local tells its values apart; `None` if some use may tell any of them.
pub(super) fn settled_from(code: &Code, local: LocalId) -> Option<u32> {
    if code.ops.iter().any(|op| op.handle() == Some(local)) {
        return None;
    }
    let mut settled = Period::NONE;
    for expr in code.ops.iter().flat_map(Op::expressions) {
        settled = settled.and(period_in(expr, local)?).filter(|period| period.length == 1)?;
    }
    u32::try_from(settled.from).ok()
}

/// What is copied has every period of the copy, which counts as it does; whether that was new.
fn settle(Copied { to, from, wraps }: Copied, uses: &mut [Uses]) -> bool {
    let (copy, copied) = (uses[to.index()], uses[from.index()]);
    let period = copied.period.zip(copy.period).and_then(|(a, b)| a.and(b));
    let divides = |period: &Period| wraps.is_none_or(|all| period.from == 0 && all % period.length == 0);
    let period = period.filter(divides);
    let counts = copy.counts || copied.counts;
    uses[from.index()].period = period;
    uses[to.index()].counts = counts;
    (period, counts) != (copied.period, copy.counts)
}

/// A local that another one becomes, or itself, with a constant added or none.
#[derive(Clone, Copy)]
struct Copied {
    to: LocalId,
    from: LocalId,
    /// How many values there are, where it begins with 0 again behind the last.
    wraps: Option<i64>,
}

/// The local that an expression is, with a constant added or none, and how many values are kept of it.
fn wrapped(expr: &Expr) -> Option<(LocalId, Option<i64>)> {
    match expr {
        Expr::Binary(BinaryOp::And, of, mask) => match **mask {
            Expr::Int(mask @ 1..) if mask.checked_add(1)?.count_ones() == 1 => {
                Some((counted(of)?, Some(mask + 1)))
            }
            _ => None,
        },
        _ => Some((counted(expr)?, None)),
    }
}

/// The local that an expression is, with a constant added or none.
fn counted(expr: &Expr) -> Option<LocalId> {
    match expr {
        Expr::Local(local) => Some(*local),
        Expr::Binary(BinaryOp::Add, a, b) => match (&**a, &**b) {
            (a, Expr::Int(0..LONGEST)) => counted(a),
            (Expr::Int(0..LONGEST), b) => counted(b),
            _ => None,
        },
        _ => None,
    }
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
        *period = period.filter(|_| few).and_then(|period| period.and(period_in(expr, local)?));
    }
}

/// The period of an expression in a local.
fn period_in(expr: &Expr, local: LocalId) -> Option<Period> {
    match expr {
        Expr::Local(other) => (*other != local).then_some(Period::NONE),
        Expr::Int(_) | Expr::Agent | Expr::Cta | Expr::Lane | Expr::Elect => Some(Period::NONE),
        Expr::Unary(UnaryOp::Neg | UnaryOp::Not, a) => period_in(a, local),
        Expr::Binary(op, a, b) => {
            let modulus = match (op, &**b) {
                (BinaryOp::Rem, Expr::Int(by @ 1..)) => Some(*by),
                (BinaryOp::And, Expr::Int(mask @ 0..LONGEST)) if (mask + 1).count_ones() == 1 => {
                    Some(mask + 1)
                }
                _ => None,
            };
            let stepped = modulus.and_then(|modulus| stepped(a, local)?.times(modulus));
            if stepped.is_some() {
                return stepped;
            }
            if let (BinaryOp::And, Expr::Int(mask @ 0..LONGEST)) = (op, &**b)
                && let Some(period) = period_of_bits(a, bits_of(*mask), local)
            {
                return Some(period);
            }
            settled(*op, (a, b), local).or_else(|| period_in(a, local)?.and(period_in(b, local)?))
        }
    }
}

/// From where on a comparison of a local, or one with something added, with a constant does not change.
fn settled(op: BinaryOp, (a, b): (&Expr, &Expr), local: LocalId) -> Option<Period> {
    let compares =
        matches!(op, BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge);
    let number = match (a, b) {
        (a, Expr::Int(number)) if counted(a) == Some(local) => *number,
        (Expr::Int(number), b) if counted(b) == Some(local) => *number,
        _ => return None,
    };
    let from = number.max(-1).checked_add(1)?;
    (compares && from <= LONGEST).then_some(Period { from, length: 1 })
}

/// How many bits a number has that is not negative.
fn bits_of(number: i64) -> u32 {
    i64::BITS - number.leading_zeros()
}

/// How many of the lowest bits of a product are 0 whatever the other factor is, if this one is a number with
/// a sign that is not too large.
fn zeros_of(factor: &Expr) -> Option<u32> {
    let number = match factor {
        Expr::Int(number) => *number,
        Expr::Unary(UnaryOp::Neg, number) => match **number {
            Expr::Int(number @ 0..) => number,
            _ => return None,
        },
        _ => return None,
    };
    (number.unsigned_abs() < LONGEST.unsigned_abs()).then(|| number.trailing_zeros())
}

/// The period of the low bits of an expression in a local.
fn period_of_bits(expr: &Expr, bits: u32, local: LocalId) -> Option<Period> {
    if bits == 0 {
        return Some(Period::NONE);
    }
    let (op, a, b) = match expr {
        Expr::Local(other) if *other == local => {
            return 1_i64
                .checked_shl(bits)
                .filter(|period| *period <= LONGEST && *period > 0)
                .map(Period::of);
        }
        Expr::Unary(UnaryOp::Neg, a) => return period_of_bits(a, bits, local),
        Expr::Binary(op, a, b) => (op, a, b),
        _ => return period_in(expr, local),
    };
    match (op, &**b) {
        (BinaryOp::And, Expr::Int(mask @ 0..)) => period_of_bits(a, bits.min(bits_of(*mask)), local),
        (BinaryOp::Shl, Expr::Int(by @ 0..16)) => period_of_bits(a, bits.saturating_sub(*by as u32), local),
        (BinaryOp::Shr, Expr::Int(by @ 0..64)) => period_of_bits(a, bits + *by as u32, local),
        (BinaryOp::Mul, by) if let Some(zeros) = zeros_of(by) => {
            period_of_bits(a, bits.saturating_sub(zeros), local)
        }
        (BinaryOp::Add | BinaryOp::Sub | BinaryOp::And | BinaryOp::Or | BinaryOp::Xor, _) => {
            period_of_bits(a, bits, local)?.and(period_of_bits(b, bits, local)?)
        }
        (BinaryOp::Div, _) => {
            let all = 1_i64.checked_shl(bits).filter(|all| (1..=LONGEST).contains(all));
            let of_stepped = all.and_then(|all| stepped(expr, local)?.times(all));
            of_stepped.or_else(|| period_in(expr, local))
        }
        _ => period_in(expr, local),
    }
}

/// With what an expression is stepped in a local, and from where on.
fn stepped(expr: &Expr, local: LocalId) -> Option<Period> {
    match expr {
        Expr::Local(other) => (*other == local).then_some(Period::NONE),
        Expr::Binary(BinaryOp::Add, a, b) => match (&**a, &**b) {
            (a, Expr::Int(0..LONGEST)) => stepped(a, local),
            (Expr::Int(0..LONGEST), b) => stepped(b, local),
            _ => None,
        },
        Expr::Binary(BinaryOp::Sub, a, by) => match **by {
            Expr::Int(by @ 0..LONGEST) => {
                let Period { from, length } = stepped(a, local)?;
                let from = from.checked_add(length.checked_mul(by)?).filter(|from| *from <= LONGEST)?;
                Some(Period { from, length })
            }
            _ => None,
        },
        Expr::Binary(BinaryOp::Div, a, by) => match **by {
            Expr::Int(by @ 1..=LONGEST) => stepped(a, local)?.times(by),
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

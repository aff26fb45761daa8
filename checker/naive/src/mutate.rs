//! Small damage to a protocol.

use super::build::*;
use super::generate::Gen;
use super::protocol::*;
use super::wellformed::well_formed;

/// The protocol with one random change that leaves it well formed; after some tries, unchanged.
pub fn mutated(g: &mut Gen, protocol: &Protocol) -> Protocol {
    for _ in 0..20 {
        let mut changed = protocol.clone();
        let block = g.rng.below(changed.blocks.len());
        let body = &mut changed.blocks[block].body;
        if body.is_empty() {
            continue;
        }
        change(g, body);
        if well_formed(&changed) {
            return changed;
        }
    }
    protocol.clone()
}

/// Changes something in this list or, as often as not, further inside.
fn change(g: &mut Gen, list: &mut Vec<Stmt>) {
    if list.is_empty() {
        list.push(g.some_stmt());
        return;
    }
    let at = g.rng.below(list.len());
    let inner = match &mut list[at].kind {
        Kind::For { body, .. } | Kind::Loop(body) | Kind::While(_, body) => Some(body),
        Kind::If(_, then, other) => Some(if !other.is_empty() && g.rng.chance(50) { other } else { then }),
        _ => None,
    };
    if let Some(inner) = inner
        && g.rng.chance(75)
    {
        change(g, inner);
        return;
    }
    match g.rng.below(14) {
        0..2 => {
            list.remove(at);
        }
        2..4 => {
            let copy = list[at].clone();
            list.insert(at, copy);
        }
        4 => {
            let other = (at + 1) % list.len();
            list.swap(at, other);
        }
        5..8 => {
            let new = g.some_stmt();
            list.insert(at, new);
        }
        8..11 => wrap(g, &mut list[at]),
        _ => operand(g, &mut list[at]),
    }
}

/// Puts a statement under a condition or into a loop.
fn wrap(g: &mut Gen, place: &mut Stmt) {
    let inside = place.clone();
    let kind = match g.rng.below(12) {
        0..6 => Kind::If(g.condition(), vec![inside], vec![]),
        6 => Kind::If(g.condition(), vec![inside.clone()], vec![inside]),
        7 => Kind::While(Cond::Choice, vec![inside]),
        8 => {
            let other = g.some_stmt();
            Kind::If(g.condition(), vec![inside], vec![other])
        }
        9 => {
            let jump = if g.rng.chance(60) { Kind::Break } else { Kind::Continue };
            Kind::If(g.condition(), vec![stmt(jump)], vec![inside])
        }
        10 => Kind::Loop(vec![inside]),
        _ => Kind::For {
            var: g.fresh("k"),
            from: 0.into(),
            to: if g.target.has_lanes() && g.rng.chance(50) { lane() % 2 + 1 } else { 2.into() },
            body: vec![inside],
        },
    };
    place.kind = kind;
}

/// Changes one of a statement's numbers.
pub fn operand(g: &mut Gen, place: &mut Stmt) {
    let mut numbers = Vec::new();
    match &mut place.kind {
        Kind::Instr(instr) => instr_operands(instr, &mut numbers),
        Kind::For { to, .. } => numbers.push(to),
        _ => {}
    }
    if numbers.is_empty() {
        return;
    }
    let at = g.rng.below(numbers.len());
    let number = numbers.swap_remove(at);
    let before = number.clone();
    *number = match g.rng.below(10) {
        0..2 => before + 1,
        2..4 => before + 32,
        4 => before - 32,
        5 => before - 1,
        6 => before + own() % 2,
        7 if g.target.has_lanes() => before + lane() % 2,
        8 if g.target.has_lanes() => before + (lane() % 2) * 32,
        _ => Expr::Int(*g.rng.pick(&[0, 1, 2, 3, 16, 32, 33, 64, 4096, -1])),
    };
    simplify(number);
}

fn simplify(expr: &mut Expr) {
    if let Expr::Bin(op @ (Op::Add | Op::Sub), a, b) = expr
        && let (Expr::Int(a), Expr::Int(b)) = (&**a, &**b)
    {
        *expr = Expr::Int(if *op == Op::Add { a + b } else { a - b });
    }
}

fn instr_operands<'a>(instr: &'a mut Instr, into: &mut Vec<&'a mut Expr>) {
    match instr {
        Instr::Sync { id, count, .. }
        | Instr::Arrive { id, count, .. }
        | Instr::Red { id, count, .. }
        | Instr::BarSync { id, count }
        | Instr::BarRed { id, count, .. } => {
            into.push(id);
            into.extend(count);
        }
        Instr::BarArv { id, count } => into.extend([id, count]),
        Instr::SignalAll { id, threads } | Instr::Init { id, threads, .. } => {
            into.extend([id, threads]);
        }
        Instr::Signal { id, kind, producers, consumers } => into.extend([id, kind, producers, consumers]),
        Instr::Wait { id } | Instr::B2rBar { id, .. } | Instr::R2bBar { id, .. } => into.push(id),
        Instr::Alloc(n) | Instr::Own(Own::Sync(n) | Own::Registers { count: n, .. }) => into.push(n),
        _ => {}
    }
}

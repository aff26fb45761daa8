//! What warps of random protocols do besides: lanes meet, registers change hands, other grids are minded.

use super::build::*;
use super::generate::Rng;
use super::protocol::*;

/// Registers of each thread in the beginning.
const HAS: i64 = 64;
/// All lanes of a warp.
const ALL: i64 = u32::MAX as i64;

/// The same protocol, in which now and then something of that is done too.
pub fn beside(seed: u64, protocol: &mut Protocol) {
    let rng = &mut Rng::new(seed ^ 0x7761_7270_7300);
    if protocol.target != Target::Ptx || protocol.blocks.is_empty() || !rng.chance(22) {
        return;
    }
    for _ in 0..rng.range(1, 3) {
        let block = rng.below(protocol.blocks.len());
        let body = &mut protocol.blocks[block].body;
        match rng.below(10) {
            0..4 => {
                let meets = meets(rng);
                somewhere(rng, body, meets);
            }
            4..6 => {
                let launches = rng.chance(50);
                somewhere(rng, body, vec![instr(Instr::Own(Own::Grid { launches }))]);
            }
            _ => registers(rng, protocol),
        }
    }
    protocol.number();
}

/// Puts statements in a list or, as often as not, further inside.
fn somewhere(rng: &mut Rng, list: &mut Vec<Stmt>, what: Vec<Stmt>) {
    let at = rng.below(list.len() + 1);
    let inner = match list.get_mut(at).map(|stmt| &mut stmt.kind) {
        Some(Kind::For { body, .. } | Kind::Loop(body) | Kind::While(_, body)) => Some(body),
        Some(Kind::If(_, then, other)) => Some(if rng.chance(70) { then } else { other }),
        _ => None,
    };
    match inner {
        Some(inner) if rng.chance(60) => somewhere(rng, inner, what),
        _ => drop(list.splice(at..at, what)),
    }
}

fn meet(mask: impl Into<Expr>) -> Stmt {
    instr(Instr::Own(Own::Sync(mask.into())))
}

/// Lanes of a warp meet: all, those of each half, or some that are there.
fn meets(rng: &mut Rng) -> Vec<Stmt> {
    let half = bin(Op::Shl, Expr::Int(0xffff), lane() / 16 * 16);
    let some = *rng.pick(&[1, 2, 3, 0xffff]);
    match rng.below(10) {
        0..5 => vec![meet(Expr::Int(ALL))],
        5 => vec![meet(half)],
        6 => vec![if_(lt(lane(), 16), vec![meet(some)], vec![])],
        7 => vec![if_(eq(lane(), 0), vec![meet(some)], vec![])],
        8 => vec![if_(lt(lane(), 16), vec![meet(0xffff)], vec![meet(Expr::Int(ALL - 0xffff))])],
        _ => vec![meet(some)],
    }
}

fn change(takes: bool, count: i32) -> Stmt {
    instr(Instr::Own(Own::Registers { takes, count: count.into() }))
}

/// Warps give registers away and take some.
fn registers(rng: &mut Rng, protocol: &mut Protocol) {
    protocol.registers = Some(HAS);
    let endless = rng.chance(20);
    for block in &mut protocol.blocks {
        let fewer = *rng.pick(&[32, 40, 48, 56]);
        let more = *rng.pick(&[72, 72, 80, 88]);
        let mut does = match rng.below(12) {
            0..3 => vec![change(false, fewer)],
            3..6 => vec![change(true, more)],
            6 => vec![change(false, fewer), change(true, HAS as i32)],
            7 => vec![change(true, more), change(false, HAS as i32)],
            8 => vec![if_(eq(own(), 0), vec![change(false, fewer)], vec![change(true, more)])],
            9 => vec![maybe(vec![change(false, fewer)], vec![])],
            10 => match rng.below(4) {
                0 => vec![if_(lt(lane(), 16), vec![change(false, fewer)], vec![])],
                1 => vec![if_(lt(lane(), 16), vec![change(false, fewer - 4)], vec![])],
                2 => vec![change(false, *rng.pick(&[16, 44, 264]))],
                _ => vec![change(rng.chance(50), HAS as i32)],
            },
            _ => continue,
        };
        if endless && does.len() > 1 {
            does = vec![loop_(does)];
        }
        somewhere(rng, &mut block.body, does);
    }
}

//! Small mistakes in protocols of mbarrier objects: those that kernels have.

use super::build::*;
use super::generate_mbarrier::Maker;
use super::protocol::*;
use super::wellformed::well_formed;

/// The protocol with one small mistake that leaves it well formed; after some tries, unchanged.
pub fn damaged(maker: &mut Maker, protocol: &Protocol) -> Protocol {
    for _ in 0..20 {
        let mut changed = protocol.clone();
        if maker.rng.chance(12) {
            let objects = maker.rng.below(changed.objects.len());
            if let Some(count) = &mut changed.objects[objects].count {
                *count = *maker.rng.pick(&[*count + 1, (*count - 1).max(1)]);
            }
        } else {
            let block = maker.rng.below(changed.blocks.len());
            damage(maker, &mut changed.blocks[block].body);
        }
        if well_formed(&changed) && changed != *protocol {
            return changed;
        }
    }
    protocol.clone()
}

/// Changes something in this list or, mostly, further inside.
fn damage(maker: &mut Maker, list: &mut Vec<Stmt>) {
    if list.is_empty() {
        return;
    }
    let at = maker.rng.below(list.len());
    let inner = match &mut list[at].kind {
        Kind::For { body, .. } | Kind::Loop(body) | Kind::While(_, body) => Some(body),
        Kind::If(_, then, _) => Some(then),
        _ => None,
    };
    if let Some(inner) = inner
        && maker.rng.chance(80)
    {
        return damage(maker, inner);
    }
    let to = maker.rng.below(list.len());
    match maker.rng.below(22) {
        0..3 => drop(list.remove(at)),
        3 => {
            let copy = list[at].clone();
            list.insert(to, copy);
        }
        4..6 => list.swap(at, to),
        6..8 => {
            let moved = list.remove(at);
            list.insert(to, moved);
        }
        8 => list.insert(at, maybe(vec![exit()], vec![])),
        9..11 => {
            let inside = list[at].clone();
            list[at].kind = Kind::If(Cond::Choice, vec![inside], vec![]);
        }
        11 => {
            // The whole warp does what one lane should.
            if let Kind::If(Cond::Expr(_), then, _) = list[at].kind.clone() {
                list.splice(at..=at, then);
            }
        }
        12..14 => {
            let new = maker.some_stmt();
            // Lanes that wait alone are left out.
            let waits = new.any(&|s| is_wait(&s.kind));
            if !waits || at > 0 {
                list.insert(at, new);
            }
        }
        _ => operand(maker, &mut list[at]),
    }
}

fn is_wait(kind: &Kind) -> bool {
    matches!(kind, Kind::Instr(Instr::Mbarrier(Mbarrier { act: Act::Wait(_), .. })))
}

/// Changes a number or the kind of an instruction.
fn operand(maker: &mut Maker, place: &mut Stmt) {
    let bytes = |maker: &mut Maker, n: &Expr| match maker.rng.below(4) {
        0 => n.clone() * 2,
        1 => n.clone() / 2,
        2 => n.clone() + 16,
        _ => Expr::Int(*maker.rng.pick(&[0, 16, 1 << 20, (1 << 20) - 1, -1])),
    };
    if let Kind::Instr(Instr::PtxFence(fence)) = &mut place.kind {
        *fence = *maker.rng.pick(&Fence::ALL);
        return;
    }
    let Kind::Instr(Instr::Mbarrier(on)) = &mut place.kind else {
        return;
    };
    let other = maker.rng.below(maker.objects.len());
    if maker.rng.chance(10) && maker.objects[other].len == maker.objects[on.objects].len {
        on.objects = other;
        return;
    }
    if on.act.is_for_a_phase() && maker.rng.chance(12) {
        on.gains = match on.gains {
            Gains::All => Gains::AtFence(None),
            Gains::AtFence(_) => Gains::All,
        };
        return;
    }
    match &mut on.act {
        Act::FillArrive { counted, .. } if maker.rng.chance(60) => *counted = !*counted,
        Act::FillArrive { .. } | Act::Send(..) | Act::Between { .. } => maker.reword(on),
        Act::Commit | Act::Copy(..) if maker.rng.chance(25) => maker.reword(on),
        Act::Wait(parity) => {
            *parity = match maker.rng.below(10) {
                0..4 => parity.clone() ^ 1,
                4..6 => 1.into(),
                6..8 => 0.into(),
                8 => parity.clone() + 1,
                _ => own() & 1,
            }
        }
        Act::Init(count) => *count = Expr::Int(*maker.rng.pick(&[0, 1, 2, 3, 1 << 20])),
        Act::Arrive { count, bytes: announced, drops, no_complete, relaxed, .. } => {
            match (maker.rng.below(5), announced) {
                (4, None) if !*relaxed && on.cta.is_none() => {
                    *no_complete = !*no_complete;
                    count.get_or_insert(Expr::Int(1));
                }
                (0, _) if !*no_complete => *relaxed = !*relaxed,
                (1, _) => *drops = !*drops,
                (_, Some(announced)) => *announced = bytes(maker, announced),
                _ => *count = Some(Expr::Int(*maker.rng.pick(&[1, 2, 2, 3, 0]))),
            }
        }
        Act::ExpectTx(n) | Act::CompleteTx(n) | Act::Copy(n, _) => *n = bytes(maker, n),
        Act::Commit => {
            on.act = Act::Arrive {
                count: None,
                bytes: None,
                drops: false,
                no_complete: false,
                relaxed: false,
                scope: None,
            }
        }
        _ => {}
    }
}

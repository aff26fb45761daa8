//! Small mistakes in protocols of copies out of shared memory.

use super::build::*;
use super::damage_mbarrier;
use super::generate_mbarrier::Maker;
use super::protocol::*;
use super::stores::Window;
use super::wellformed::well_formed;

/// The protocol with one small mistake that leaves it well formed; after some tries, unchanged.
pub fn damaged(maker: &mut Maker, protocol: &Protocol) -> Protocol {
    if !maker.objects.is_empty() && maker.rng.chance(40) {
        return damage_mbarrier::damaged(maker, protocol);
    }
    for _ in 0..20 {
        let mut changed = protocol.clone();
        let block = maker.rng.below(changed.blocks.len());
        damage(maker, &mut changed.blocks[block].body);
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
    match maker.rng.below(20) {
        0..3 => drop(list.remove(at)),
        3 => {
            let copy = list[at].clone();
            list.insert(to, copy);
        }
        4..7 => list.swap(at, to),
        7..9 => {
            let moved = list.remove(at);
            list.insert(to, moved);
        }
        9 => list.insert(at, maybe(vec![exit()], vec![])),
        10..12 => {
            let inside = list[at].clone();
            list[at].kind = Kind::If(Cond::Choice, vec![inside], vec![]);
        }
        12 => {
            // Other lanes do what one lane should.
            if let Kind::If(Cond::Expr(_), then, _) = list[at].kind.clone() {
                let lanes = if maker.rng.chance(50) { eq(lane(), 1) } else { lt(lane(), 2) };
                list[at].kind = Kind::If(Cond::Expr(lanes), then, vec![]);
            }
        }
        13..15 => {
            let new = maker.some_store();
            list.insert(at, new);
        }
        _ => operand(maker, &mut list[at]),
    }
}

/// Changes a number or the kind of an instruction.
fn operand(maker: &mut Maker, place: &mut Stmt) {
    match &mut place.kind {
        Kind::Instr(Instr::Store(Store::Wait { but, .. })) => *but = maker.rng.range(0, 3).into(),
        Kind::Instr(Instr::Store(Store::Fence(window))) => {
            *window =
                *maker.rng.pick(&[Some(Window::Global), Some(Window::Own), Some(Window::Cluster), None]);
        }
        Kind::Instr(Instr::Store(store @ Store::Read { .. })) => {
            if let Store::Read { array, index, .. } = store.clone() {
                place.kind = Kind::Access { kind: AccessKind::Read, array, index, cta: None };
            }
        }
        Kind::Instr(Instr::Fill(Fill::Wait(but))) => *but = maker.rng.range(0, 4).into(),
        Kind::Instr(Instr::Fill(fill @ Fill::WaitAll)) => *fill = Fill::Wait(maker.rng.range(0, 2).into()),
        Kind::Instr(Instr::Fill(Fill::Begin { array, index, .. })) => {
            let kind = *maker.rng.pick(&[AccessKind::Read, AccessKind::Write, AccessKind::Atomic]);
            place.kind = Kind::Access { kind, array: *array, index: index.clone(), cta: None };
        }
        Kind::Access { kind, .. } => {
            *kind = *maker.rng.pick(&[AccessKind::Read, AccessKind::Write, AccessKind::Atomic]);
        }
        Kind::Instr(Instr::ClusterArrive { relaxed, .. }) => *relaxed = !*relaxed,
        Kind::Instr(Instr::PtxFence(fence)) => *fence = *maker.rng.pick(&Fence::ALL),
        _ => {}
    }
}

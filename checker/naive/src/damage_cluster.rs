//! Small mistakes in protocols of clusters, of tokens and of questions.

use super::build_mbarrier::*;
use super::damage_mbarrier;
use super::generate_mbarrier::Maker;
use super::protocol::*;
use super::wellformed::well_formed;

/// The protocol with one small mistake that leaves it well formed; after some tries, unchanged.
pub fn damaged(maker: &mut Maker, protocol: &Protocol) -> Protocol {
    if !maker.objects.is_empty() && maker.rng.chance(50) {
        return damage_mbarrier::damaged(maker, protocol);
    }
    for _ in 0..20 {
        let mut changed = protocol.clone();
        let block = maker.rng.below(changed.blocks.len());
        let count = count(&changed.blocks[block].body);
        if count > 0 {
            let mut at = maker.rng.below(count);
            let body = &mut changed.blocks[block].body;
            nth(body, &mut at, &mut |stmt| damage(maker, protocol.cluster as i32, stmt));
        }
        if well_formed(&changed) && changed != *protocol {
            return changed;
        }
    }
    protocol.clone()
}

fn count(list: &[Stmt]) -> usize {
    list.iter().map(|s| 1 + s.arms().into_iter().map(count).sum::<usize>()).sum()
}

/// Changes the statement of a number, counted with those inside others.
fn nth(list: &mut [Stmt], at: &mut usize, change: &mut dyn FnMut(&mut Stmt)) {
    for stmt in list {
        if *at == 0 {
            change(stmt);
        }
        // Once it is past, nothing comes to zero again.
        *at = at.wrapping_sub(1);
        match &mut stmt.kind {
            Kind::For { body, .. } | Kind::Loop(body) | Kind::While(_, body) => nth(body, at, change),
            Kind::If(_, then, other) => {
                nth(then, at, change);
                nth(other, at, change);
            }
            _ => {}
        }
    }
}

fn damage(maker: &mut Maker, ctas: i32, stmt: &mut Stmt) {
    let rank = |maker: &mut Maker| match maker.rng.below(4) {
        0 => Some(Expr::Rank),
        1 if ctas > 1 => Some((Expr::Rank + 1) % ctas),
        2 => Some(maker.rng.range(0, ctas).into()),
        _ => None,
    };
    match &mut stmt.kind {
        Kind::Access { cta, .. } => *cta = rank(maker),
        Kind::Instr(Instr::ClusterArrive { relaxed, aligned }) => {
            if maker.rng.chance(60) {
                *relaxed = !*relaxed;
            } else {
                *aligned = !*aligned;
            }
        }
        Kind::Instr(Instr::PtxFence(fence)) => *fence = *maker.rng.pick(&Fence::ALL),
        Kind::Instr(Instr::ClusterWait { aligned }) => *aligned = !*aligned,
        Kind::If(Cond::Ask { negated, on }, ..) => {
            if maker.rng.chance(40) {
                *negated = !*negated;
            } else {
                question(maker, on);
            }
        }
        Kind::Let(_, Rhs::On(on)) | Kind::Assign(_, Rhs::On(on)) => question(maker, on),
        Kind::Instr(Instr::Mbarrier(on)) => match &mut on.act {
            Act::Multicast(bytes, to, mask) => {
                if maker.rng.chance(70) {
                    *mask = maker.rng.range(1, 1 << ctas).into();
                } else {
                    on.act = Act::Copy(bytes.clone(), to.clone());
                }
            }
            Act::CommitAll(mask) => *mask = maker.rng.range(1, 1 << ctas).into(),
            Act::Commit if ctas > 1 => on.act = Act::CommitAll(maker.rng.range(1, 1 << ctas).into()),
            Act::Copy(bytes, to) if maker.rng.chance(30) && ctas > 1 => {
                on.act = Act::Multicast(bytes.clone(), to.clone(), maker.rng.range(1, 1 << ctas).into());
                on.cta = None;
            }
            Act::Arrive { scope, relaxed, no_complete: false, .. } if maker.rng.chance(60) => {
                *scope = *maker.rng.pick(&[None, Some(Reach::Cta), Some(Reach::Cta), Some(Reach::Cluster)]);
                *relaxed &= scope.is_some();
            }
            Act::Arrive { .. } | Act::ExpectTx(_) | Act::CompleteTx(_) | Act::Copy(..) => {
                on.cta = rank(maker);
            }
            Act::Wait(parity) => {
                let asks = ask(maker.rng.chance(50), Phase::Parity(parity.clone()));
                stmt.kind = Kind::Let(maker.fresh("only"), Rhs::On(Mbarrier { act: asks, ..on.clone() }));
            }
            Act::WaitToken(token) => {
                let asks = ask(maker.rng.chance(50), Phase::Token(token.clone()));
                stmt.kind = Kind::Let(maker.fresh("only"), Rhs::On(Mbarrier { act: asks, ..on.clone() }));
            }
            _ => {}
        },
        _ => {}
    }
}

/// Changes what is asked.
fn question(maker: &mut Maker, on: &mut Mbarrier) {
    match &mut on.act {
        Act::Ask { may_miss, of } => match of {
            Phase::Parity(parity) if maker.rng.chance(60) => {
                *parity = if maker.rng.chance(80) { parity.clone() ^ 1 } else { parity.clone() + 1 };
            }
            _ => *may_miss = !*may_miss,
        },
        Act::Arrive { relaxed, drops, .. } => {
            if maker.rng.chance(50) {
                *relaxed = !*relaxed;
            } else {
                *drops = !*drops;
            }
        }
        _ => {}
    }
}

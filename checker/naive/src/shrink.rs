//! Makes a protocol that shows something as small as it can be while it still shows it.

use super::protocol::*;
use super::wellformed::well_formed;

/// The smallest protocol found by single reductions for which the predicate still holds.
pub fn shrink(protocol: &Protocol, holds: impl Fn(&Protocol) -> bool) -> Protocol {
    let mut best = protocol.clone();
    'again: loop {
        for mut candidate in reductions(&best) {
            candidate.number();
            if well_formed(&candidate) && holds(&candidate) {
                best = candidate;
                continue 'again;
            }
        }
        return best;
    }
}

/// All protocols that are one reduction smaller.
fn reductions(protocol: &Protocol) -> Vec<Protocol> {
    let mut result = Vec::new();
    for block in 0..protocol.blocks.len() {
        result.extend(without_agents(protocol, block));
    }
    for block in 0..protocol.blocks.len() {
        for body in shorter(&protocol.blocks[block].body) {
            let mut smaller = protocol.clone();
            smaller.blocks[block].body = body;
            result.push(smaller);
        }
    }
    if protocol.subgroup_size.is_some() {
        let mut smaller = protocol.clone();
        smaller.subgroup_size = None;
        result.push(smaller);
    }
    if protocol.cluster > 1 {
        let mut fewer = protocol.clone();
        fewer.cluster -= 1;
        result.push(fewer);
    }
    let partial = protocol.size % 32;
    if protocol.target.has_lanes() && partial != 0 {
        let mut whole = protocol.clone();
        whole.size += 32 - partial;
        result.push(whole);
    }
    result
}

/// Without a block, or with one agent fewer in it.
fn without_agents(protocol: &Protocol, block: usize) -> Option<Protocol> {
    if protocol.per_cta() < 2 {
        return None;
    }
    let mut smaller = protocol.clone();
    smaller.size -= if protocol.target.has_lanes() { 32 } else { 1 };
    if smaller.size < 1 {
        smaller.size = 1;
    }
    if smaller.blocks[block].agents.len() > 1 {
        smaller.blocks[block].agents.end -= 1;
    } else {
        smaller.blocks.remove(block);
    }
    let mut start = 0;
    for block in &mut smaller.blocks {
        let len = block.agents.len();
        block.agents = start..start + len;
        start += len;
    }
    Some(smaller)
}

/// All lists that are one reduction smaller.
fn shorter(list: &[Stmt]) -> Vec<Vec<Stmt>> {
    let mut result = Vec::new();
    for at in 0..list.len() {
        let replace = |by: Vec<Stmt>| {
            let mut new = list[..at].to_vec();
            new.extend(by);
            new.extend_from_slice(&list[at + 1..]);
            new
        };
        result.push(replace(vec![]));
        for arm in list[at].arms() {
            if !arm.is_empty() {
                result.push(replace(arm.to_vec()));
            }
        }
        for kind in simpler(&list[at].kind) {
            result.push(replace(vec![Stmt { id: 0, kind }]));
        }
    }
    result
}

/// The same statement with something smaller inside.
fn simpler(kind: &Kind) -> Vec<Kind> {
    match kind {
        Kind::For { var, from, to, body } => shorter(body)
            .into_iter()
            .map(|body| Kind::For { var: var.clone(), from: from.clone(), to: to.clone(), body })
            .collect(),
        Kind::Loop(body) => shorter(body).into_iter().map(Kind::Loop).collect(),
        Kind::While(cond, body) => {
            shorter(body).into_iter().map(|body| Kind::While(cond.clone(), body)).collect()
        }
        Kind::If(cond, then, other) => {
            let mut kinds = Vec::new();
            for then in shorter(then) {
                kinds.push(Kind::If(cond.clone(), then, other.clone()));
            }
            for other in shorter(other) {
                kinds.push(Kind::If(cond.clone(), then.clone(), other));
            }
            kinds
        }
        _ => vec![],
    }
}

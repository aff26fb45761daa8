//! Makes a toy protocol that shows something as small as it can be while it still shows it.

use super::protocol::{Protocol, Role, Stmt, of_roles};

/// The smallest protocol found by single reductions for which the predicate still holds.
pub(crate) fn shrink(protocol: &Protocol, holds: impl Fn(&Protocol) -> bool) -> Protocol {
    let mut best = protocol.clone();
    while let Some(smaller) = reductions(&best).into_iter().find(|p| p.well_formed() && holds(p)) {
        best = smaller;
    }
    best
}

/// All protocols that are one reduction smaller.
fn reductions(protocol: &Protocol) -> Vec<Protocol> {
    let mut result = Vec::new();
    for role in 0..protocol.roles.len() {
        if protocol.threads() > 1 {
            result.push(with_one_thread_fewer(protocol, role));
        }
        for body in shorter(&protocol.roles[role].body) {
            let mut smaller = protocol.clone();
            smaller.roles[role].body = body;
            result.push(smaller);
        }
    }
    result
}

fn with_one_thread_fewer(protocol: &Protocol, role: usize) -> Protocol {
    let size = |(number, it): (usize, &Role)| {
        let size = it.threads.len() - usize::from(number == role);
        (size > 0).then(|| (size, it.body.clone()))
    };
    of_roles(protocol.locations, protocol.roles.iter().enumerate().filter_map(size).collect())
}

/// All lists that are one reduction smaller.
fn shorter(list: &[Stmt]) -> Vec<Vec<Stmt>> {
    let mut result = Vec::new();
    for at in 0..list.len() {
        let with = |by: Vec<Stmt>| [&list[..at], &by, &list[at + 1..]].concat();
        result.push(with(Vec::new()));
        for (number, arm) in list[at].arms().into_iter().enumerate() {
            if !arm.is_empty() {
                result.push(with(arm.clone()));
            }
            for arm in shorter(arm) {
                let mut stmt = list[at].clone();
                *stmt.arms_mut()[number] = arm;
                result.push(with(vec![stmt]));
            }
        }
        if let Stmt::For(times @ 2.., body) = &list[at] {
            result.push(with(vec![Stmt::For(times - 1, body.clone())]));
        }
    }
    result
}

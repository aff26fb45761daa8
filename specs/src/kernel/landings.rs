//! How many copies land in a group of a cluster whose groups all execute the same.

use std::collections::BTreeMap;

use super::document::Role;
use super::steps::ELSEWHERE;
use super::tree::{Statement, Statements};
use crate::common::span::Span;

/// For each program how many copies come to a group while each group executes one of these.
pub(super) fn landings(programs: &[Statements], roles: &[Role]) -> Vec<BTreeMap<Span, Option<i64>>> {
    let mut all = vec![BTreeMap::new(); programs.len()];
    for role in roles {
        let mut sent: BTreeMap<Span, Vec<Option<u64>>> = BTreeMap::new();
        let parts = || role.parts.iter().flat_map(|part| part.ranks.iter().map(move |rank| (part, *rank)));
        for (part, rank) in parts() {
            let mut here = BTreeMap::new();
            sites(&programs[part.program], rank, &mut here);
            here.into_iter().for_each(|(span, to)| sent.entry(span).or_default().push(to));
        }
        for (part, rank) in parts() {
            for (span, sent) in &sent {
                let comes = |to: &Option<u64>| to.map(|to| to >> rank & 1 == 1);
                let comes: Option<Vec<bool>> = sent.iter().map(comes).collect();
                let count = comes.map(|comes| comes.into_iter().filter(|comes| *comes).count() as i64);
                let known = all[part.program].entry(*span).or_insert(count);
                if *known != count {
                    *known = None;
                }
            }
        }
    }
    all
}

/// The copies of a group, and to which groups each goes, as bits; `None` if that is not known.
fn sites(statements: &[Statement], rank: u32, found: &mut BTreeMap<Span, Option<u64>>) {
    for statement in statements {
        match statement {
            Statement::Copy { object, mask, span, .. } => {
                let to = match (mask, object.split_once(ELSEWHERE)) {
                    (Some(mask), _) => mask.parse().ok(),
                    (None, Some((_, other))) => other.parse().ok().filter(|other| *other < 64).map(bit),
                    (None, None) => Some(bit(rank)),
                };
                let known = found.entry(*span).or_insert(to);
                if *known != to {
                    *known = None;
                }
            }
            Statement::If { then, otherwise, .. } => {
                sites(then, rank, found);
                sites(otherwise, rank, found);
            }
            Statement::Loop { body, .. } | Statement::For { body, .. } => sites(body, rank, found),
            _ => {}
        }
    }
}

fn bit(rank: u32) -> u64 {
    1 << rank
}

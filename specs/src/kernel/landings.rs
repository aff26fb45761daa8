//! How many copies land at one object, and how many announcements are made for it, where all groups of a
//! cluster execute the same.

use std::collections::BTreeMap;

use super::document::Role;
use super::steps::ELSEWHERE;
use super::tree::{Statement, Statements};
use crate::common::span::Span;

/// What comes together at an object, by the places of statements, while each group of a cluster executes them
/// once.
#[derive(Clone, Debug, Default)]
pub(super) struct Together {
    /// Of a copy how many land where this one does.
    pub(super) landings: BTreeMap<Span, Option<i64>>,
    /// Of an announcement how many are made where this one is.
    pub(super) announcements: BTreeMap<Span, Option<i64>>,
}

/// For each program what it is part of; `None` if that is not the same for all of its groups.
pub(super) fn landings(programs: &[Statements], roles: &[Role]) -> Vec<Together> {
    let mut all = vec![Together::default(); programs.len()];
    for role in roles {
        let parts = || role.parts.iter().flat_map(|part| part.ranks.iter().map(move |rank| (part, *rank)));
        let of_parts: Vec<(usize, Sites)> = parts()
            .map(|(part, rank)| {
                let mut sites = Sites { rank, ..Sites::default() };
                sites.list(&programs[part.program]);
                (part.program, sites)
            })
            .collect();
        for (program, own) in &of_parts {
            let together = &mut all[*program];
            for (of, known) in [
                (Sites::copies as fn(&Sites) -> &Reached, &mut together.landings),
                (Sites::announcements, &mut together.announcements),
            ] {
                for (span, reached) in of(own) {
                    let comes = |sites: &Sites| match of(sites).get(span) {
                        Some(other) => Some(i64::from(other.to? & reached.object? != 0)),
                        None => Some(0),
                    };
                    let count = of_parts.iter().map(|(_, sites)| comes(sites)).sum::<Option<i64>>();
                    let entry = known.entry(*span).or_insert(count);
                    if *entry != count {
                        *entry = None;
                    }
                }
            }
        }
    }
    all
}

/// Groups as bits; `None` if they are not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Groups {
    /// Those to which something goes.
    to: Option<u64>,
    /// The one in whose memory its object lies, as it is called.
    object: Option<u64>,
}

type Reached = BTreeMap<Span, Groups>;

/// The copies and announcements of a group.
#[derive(Default)]
struct Sites {
    rank: u32,
    copies: Reached,
    announcements: Reached,
}

impl Sites {
    fn copies(&self) -> &Reached {
        &self.copies
    }

    fn announcements(&self) -> &Reached {
        &self.announcements
    }

    fn list(&mut self, statements: &[Statement]) {
        for statement in statements {
            match statement {
                Statement::Copy { object, mask, span, .. } => {
                    let object = self.group_of(object);
                    let to = mask.as_ref().map_or(object, |mask| mask.parse().ok());
                    note(&mut self.copies, *span, Groups { to, object });
                }
                Statement::Announce { object, span, .. } => {
                    let object = self.group_of(object);
                    note(&mut self.announcements, *span, Groups { to: object, object });
                }
                Statement::If { then, otherwise, .. } => {
                    self.list(then);
                    self.list(otherwise);
                }
                Statement::Loop { body, .. } | Statement::For { body, .. } => self.list(body),
                _ => {}
            }
        }
    }

    /// The group in whose memory an object lies.
    fn group_of(&self, object: &str) -> Option<u64> {
        match object.split_once(ELSEWHERE) {
            Some((_, other)) => other.parse().ok().filter(|other| *other < 64).map(bit),
            None => Some(bit(self.rank)),
        }
    }
}

fn note(found: &mut Reached, span: Span, groups: Groups) {
    let known = found.entry(span).or_insert(groups);
    if *known != groups {
        *known = Groups { to: None, object: None };
    }
}

fn bit(rank: u32) -> u64 {
    1 << rank
}

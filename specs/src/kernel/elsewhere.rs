//! Copies for which others announce the bytes: whoever waits for them, say, while a warp does nothing but
//! copy.
//!
//! Where every object of an array waits for one arrival, and that is always an announcement of one number of
//! bytes, each phase completes so many: the copies that each round makes on an object complete them, in
//! equal parts. That they do is an assumption; where some of them are not made, the phase does not come to
//! its end.
//!
//! Where whoever announces copies as well, the copies of all make one equation: see
//! [`shares`](super::shares).

use std::collections::{BTreeMap, BTreeSet};

use super::document::Role;
use super::shares::{Open, Source};
use super::steps::ELSEWHERE;
use super::tree::{Statement, Statements};
use crate::common::span::Span;

/// A copy for which its own program announces nothing.
#[derive(Clone, Debug)]
pub(super) struct Elsewhere {
    /// Its number among the copies of the program.
    pub(super) number: usize,
    pub(super) span: Span,
    pub(super) object: String,
    /// How many of its round, itself among them, are on the same object; 0 if that is not known.
    pub(super) alike: i64,
    pub(super) source: Source,
}

/// Objects that are one array, or one of them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Objects {
    array: String,
    /// Which one, if it is a known one.
    index: Option<u64>,
}

/// What is announced for objects, as far as it is one number in each phase.
#[derive(Default)]
struct Announced {
    bytes: BTreeSet<Option<i64>>,
    /// Something else is done that counts.
    is_mixed: bool,
}

/// The bytes of copies for which others announce them, by their objects.
pub(super) struct Shares(BTreeMap<Objects, i64>);

/// The objects that a text names, and the group of the cluster in which they are, if that is said.
fn parts(object: &str) -> (Objects, Option<u32>) {
    let (own, rank) = match object.split_once(ELSEWHERE) {
        Some((own, rank)) => (own, rank.trim().parse().ok()),
        None => (object, None),
    };
    let (array, index) = own.split_once('[').map_or((own, None), |(array, index)| (array, Some(index)));
    let index = match index {
        Some(index) => index.trim_end().trim_end_matches(']').parse().ok(),
        None => Some(0),
    };
    (Objects { array: array.trim().to_owned(), index }, rank)
}

impl Objects {
    /// Whether some of them may be among others.
    fn meets(&self, other: &Self) -> bool {
        let is_one = self.index.zip(other.index).is_none_or(|(one, another)| one == another);
        self.array == other.array && is_one
    }
}

impl Shares {
    pub(super) fn of(programs: &[Statements], roles: &[Role], copies: &[&[Elsewhere]]) -> Self {
        let asked: BTreeSet<Objects> =
            copies.iter().flat_map(|all| all.iter()).map(|copy| parts(&copy.object).0).collect();
        let mut found: BTreeMap<Objects, Announced> =
            asked.into_iter().map(|objects| (objects, Announced::default())).collect();
        if !found.is_empty() {
            programs.iter().for_each(|program| collect(program, &mut found));
        }
        let share = |(objects, announced): (Objects, Announced)| {
            let mut bytes = announced.bytes.into_iter();
            let (Some(Some(bytes)), None, false) = (bytes.next(), bytes.next(), announced.is_mixed) else {
                return None;
            };
            let copies = landings(&objects, roles, copies)?;
            (copies > 0 && bytes % copies == 0 && bytes > 0).then(|| (objects, bytes / copies))
        };
        Self(found.into_iter().filter_map(share).collect())
    }

    /// The bytes of a copy.
    pub(super) fn share(&self, copy: &Elsewhere) -> Option<i64> {
        self.0.get(&parts(&copy.object).0).copied().filter(|_| copy.alike > 0)
    }
}

/// Adds to announcements, by programs, the copies that are made for them elsewhere, beside those behind them:
/// by other programs, or further on. Where it is not known how many that are, nothing is known of what they
/// complete.
pub(super) fn join(announced: &mut [&mut Vec<Open>], roles: &[Role], copies: &[&[Elsewhere]]) {
    let places: BTreeSet<Span> = announced
        .iter()
        .flat_map(|all| all.iter())
        .flat_map(|open| open.copies.sites.values().map(|site| site.span))
        .collect();
    for (program, all) in announced.iter_mut().enumerate() {
        for open in all.iter_mut().filter(|open| !open.copies.sites.is_empty()) {
            let (objects, rank) = parts(&open.object);
            match of_others((&objects, program), roles, copies, &places) {
                Some(others) if others.is_empty() => {}
                Some(others) if rank.is_none() => others.into_iter().for_each(|(source, count)| {
                    let own = open.copies.counts.entry(source).or_insert(0);
                    *own = own.saturating_add(count);
                }),
                _ => open.left = None,
            }
        }
    }
}

/// How many copies of each source are made elsewhere in a round for some objects, but for those of the same
/// instructions; `None` if that is not known.
fn of_others(
    (objects, program): (&Objects, usize),
    roles: &[Role],
    copies: &[&[Elsewhere]],
    places: &BTreeSet<Span>,
) -> Option<BTreeMap<Source, i64>> {
    let mut found = BTreeMap::new();
    for role in roles {
        let warps: i64 = role.warps.iter().map(|(from, to)| i64::from(to - from)).sum();
        for part in &role.parts {
            let is_one = |copy: &&Elsewhere| {
                let (named, _) = parts(&copy.object);
                named.meets(objects) && !places.contains(&copy.span)
            };
            let own: Vec<&Elsewhere> = copies[part.program].iter().filter(is_one).collect();
            let mut rounds: BTreeMap<&str, BTreeMap<Source, i64>> = BTreeMap::new();
            for copy in &own {
                *rounds.entry(&copy.object).or_default().entry(copy.source).or_insert(0) += 1;
            }
            let Some(round) = rounds.values().next().cloned() else { continue };
            let is_map = |source: &Source| matches!(source, Source::Map(_));
            let is_alike = own.iter().all(|copy| copy.alike == round.values().sum::<i64>())
                && rounds.values().all(|other| *other == round)
                && round.keys().all(is_map);
            if !is_alike || role.parts.len() > 1 || part.ranks.len() > 1 {
                return None;
            }
            // Each warp that announces makes its own.
            let warps = if part.program == program { 1 } else { warps };
            round.into_iter().for_each(|(source, count)| *found.entry(source).or_insert(0) += count * warps);
        }
    }
    Some(found)
}

/// How many copies each of some objects gets in a round, from all agents, if it is the same wherever there
/// are some.
fn landings(objects: &Objects, roles: &[Role], copies: &[&[Elsewhere]]) -> Option<i64> {
    let mut of_groups: BTreeMap<u32, i64> = BTreeMap::new();
    for role in roles {
        let warps: i64 = role.warps.iter().map(|(from, to)| i64::from(to - from)).sum();
        for part in &role.parts {
            let own = copies[part.program].iter().filter(|copy| parts(&copy.object).0.meets(objects));
            let own: BTreeSet<(Option<u32>, i64)> =
                own.map(|copy| (parts(&copy.object).1, copy.alike)).collect();
            for (at, (group, alike)) in own.into_iter().enumerate() {
                // Of one round as many as of another; who else copies to another group is not looked at.
                if alike < 1 || group.is_some() || at > 0 {
                    return None;
                }
                for rank in &part.ranks {
                    let landed = of_groups.entry(*rank).or_default();
                    *landed = landed.checked_add(warps.checked_mul(alike)?)?;
                }
            }
        }
    }
    let all: BTreeSet<i64> = of_groups.into_values().collect();
    (all.len() == 1).then(|| all.first().copied()).flatten()
}

/// Collects what is announced for objects, and what else is done that counts.
fn collect(statements: &[Statement], found: &mut BTreeMap<Objects, Announced>) {
    let each = |found: &mut BTreeMap<Objects, Announced>, object: &str, with: &dyn Fn(&mut Announced)| {
        let named = parts(object).0;
        found
            .iter_mut()
            .filter(|(objects, _)| objects.meets(&named))
            .for_each(|(_, announced)| with(announced));
    };
    for statement in statements {
        match statement {
            Statement::Announce { object, bytes, arrives, .. } => each(found, object, &|announced| {
                announced.bytes.insert(*bytes);
                announced.is_mixed |= arrives.is_none();
            }),
            Statement::Copy { object, bytes: Some(_), .. } => {
                each(found, object, &|announced| announced.is_mixed = true);
            }
            Statement::Barrier { text, .. } => {
                let mut words = text.split(' ');
                let Some(word) =
                    words.find(|word| word.contains("mbarrier.") || word.starts_with("tcgen05."))
                else {
                    continue;
                };
                let rest = words.collect::<Vec<_>>().join(" ");
                let mut operands = rest.split(',');
                let object = operands.next().unwrap_or_default();
                let is_one = operands.next().is_some_and(|count| count.trim() == "1");
                let is_mixed = match word {
                    "mbarrier.init" => !is_one,
                    _ => !(word.starts_with("mbarrier.wait") || word == "mbarrier.inval"),
                };
                each(found, object, &|announced| announced.is_mixed |= is_mixed);
            }
            Statement::If { then, otherwise, .. } => {
                collect(then, found);
                collect(otherwise, found);
            }
            Statement::Loop { body, .. } | Statement::For { body, .. } => collect(body, found),
            _ => {}
        }
    }
}

//! How the bytes that are announced are shared out among copies of tensors.
//!
//! A copy of a tensor completes as many bytes as the box of its map has, wherever it stands (PTX ISA,
//! "Tensors": what lies outside of the tensor is counted as well). So each announcement is an equation: how
//! often each map is copied, and how many bytes that makes. Those that are made most often are believed
//! first. One that contradicts those before it, or would leave a map without bytes, is not believed: its
//! copies complete what they complete elsewhere, and the search shows what comes of that. Of what the
//! equations leave open each announcement is shared out in equal parts.

use std::collections::{BTreeMap, BTreeSet};

use super::leaders::Gate;
use super::tree::{Statement, Statements};
use crate::common::span::Span;

/// More maps or different equations than that are not solved.
const MAPS: usize = 24;
const EQUATIONS: usize = 96;
/// Nor with larger numbers: no phase has so many bytes.
const LARGEST: i128 = 1 << 32;

/// An announcement, and the copies since.
#[derive(Clone, Debug)]
pub(super) struct Open {
    pub(super) object: String,
    pub(super) span: Span,
    /// Its number, if it does not say how many bytes.
    pub(super) number: Option<usize>,
    /// How many are made for the object while each group of the cluster makes this one.
    pub(super) announcements: i64,
    /// Bytes of all of them that no copy of known length has completed, if that is known.
    pub(super) left: Option<i64>,
    pub(super) copies: Copies,
    /// Those of them that are on one of two ways alone.
    pub(super) aside: BTreeSet<usize>,
    /// What was asked before it, that has not been asked again.
    pub(super) gate: Gate,
    /// It was announced in an `if` that its copies are behind.
    pub(super) is_guarded: bool,
}

/// Copies of unknown length.
#[derive(Clone, Debug, Default)]
pub(super) struct Copies {
    /// How many land on one path, of each source.
    pub(super) counts: BTreeMap<Source, i64>,
    /// All of them by their numbers.
    pub(super) sites: BTreeMap<usize, Site>,
    /// Those of which there are others on the other of two ways, or which are repeated.
    pub(super) apart: BTreeSet<usize>,
    /// On different paths they are of different sources.
    pub(super) is_mixed: bool,
}

/// What copies of one length have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Source {
    /// The tensor map, by its name.
    Map(u32),
    /// The copy itself, by its number.
    Itself(usize),
}

/// A copy: its place, how many land for it, and its source.
#[derive(Clone, Copy, Debug)]
pub(super) struct Site {
    pub(super) span: Span,
    pub(super) landings: i64,
    pub(super) source: Source,
}

impl Copies {
    pub(super) fn total(&self) -> i64 {
        self.counts.values().copied().fold(0, i64::saturating_add)
    }

    /// One more, which lands on every path.
    pub(super) fn add(&mut self, number: usize, site: Site) {
        let own = self.counts.entry(site.source).or_insert(0);
        *own = own.saturating_add(site.landings);
        self.sites.insert(number, site);
    }

    /// Others on the same path.
    pub(super) fn extend(&mut self, others: Self) {
        for (source, count) in others.counts {
            let own = self.counts.entry(source).or_insert(0);
            *own = own.saturating_add(count);
        }
        self.sites.extend(others.sites);
        self.apart.extend(others.apart);
        self.is_mixed |= others.is_mixed;
    }

    /// What one round of a loop adds, so many times more.
    pub(super) fn repeat(&mut self, round: &Self, times: i64) {
        for (source, count) in &round.counts {
            let own = self.counts.entry(*source).or_insert(0);
            *own = own.saturating_add(count.saturating_sub(*own).saturating_mul(times));
        }
        self.apart.extend(round.sites.keys().filter(|number| !self.sites.contains_key(number)));
        self.sites.extend(&round.sites);
        self.is_mixed |= round.is_mixed;
    }
}

/// How many bytes copies of each map complete.
#[derive(Debug, Default)]
pub(super) struct Lengths {
    of: BTreeMap<u32, i64>,
    /// Maps of which no other length would do.
    certain: BTreeSet<u32>,
}

/// Those of all programs together.
pub(super) fn lengths<'o>(programs: impl Iterator<Item = &'o [Open]> + Clone) -> Lengths {
    let all = || programs.clone().flatten();
    let maps_of = |open: &Open| -> Vec<u32> {
        let map = |site: &Site| match site.source {
            Source::Map(map) => Some(map),
            Source::Itself(_) => None,
        };
        open.copies.sites.values().filter_map(map).collect()
    };
    // What is asked of these differs from path to path.
    let is_loose = |open: &&Open| open.copies.is_mixed || !open.aside.is_empty();
    let loose: BTreeSet<u32> = all().filter(is_loose).flat_map(maps_of).collect();
    let mut equations: Vec<(Equation, usize)> = Vec::new();
    for open in all().filter(|open| open.number.is_none()) {
        let one = |(source, count): (&Source, &i64)| match source {
            Source::Map(map) => (!loose.contains(map)).then_some((*map, i128::from(*count))),
            Source::Itself(_) => None,
        };
        let Some(counts) = open.copies.counts.iter().map(one).collect::<Option<BTreeMap<_, _>>>() else {
            continue;
        };
        let Some(left) = open.left else { continue };
        let equation = Equation { counts, total: i128::from(left) };
        let is_large = equation.total.abs() > LARGEST || equation.counts.values().any(|n| n.abs() > LARGEST);
        if is_large || equation.counts.values().all(|count| *count <= 0) {
            continue;
        }
        match equations.iter_mut().find(|(other, _)| *other == equation) {
            Some((_, times)) => *times += 1,
            None => equations.push((equation, 1)),
        }
    }
    let maps: BTreeSet<u32> = equations.iter().flat_map(|(one, _)| one.counts.keys().copied()).collect();
    if maps.len() > MAPS || equations.len() > EQUATIONS {
        return Lengths::default();
    }
    // Of those that are made as often, the ones that say more.
    equations.sort_by_key(|(one, times)| std::cmp::Reverse((*times, one.counts.len())));
    let mut system = System::default();
    for (equation, _) in equations {
        system.believe(equation);
    }
    let certain = system.rows.iter().filter_map(|(_, row)| Some(row.single()?.0)).collect();
    Lengths { of: system.solution().unwrap_or_default(), certain }
}

impl Lengths {
    /// The bytes that a copy completes, if that is said by what is announced elsewhere.
    pub(super) fn of(&self, source: Source) -> Option<i64> {
        match source {
            Source::Map(map) => self.of.get(&map).copied(),
            Source::Itself(_) => None,
        }
    }

    /// Whether no other length would do.
    pub(super) fn is_certain(&self, source: Source) -> bool {
        matches!(source, Source::Map(map) if self.certain.contains(&map) && self.of.contains_key(&map))
    }
}

/// What is announced: as many copies of each map make so many bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Equation {
    counts: BTreeMap<u32, i128>,
    total: i128,
}

/// Equations that are believed, in rows: the first map of each is in no other.
#[derive(Clone, Default)]
struct System {
    believed: Vec<Equation>,
    rows: Vec<(u32, Equation)>,
}

impl System {
    /// Adds an equation, unless it contradicts those before it.
    fn believe(&mut self, equation: Equation) {
        let mut with = self.clone();
        with.believed.push(equation.clone());
        if with.reduce(equation).is_some() && with.rows.iter().all(|(_, row)| row.may_hold()) {
            *self = with;
        }
    }

    /// `None` if there is a contradiction, or numbers grow too large.
    fn reduce(&mut self, mut equation: Equation) -> Option<()> {
        for (map, row) in &self.rows {
            equation = equation.without(*map, row)?;
        }
        let Some(map) = equation.counts.keys().next().copied() else {
            return (equation.total == 0).then_some(());
        };
        for (_, row) in &mut self.rows {
            *row = row.clone().without(map, &equation)?;
        }
        self.rows.push((map, equation));
        Some(())
    }

    /// A length for each map that fulfils what is believed.
    fn solution(&self) -> Option<BTreeMap<u32, i64>> {
        let mut lengths: BTreeMap<u32, i128> = BTreeMap::new();
        for (_, row) in &self.rows {
            if let Some((map, length)) = row.single() {
                lengths.insert(map, length.filter(|length| *length <= LARGEST)?);
            }
        }
        for equation in &self.believed {
            let known = |map: &u32| lengths.get(map).copied();
            let open: Vec<(u32, i128)> = equation
                .counts
                .iter()
                .filter(|(map, _)| known(map).is_none())
                .map(|(m, c)| (*m, *c))
                .collect();
            let taken: i128 = equation.counts.iter().filter_map(|(map, c)| Some(known(map)? * c)).sum();
            let (left, count) = (equation.total - taken, open.iter().map(|(_, count)| count).sum::<i128>());
            if open.is_empty() {
                continue;
            }
            let (share, rest) = (left.checked_div(count)?, left.checked_rem(count)?);
            // What is left when it is shared out is one map's.
            let last = open.iter().rfind(|(_, count)| rest % count == 0)?;
            lengths.extend(open.iter().map(|(map, _)| (*map, share)));
            lengths.insert(last.0, share + rest / last.1);
        }
        let is_right = |equation: &Equation| {
            equation.counts.iter().map(|(map, count)| lengths[map] * count).sum::<i128>() == equation.total
        };
        let is_length = |length: &i128| *length > 0 && i64::try_from(*length).is_ok();
        (self.believed.iter().all(is_right) && lengths.values().all(is_length))
            .then(|| lengths.into_iter().map(|(map, length)| (map, length as i64)).collect())
    }
}

impl Equation {
    /// The same without a map, which `row` says.
    fn without(self, map: u32, row: &Self) -> Option<Self> {
        let (Some(own), Some(other)) = (self.counts.get(&map).copied(), row.counts.get(&map).copied()) else {
            return Some(self);
        };
        let mut counts: BTreeMap<u32, i128> = BTreeMap::new();
        for (map, count) in &self.counts {
            counts.insert(*map, count.checked_mul(other)?);
        }
        for (map, count) in &row.counts {
            let of = counts.entry(*map).or_insert(0);
            *of = of.checked_sub(count.checked_mul(own)?)?;
        }
        counts.retain(|_, count| *count != 0);
        let total = self.total.checked_mul(other)?.checked_sub(row.total.checked_mul(own)?)?;
        let divisor = counts.values().fold(total, |a, b| common_divisor(a, *b)).max(1);
        counts.values_mut().for_each(|count| *count /= divisor);
        Some(Self { counts, total: total / divisor })
    }

    /// Whether there may be lengths with which it holds: none is less than 1.
    fn may_hold(&self) -> bool {
        let (least, most): (i128, i128) = self.counts.values().fold((0, 0), |(least, most), count| {
            if *count > 0 {
                (least.saturating_add(*count), most)
            } else {
                (least, most.saturating_add(*count))
            }
        });
        match (least, most) {
            (_, 0) if self.total < least => false,
            (0, _) if self.total > most => false,
            _ => self.single().is_none_or(|(_, length)| length.is_some()),
        }
    }

    /// What it says of its only map: the length, if there is one.
    fn single(&self) -> Option<(u32, Option<i128>)> {
        let mut counts = self.counts.iter();
        let (Some((map, count)), None) = (counts.next(), counts.next()) else { return None };
        let is_length = self.total % count == 0 && self.total / count > 0;
        Some((*map, is_length.then(|| self.total / count)))
    }
}

/// The greatest, or 1 where it is too large for its type.
fn common_divisor(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i128::try_from(a).unwrap_or(1)
}

/// Writes down the bytes of copies and of announcements that do not say how many, by their numbers.
pub(super) fn fill(
    statements: &mut Statements,
    next: &mut (usize, usize),
    (found, announced): (&BTreeMap<usize, i64>, &BTreeMap<usize, i64>),
) {
    statements.retain_mut(|statement| {
        match statement {
            Statement::Copy { bytes: bytes @ None, .. } => {
                *bytes = found.get(&next.0).copied();
                next.0 += 1;
                return *bytes != Some(0);
            }
            Statement::Announce { bytes: bytes @ None, .. } => {
                *bytes = announced.get(&next.1).copied();
                next.1 += 1;
            }
            Statement::If { then, otherwise, .. } => {
                fill(then, next, (found, announced));
                fill(otherwise, next, (found, announced));
            }
            Statement::Loop { body, .. } | Statement::For { body, .. } => {
                fill(body, next, (found, announced));
            }
            _ => {}
        }
        true
    });
}

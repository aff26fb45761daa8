//! Comparisons with one unknown number are one thing: how far the number reaches.
//!
//! `n > 0` before a loop, `i < n` in it, `i + 1 < n` where something is fetched ahead and `n - i == 1` where
//! the loop ends ask how many of the thresholds 1, 2, 3, … an unknown number `n` has reached. As decisions
//! of their own they would contradict one another. So a number that is compared in more than one way is
//! counted: a sequence that all agents share says, threshold by threshold, whether it is reached, up to the
//! first that is not. Each agent asks for as many answers ahead as it looks ahead, keeps in a variable how
//! many of them were yes, and takes some off with each iteration. A comparison is then one of that variable
//! with a number.
//!
//! # Why nothing is lost, and nothing added
//!
//! * Thresholds that grow are reached in their order, so yes is followed by yes until the first no, and the
//!   number of answers yes says all.
//! * Every agent asks from the first threshold on, leaves none out, and none behind a no. So the k-th
//!   answer is about the k-th threshold, whoever asks. Where the number changes, which is with the iterations
//!   of one loop around (the *scope*), all that is left is asked for before the next number begins.
//! * Sequences are shared only where scopes are reached alike, as for any decision
//!   ([`separate`](super::uniform::separate)).
//! * An agent that looks `d` thresholds ahead knows `min(left, d)`, where `left` are those that are reached
//!   and not yet passed. That is enough for each comparison, which looks less than `d` ahead.
//!
//! A number that stays the same while a loop around the counting one goes on is counted anew in each of its
//! iterations. It is then taken for another one each time: that allows more than happens, and nothing less.
//! Behind that loop it is what it was in the last iteration.
//!
//! # Several loops
//!
//! Where a loop of few iterations, `k < 4 && k < n`, stands beside others over the same number, it takes
//! nothing off: its thresholds are those at the beginning, and which of them is asked says a variable that
//! counts its iterations. So the loop behind it has the whole number before it.
//!
//! Loops one behind the other over the same number, each from its beginning, are passes: each counts it by
//! itself.
//!
//! # Remainders
//!
//! Where a loop takes 2^k thresholds in each iteration, what is left of the number at its end is the
//! remainder that the loop behind it takes: the low bits of the number are those of what is left, once the
//! last answer is known, whenever all iterations so far took multiples of 2^k. Before that, or if not even
//! the first threshold is reached, they are a decision of their own.
//!
//! # Numbers that never change
//!
//! Which of the numbers that it may be an unknown one is, where something is computed of it, is decided once
//! if it never changes: all iterations of loops around go by that. How far it reaches is asked anew in each,
//! as above, and the answers agree with what was decided. Of the others the first answers are decided once:
//! what has no iterations never has any.
//!
//! # Groups of a cluster
//!
//! Groups that take tiles in turn, `2 * cluster + rank < 2 * n` in steps of the grid, which is a multiple
//! of 2, ask the same of n: all but the rank is a multiple of 2, and what is at least 1 is at least 2.
//!
//! # Multiples
//!
//! A number that is a multiple of 4, `4 * n` or `n & -4`, and at least 1 is at least 4: where something is
//! computed of it, only its multiples are asked for. All agents leave out the same answers.
//!
//! Sums are taken not to overflow where a comparison was turned around: that is an assumption of its own.

mod apart;
mod asked;
mod down;
mod families;
mod finish;
mod lanes;
mod linear;
mod looked;
mod lowest;
mod numbered;
mod outer;
mod passes;
mod ranges;
mod readings;
mod remainders;
mod rewrite;
mod rounding;
mod sides;
mod sites;
mod sum;
mod units;
mod ways;
mod written;

pub(super) use asked::with_word_replaced;
pub(super) use families::MOST;
pub(super) use linear::Asker;
pub(super) use rewrite::count;
pub(super) use written::{beside, expand};

use std::collections::BTreeSet;

/// A number, a threshold of it, and by how much that grows with each iteration of loops: their headers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Growing {
    what: String,
    least: i64,
    rounds: Vec<(usize, i64)>,
    /// How the number is read, if that is said.
    sign: Option<Sign>,
}

impl Growing {
    /// Whether two ask the same: one that is just reached may be read as the other is.
    pub(super) fn is(&self, other: &Self) -> bool {
        let is_read_alike = self.sign.is_none() || other.sign.is_none() || self.sign == other.sign;
        is_read_alike && Self { sign: None, ..self.clone() } == Self { sign: None, ..other.clone() }
    }
}

/// A condition made of thresholds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Formula {
    Reaches(Box<Threshold>),
    Low(Box<Low>),
    Not(Box<Formula>),
    All(Vec<Formula>),
    Any(Vec<Formula>),
}

impl Formula {
    /// Its thresholds.
    pub(super) fn thresholds(&self) -> Vec<&Threshold> {
        match self {
            Self::Reaches(threshold) => vec![threshold],
            Self::Low(low) => vec![&low.first],
            Self::Not(inside) => inside.thresholds(),
            Self::All(parts) | Self::Any(parts) => parts.iter().flat_map(Self::thresholds).collect(),
        }
    }

    /// Changes its thresholds.
    fn each(&mut self, with: &mut impl FnMut(&mut Threshold)) {
        match self {
            Self::Reaches(threshold) => with(threshold),
            Self::Low(low) => with(&mut low.first),
            Self::Not(inside) => inside.each(with),
            Self::All(parts) | Self::Any(parts) => parts.iter_mut().for_each(|part| part.each(with)),
        }
    }

    /// The same as it is asked in another loop, which is known by its header as well; `None` if it is about
    /// further loops.
    pub(super) fn elsewhere(mut self, [here, there]: [usize; 2]) -> Option<Self> {
        let mut is_alone = self.remainders().iter().all(|low| low.round.is_none());
        self.each(&mut |threshold| {
            let is_here = threshold.scope.is_none_or(|scope| scope == here);
            is_alone &= is_here && threshold.inside.is_empty() && !threshold.grows();
            threshold.scope = threshold.scope.map(|_| there);
        });
        is_alone.then_some(self)
    }

    /// The threshold that grows from round to round and of which it asks whether a number has reached it, and
    /// whether it holds if it has not. Where a loop is left if it is just reached, that says that the next is
    /// not: in each round the one before has been.
    pub(super) fn last(&self, is_left: bool) -> Option<(Growing, bool)> {
        match self {
            Self::Reaches(threshold) if threshold.unit.is_none() => {
                let side = &threshold.side;
                let (what, least, rounds) = (side.what.clone(), side.least, side.rounds.clone());
                // The greater of it and a number was computed with a sign or without.
                let sign = match (threshold.sign, side.above.is_empty()) {
                    (Sign::Either, true) => None,
                    (Sign::Either, false) => Some(Sign::Signed),
                    (sign, _) => Some(sign),
                };
                Some((Growing { what, least, rounds, sign }, false))
            }
            Self::Not(inside) => inside.last(false).map(|(reached, negated)| (reached, !negated)),
            Self::All(parts) if is_left => {
                let [(before, false), (next, true)] =
                    [parts.first()?.last(false)?, parts.get(1)?.last(false)?]
                else {
                    return None;
                };
                let grows = next.rounds.len() == 1 && next.rounds.iter().all(|(_, by)| *by == 1);
                let follows = Growing { least: before.least + 1, ..before } == next;
                (parts.len() == 2 && follows && grows).then_some((next, true))
            }
            _ => None,
        }
    }

    /// Whether some of what is asked with the iterations of loops is known by what a number is at least.
    pub(super) fn is_known_first(&self) -> bool {
        self.thresholds().into_iter().any(Threshold::is_known_first)
    }

    /// Its remainders.
    pub(super) fn remainders(&self) -> Vec<&Low> {
        match self {
            Self::Reaches(_) => Vec::new(),
            Self::Low(low) => vec![low],
            Self::Not(inside) => inside.remainders(),
            Self::All(parts) | Self::Any(parts) => parts.iter().flat_map(Self::remainders).collect(),
        }
    }

    /// Whether it holds, if it does so or not whatever the numbers are.
    pub(super) fn known(&self) -> Option<bool> {
        match self {
            Self::Reaches(threshold) => threshold.known(),
            Self::Low(low) => low.known(),
            Self::Not(inside) => inside.known().map(|holds| !holds),
            Self::All(parts) => all(parts, true),
            Self::Any(parts) => all(parts, false),
        }
    }

    pub(super) fn not(self) -> Self {
        match self {
            Self::Not(inside) => *inside,
            other => Self::Not(Box::new(other)),
        }
    }
}

/// How numbers are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Sign {
    Signed,
    Unsigned,
    /// Equality does not ask.
    Either,
    /// Equality with a negative number: without a sign that is one of the greatest.
    Negative,
}

/// What is compared with a threshold, and from which number on it holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Side {
    /// The unknown number, in words.
    pub(super) what: String,
    /// It holds if the number is at least this.
    pub(super) least: i64,
    /// The same, as far up as nothing lies between: of `2 * n` whether it is at least 3 is whether it is 4.
    pub(super) rounded: i64,
    /// Thresholds up to this hold whatever the number is.
    pub(super) given: Option<i64>,
    /// The number itself is at least this, as is said of the launch.
    pub(super) floor: Option<i64>,
    /// The number may be known to stay below some thresholds, so that not every outcome need come about.
    pub(super) is_bounded: bool,
    /// The number stays below some threshold, whatever is unknown: loops that count up to it end by then.
    pub(super) is_capped: bool,
    /// It is made of several that are about one thing, `2 * n - (n & -2)`, and need not have every value.
    pub(super) is_tied: bool,
    /// By how much the threshold grows with each iteration of loops: their headers.
    pub(super) rounds: Vec<(usize, i64)>,
    /// What the number was made of that is compared, from outside: the same of a quotient of it, say.
    pub(super) above: Vec<Side>,
}

impl Side {
    /// Whether it holds by what the number is at least, for a threshold that has grown so much.
    fn reaches(&self, grown: i64) -> bool {
        let least = self.least.checked_add(grown);
        self.given.max(self.floor).zip(least).is_some_and(|(known, least)| known >= least)
    }
}

/// What is compared with a threshold that is so many times an unknown number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct InUnits {
    /// The unknown number, which is greater than 0, in words.
    pub(super) unit: String,
    /// It holds if the number is at least so many units.
    pub(super) side: Side,
    /// It holds if this does not.
    pub(super) turned: bool,
}

/// What a number is made of reaches a threshold if the number reaches one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Outer {
    /// The number, and its threshold.
    number: String,
    least: i64,
    /// What it is made of, and that threshold.
    of: (String, i64),
}

/// Unknown numbers, in words, and how they are read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Readings {
    read: BTreeSet<(String, Sign)>,
    /// How those are read that are made wider.
    widened: BTreeSet<Sign>,
}

impl Readings {
    /// Those of two.
    pub(super) fn extend(&mut self, others: &Self) {
        self.read.extend(others.read.iter().cloned());
    }

    /// Whether some number is read with a sign and without one, or one is made wider with its sign and
    /// another without.
    pub(super) fn differ(&self) -> bool {
        let is_other = |(number, sign): &(String, Sign)| {
            *sign == Sign::Signed && self.read.contains(&(number.clone(), Sign::Unsigned))
        };
        self.widened.len() > 1 || self.read.iter().any(is_other)
    }
}

/// Whether an unknown number has reached a threshold, which may grow with the iterations of loops.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Threshold {
    pub(super) side: Side,
    /// The same from the other side, where nothing grows: it holds if this does not.
    pub(super) other: Option<Side>,
    /// What it grows by is not a number but this, which is greater than 0.
    pub(super) unit: Option<String>,
    /// The same in units, where nothing grows and some are among what is compared.
    pub(super) in_units: Vec<InUnits>,
    pub(super) sign: Sign,
    /// The header of the loop with whose iterations the number changes, and how many loops are around it.
    pub(super) scope: Option<usize>,
    pub(super) depth: usize,
    /// If it grows, and several loops one behind the other count up to the number, in which of them, from 1;
    /// else 0: see [`passes`].
    pub(super) pass: usize,
    /// The loops further inside around the place where it is asked, the innermost first: headers and depths.
    pub(super) inside: Vec<(usize, usize)>,
    /// What the number is about.
    pub(super) about: BTreeSet<String>,
    /// The comparison was turned around, which is right if no sum overflows.
    pub(super) is_turned: bool,
    /// It is compared with a sign and divided without one, or the other way round, which is the same of what
    /// is not negative.
    pub(super) is_mixed: bool,
    /// How the numbers in it are read.
    pub(super) readings: Readings,
    /// The number never changes while the kernel runs.
    pub(super) is_invariant: bool,
    /// It grows with one loop, which has at most so many iterations.
    pub(super) most: Option<i64>,
    /// So much more than the number is computed, and that is compared.
    pub(super) more: i64,
    /// If it grows: thresholds of what the number is made of that say the same as one of the number.
    pub(super) outer: Vec<Outer>,
}

impl Threshold {
    /// Whether it grows with the iterations of loops.
    pub(super) fn grows(&self) -> bool {
        !self.side.rounds.is_empty()
    }

    /// Whether some of what it asks as it grows is known.
    fn is_known_first(&self) -> bool {
        self.grows() && (self.side.reaches(0) || self.side.above.iter().any(|above| above.reaches(0)))
    }

    fn known(&self) -> Option<bool> {
        let holds = |side: &Side| side.reaches(0) || side.above.iter().any(|above| above.reaches(0));
        if self.grows() {
            // It holds in each iteration if it does in the last.
            let last = |side: &Side| {
                let [(_, by)] = side.rounds[..] else { return false };
                let grown = self.most.and_then(|most| most.checked_sub(1)?.checked_mul(by));
                grown.is_some_and(|grown| side.reaches(grown.max(0)))
            };
            (last(&self.side) || self.side.above.iter().any(last)).then_some(true)
        } else if holds(&self.side) {
            Some(true)
        } else {
            self.other.as_ref().is_some_and(holds).then_some(false)
        }
    }
}

/// Of formulas whether all hold, or whether one of them does: one that does not, or does, says so.
fn all(parts: &[Formula], wanted: bool) -> Option<bool> {
    let known: Vec<Option<bool>> = parts.iter().map(Formula::known).collect();
    if known.contains(&Some(!wanted)) {
        Some(!wanted)
    } else {
        known.iter().all(|one| *one == Some(wanted)).then_some(wanted)
    }
}

/// Whether the low bits of an unknown number are at least something.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Low {
    /// Whether the number is at least 1.
    pub(super) first: Threshold,
    /// What is added to it before its low bits are taken, and these bits.
    pub(super) more: i64,
    pub(super) mask: i64,
    /// They are compared with this, and so much more for each iteration of a loop, which is known by its
    /// header.
    pub(super) least: i64,
    pub(super) round: Option<(usize, i64)>,
}

impl Low {
    /// Whether it holds whatever the number is: nothing is more than all low bits, and nothing less than
    /// none.
    fn known(&self) -> Option<bool> {
        let grows = self.round.map_or(0, |(_, by)| by);
        if self.least > self.mask && grows >= 0 {
            Some(false)
        } else {
            (self.least <= 0 && grows <= 0).then_some(true)
        }
    }
}

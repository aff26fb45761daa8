//! Sums of unknown numbers.

use std::collections::BTreeMap;

use crate::kernel::value::ValueId;

/// By how much thresholds grow with the iterations of loops, by their headers.
pub(super) type Rounds = BTreeMap<usize, i64>;

/// How far it is looked into what numbers are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Into {
    /// As far as thresholds stay those of each number.
    Numbers,
    /// As far as each threshold has one inside.
    Thresholds,
    /// As far as this threshold has one inside, and no other need have one.
    All,
}

/// A sum of unknown numbers, iterations of loops and a known number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Linear {
    pub(super) atoms: BTreeMap<ValueId, i64>,
    /// By the header of the loop, and what each iteration adds where that is not a number.
    pub(super) rounds: BTreeMap<(usize, Option<ValueId>), i64>,
    pub(super) known: i64,
}

impl Linear {
    pub(super) fn add(&mut self, other: &Self, factor: i64) -> Option<()> {
        for (atom, times) in &other.atoms {
            let sum = self.atoms.entry(*atom).or_default();
            *sum = sum.checked_add(times.checked_mul(factor)?)?;
        }
        for (round, times) in &other.rounds {
            let sum = self.rounds.entry(*round).or_default();
            *sum = sum.checked_add(times.checked_mul(factor)?)?;
        }
        self.known = self.known.checked_add(other.known.checked_mul(factor)?)?;
        self.atoms.retain(|_, times| *times != 0);
        self.rounds.retain(|_, times| *times != 0);
        Some(())
    }

    /// Whether the low bits of two are the same but for those of a known number: of `a + b` the lowest is
    /// that of `a - b`.
    pub(super) fn is_alike(&self, other: &Self, mask: i64) -> bool {
        let mut difference = self.clone();
        if difference.add(other, -1).is_none() || self.rounds != other.rounds {
            return false;
        }
        difference.atoms.values().all(|times| times & mask == 0)
    }

    pub(super) fn negated(&self) -> Option<Self> {
        let mut negated = Self::default();
        negated.add(self, -1)?;
        Some(negated)
    }

    pub(super) fn only_adds(&self) -> bool {
        self.known >= 0 && self.atoms.values().chain(self.rounds.values()).all(|times| *times > 0)
    }

    /// Whether the unknown numbers in it are less than 0 where it is 0, before anything grows.
    pub(super) fn is_negative(&self) -> bool {
        let all = |holds: fn(&i64) -> bool| self.atoms.values().all(holds);
        all(|times| *times > 0) && self.known > 0 || all(|times| *times < 0) && self.known < 0
    }

    /// Of so many times an unknown number the number, and how many times it is.
    pub(super) fn times(&self) -> Option<(Self, i64)> {
        match self.atoms.iter().next() {
            Some((atom, times)) if self.atoms.len() == 1 && self.rounds.is_empty() && *times > 1 => {
                Some((Self { atoms: BTreeMap::from([(*atom, 1)]), ..Self::default() }, *times))
            }
            _ => None,
        }
    }

    /// The only unknown number, if it is one and stands alone.
    pub(super) fn alone(&self) -> Option<ValueId> {
        match self.atoms.iter().next() {
            Some((atom, 1)) if self.atoms.len() == 1 && self.rounds.is_empty() => Some(*atom),
            _ => None,
        }
    }
}

/// The greatest common divisor, which is not negative.
pub(super) fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a.abs() } else { gcd(b, a % b) }
}

/// The least multiple of a number that is at least another.
pub(super) fn up_to_multiple(number: i64, of: i64) -> Option<i64> {
    if of == 0 { Some(number) } else { number.checked_neg()?.div_euclid(of).checked_mul(-of) }
}

//! The low bits of numbers in comparisons: what is left when loops have taken several steps at a time.

use std::collections::BTreeMap;

use super::linear::{Asker, DEPTH};
use super::sum::{Into, Linear};
use super::{Formula, Low, Sign};
use crate::kernel::code::{Operation, Type};
use crate::kernel::lanes::Lanes;
use crate::kernel::value::{Term, ValueId};

impl Asker<'_> {
    /// The low bits of a number, where a sum is about nothing else and is at least a number.
    pub(super) fn low(&self, sum: &Linear, least: i64) -> Option<Formula> {
        let base = Linear { rounds: BTreeMap::new(), known: 0, ..sum.clone() };
        let Term::Apply { operation: Operation::And, ty, terms } = self.values().term(base.alone()?) else {
            return None;
        };
        let (inside, mask) = self.with_number(terms)?;
        let mask =
            i64::try_from(mask).ok().filter(|mask| *mask > 0 && *mask < 64 && (mask + 1) & mask == 0)?;
        let mut number = self.linear(inside, Type { signed: true, ..*ty }, DEPTH)?;
        let more = std::mem::take(&mut number.known);
        // What is said of a parameter does not make it another number.
        let plain = |atom| self.keys.bounded(atom).map_or(atom, |(inside, _)| inside);
        number.atoms = number.atoms.into_iter().map(|(atom, times)| (plain(atom), times)).collect();
        self.as_difference(&mut number, mask);
        let mut rounds = sum.rounds.iter();
        let round = match (rounds.next(), rounds.next()) {
            (None, _) => None,
            (Some(((header, None), times)), None) if *times < 0 => Some((*header, times.checked_neg()?)),
            _ => return None,
        };
        let first = self.flat(&number, 1, (Sign::Either, false), Into::Numbers)?;
        let least = least.checked_sub(sum.known)?;
        Some(Formula::Low(Box::new(Low { first, more, mask, least, round })))
    }

    /// Of `a + b` the lowest bit is that of `a - b` and `b - a`: whichever the kernel computes with is meant.
    fn as_difference(&self, number: &mut Linear, mask: i64) {
        let mut terms: Vec<(ValueId, i64)> =
            number.atoms.iter().map(|(atom, times)| (*atom, *times)).collect();
        if mask != 1 || terms.len() != 2 || terms.iter().any(|(_, times)| *times != 1) {
            return;
        }
        terms.sort_unstable_by_key(|(atom, _)| *atom);
        for negative in 0..2 {
            let factor = |place: usize| if place == negative { u64::from(u32::MAX) } else { 1 };
            let sum = terms.iter().enumerate().map(|(place, (atom, _))| (*atom, Lanes::All(factor(place))));
            let sum = Term::Sum { bits: 32, terms: sum.collect(), known: Lanes::All(0) };
            if self.values().find(&sum).is_some() {
                number.atoms.insert(terms[negative].0, -1);
                return;
            }
        }
    }
}

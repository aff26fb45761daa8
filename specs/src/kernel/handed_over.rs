//! What is handed over in the rounds of a loop: where, by which object, in which of its phases.

use std::collections::{BTreeMap, BTreeSet};

use super::arithmetic::signed;
use super::evaluate::{Evaluation, Object};
use super::flow::Flow;
use super::trips::Rounds;
use super::value::{ValueId, Values};

/// After so many rounds what happens has to come again.
const PERIOD: usize = 128;

/// One object of an array.
pub(super) type One = (String, i64);

/// What happens in a round: the place that is loaded from, or stored to, and the object and the parity that
/// are waited for, or completed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Round {
    pub(super) place: u64,
    pub(super) object: One,
    pub(super) parity: u64,
}

/// A loop that is run.
pub(super) struct Running<'r> {
    rounds: Rounds<'r>,
    terms: Vec<ValueId>,
}

impl<'r> Running<'r> {
    /// A loop, by its number, in which some terms and the index of an object follow from the round before.
    pub(super) fn of(
        (values, symbols): (&'r Values, &'r BTreeSet<u32>),
        of: (&Evaluation, &Flow),
        inner: usize,
        (terms, object): (&[ValueId], &Object),
    ) -> Option<Self> {
        let is_own = object.rank.is_none() && object.each.is_empty();
        let mut all = terms.to_vec();
        all.extend(object.index.filter(|_| is_own).map(|(index, ..)| index));
        let rounds = Rounds::of((values, symbols), of, inner, &all)?;
        is_own.then_some(Running { rounds, terms: terms.to_vec() })
    }

    /// What some terms are in the next round, and which object it is about.
    pub(super) fn next<const N: usize>(&mut self, object: &Object) -> Option<([u64; N], One)> {
        let mut terms = self.terms.clone();
        terms.extend(object.index.map(|(index, ..)| index));
        let mut numbers = self.rounds.next(&terms)?;
        let number = match object.index {
            Some(index) => number_of(index, numbers.pop()?),
            None => 0,
        };
        Some((numbers.try_into().ok()?, (object.name.clone(), number)))
    }
}

/// The number of an object in its array.
pub(super) fn number_of((_, size, number): (ValueId, i64, i64), computed: u64) -> i64 {
    number + signed(computed, 32) / size
}

/// The rounds of a teller, if they come round.
pub(super) fn rounds(objects: &[One], places: &[u64]) -> Vec<Round> {
    let mut phases: BTreeMap<&One, u64> = BTreeMap::new();
    let all = objects.iter().zip(places).map(|(object, place)| {
        let phase = phases.entry(object).or_default();
        let parity = *phase & 1;
        *phase += 1;
        Round { place: *place, object: object.clone(), parity }
    });
    let all: Vec<Round> = all.collect();
    let comes_round = |period: &usize| all.iter().zip(&all[*period..]).all(|(one, next)| one == next);
    if (1..=PERIOD).any(|period| comes_round(&period)) { all } else { Vec::new() }
}

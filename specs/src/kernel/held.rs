//! What a register may hold where paths meet, if that is a few known numbers: the stages of a ring, whatever
//! decides how far it goes on.

use std::collections::{BTreeMap, BTreeSet};

use super::code::{Operation, Register};
use super::evaluate::{Evaluation, OUTSIDE};
use super::lanes::Lanes;
use super::trips::known_of;
use super::value::{Term, ValueId, Values};

/// Numbers that are told apart of one register, places where paths meet, and combinations that are tried.
const NUMBERS: usize = 64;
const MEETS: usize = 64;
const COMBINATIONS: usize = 4096;

/// A register where paths meet.
type Meet = (usize, Register);

/// The numbers that a term may be for an agent, the same for all its lanes.
pub(super) fn held(values: &Values, evaluation: &Evaluation, value: ValueId) -> Option<BTreeSet<u64>> {
    let mut held = Held { values, of: BTreeMap::new() };
    let mut work = meets(values, value);
    while let Some(meet) = work.pop_first() {
        if held.of.insert(meet, BTreeSet::new()).is_none() {
            let incoming = evaluation.meets.get(&meet)?;
            work.extend(incoming.iter().flat_map(|(_, value)| meets(values, *value)));
            if held.of.len() > MEETS || incoming.iter().any(|(from, _)| *from == OUTSIDE) {
                return None;
            }
        }
        work.retain(|meet| !held.of.contains_key(meet));
    }
    loop {
        let mut changed = false;
        for meet in held.of.keys().copied().collect::<Vec<_>>() {
            for (_, value) in &evaluation.meets[&meet] {
                let more = held.outcomes(*value)?;
                let known = held.of.entry(meet).or_default();
                let before = known.len();
                known.extend(more);
                changed |= known.len() > before;
                if known.len() > NUMBERS {
                    return None;
                }
            }
        }
        if !changed {
            return held.outcomes(value);
        }
    }
}

/// The meetings inside a term.
fn meets(values: &Values, value: ValueId) -> BTreeSet<Meet> {
    let (mut found, mut seen, mut work) = (BTreeSet::new(), BTreeSet::new(), vec![value]);
    while let Some(value) = work.pop() {
        if !seen.insert(value) {
            continue;
        }
        match values.term(value) {
            Term::Meet { block, register } => {
                found.insert((*block, *register));
            }
            _ => work.extend(values.inside(value)),
        }
    }
    found
}

struct Held<'h> {
    values: &'h Values,
    of: BTreeMap<Meet, BTreeSet<u64>>,
}

impl Held<'_> {
    /// What a term may be, by what its meetings may be.
    fn outcomes(&self, value: ValueId) -> Option<BTreeSet<u64>> {
        let mut ways: Vec<BTreeMap<Meet, u64>> = vec![BTreeMap::new()];
        for meet in meets(self.values, value) {
            let numbers = self.of.get(&meet)?;
            let with = |way: &BTreeMap<Meet, u64>| {
                let way = way.clone();
                let one = |number: &u64| way.clone().into_iter().chain([(meet, *number)]).collect();
                numbers.iter().map(one).collect::<Vec<_>>()
            };
            ways = ways.iter().flat_map(with).collect();
            if ways.len() > COMBINATIONS {
                return None;
            }
        }
        let number = |way: &BTreeMap<Meet, u64>| {
            let known = |meet: Meet| way.get(&meet).map(|number| Lanes::All(*number));
            known_of(self.values, value, &known)?.all()
        };
        let known: Option<BTreeSet<u64>> = ways.iter().map(number).collect();
        known.or_else(|| match self.values.term(value) {
            // Which of both is not known.
            Term::Apply { operation: Operation::Select, terms, .. } => {
                Some(&self.outcomes(terms[0])? | &self.outcomes(terms[1])?)
            }
            _ => None,
        })
    }
}

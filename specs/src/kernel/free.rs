//! Which conditions on parameters come out either way: for some of their values so, for others not.
//!
//! A decision is made of each condition on something unknown, and both of its outcomes are followed. Where a
//! parameter is compared with something, `n < 4`, `(n + 127) / 128 > m`, there are values for both. Of others
//! nobody knows: `n * n & 3` is never 2, `n * 2` never 5. What is found with such an outcome is a violation
//! only if it is one for values that are known.

use std::collections::BTreeSet;

use super::code::{Code, Comparison, Operation};
use super::lanes::Lanes;
use super::loads::is_load;
use super::terms::is_truth;
use super::value::{Term, ValueId, Values};

/// What values a term takes for some values of what is unknown in it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Range {
    /// One, whatever is unknown.
    One,
    /// Each from one number to another.
    Whole,
    /// Those of them that have no other bits than these.
    Bits(u64),
    /// Each below this number.
    Below(u64),
    /// As many as one likes on both sides of a number, but not each.
    Some,
}

/// Conditions and terms inside one another that are looked at.
const DEPTH: usize = 16;

/// Whether both outcomes of a condition come about for some values of the parameters in it, and each number
/// of rounds if it is asked in rounds; also if none is in it.
pub(super) fn is_free((values, code): (&Values, &Code), condition: ValueId, has_rounds: bool) -> bool {
    let is_parameter = |atom: ValueId| matches!(values.term(atom), Term::Same(_));
    let free = Free { values, code };
    !free.atoms(condition).into_iter().any(is_parameter) || free.decides(condition, has_rounds, DEPTH)
}

struct Free<'f> {
    values: &'f Values,
    code: &'f Code,
}

impl Free<'_> {
    fn decides(&self, condition: ValueId, has_rounds: bool, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        match self.values.term(condition) {
            Term::Apply { operation: Operation::LogicalNot, terms, .. } => {
                self.decides(terms[0], has_rounds, depth)
            }
            Term::Apply { operation: Operation::And | Operation::Or | Operation::Select, terms, .. }
                if terms.iter().all(|term| is_truth(self.values, *term)) =>
            {
                let mut seen = BTreeSet::new();
                terms.iter().all(|term| {
                    self.values.as_known(*term).is_some()
                        || self.decides(*term, has_rounds, depth) && self.unknown(*term, &mut seen)
                })
            }
            Term::Apply { operation: Operation::Compare(comparison), terms, .. } => {
                let mut seen = BTreeSet::new();
                let [a, b] = [terms[0], terms[1]];
                let ranges =
                    [a, b].map(|term| self.range(term, depth).filter(|_| self.unknown(term, &mut seen)));
                let [Some(one), Some(other)] = ranges else { return false };
                self.either(*comparison, (one, b), has_rounds)
                    || self.either(*comparison, (other, a), has_rounds)
            }
            // A comparison of real numbers, say.
            Term::Pure { terms, .. } if self.values.width(condition) <= 1 => {
                let mut seen = BTreeSet::new();
                let is_known = |term: &ValueId| self.values.as_known(*term).is_some();
                terms
                    .iter()
                    .all(|term| is_known(term) || self.is_atom(self.values.term(*term)) && seen.insert(*term))
            }
            term => self.is_atom(term),
        }
    }

    /// Whether a comparison of ranges comes out either way.
    fn either(&self, comparison: Comparison, (one, number): (Range, ValueId), has_rounds: bool) -> bool {
        let is_equality = matches!(comparison, Comparison::Equal | Comparison::NotEqual);
        let known = self.values.as_known(number).and_then(Lanes::all);
        match one {
            Range::One => false,
            Range::Whole => true,
            Range::Some => !is_equality && !has_rounds && known.is_some(),
            Range::Bits(bits) if is_equality => known.is_some_and(|number| number & !bits == 0),
            Range::Below(most) if is_equality => known.is_some_and(|number| number < most),
            Range::Bits(most) | Range::Below(most) => {
                known.is_some_and(|number| (1..most.saturating_sub(1)).contains(&number))
            }
        }
    }

    /// Whether none of what is unknown in a term has been seen before.
    fn unknown(&self, term: ValueId, seen: &mut BTreeSet<ValueId>) -> bool {
        self.atoms(term).into_iter().all(|atom| seen.insert(atom))
    }

    /// What is unknown in a term. What is loaded may be anything, wherever it is loaded from.
    fn atoms(&self, term: ValueId) -> BTreeSet<ValueId> {
        let (mut found, mut seen, mut work) = (BTreeSet::new(), BTreeSet::new(), vec![term]);
        while let Some(value) = work.pop() {
            if self.is_atom(self.values.term(value)) {
                found.insert(value);
            } else if seen.insert(value) {
                work.extend(self.values.inside(value));
            }
        }
        found
    }

    /// Whether a term may be anything.
    fn is_atom(&self, term: &Term) -> bool {
        match term {
            Term::Pure { name, .. } => self.code.names.get(*name as usize).is_some_and(|name| is_load(name)),
            term => matches!(
                term,
                Term::Same(_) | Term::Loaded { .. } | Term::Given { .. } | Term::Unknown { .. }
            ),
        }
    }

    fn range(&self, term: ValueId, depth: usize) -> Option<Range> {
        let depth = depth.checked_sub(1)?;
        let number = |term: ValueId| self.values.as_known(term).and_then(Lanes::all);
        Some(match self.values.term(term) {
            // What is counted in rounds is as if it were known in each.
            Term::Known(_) | Term::Meet { .. } | Term::Gained { .. } => Range::One,
            term if self.is_atom(term) => Range::Whole,
            Term::Sum { terms, .. } => {
                let (mut sum, mut seen) = (Range::One, BTreeSet::new());
                for (term, factor) in terms {
                    let own = self.range(*term, depth)?;
                    self.unknown(*term, &mut seen).then_some(())?;
                    let is_single =
                        matches!(factor.all(), Some(1 | u64::MAX)) || factor.all() == Some(0xffff_ffff);
                    sum = match (sum, own, is_single) {
                        (sum, Range::One, _) => sum,
                        (_, Range::Whole, true) | (Range::Whole, ..) => Range::Whole,
                        _ => Range::Some,
                    };
                }
                sum
            }
            Term::Apply { operation, terms, .. } => {
                let own = self.range(*terms.first()?, depth)?;
                match (operation, own, terms.get(1).and_then(|term| number(*term))) {
                    (_, Range::One, _)
                        if terms.iter().all(|term| self.range(*term, depth) == Some(Range::One)) =>
                    {
                        Range::One
                    }
                    // How far it goes is known to who counts rounds.
                    (Operation::Convert(_), own, _) | (Operation::Maximum, own, Some(_)) => own,
                    (Operation::Minimum, Range::Whole, Some(most)) => Range::Below(most.saturating_add(1)),
                    (Operation::Divide, Range::Whole, Some(1..)) => Range::Whole,
                    (Operation::ShiftRight, Range::Whole, Some(_)) => Range::Whole,
                    (Operation::Multiply | Operation::ShiftLeft, Range::Whole, Some(1..)) => Range::Some,
                    (Operation::And, Range::Whole, Some(bits)) => Range::Bits(bits),
                    (Operation::Remainder, Range::Whole, Some(by)) => Range::Below(by),
                    (Operation::ExtractBits, Range::Whole, _) => {
                        Range::Bits(u64::MAX >> (64 - bits_of(self.values, terms)?))
                    }
                    _ => return None,
                }
            }
            _ => return None,
        })
    }
}

/// How many bits are taken out.
fn bits_of(values: &Values, terms: &[ValueId]) -> Option<u64> {
    let bits = terms.get(2).and_then(|term| values.as_known(*term)).and_then(Lanes::all)?;
    (1..=32).contains(&bits).then_some(bits)
}

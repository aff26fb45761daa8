//! Numbers whose bits are turned: `~x` is `-x - 1`, and `max(~x, ~y)` is `~min(x, y)`.

use super::arithmetic::{apply, cut};
use super::code::{Comparison, Operation, Type};
use super::lanes::Lanes;
use super::value::{Term, ValueId, Values};

impl Values {
    /// The parts of a sum without complements, and a number that is known.
    pub(super) fn without_complements(
        &self,
        bits: u8,
        parts: &[(ValueId, Lanes)],
    ) -> Option<(Vec<(ValueId, Lanes)>, Lanes)> {
        let ty = Type { bits, signed: false };
        let (mut found, mut known) = (Vec::with_capacity(parts.len()), Lanes::All(0));
        for (value, factor) in parts {
            match self.term(*value) {
                Term::Apply { operation: Operation::Not, ty: of, terms } if of.bits == bits => {
                    let minus = Lanes::map(&[factor], |factor| apply(Operation::Negate, ty, factor))?;
                    known = Lanes::map(&[&known, &minus], |n| apply(Operation::Add, ty, n))?;
                    found.push((terms[0], minus));
                }
                _ => found.push((*value, factor.clone())),
            }
        }
        Some((found, known))
    }

    /// The complement of a complement, or of a sum.
    pub(super) fn complement(&mut self, ty: Type, value: ValueId) -> Option<ValueId> {
        match self.term(value) {
            Term::Apply { operation: Operation::Not, ty: of, terms }
                if of.bits == ty.bits && self.width(terms[0]) <= ty.bits =>
            {
                Some(terms[0])
            }
            Term::Sum { bits, .. } if *bits == ty.bits => {
                let minus = Lanes::All(cut(u64::MAX, ty.bits));
                let less = self.number(cut(u64::MAX, ty.bits));
                self.sum(ty.bits, &[(value, minus), (less, Lanes::All(1))])
            }
            _ => None,
        }
    }

    /// The lesser of complements as the complement of the greater, and the other way round: the order of
    /// numbers is that of their complements backwards, with a sign and without.
    pub(super) fn turned(&mut self, operation: Operation, ty: Type, terms: [ValueId; 2]) -> Option<ValueId> {
        if ty.bits < 32 || !terms.iter().all(|term| self.is_turned(ty, *term)) {
            return None;
        }
        let opposite = if operation == Operation::Minimum { Operation::Maximum } else { Operation::Minimum };
        let terms = terms.map(|term| self.apply(Operation::Not, ty, &[term]));
        let other = self.apply(opposite, ty, &terms);
        Some(self.apply(Operation::Not, ty, &[other]))
    }

    /// `-n <u -3` as `n - 1 >u 2`, and `-n >u -4` as `n - 1 <u 3`: the order of complements is backwards.
    pub(super) fn turned_back(
        &mut self,
        comparison: Comparison,
        ty: Type,
        [a, b]: [ValueId; 2],
    ) -> Option<ValueId> {
        let bound = self.as_known(b)?.all().filter(|bound| ty.bits >= 32 && bound >> (ty.bits - 1) == 1)?;
        let sign = 1 << (ty.bits - 1);
        let is_less = |(_, factor): &(ValueId, Lanes)| factor.all().is_some_and(|factor| factor >= sign);
        let is_turned = match self.term(a) {
            Term::Sum { bits, terms, .. } => *bits == ty.bits && terms.iter().any(is_less),
            _ => false,
        };
        if ty.signed || !is_turned {
            return None;
        }
        let (a, b) = (self.complement(ty, a)?, self.number(cut(!bound, ty.bits)));
        Some(self.apply(Operation::Compare(comparison.swapped()), ty, &[a, b]))
    }

    /// Whether a number is known, a complement, or a sum that begins with less than nothing.
    fn is_turned(&self, ty: Type, value: ValueId) -> bool {
        match self.term(value) {
            Term::Known(_) => true,
            // As in [`Self::complement`], which would not take it back else.
            Term::Apply { operation: Operation::Not, ty: of, terms } => {
                of.bits == ty.bits && self.width(terms[0]) <= ty.bits
            }
            Term::Sum { bits, terms, .. } => {
                let least = 1 << (ty.bits - 1);
                *bits == ty.bits && terms[0].1.all().is_some_and(|factor| factor > least)
            }
            _ => false,
        }
    }
}

//! Sums that are shifted one way and back.

use super::arithmetic::cut;
use super::code::{Operation, Type};
use super::lanes::Lanes;
use super::value::{Term, ValueId, Values};

impl Values {
    /// `x << n >> n`: the lowest bits of a sum that is a multiple of what it is divided by.
    pub(super) fn back_and_forth(&mut self, ty: Type, a: ValueId, by: ValueId) -> Option<ValueId> {
        let by = self.as_known(by)?.all().filter(|by| (1..u64::from(ty.bits)).contains(by))?;
        let Term::Sum { bits, terms, known } = self.term(a).clone() else { return None };
        let shrink = |lanes: &Lanes| {
            Lanes::map(&[lanes], |n| {
                (u64::from(n[0].trailing_zeros()) >= by || n[0] == 0).then(|| n[0] >> by)
            })
        };
        let parts = terms.iter().map(|(term, factor)| Some((*term, shrink(factor)?)));
        let mut parts: Vec<(ValueId, Lanes)> = parts.collect::<Option<_>>()?;
        let known = self.known(shrink(&known)?);
        parts.push((known, Lanes::All(1)));
        let sum = self.sum(bits, &parts).filter(|_| bits == ty.bits)?;
        let mask = self.number(cut(u64::MAX, ty.bits) >> by);
        Some(self.apply(Operation::And, ty, &[sum, mask]))
    }
}

#[cfg(test)]
mod tests {
    use super::super::code::Code;
    use super::*;

    #[test]
    fn what_is_shifted_to_the_highest_bit_and_back_is_the_lowest() {
        let mut code = Code::default();
        code.names.push("x".to_owned());
        let mut values = Values::of(&code);
        let word = Type { bits: 32, signed: false };
        let same = values.leaf(Term::Same(0));
        let [by, one, byte] = [31, 1, 255].map(|number| values.number(number));
        let x = values.apply(Operation::And, word, &[same, byte]);
        let up = values.apply(Operation::ShiftLeft, word, &[x, by]);
        let back = values.apply(Operation::ShiftRight, word, &[up, by]);
        assert_eq!(back, values.apply(Operation::And, word, &[x, one]));
        // What is no multiple stays as it is.
        let more = values.apply(Operation::Add, word, &[up, one]);
        let shifted = values.apply(Operation::ShiftRight, word, &[more, by]);
        assert!(matches!(values.term(shifted), Term::Apply { operation: Operation::ShiftRight, .. }));
    }
}

//! A number that is chosen, and one less: `c ? 15 : n - 1` is `(c ? 16 : n) - 1`.
//!
//! A loop whose last iteration is taken apart goes up to the one, and others of the same kernel to the other.

use super::arithmetic::{cut, signed};
use super::code::{Comparison, Operation, Type};
use super::lanes::Lanes;
use super::value::{Term, ValueId, Values};

/// No more is taken off on both sides: the numbers of iterations that are taken apart.
const MOST: i64 = 64;

impl Values {
    /// By how much less a sum of 32 bits is than unknown numbers, if the other of two values is a number that
    /// can be so much more.
    pub(super) fn more_outside(&self, a: ValueId, b: ValueId) -> Option<i64> {
        let less = |value: ValueId| match self.term(value) {
            Term::Sum { bits: 32, known, .. } => {
                let known = signed(known.all()?, 32);
                (-MOST..0).contains(&known).then_some(-known)
            }
            _ => None,
        };
        // `n > 3 ? n - 3 : 0` is what is left of n, as it stands.
        let is_small =
            |value: ValueId| self.as_known(value)?.all().filter(|number| (1..1 << 24).contains(number));
        match (less(a), less(b)) {
            (Some(more), None) => is_small(b).map(|_| more),
            (None, Some(more)) => is_small(a).map(|_| more),
            (one, other) => one.filter(|_| one == other),
        }
    }

    /// What is selected by a condition that is not known, if it is known otherwise.
    pub(super) fn of_selection(&mut self, ty: Type, terms: [ValueId; 3]) -> Option<ValueId> {
        self.multiple(terms).or_else(|| self.as_extreme(ty, terms))
    }

    /// `(n & 3) == 0 ? n : n & ~3` is the multiple in both cases.
    fn multiple(&self, [a, b, condition]: [ValueId; 3]) -> Option<ValueId> {
        let Term::Apply { operation: Operation::Compare(comparison), terms, .. } = self.term(condition)
        else {
            return None;
        };
        let (number, multiple) = match comparison {
            Comparison::Equal => (a, b),
            Comparison::NotEqual => (b, a),
            _ => return None,
        };
        let masked = |value: ValueId| match self.term(value) {
            Term::Apply { operation: Operation::And, ty, terms } => {
                let known = |at: usize| self.as_known(*terms.get(at)?)?.all();
                let (of, mask) = match (known(0), known(1)) {
                    (None, Some(mask)) => (terms[0], mask),
                    (Some(mask), None) => (terms[1], mask),
                    _ => return None,
                };
                (of == number).then_some((ty.bits, cut(mask, ty.bits)))
            }
            _ => None,
        };
        let [low, zero] = terms[..] else { return None };
        self.as_known(zero)?.all().filter(|zero| *zero == 0)?;
        let ((bits, low), (of_bits, high)) = (masked(low)?, masked(multiple)?);
        (bits == of_bits && high == cut(!low, bits)).then_some(multiple)
    }

    /// One of two values that are so much more, less that.
    pub(super) fn selected_less(&mut self, ty: Type, terms: &[ValueId], more: i64) -> Option<ValueId> {
        let [a, b, condition] = *terms else { return None };
        let one = Lanes::All(1);
        let number = self.number(cut(more as u64, 32));
        let a = self.sum(32, &[(a, one.clone()), (number, one.clone())])?;
        let b = self.sum(32, &[(b, one.clone()), (number, one.clone())])?;
        let selected = self.apply(Operation::Select, ty, &[a, b, condition]);
        let minus = self.number(cut(more.wrapping_neg() as u64, 32));
        self.sum(32, &[(selected, one.clone()), (minus, one)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::value::Term;

    #[test]
    fn a_number_or_its_multiple_is_the_multiple_where_the_low_bits_are_asked() {
        let mut values = Values::default();
        let ty = Type { bits: 32, signed: false };
        let n = values.leaf(Term::Unknown { at: 0, of_warp: true });
        let n = values.apply(Operation::Convert(Type { bits: 64, ..ty }), ty, &[n]);
        let [three, seven, high, zero] = [3, 7, 0xffff_fffc, 0].map(|number| values.number(number));
        let multiple = values.apply(Operation::And, ty, &[n, high]);
        for (mask, comparison, sides, expected) in [
            (three, Comparison::Equal, [n, multiple], true),
            (three, Comparison::NotEqual, [multiple, n], true),
            (three, Comparison::NotEqual, [n, multiple], false),
            (seven, Comparison::Equal, [n, multiple], false),
        ] {
            let low = values.apply(Operation::And, ty, &[n, mask]);
            let condition = values.apply(Operation::Compare(comparison), ty, &[low, zero]);
            let chosen = values.apply(Operation::Select, ty, &[sides[0], sides[1], condition]);
            assert_eq!(chosen == multiple, expected, "{comparison:?}");
        }
    }

    #[test]
    fn what_is_less_on_both_sides_is_taken_off_behind_the_choice() {
        let mut values = Values::default();
        let ty = Type { bits: 32, signed: false };
        let (n, condition) =
            (values.leaf(Term::Unknown { at: 0, of_warp: true }), values.leaf(Term::Same(0)));
        let n = values.apply(Operation::Convert(Type { bits: 64, ..ty }), ty, &[n]);
        let [fifteen, sixteen, minus] = [15, 16, cut(u64::MAX, 32)].map(|number| values.number(number));
        let one = Lanes::All(1);
        let less = values.sum(32, &[(n, one.clone()), (minus, one.clone())]).unwrap_or(n);
        let chosen = values.apply(Operation::Select, ty, &[fifteen, less, condition]);
        let whole = values.apply(Operation::Select, ty, &[sixteen, n, condition]);
        assert_eq!(Some(chosen), values.sum(32, &[(whole, one.clone()), (minus, one)]));
        let unlike = values.apply(Operation::Select, ty, &[n, less, condition]);
        assert!(matches!(values.term(unlike), Term::Apply { operation: Operation::Select, .. }));
    }
}

//! The lesser and the greater of a number and a known one: numbers less that, and what is written as a
//! choice.

use super::arithmetic::{apply, cut, signed};
use super::code::{Comparison, Operation, Type};
use super::lanes::Lanes;
use super::value::{Term, ValueId, Values};

/// What an operation leaves of its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leaves {
    /// One of them.
    Operand(usize),
    /// One of them, but for some of its low bits.
    Rounded(usize),
}

impl Values {
    /// `x - min(x, c)` as `max(x, c) - c`, and `x - max(x, c)` as `min(x, c) - c`, whatever wraps around: the
    /// lesser and the greater of two numbers are together what the two are.
    pub(super) fn with_extremes(
        &mut self,
        bits: u8,
        terms: &[(ValueId, Lanes)],
        known: &Lanes,
    ) -> Option<ValueId> {
        let number = Type { bits, signed: false };
        let times = |a: u64, b: u64| apply(Operation::Multiply, number, &[a, b]);
        let minus = |factor: u64| times(factor, cut(u64::MAX, bits));
        terms.iter().enumerate().find_map(|(place, (term, factor))| {
            let factor = factor.all()?;
            let Term::Apply { operation, ty, terms: of } = self.term(*term).clone() else { return None };
            let opposite = match operation {
                Operation::Minimum => Operation::Maximum,
                Operation::Maximum => Operation::Minimum,
                _ => return None,
            };
            let [a, b] = of[..] else { return None };
            let (x, c) = if self.as_known(b).is_some() { (a, b) } else { (b, a) };
            self.as_known(c)?;
            // All that x consists of has to cancel out.
            let parts = match self.term(x) {
                Term::Sum { bits: of, terms, .. } if *of == bits => terms.clone(),
                _ => vec![(x, Lanes::All(1))],
            };
            let cancels = |(part, own): &(ValueId, Lanes)| {
                let wanted = own.all().and_then(|own| times(minus(factor)?, own));
                terms.iter().any(|(term, factor)| term == part && factor.all() == wanted && wanted.is_some())
            };
            if ty.bits != bits || !parts.iter().all(cancels) {
                return None;
            }
            let other = self.apply(opposite, ty, &of);
            let constant = self.known(known.clone());
            let mut all = terms.to_vec();
            all.remove(place);
            let (same, turned) = (Lanes::All(factor), Lanes::All(minus(factor)?));
            all.extend([(x, same.clone()), (c, same), (other, turned), (constant, Lanes::All(1))]);
            self.sum(bits, &all)
        })
    }

    /// `x == 0 ? 1 : x` as the greater of x and 1, as compilers write it of what has no sign; `x < 3 ? x : 3`
    /// as the lesser of x and 3; or what the lowest bit of a number decides.
    pub(super) fn as_extreme(&mut self, ty: Type, chosen: [ValueId; 3]) -> Option<ValueId> {
        self.extreme_of(ty, chosen).or_else(|| self.by_parity(chosen))
    }

    fn extreme_of(&mut self, ty: Type, [a, b, condition]: [ValueId; 3]) -> Option<ValueId> {
        let Term::Apply { operation: Operation::Compare(comparison), ty: of, terms } =
            self.term(condition).clone()
        else {
            return None;
        };
        let (x, limit) = (terms[0], self.as_known(terms[1])?.all()?);
        if of.bits < 32 || ty.bits < of.bits || self.width(x) > of.bits {
            return None;
        }
        // The condition holds below a number, or from it on.
        let limit = self.read(of, limit);
        let (from, is_below, of) = match comparison {
            Comparison::Less => (limit, true, of),
            Comparison::LessOrEqual => (limit + 1, true, of),
            Comparison::GreaterOrEqual => (limit, false, of),
            Comparison::Greater => (limit + 1, false, of),
            // Nothing that has no sign is less than 0.
            Comparison::Equal if limit == 0 => (1, true, Type { signed: false, ..of }),
            Comparison::NotEqual if limit == 0 => (1, false, Type { signed: false, ..of }),
            Comparison::Equal | Comparison::NotEqual => return None,
        };
        let (below, above) = if is_below { (a, b) } else { (b, a) };
        let (operation, number) = match [below, above].map(|one| one == x) {
            [true, false] => (Operation::Minimum, above),
            [false, true] => (Operation::Maximum, below),
            _ => return None,
        };
        let known = self.as_known(number)?.all().filter(|known| *known == cut(*known, of.bits))?;
        let known = self.read(of, known);
        (from - 1..=from).contains(&known).then(|| self.apply(operation, of, &[x, number]))
    }

    /// What a mask leaves of a number that has no bits above it: all but those below, so that the mask may
    /// have all of the others as well.
    pub(super) fn without_low_bits(
        &mut self,
        operation: Operation,
        ty: Type,
        (operands, number): (&[ValueId], usize),
    ) -> ValueId {
        let mask = self.as_known(operands[1 - number]).and_then(Lanes::all).unwrap_or_default();
        let above = u64::MAX.checked_shl(u64::BITS - mask.leading_zeros()).unwrap_or_default();
        let mask = self.number(cut(mask | above, ty.bits));
        self.apply(operation, ty, &[operands[number], mask])
    }

    /// How many bits a number has at most, if it is not negative.
    pub(super) fn magnitude(&self, ty: Type, value: ValueId) -> u8 {
        let bits = self.width(value).min(ty.bits);
        match self.term(value) {
            Term::Apply { operation: Operation::ShiftRight, ty: of, terms } if of.signed && *of == ty => {
                let by = self.as_known(terms[1]).and_then(Lanes::all).unwrap_or(0).min(ty.bits.into());
                (ty.bits - 1).saturating_sub(by as u8)
            }
            _ => bits.min(if ty.signed { ty.bits - 1 } else { ty.bits }),
        }
    }

    /// A number as it is compared.
    fn read(&self, ty: Type, number: u64) -> i128 {
        if ty.signed { signed(number, ty.bits).into() } else { cut(number, ty.bits).into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMPARISONS: [Comparison; 6] = [
        Comparison::Equal,
        Comparison::NotEqual,
        Comparison::Less,
        Comparison::LessOrEqual,
        Comparison::Greater,
        Comparison::GreaterOrEqual,
    ];
    /// Numbers of 32 bits around those at which something changes.
    const NUMBERS: [i64; 15] =
        [0, 1, 2, 3, 4, 5, 7, 8, 127, 128, 129, -1, -2, i32::MIN as i64, i32::MAX as i64];

    fn word(number: i64) -> u64 {
        cut(number as u64, 32)
    }

    /// What a term is, where the only unknown number in it is this one.
    fn of(values: &Values, value: ValueId, x: u64) -> u64 {
        let inside = |term: &ValueId| of(values, *term, x);
        match values.term(value) {
            Term::Known(lanes) => lanes.all().expect("the same for all lanes"),
            Term::Sum { bits, terms, known } => {
                let parts =
                    terms.iter().map(|(term, by)| inside(term).wrapping_mul(by.all().expect("a factor")));
                cut(parts.fold(known.all().expect("a number"), u64::wrapping_add), *bits)
            }
            Term::Apply { operation, ty, terms } => {
                let numbers: Vec<u64> = terms.iter().map(inside).collect();
                apply(*operation, *ty, &numbers).expect("a result")
            }
            _ => x,
        }
    }

    fn unknown(values: &mut Values) -> ValueId {
        let unknown = values.leaf(Term::Unknown { at: 0, of_warp: true });
        values.apply(
            Operation::Convert(Type { bits: 64, signed: false }),
            Type { bits: 32, signed: false },
            &[unknown],
        )
    }

    #[test]
    fn what_is_written_as_a_choice_has_the_value_of_the_choice() {
        let mut extremes = 0;
        for (comparison, signed) in COMPARISONS.into_iter().flat_map(|one| [(one, false), (one, true)]) {
            for (limit, other) in NUMBERS.into_iter().flat_map(|one| NUMBERS.map(|other| (one, other))) {
                let mut values = Values::default();
                let (x, ty) = (unknown(&mut values), Type { bits: 32, signed });
                let [limit, other] = [limit, other].map(|number| values.number(word(number)));
                let condition = values.apply(Operation::Compare(comparison), ty, &[x, limit]);
                for [a, b] in [[x, other], [other, x]] {
                    let chosen =
                        values.apply(Operation::Select, Type { signed: false, ..ty }, &[a, b, condition]);
                    let term = values.term(chosen);
                    let is_extreme = |of: &Operation| matches!(of, Operation::Minimum | Operation::Maximum);
                    extremes +=
                        u32::from(matches!(term, Term::Apply { operation, .. } if is_extreme(operation)));
                    for number in NUMBERS.map(word) {
                        let holds = of(&values, condition, number) != 0;
                        let wanted = of(&values, if holds { a } else { b }, number);
                        assert_eq!(of(&values, chosen, number), wanted, "{comparison:?} {signed} {number}");
                    }
                }
            }
        }
        assert!(extremes > 100, "{extremes}");
    }

    #[test]
    fn comparisons_of_bits_and_of_complements_come_out_as_before() {
        for (comparison, number) in
            COMPARISONS.into_iter().flat_map(|one| NUMBERS.map(|number| (one, number)))
        {
            for (mask, factor) in
                NUMBERS.into_iter().flat_map(|mask| [-1, -2, 1].map(|factor| (mask, factor)))
            {
                let mut values = Values::default();
                let (x, ty) = (unknown(&mut values), Type { bits: 32, signed: false });
                let [bound, mask] = [number, mask].map(|number| values.number(word(number)));
                let masked = values.apply(Operation::And, ty, &[x, mask]);
                let sum = values.sum(32, &[(x, Lanes::All(word(factor))), (mask, Lanes::All(1))]);
                for side in [masked, sum.expect("a sum")] {
                    let condition = values.apply(Operation::Compare(comparison), ty, &[side, bound]);
                    for x in NUMBERS.map(word) {
                        let compared = [of(&values, side, x), of(&values, bound, x)];
                        let wanted = apply(Operation::Compare(comparison), ty, &compared);
                        assert_eq!(Some(of(&values, condition, x)), wanted, "{comparison:?} {number} {x}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_greater_of_two_has_no_more_bits_than_it_is_said_to_have() {
        for (by, least) in [0, 1, 7, 31].into_iter().flat_map(|by| NUMBERS.map(|least| (by, least))) {
            let mut values = Values::default();
            let (x, ty) = (unknown(&mut values), Type { bits: 32, signed: true });
            let [by, least] = [by, least].map(|number| values.number(word(number)));
            let shifted = values.apply(Operation::ShiftRight, ty, &[x, by]);
            let greater = values.apply(Operation::Maximum, ty, &[shifted, least]);
            for number in NUMBERS.map(word) {
                let found = of(&values, greater, number);
                assert_eq!(cut(found, values.width(greater)), found, "{number}");
            }
        }
    }
}

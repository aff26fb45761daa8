//! Comparisons in other words: with all that is unknown on one side, with what stands on both taken away, or
//! with both of what the lesser is taken.

use super::arithmetic::cut;
use super::code::{Comparison, Operation, Type};
use super::lanes::Lanes;
use super::terms::any;
use super::value::{Term, ValueId, Values};

/// Numbers up to which a loop may be followed round by round.
pub(super) const FEW: u64 = 20;

/// The largest mask of bits that are those of a quotient: more do not come of rounds that are taken together.
const BITS: u64 = 15;

impl Values {
    /// `i < min(n, 4)` is `i < n && i < 4`, and `i >= min(n, 4)` is `i >= n || i >= 4`; of the greater of two
    /// likewise. Only with few: a loop up to many is not followed round by round.
    pub(super) fn of_lesser(
        &mut self,
        comparison: Comparison,
        ty: Type,
        [a, b]: [ValueId; 2],
    ) -> Option<ValueId> {
        let is_less = match comparison {
            Comparison::Less | Comparison::LessOrEqual => true,
            Comparison::Greater | Comparison::GreaterOrEqual => false,
            Comparison::Equal | Comparison::NotEqual => return None,
        };
        if let Some(compared) = self.compared_by_blocks(comparison, ty, [a, b]) {
            return Some(compared);
        }
        let of = |value: ValueId| match self.term(value) {
            Term::Apply { operation: of @ (Operation::Minimum | Operation::Maximum), ty: of_ty, terms } => {
                let few =
                    |term: &ValueId| self.as_known(*term).and_then(Lanes::all).is_some_and(|n| n <= FEW);
                let is_it = *of_ty == ty && terms.len() == 2 && terms.iter().any(few);
                is_it.then(|| (*of == Operation::Minimum, [terms[0], terms[1]]))
            }
            _ => None,
        };
        // What is less than the lesser, and what the greater is less than, is so of both.
        let (is_both, pairs) = match (of(a), of(b)) {
            (_, Some((is_lesser, [x, y]))) => (is_less == is_lesser, [[a, x], [a, y]]),
            (Some((is_lesser, [x, y])), None) => (is_less != is_lesser, [[x, b], [y, b]]),
            (None, None) => return None,
        };
        let parts = pairs.map(|pair| self.apply(Operation::Compare(comparison), ty, &pair));
        let truth = Type { bits: 1, signed: false };
        Some(self.apply(if is_both { Operation::And } else { Operation::Or }, truth, &parts))
    }
}

impl Values {
    /// Whether a term is, or is not, this number.
    pub(super) fn equals(&mut self, value: ValueId, number: u64, bits: u8, negated: bool) -> Option<ValueId> {
        if self.width(value) <= 1 {
            let wanted = match number {
                0 => negated,
                1 => !negated,
                _ => return Some(self.number(u64::from(negated))),
            };
            let bit = Type { bits: 1, signed: false };
            return Some(if wanted { value } else { self.apply(Operation::LogicalNot, bit, &[value]) });
        }
        match self.term(value).clone() {
            // Of two known numbers, one or the other.
            Term::Apply { operation: Operation::Select, terms, .. } => {
                let one = self.as_known(terms[0])?.all()?;
                let other = self.as_known(terms[1])?.all()?;
                let holds = |n: u64| (cut(n, bits) == number) != negated;
                match (holds(one), holds(other)) {
                    (true, false) => self.truth(terms[2], true),
                    (false, true) => self.truth(terms[2], false),
                    (both, _) => Some(self.number(u64::from(both))),
                }
            }
            // Nothing is joined out of bits but nothing: `x | y` is 0 where both are.
            Term::Apply { operation: Operation::Or, ty, terms } if number == 0 && ty.bits <= bits => {
                let comparison = if negated { Comparison::NotEqual } else { Comparison::Equal };
                let nothing = self.number(0);
                let parts = terms
                    .iter()
                    .map(|part| self.apply(Operation::Compare(comparison), ty, &[*part, nothing]));
                let parts: Vec<ValueId> = parts.collect();
                let truth = Type { bits: 1, signed: false };
                Some(self.apply(if negated { Operation::Or } else { Operation::And }, truth, &parts))
            }
            // Bits of an unknown number from one of them on: those of what it is divided by a power of 2.
            Term::Apply { operation: Operation::And, ty, terms } if ty.bits >= 32 && ty.bits <= bits => {
                self.upper_bits(ty, [terms[0], terms[1]], number, negated)
            }
            // The negative of a bit.
            Term::Sum { terms, known, .. } if known.is_zero() && number == 0 => match terms.as_slice() {
                [(term, Lanes::All(factor))] if self.width(*term) <= 1 && factor & 1 == 1 => {
                    self.equals(*term, 0, bits, negated)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// `x & 128` is 128 or 0 where the lowest bit of `x >> 7` is 1 or 0.
    fn upper_bits(&mut self, ty: Type, terms: [ValueId; 2], number: u64, negated: bool) -> Option<ValueId> {
        let [a, b] = terms;
        let (x, mask) = match (self.as_known(a), self.as_known(b)) {
            (None, Some(mask)) => (a, mask.all()?),
            (Some(mask), None) => (b, mask.all()?),
            _ => return None,
        };
        let (from, counts) = (mask.trailing_zeros(), |term: &Term| matches!(term, Term::Meet { .. }));
        let (mask, number) =
            (mask.checked_shr(from)?, number.checked_shr(from).filter(|n| n << from == number)?);
        if from == 0 || mask & (mask + 1) != 0 || mask > BITS || number > mask || any(self, x, counts) {
            return None;
        }
        let (by, mask, number) = (self.number(from.into()), self.number(mask), self.number(number));
        let unsigned = Type { signed: false, ..ty };
        // The lowest bits are the same with a sign: it is taken as the kernel divides it.
        let signed = Term::Apply {
            operation: Operation::ShiftRight,
            ty: Type { signed: true, ..ty },
            terms: vec![x, by],
        };
        let divided = match self.find(&signed) {
            Some(found) if from + mask.count_ones() < u32::from(ty.bits) => found,
            _ => self.apply(Operation::ShiftRight, unsigned, &[x, by]),
        };
        let low = self.apply(Operation::And, unsigned, &[divided, mask]);
        let comparison = if negated { Comparison::NotEqual } else { Comparison::Equal };
        Some(self.apply(Operation::Compare(comparison), unsigned, &[low, number]))
    }

    /// Without a sign nothing is less than 0, and the greatest numbers are compared by their complements.
    pub(super) fn against_nothing(
        &mut self,
        comparison: Comparison,
        ty: Type,
        [a, b]: [ValueId; 2],
    ) -> Option<ValueId> {
        let is_0 = |value: ValueId| self.as_known(value).is_some_and(Lanes::is_zero);
        let holds = match comparison {
            Comparison::Less if is_0(b) => false,
            Comparison::GreaterOrEqual if is_0(b) => true,
            Comparison::Greater if is_0(a) => false,
            Comparison::LessOrEqual if is_0(a) => true,
            _ => return self.turned_back(comparison, ty, [a, b]),
        };
        (!ty.signed).then(|| self.number(u64::from(holds)))
    }
}

/// The width of sums that are compared so.
const WORD_BITS: u8 = 32;

/// A condition in whose comparisons of two sums what stands on both sides is taken away, if sums do not wrap
/// around.
pub(super) fn less(values: &mut Values, condition: ValueId, left: u32) -> ValueId {
    let Term::Apply { operation, ty, terms } = values.term(condition).clone() else { return condition };
    match operation {
        Operation::And | Operation::Or | Operation::LogicalNot if left > 0 => {
            let parts: Vec<ValueId> = terms.into_iter().map(|part| less(values, part, left - 1)).collect();
            values.apply(operation, ty, &parts)
        }
        Operation::Compare(_) => difference(values, (operation, ty), &terms).unwrap_or(condition),
        _ => condition,
    }
}

fn difference(values: &mut Values, (operation, ty): (Operation, Type), terms: &[ValueId]) -> Option<ValueId> {
    let [a, b] = terms[..] else { return None };
    let parts = |values: &Values, value: ValueId| match values.term(value) {
        Term::Sum { terms, .. } => terms.iter().map(|(term, _)| *term).collect(),
        _ => vec![value],
    };
    let (left, right) = (parts(values, a), parts(values, b));
    let minus = Lanes::All(cut(u64::MAX, WORD_BITS));
    if ty.bits != WORD_BITS || !ty.signed || !left.iter().any(|term| right.contains(term)) {
        return None;
    }
    let difference = values.sum(WORD_BITS, &[(a, Lanes::All(1)), (b, minus)])?;
    let zero = values.number(0);
    Some(values.apply(operation, ty, &[difference, zero]))
}

/// That one or the other of two numbers is 0 says of a product that is computed of them that it is 0: so
/// compilers ask for the one in some places and for the other elsewhere.
pub(super) fn product_is_0(values: &mut Values, operation: Operation, parts: &[ValueId]) -> Option<ValueId> {
    let of = |part: ValueId| match values.term(part) {
        Term::Apply { operation: Operation::Compare(Comparison::Equal), ty, terms } => {
            let is_0 = values.as_known(terms[1]).is_some_and(Lanes::is_zero);
            is_0.then_some((*ty, terms[0]))
        }
        _ => None,
    };
    let [one, other] = parts else { return None };
    let ((ty, a), (_, b)) = (of(*one)?, of(*other)?);
    let product = |terms: [ValueId; 2], signed: bool| {
        let ty = Type { signed, ..ty };
        values.find(&Term::Apply { operation: Operation::Multiply, ty, terms: terms.to_vec() })
    };
    let ways = [([a, b], false), ([a, b], true), ([b, a], false), ([b, a], true)];
    let product = ways.into_iter().find_map(|(terms, signed)| product(terms, signed));
    let product = product.filter(|_| operation == Operation::Or)?;
    let zero = values.number(0);
    Some(values.apply(Operation::Compare(Comparison::Equal), ty, &[product, zero]))
}

/// Whether two terms are equal, or not, with all but a number on the left, so that it does not matter from
/// where to where a loop counts.
pub(super) fn one_sided(
    values: &mut Values,
    comparison: Comparison,
    ty: Type,
    (a, b): (ValueId, ValueId),
) -> Option<ValueId> {
    let minus = Lanes::All(cut(u64::MAX, ty.bits));
    let difference = values.sum(ty.bits, &[(a, Lanes::All(1)), (b, minus.clone())])?;
    let Term::Sum { terms, known, .. } = values.term(difference).clone() else { return None };
    let known = values.known(known);
    let backwards = terms.first().is_some_and(|(_, factor)| *factor == minus);
    let (left, right) = if backwards { (minus, Lanes::All(1)) } else { (Lanes::All(1), minus) };
    let right = values.sum(ty.bits, &[(known, right)])?;
    let parts: Vec<(ValueId, Lanes)> = terms
        .into_iter()
        .map(|(term, factor)| Some((values.sum(ty.bits, &[(term, factor)])?, left.clone())))
        .collect::<Option<_>>()?;
    let left = values.sum(ty.bits, &parts)?;
    Some(values.apply(Operation::Compare(comparison), Type { signed: true, ..ty }, &[left, right]))
}

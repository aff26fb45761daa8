//! What is inside of sums that are rounded, divided, or kept from being less than a number.

use super::linear::{Asker, DEPTH};
use super::sum::Linear;
use crate::kernel::arithmetic::{cut, signed, without_sign};
use crate::kernel::code::{Comparison, Operation, Type};
use crate::kernel::lanes::Lanes;
use crate::kernel::value::{Term, ValueId};

impl Asker<'_> {
    /// `x & ~(2^k - 1)`, or `x + c - (x & (2^k - 1))`: x, 2^k - 1, and c.
    pub(super) fn rounded(&self, sum: &Linear) -> Option<(Linear, i64, i64)> {
        if let Some(alone) = sum.alone() {
            let Term::Apply { operation: Operation::And, ty: of, terms } = self.values().term(alone) else {
                return None;
            };
            let (inside, mask) = self.with_number(terms)?;
            // Bits that the number does not have need not be kept.
            let mask = !mask & !without_sign(mask, of.bits);
            let mask = cut(mask, self.values().width(inside).min(of.bits));
            let low = i64::try_from(mask).ok().filter(|mask| *mask > 0 && (mask + 1) & mask == 0)?;
            return Some((self.linear(inside, Type { signed: true, ..*of }, DEPTH)?, low, 0));
        }
        for (atom, times) in &sum.atoms {
            let Term::Apply { operation: Operation::And, ty, terms } = self.values().term(*atom) else {
                continue;
            };
            let ty = Type { signed: true, ..*ty };
            let Some((inside, mask)) = self.with_number(terms) else { continue };
            let Some(low) = i64::try_from(mask).ok().filter(|mask| (mask + 1) & mask == 0) else { continue };
            let mut rest = sum.clone();
            rest.atoms.remove(atom);
            let inside = self.linear(inside, ty, DEPTH).filter(|inside| inside.is_alike(&rest, low));
            if let (-1, Some(inside)) = (*times, inside) {
                let more = rest.known.checked_sub(inside.known)?;
                return Some((Linear { known: inside.known, ..rest }, low, more));
            }
        }
        None
    }

    /// The other of two terms, one of which is a known number.
    pub(super) fn with_number(&self, terms: &[ValueId]) -> Option<(ValueId, u64)> {
        let [a, b] = terms[..] else { return None };
        let number = |value| self.values().as_known(value).and_then(Lanes::all);
        number(b).map(|n| (a, n)).or_else(|| number(a).map(|n| (b, n)))
    }

    /// A number divided by a known one, rounded down or towards 0: it, and by what.
    pub(super) fn divided(&self, sum: &Linear) -> Option<(Linear, i64)> {
        let Term::Apply { operation, ty, terms } = self.values().term(sum.alone()?) else {
            return None;
        };
        let [a, by] = terms[..] else { return None };
        let by = i64::try_from(self.values().as_known(by)?.all()?).ok()?;
        match operation {
            Operation::Divide if by > 0 => Some((self.linear(a, *ty, DEPTH)?, by)),
            Operation::ShiftRight if by < 31 => {
                let inside = self.linear(a, *ty, DEPTH)?;
                let inside =
                    if ty.signed { self.towards_zero(&inside, by).unwrap_or(inside) } else { inside };
                Some((inside, 1 << by))
            }
            _ => None,
        }
    }

    /// `x` of `x + (x >> 31 >>> 32 - k)`, which is how compilers prepare a signed division by 2^k.
    pub(super) fn towards_zero(&self, sum: &Linear, k: i64) -> Option<Linear> {
        let ty = Type { bits: 32, signed: true };
        let shifted = |value: ValueId, is_signed: bool, by: i64| match self.values().term(value) {
            Term::Apply { operation: Operation::ShiftRight, ty, terms } if ty.signed == is_signed => {
                let number = self.values().as_known(terms[1])?.all()?;
                (ty.bits == 32 && number as i64 == by).then_some(terms[0])
            }
            _ => None,
        };
        let mut fixes = sum.atoms.iter().filter(|(_, times)| **times == 1).filter_map(|(atom, _)| {
            let inside = shifted(*atom, false, 32 - k)?;
            let whole =
                if k == 1 { shifted(inside, true, 31).or(Some(inside)) } else { shifted(inside, true, 31) };
            Some((*atom, whole?))
        });
        let (atom, whole) = fixes.next()?;
        let mut rest = sum.clone();
        rest.atoms.remove(&atom);
        (Some(&rest) == self.linear(whole, ty, DEPTH).as_ref()).then_some(rest)
    }

    /// Whether a number of 32 bits cannot be negative: `(max(n, 4) >> 1) - 1`.
    pub(super) fn is_natural(&self, value: ValueId) -> bool {
        self.least(value, DEPTH).is_some_and(|least| least >= 0)
    }

    /// What a number of 32 bits is at least, as far as the greater of a number and a known one says so. Sums
    /// are taken not to overflow.
    fn least(&self, value: ValueId, left: u32) -> Option<i64> {
        let left = left.checked_sub(1)?;
        match self.values().term(value) {
            Term::Known(lanes) => Some(signed(lanes.all()?, 32)),
            Term::Sum { bits: 32, terms, known } => {
                terms.iter().try_fold(signed(known.all()?, 32), |sum, (term, factor)| {
                    let factor = signed(factor.all()?, 32);
                    let least = self.least(*term, left).filter(|_| factor > 0)?;
                    sum.checked_add(least.checked_mul(factor)?)
                })
            }
            Term::Apply { operation: Operation::Maximum, ty, terms } if ty.signed => {
                let (_, number) = self.with_number(terms)?;
                Some(signed(number, ty.bits))
            }
            Term::Apply { operation: Operation::ShiftRight, terms, .. } => {
                let by = self.values().as_known(terms[1])?.all().filter(|by| *by < 31)?;
                self.least(terms[0], left).filter(|least| *least >= 0).map(|least| least >> by)
            }
            _ => None,
        }
    }

    /// The greater of a number and a known one.
    pub(super) fn raised(&self, sum: &Linear) -> Option<(Linear, i64)> {
        let alone = sum.alone().filter(|alone| self.keys.bounded(*alone).is_none())?;
        match self.values().term(alone) {
            Term::Apply { operation: Operation::Maximum, ty, terms } => {
                let (inside, number) = self.with_number(terms)?;
                let number = if ty.signed { signed(number, ty.bits) } else { i64::try_from(number).ok()? };
                Some((self.linear(inside, *ty, DEPTH)?, number))
            }
            Term::Apply { operation: Operation::Select, ty, terms } => {
                let [a, b, condition] = terms[..] else { return None };
                self.selected((a, b, condition), *ty)
            }
            _ => None,
        }
    }

    /// The lesser of a number and a known one.
    pub(super) fn capped(&self, sum: &Linear) -> Option<(Linear, i64)> {
        let Term::Apply { operation: Operation::Minimum, ty, terms } = self.values().term(sum.alone()?)
        else {
            return None;
        };
        let (inside, number) = self.with_number(terms)?;
        let number = if ty.signed { signed(number, ty.bits) } else { i64::try_from(number).ok()? };
        Some((self.linear(inside, *ty, DEPTH)?, number))
    }

    /// `x < c ? n : f(x)` with an f that grows with x, where f is at most n below c and at least n from there
    /// on: that is the greater of f(x) and n, as in `x < 1 ? 1 : (x + 255) / 256`.
    fn selected(&self, (a, b, condition): (ValueId, ValueId, ValueId), ty: Type) -> Option<(Linear, i64)> {
        let Term::Apply { operation: Operation::Compare(comparison), ty: of, terms } =
            self.values().term(condition)
        else {
            return None;
        };
        let (x, c) = self.with_number(terms).filter(|(x, _)| of.signed && *x == terms[0])?;
        let c = signed(c, of.bits);
        // The condition holds below this, or from it on.
        let (from, number, grows) = match comparison {
            Comparison::Less => (c, a, b),
            Comparison::LessOrEqual => (c.checked_add(1)?, a, b),
            Comparison::GreaterOrEqual => (c, b, a),
            Comparison::Greater => (c.checked_add(1)?, b, a),
            Comparison::Equal | Comparison::NotEqual => return None,
        };
        let number = signed(self.values().as_known(number)?.all()?, ty.bits);
        let inside = self.linear(grows, Type { signed: true, ..ty }, DEPTH)?;
        let x = self.linear(x, *of, DEPTH)?;
        let at = |value| self.at(&inside, &x, value, DEPTH);
        (at(from.checked_sub(1)?)? <= number && number <= at(from)?).then_some((inside, number))
    }

    /// What a sum that grows with another one, and with nothing else, is where that one is a number.
    fn at(&self, sum: &Linear, x: &Linear, value: i64, left: u32) -> Option<i64> {
        let left = left.checked_sub(1)?;
        let mut rest = sum.clone();
        rest.known = 0;
        let x_alone = Linear { known: 0, ..x.clone() };
        let known = if rest == x_alone {
            value.checked_sub(x.known)?
        } else if let Some((inside, mask, more)) = self.rounded(&rest) {
            (self.at(&inside, x, value, left)? & !mask).checked_add(more)?
        } else if let Some((inside, by)) = self.divided(&rest) {
            self.at(&inside, x, value, left)?.div_euclid(by)
        } else {
            return None;
        };
        known.checked_add(sum.known)
    }

    /// `x - min(x, c)`, which is the greater of `x - c` and 0.
    pub(super) fn lowered(&self, sum: &Linear) -> Option<(Linear, i64)> {
        sum.atoms.iter().filter(|(_, times)| **times == -1).find_map(|(atom, _)| {
            let Term::Apply { operation: Operation::Minimum, ty, terms } = self.values().term(*atom) else {
                return None;
            };
            let (inside, number) = self.with_number(terms)?;
            let number = if ty.signed { signed(number, ty.bits) } else { i64::try_from(number).ok()? };
            let mut rest = sum.clone();
            rest.atoms.remove(atom);
            let mut inside = self.linear(inside, *ty, DEPTH)?;
            if inside != rest {
                return None;
            }
            inside.known = inside.known.checked_sub(number)?;
            Some((inside, 0))
        })
    }
}

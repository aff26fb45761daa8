//! Divisions by known numbers as compilers write them, and what they leave: `x * M >> s` is `x / d`, and
//! `x - x / d * d` is `x % d`.
//!
//! A number of n bits times M, shifted right by s, is the number divided by d and rounded down if
//! `M * d = 2^s + e` with `0 <= e <= 2^(s - n)` (Granlund and Montgomery 1994, theorem 4.2).

use super::arithmetic::{apply, cut, signed, width};
use super::code::{Operation, Type};
use super::lanes::Lanes;
use super::value::{Term, ValueId, Values};

const WORD: Type = Type { bits: 32, signed: false };
const SIGNED: Type = Type { bits: 32, signed: true };

/// By what numbers of so many bits are divided that are multiplied by this and shifted right.
fn divisor(multiplier: u128, shift: u32, bits: u32) -> Option<u64> {
    if multiplier == 0 || shift < bits || shift > 100 {
        return None;
    }
    let power = 1_u128 << shift;
    let divisor = power.div_ceil(multiplier);
    let more = multiplier.checked_mul(divisor)?.checked_sub(power)?;
    (more <= 1 << (shift - bits) && (2..1 << 31).contains(&divisor)).then_some(divisor as u64)
}

impl Values {
    /// How many bits the result of an operation has at most.
    pub(super) fn bits(&self, operation: Operation, ty: Type, terms: &[ValueId]) -> u8 {
        match (operation, terms) {
            (Operation::And, [a, b]) => self.width(*a).min(self.width(*b)).min(ty.bits),
            (Operation::Or | Operation::Xor, [a, b]) => self.width(*a).max(self.width(*b)).min(ty.bits),
            (Operation::Select, [a, b, _]) => self.width(*a).max(self.width(*b)).min(ty.bits),
            (Operation::ShiftRight, [a, by]) if !ty.signed => {
                let by = self.as_known(*by).and_then(Lanes::all).unwrap_or(0).min(64) as u8;
                self.width(*a).min(ty.bits).saturating_sub(by)
            }
            (Operation::Remainder, [_, by]) if !ty.signed => {
                let by = self.as_known(*by).and_then(Lanes::all);
                by.map_or(ty.bits, |by| 64 - by.saturating_sub(1).leading_zeros() as u8).min(ty.bits)
            }
            (Operation::Maximum, [a, b]) => {
                let least = |value: &ValueId| Some(signed(self.as_known(*value)?.all()?, ty.bits));
                let is_natural = !ty.signed || [a, b].into_iter().filter_map(least).any(|least| least >= 0);
                let all = width(operation, ty);
                if is_natural { self.magnitude(ty, *a).max(self.magnitude(ty, *b)).min(all) } else { all }
            }
            _ => width(operation, ty),
        }
    }

    /// A number shifted right without its sign, if that divides another one.
    pub(super) fn shifted(&mut self, ty: Type, value: ValueId, by: u64) -> Option<ValueId> {
        let by = u32::try_from(by).ok().filter(|by| (1..64).contains(by))?;
        if ty.signed {
            return None;
        }
        let (of, divisor) = match ty.bits {
            64 => {
                let (of, multiplier) = self.wide_product(value)?;
                (of, divisor(multiplier.into(), by, self.width(of).max(1).into())?)
            }
            32 => match *self.term(value) {
                Term::Apply { operation: Operation::MultiplyHigh, ty: WORD, .. } => {
                    let (of, multiplier) = self.high_product(value)?;
                    (of, divisor(multiplier.into(), 32 + by, self.width(of).clamp(1, 32).into())?)
                }
                _ => match self.short_product(value) {
                    Some((of, multiplier)) => {
                        (of, divisor(multiplier.into(), by, self.width(of).max(1).into())?)
                    }
                    None => self.averaged(value, by)?,
                },
            },
            _ => return None,
        };
        self.divided(of, divisor)
    }

    /// Some of the bits of a product, from one of them on, that are those of a quotient.
    pub(super) fn bits_of_quotient(
        &mut self,
        ty: Type,
        product: ValueId,
        (from, count): (ValueId, ValueId),
    ) -> Option<ValueId> {
        let count = self.as_known(count)?.all().filter(|count| *count < 32)?;
        let from = self.as_known(from)?.all().filter(|from| from + count <= 32)?;
        let quotient = self.shifted(ty, product, from)?;
        let mask = self.number((1 << count) - 1);
        Some(self.apply(Operation::And, ty, &[quotient, mask]))
    }

    /// A number of 32 bits without a sign divided by a known one.
    fn divided(&mut self, of: ValueId, by: u64) -> Option<ValueId> {
        // Twice rounded down is once.
        if let Term::Apply { operation: Operation::ShiftRight, ty, terms } = self.term(of).clone()
            && !ty.signed
            && ty.bits == 32
            && let Some(first) = self.as_known(terms[1]).and_then(Lanes::all).filter(|first| *first < 8)
            && by < 1 << 24
        {
            return self.divided(terms[0], by << first);
        }
        let by = self.number(by);
        Some(self.apply(Operation::Divide, WORD, &[of, by]))
    }

    /// `x * M` of 64 bits with an x of 32.
    fn wide_product(&self, value: ValueId) -> Option<(ValueId, u64)> {
        let Term::Sum { bits: 64, terms, known } = self.term(value) else { return None };
        let [(of, Lanes::All(multiplier))] = terms.as_slice() else { return None };
        if !known.is_zero() || self.width(*of) > 32 || *multiplier >> 32 != 0 {
            return None;
        }
        match self.term(*of) {
            Term::Apply { operation: Operation::Convert(from), terms, .. } if *from == WORD => {
                Some((terms[0], *multiplier))
            }
            _ => Some((*of, *multiplier)),
        }
    }

    /// `x * M` with an x of so few bits that the product has 32.
    fn short_product(&self, value: ValueId) -> Option<(ValueId, u64)> {
        let Term::Sum { bits: 32, terms, known } = self.term(value) else { return None };
        let [(of, Lanes::All(multiplier))] = terms.as_slice() else { return None };
        let bits = u64::BITS - multiplier.leading_zeros();
        let fits = known.is_zero() && u32::from(self.width(*of)) + bits <= 32;
        fits.then_some((*of, *multiplier))
    }

    /// The upper half of `x * M`, with an x of 32 bits.
    fn high_product(&self, value: ValueId) -> Option<(ValueId, u64)> {
        match self.term(value) {
            Term::Apply { operation: Operation::MultiplyHigh, ty: WORD, terms } => {
                let number = |value| self.as_known(value).and_then(Lanes::all);
                let [a, b] = terms[..] else { return None };
                number(b).map(|m| (a, m)).or_else(|| number(a).map(|m| (b, m)))
            }
            Term::Apply { operation: Operation::ShiftRight, ty, terms } => {
                let by = self.as_known(terms[1])?.all()?;
                if (ty.bits, ty.signed, by) == (64, false, 32) { self.wide_product(terms[0]) } else { None }
            }
            _ => None,
        }
    }

    /// `((x - q >> 1) + q) >> by`, where q is the upper half of `x * M`: x times `2^32 + M`, shifted.
    fn averaged(&self, value: ValueId, by: u32) -> Option<(ValueId, u64)> {
        let Term::Sum { bits: 32, terms, known } = self.term(value) else { return None };
        let ([(a, Lanes::All(1)), (b, Lanes::All(1))], true) = (terms.as_slice(), known.is_zero()) else {
            return None;
        };
        [(*a, *b), (*b, *a)].into_iter().find_map(|(half, high)| {
            let (of, multiplier) = self.high_product(high)?;
            let Term::Apply { operation: Operation::ShiftRight, ty: WORD, terms } = self.term(half) else {
                return None;
            };
            let difference = self.plain(terms[0], 32);
            let expected = self.less(of, high)?;
            if self.as_known(terms[1])?.all()? != 1 || difference != expected {
                return None;
            }
            Some((of, divisor((1 << 32) + u128::from(multiplier), 33 + by, 32)?))
        })
    }

    /// The terms of a number of so many bits as those of a sum.
    fn plain(&self, value: ValueId, of_bits: u8) -> (Vec<(ValueId, Lanes)>, Lanes) {
        match self.term(value) {
            Term::Sum { bits, terms, known } if *bits == of_bits => (terms.clone(), known.clone()),
            Term::Known(lanes) => (Vec::new(), lanes.clone()),
            _ => (vec![(value, Lanes::All(1))], Lanes::All(0)),
        }
    }

    /// The terms of the difference of two numbers of 32 bits, the second of which is no sum.
    fn less(&self, a: ValueId, b: ValueId) -> Option<(Vec<(ValueId, Lanes)>, Lanes)> {
        let (mut terms, known) = self.plain(a, 32);
        if terms.iter().any(|(term, _)| *term == b) {
            return None;
        }
        terms.push((b, Lanes::All(cut(u64::MAX, 32))));
        terms.sort_by_key(|(term, _)| *term);
        Some((terms, known))
    }

    /// Terms of a sum of which some are a quotient, or what a division leaves: those instead of them.
    pub(super) fn with_quotients(
        &mut self,
        bits: u8,
        terms: &[(ValueId, Lanes)],
        known: &Lanes,
    ) -> Option<ValueId> {
        if bits != 32 {
            return None;
        }
        let quotient = self.signed_quotient(terms).map(|terms| (terms, known.clone()));
        let quotient = quotient.or_else(|| self.lowest_of(terms, known));
        let (mut terms, known) = quotient.or_else(|| self.remainder(terms, known))?;
        let known = self.known(known);
        terms.push((known, Lanes::All(1)));
        self.sum(bits, &terms)
    }

    /// `8 * x - 8 * (x & 0x1ffffffc)`, which is `8 * (x & 3)`: what a mask leaves out, as far as it counts.
    fn lowest_of(
        &mut self,
        terms: &[(ValueId, Lanes)],
        known: &Lanes,
    ) -> Option<(Vec<(ValueId, Lanes)>, Lanes)> {
        for (at, (masked, factor)) in terms.iter().enumerate() {
            let Term::Apply { operation: Operation::And, ty, terms: parts } = self.term(*masked) else {
                continue;
            };
            let number = |value| self.as_known(value).and_then(Lanes::all);
            let [a, b] = parts[..] else { continue };
            let (ty, of) = (*ty, number(b).map(|mask| (a, mask)).or_else(|| number(a).map(|mask| (b, mask))));
            let (Some((of, mask)), Some(by)) = (of, factor.all()) else { continue };
            let counts = cut(u64::MAX, 32_u32.saturating_sub(by.trailing_zeros()) as u8);
            let left = !mask & counts;
            let plain = self.plain(of, 32);
            if ty.bits != 32 || !(1..1 << 16).contains(&left) || plain.0.is_empty() {
                continue;
            }
            // Without what is masked there has to be nothing of it left.
            let others =
                terms.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, part)| part.clone());
            let others: Vec<_> = others.collect();
            let scaled =
                |lanes: &Lanes| Lanes::map(&[lanes, factor], |n| apply(Operation::Multiply, WORD, n));
            let mut rest = others.clone();
            for (term, times) in &plain.0 {
                let wanted = Lanes::map(&[&scaled(times)?], |n| apply(Operation::Negate, WORD, n))?;
                let place = rest.iter().position(|part| *part == (*term, wanted.clone()));
                match place {
                    Some(place) => drop(rest.remove(place)),
                    None => break,
                }
            }
            if rest.len() + plain.0.len() != others.len() {
                continue;
            }
            let known = Lanes::map(&[known, &scaled(&plain.1)?], |n| apply(Operation::Add, WORD, n))?;
            let left = self.number(left);
            let low = self.apply(Operation::And, WORD, &[of, left]);
            rest.push((low, Lanes::map(&[factor], |n| apply(Operation::Negate, WORD, n))?));
            return Some((rest, known));
        }
        None
    }

    /// `h + (h >>> 31)` or `(h >> s) + (h >>> 31)`, where h is the upper half of a signed `x * M`, or x more:
    /// a quotient rounded towards 0.
    fn signed_quotient(&mut self, terms: &[(ValueId, Lanes)]) -> Option<Vec<(ValueId, Lanes)>> {
        for (sign, factor) in terms {
            let Some((high, 31)) = self.shift_right(*sign, WORD) else { continue };
            for (main, _) in terms.iter().filter(|(main, same)| main != sign && same == factor) {
                let by = match self.shift_right(*main, SIGNED) {
                    Some((of, by)) if of == high => by,
                    _ if *main == high => 0,
                    _ => continue,
                };
                let Some((of, multiplier)) = self.signed_product(high) else { continue };
                let Some(by) = divisor(multiplier, 32 + by, 31) else { continue };
                let by = self.number(by);
                let quotient = self.apply(Operation::Divide, SIGNED, &[of, by]);
                let rest = terms.iter().filter(|part| part.0 != *sign && part.0 != *main);
                return Some(rest.cloned().chain([(quotient, factor.clone())]).collect());
            }
        }
        None
    }

    /// What is shifted right by how much, in this type.
    fn shift_right(&self, value: ValueId, of: Type) -> Option<(ValueId, u32)> {
        match self.term(value) {
            Term::Apply { operation: Operation::ShiftRight, ty, terms } if *ty == of => {
                Some((terms[0], u32::try_from(self.as_known(terms[1])?.all()?).ok().filter(|by| *by < 32)?))
            }
            _ => None,
        }
    }

    /// The upper half of a signed `x * M`. Where M has its highest bit set, x is added, as it counts less
    /// than nothing there.
    fn signed_product(&self, value: ValueId) -> Option<(ValueId, u128)> {
        let product = |value| match self.term(value) {
            Term::Apply { operation: Operation::MultiplyHigh, ty: SIGNED, terms } => {
                let number = |value| self.as_known(value).and_then(Lanes::all);
                let [a, b] = terms[..] else { return None };
                number(b).map(|m| (a, m)).or_else(|| number(a).map(|m| (b, m)))
            }
            _ => None,
        };
        if let Some((of, multiplier)) = product(value) {
            // A power of two is no divisor's.
            let is_plain = multiplier >> 31 == 0 && !multiplier.is_power_of_two();
            return is_plain.then_some((of, multiplier.into()));
        }
        let Term::Sum { bits: 32, terms, known } = self.term(value) else { return None };
        terms.iter().filter(|(_, factor)| *factor == Lanes::All(1)).find_map(|(term, _)| {
            let (of, multiplier) = product(*term).filter(|(_, multiplier)| multiplier >> 31 == 1)?;
            let mut whole = self.plain(of, 32);
            whole.0.push((*term, Lanes::All(1)));
            whole.0.sort_by_key(|(term, _)| *term);
            (whole == (terms.clone(), known.clone())).then_some((of, multiplier.into()))
        })
    }

    /// `x - x / d * d`, or `x - (x & -2^k)`, or so many times that.
    fn remainder(
        &mut self,
        terms: &[(ValueId, Lanes)],
        known: &Lanes,
    ) -> Option<(Vec<(ValueId, Lanes)>, Lanes)> {
        for (part, factor) in terms {
            let Some((of, by, rest)) = self.part_of_division(*part) else { continue };
            let Some(factor) = factor.all().map(|factor| -signed(factor, 32)) else { continue };
            let times = factor.checked_div(by).filter(|times| *times > 0 && times * by == factor);
            let Some(times) = times.map(|times| times as u64) else { continue };
            let (inside, more) = self.plain(of, 32);
            let (Some(known), Some(more)) = (known.all(), more.all()) else { continue };
            let scaled = |(term, factor): &(ValueId, Lanes)| {
                Some((*term, Lanes::All(cut(factor.all()?.wrapping_mul(times), 32))))
            };
            let Some(inside) = inside.iter().map(scaled).collect::<Option<Vec<_>>>() else { continue };
            if !inside.iter().all(|part| terms.contains(part)) {
                continue;
            }
            let (operation, ty, with) = rest;
            let with = self.number(with);
            let rest = self.apply(operation, ty, &[of, with]);
            let mut parts: Vec<(ValueId, Lanes)> =
                terms.iter().filter(|other| other.0 != *part && !inside.contains(other)).cloned().collect();
            parts.push((rest, Lanes::All(times)));
            return Some((parts, Lanes::All(cut(known.wrapping_sub(more.wrapping_mul(times)), 32))));
        }
        None
    }

    /// Of a quotient `x / d`, or of `x & -2^k`: x, how many times the value is taken from it, and by which
    /// operation and number is found what that leaves.
    fn part_of_division(&self, value: ValueId) -> Option<(ValueId, i64, (Operation, Type, u64))> {
        let Term::Apply { operation, ty, terms } = self.term(value) else { return None };
        let [of, by] = terms[..] else { return None };
        let by = self.as_known(by)?.all()?;
        match operation {
            _ if ty.bits != 32 => None,
            Operation::Divide => Some((of, by as i64, (Operation::Remainder, *ty, by))),
            Operation::And => {
                let left = cut(!by, 32);
                (left < 1 << 31 && (left + 1).is_power_of_two()).then_some((
                    of,
                    1,
                    (Operation::And, *ty, left),
                ))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::code::Code;

    #[test]
    fn several_times_what_a_division_leaves_is_that_many_times_the_rest() {
        let mut values = Values::of(&Code::default());
        let x = values.leaf(Term::Meet { block: 0, register: 0 });
        let [three, eight, times] = [3, 8, 24].map(|number| values.number(number));
        let quotient = values.apply(Operation::Divide, WORD, &[x, three]);
        let rest = values.apply(Operation::Remainder, WORD, &[x, three]);
        let left = |values: &mut Values, factor: ValueId| {
            let whole = values.apply(Operation::Multiply, WORD, &[x, eight]);
            let less = values.apply(Operation::Multiply, WORD, &[quotient, factor]);
            values.apply(Operation::Subtract, WORD, &[whole, less])
        };
        let found = left(&mut values, times);
        assert_eq!(found, values.apply(Operation::Multiply, WORD, &[rest, eight]));
        // With another factor something of the quotient is left.
        let found = left(&mut values, eight);
        let Term::Sum { terms, .. } = values.term(found) else { panic!("no sum") };
        assert!(terms.iter().any(|(term, _)| *term == quotient));
    }

    #[test]
    fn bits_of_a_product_are_those_of_the_quotient_that_begins_there() {
        let mut values = Values::of(&Code::default());
        let x = values.leaf(Term::Meet { block: 0, register: 0 });
        let multiplier = values.number(0xaaaa_aaab);
        let product = values.apply(Operation::MultiplyHigh, WORD, &[x, multiplier]);
        let [one, two, three] = [1, 2, 3].map(|number| values.number(number));
        let bit = values.apply(Operation::ExtractBits, WORD, &[product, one, one]);
        let quotient = values.apply(Operation::Divide, WORD, &[x, three]);
        assert_eq!(bit, values.apply(Operation::And, WORD, &[quotient, one]));
        // The bit after it is the lowest of a quotient by six.
        let bit = values.apply(Operation::ExtractBits, WORD, &[product, two, one]);
        let six = values.number(6);
        let quotient = values.apply(Operation::Divide, WORD, &[x, six]);
        assert_eq!(bit, values.apply(Operation::And, WORD, &[quotient, one]));
    }

    #[test]
    fn multiplications_that_divide_are_told_from_those_that_do_not() {
        // As compilers write division by 3, 6 and 5.
        assert_eq!(divisor(0xaaaa_aaab, 33, 32), Some(3));
        assert_eq!(divisor(0xaaaa_aaab, 34, 32), Some(6));
        assert_eq!(divisor(0xcccc_cccd, 34, 32), Some(5));
        // One bit is missing for a seventh of 32 bits, none for one of 31.
        assert_eq!(divisor(0x2492_4925, 32, 32), None);
        assert_eq!(divisor(0x2492_4925, 32, 30), Some(7));
        assert_eq!(divisor(0x1_2492_4925, 35, 32), Some(7));
        assert_eq!(divisor(0xaaaa_aaac, 33, 32), None);
        for (multiplier, shift, by) in [(0xaaaa_aaab_u128, 34, 6_u128), (0x1_2492_4925, 35, 7)] {
            for number in [0_u128, 1, 5, 6, 7, 41, 42, 1 << 31, u32::MAX as u128 - 1, u32::MAX as u128] {
                assert_eq!((number * multiplier) >> shift, number / by, "{number}");
            }
        }
    }

    /// `x` of 32 bits, and operations on it.
    fn values() -> (Values, ValueId) {
        let code = Code { bits: vec![32], ..Code::default() };
        let mut values = Values::of(&code);
        let x = values.leaf(Term::Meet { block: 0, register: 0 });
        (values, x)
    }

    #[test]
    fn what_compilers_write_for_a_remainder_is_one() {
        let (mut values, x) = values();
        let (magic, by, six) = (values.number(0xaaaa_aaab), values.number(34), values.number(6));
        let wide = values.apply(Operation::MultiplyWide, WORD, &[x, magic]);
        let long = Type { bits: 64, signed: false };
        let quotient = values.apply(Operation::ShiftRight, long, &[wide, by]);
        let quotient = values.apply(Operation::Convert(long), WORD, &[quotient]);
        assert_eq!(quotient, values.apply(Operation::Divide, WORD, &[x, six]));
        let product = values.apply(Operation::Multiply, WORD, &[quotient, six]);
        let rest = values.apply(Operation::Subtract, WORD, &[x, product]);
        assert_eq!(rest, values.apply(Operation::Remainder, WORD, &[x, six]));
    }

    #[test]
    fn a_seventh_is_one_though_its_number_has_33_bits() {
        for is_wide in [false, true] {
            let (mut values, x) = values();
            let magic = values.number(0x2492_4925);
            let high = if is_wide {
                let long = Type { bits: 64, signed: false };
                let (wide, by) =
                    (values.apply(Operation::MultiplyWide, WORD, &[x, magic]), values.number(32));
                let high = values.apply(Operation::ShiftRight, long, &[wide, by]);
                values.apply(Operation::Convert(long), WORD, &[high])
            } else {
                values.apply(Operation::MultiplyHigh, WORD, &[x, magic])
            };
            seventh(values, x, high);
        }
    }

    fn seventh(mut values: Values, x: ValueId, high: ValueId) {
        let [one, two, seven] = [1, 2, 7].map(|number| values.number(number));
        let half = values.apply(Operation::Subtract, WORD, &[x, high]);
        let half = values.apply(Operation::ShiftRight, WORD, &[half, one]);
        let sum = values.apply(Operation::Add, WORD, &[half, high]);
        let quotient = values.apply(Operation::ShiftRight, WORD, &[sum, two]);
        assert_eq!(quotient, values.apply(Operation::Divide, WORD, &[x, seven]));
    }

    #[test]
    fn signed_quotients_are_rounded_towards_0() {
        for (magic, by, divisor) in [(0x5555_5556, 0, 3), (0x6666_6667, 1, 5), (0x9249_2493, 2, 7)] {
            let (mut values, x) = values();
            let [magic, shift, sign, divisor] = [magic, by, 31, divisor].map(|number| values.number(number));
            let mut high = values.apply(Operation::MultiplyHigh, SIGNED, &[x, magic]);
            if by == 2 {
                high = values.apply(Operation::Add, SIGNED, &[high, x]);
            }
            let sign = values.apply(Operation::ShiftRight, WORD, &[high, sign]);
            let main =
                if by == 0 { high } else { values.apply(Operation::ShiftRight, SIGNED, &[high, shift]) };
            let quotient = values.apply(Operation::Add, SIGNED, &[main, sign]);
            assert_eq!(quotient, values.apply(Operation::Divide, SIGNED, &[x, divisor]));
        }
    }
}

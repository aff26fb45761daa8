//! Lanes of one block of numbers: `tid + 128 * i < n & -128` comes out the same for all 128 threads, as does
//! `((n & -128) - 1 - tid) >> 7`.
//!
//! Where all else in a sum is a multiple of 2^k, what lanes add below that changes its lowest k bits alone:
//! no bit is carried. Whether it is less than another multiple, and what is left without these bits, goes by
//! the multiple that is below it.

use super::alignment::{Meets, zeros};
use super::arithmetic::cut;
use super::code::{Comparison, Operation, Type};
use super::lanes::{Lanes, WIDTH};
use super::value::{Term, ValueId, Values};

/// Low bits of numbers that are compared, at most.
const MOST: u32 = 31;

impl Values {
    /// A comparison of which it is the same for all lanes how it comes out, without what they differ in.
    pub(super) fn compared_by_blocks(
        &mut self,
        comparison: Comparison,
        ty: Type,
        [a, b]: [ValueId; 2],
    ) -> Option<ValueId> {
        let (sum, multiple, is_first) = match comparison {
            Comparison::Less | Comparison::GreaterOrEqual => (a, b, true),
            Comparison::Greater | Comparison::LessOrEqual => (b, a, false),
            Comparison::Equal | Comparison::NotEqual => return None,
        };
        let of_multiple = zeros(self, &Meets::new(), multiple).min(MOST);
        let block = self.block(sum, ty, of_multiple)?;
        let sides = if is_first { [block, multiple] } else { [multiple, block] };
        Some(self.apply(Operation::Compare(comparison), ty, &sides))
    }

    /// What is left without the lowest bits, in which alone lanes differ.
    pub(super) fn shifted_by_blocks(&mut self, ty: Type, value: ValueId, by: ValueId) -> Option<ValueId> {
        let count =
            self.as_known(by)?.all().and_then(|by| u32::try_from(by).ok()).filter(|by| *by <= MOST)?;
        let block = self.block(value, ty, count)?;
        Some(self.apply(Operation::ShiftRight, ty, &[block, by]))
    }

    /// The multiple of 2^k, or of a lower power of 2, that a sum is in all lanes but for lower bits.
    fn block(&mut self, sum: ValueId, ty: Type, k: u32) -> Option<ValueId> {
        let (bits, terms, known) = match self.term(sum).clone() {
            Term::Sum { bits, terms, known: known @ Lanes::Each(_) } => (bits, terms, known),
            Term::Known(known @ Lanes::Each(_)) => (ty.bits, Vec::new(), known),
            _ => return None,
        };
        let mut k = k;
        for (term, factor) in &terms {
            k = k.min(zeros(self, &Meets::new(), *term) + factor.all()?.trailing_zeros());
        }
        if k == 0 || bits != ty.bits {
            return None;
        }
        let below = Lanes::each(WIDTH, |lane| cut(known.get(lane) >> k << k, bits));
        let below = self.known(Lanes::All(below.all()?));
        let mut parts = terms;
        parts.push((below, Lanes::All(1)));
        self.sum(bits, &parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::value::Term;

    const WORD: Type = Type { bits: 32, signed: true };

    /// `n & -multiple`, and a number of each lane from one on, as so many bits.
    fn sides(values: &mut Values, multiple: i64, from: i64, times: i64) -> [ValueId; 2] {
        let n = values.leaf(Term::Unknown { at: 0, of_warp: true });
        let n = values.apply(Operation::Convert(Type { bits: 64, ..WORD }), WORD, &[n]);
        let mask = values.number(cut((-multiple) as u64, 32));
        let multiple = values.apply(Operation::And, WORD, &[n, mask]);
        let lanes = Lanes::each(WIDTH, |lane| cut((from + times * lane as i64) as u64, 32));
        [multiple, values.known(lanes)]
    }

    #[test]
    fn threads_of_a_block_come_out_the_same_against_its_multiples_and_no_others() {
        let one = Lanes::All(1);
        for (multiple, from, is_same) in
            [(128, 32, true), (128, 96, true), (128, 112, false), (16, 32, false)]
        {
            let mut values = Values::default();
            let [bound, lanes] = sides(&mut values, multiple, from, 1);
            let own = values.leaf(Term::Unknown { at: 1, of_warp: true });
            let own = values.apply(Operation::Convert(Type { bits: 64, ..WORD }), WORD, &[own]);
            let own = values.sum(32, &[(own, Lanes::All(128))]).expect("a sum");
            let index = values.sum(32, &[(own, one.clone()), (lanes, one.clone())]).expect("a sum");
            let less = values.compared_by_blocks(Comparison::Less, WORD, [index, bound]);
            assert_eq!(less.is_some(), is_same, "{multiple} {from}");
            let equal = values.compared_by_blocks(Comparison::LessOrEqual, WORD, [index, bound]);
            assert_eq!(equal, None, "lane 0 may be the bound itself");
        }
    }

    #[test]
    fn what_is_left_without_the_low_bits_is_that_of_the_multiple_below() {
        let mut values = Values::default();
        let [bound, lanes] = sides(&mut values, 128, -33, -1);
        let one = Lanes::All(1);
        let rest = values.sum(32, &[(bound, one.clone()), (lanes, one.clone())]).expect("a sum");
        let [seven, five, four, minus] =
            [7, 5, 4, cut(-128_i64 as u64, 32)].map(|number| values.number(number));
        let below = values.sum(32, &[(bound, one.clone()), (minus, one)]).expect("a sum");
        let unsigned = Type { signed: false, ..WORD };
        let expected = values.apply(Operation::ShiftRight, unsigned, &[below, seven]);
        assert_eq!(values.shifted_by_blocks(unsigned, rest, seven), Some(expected));
        assert!(values.shifted_by_blocks(unsigned, rest, five).is_some(), "-33 to -64 are one block of 32");
        assert_eq!(values.shifted_by_blocks(unsigned, rest, four), None);
    }
}

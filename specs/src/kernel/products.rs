//! Products and equations of unknown numbers: `n * (i + 1)` is `n * i + n`, in whichever order compilers
//! write it, and `n + i == n + 4` is `i == 4`.

use super::code::{Operation, Type};
use super::lanes::Lanes;
use super::value::{Term, ValueId, Values};

/// Summands of factors beyond which they are not multiplied out.
const MOST: usize = 4;

impl Values {
    /// The product of two unknown numbers of so many bits as a sum of products; `None` if it is no sum.
    pub(super) fn product(&mut self, bits: u8, factors: [ValueId; 2]) -> Option<ValueId> {
        let is_sum = |value| matches!(self.term(value), Term::Sum { bits: of, .. } if *of == bits);
        if !factors.into_iter().any(is_sum) {
            return None;
        }
        let [a, b] = factors.map(|factor| self.summands(factor, bits));
        if a.len() > MOST || b.len() > MOST {
            return None;
        }
        let mut parts = Vec::new();
        for (one, by) in &a {
            for (other, times) in &b {
                let ty = Type { bits, signed: false };
                let by = Lanes::map(&[by, times], |n| super::arithmetic::apply(Operation::Multiply, ty, n))?;
                parts.push((self.apply(Operation::Multiply, ty, &[*one, *other]), by));
            }
        }
        self.sum(bits, &parts)
    }

    /// Two sums of so many bits without what both have: `full + 32` and `full + 8 * i`. `None` if nothing.
    pub(super) fn without_common(&mut self, bits: u8, sums: [ValueId; 2]) -> Option<[ValueId; 2]> {
        let [a, b] = sums.map(|sum| match self.term(sum) {
            Term::Sum { bits: of, terms, .. } if *of == bits => terms.clone(),
            Term::Known(_) => Vec::new(),
            _ => vec![(sum, Lanes::All(1))],
        });
        let minus = Lanes::All(super::arithmetic::cut(u64::MAX, bits));
        let times =
            |n: &[u64]| super::arithmetic::apply(Operation::Multiply, Type { bits, signed: false }, n);
        let mut less = Vec::new();
        for (term, factor) in a.iter().filter(|part| b.contains(part)) {
            less.push((*term, Lanes::map(&[factor, &minus], times)?));
        }
        if less.is_empty() {
            return None;
        }
        let mut without = |sum: ValueId| {
            let parts: Vec<_> = less.iter().cloned().chain([(sum, Lanes::All(1))]).collect();
            self.sum(bits, &parts)
        };
        Some([without(sums[0])?, without(sums[1])?])
    }

    /// The summands of a number, what is known of it among them, and their factors.
    fn summands(&mut self, value: ValueId, bits: u8) -> Vec<(ValueId, Lanes)> {
        match self.term(value).clone() {
            Term::Sum { bits: of, mut terms, known } if of == bits => {
                if !known.is_zero() {
                    let one = self.number(1);
                    terms.push((one, known));
                }
                terms
            }
            _ => vec![(value, Lanes::All(1))],
        }
    }
}

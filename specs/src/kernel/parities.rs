//! Numbers that are one more where another one is odd.

use super::arithmetic::cut;
use super::code::Operation;
use super::lanes::Lanes;
use super::terms::is_invariant;
use super::value::{Term, ValueId, Values};

impl Values {
    /// `n & 1 ? x + c : x` as `x + c * (n & 1)`, of an n that never changes: what compilers leave where they
    /// have made one round of two, and the odd one stands before.
    pub(super) fn by_parity(&mut self, [a, b, condition]: [ValueId; 3]) -> Option<ValueId> {
        let (bit, is_set) = self.parity(condition)?;
        let bits = [a, b].into_iter().find_map(|value| match self.term(value) {
            Term::Sum { bits: bits @ 32, .. } => Some(*bits),
            _ => None,
        })?;
        if self.width(a) > 32 || self.width(b) > 32 || !is_invariant(self, bit) {
            return None;
        }
        let minus = cut(u64::MAX, bits);
        let more = self.sum(bits, &[(a, Lanes::All(1)), (b, Lanes::All(minus))])?;
        let more = self.as_known(more)?.all()?;
        let (base, factor) = if is_set { (b, more) } else { (a, cut(more.wrapping_neg(), bits)) };
        self.sum(bits, &[(base, Lanes::All(1)), (bit, Lanes::All(factor))])
    }

    /// The lowest bit of a number, and whether a condition says that it is set.
    fn parity(&self, condition: ValueId) -> Option<(ValueId, bool)> {
        let Term::Apply { operation, terms, .. } = self.term(condition) else { return None };
        match (operation, terms.as_slice()) {
            (Operation::LogicalNot, [of]) => self.parity(*of).map(|(bit, is_set)| (bit, !is_set)),
            (Operation::And, [a, b]) => {
                let is_1 = |value: &ValueId| self.as_known(*value).and_then(Lanes::all) == Some(1);
                (is_1(a) || is_1(b)).then_some((condition, true))
            }
            _ => None,
        }
    }
}

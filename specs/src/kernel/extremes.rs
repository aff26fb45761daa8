//! Numbers less the lesser of themselves and a known number.

use super::arithmetic::{apply, cut};
use super::code::{Operation, Type};
use super::lanes::Lanes;
use super::value::{Term, ValueId, Values};

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
}

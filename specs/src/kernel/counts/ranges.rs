//! Unsigned comparisons of sums that wrap around on purpose: that is how compilers ask whether a number lies
//! between two others.

use super::linear::{Asker, DEPTH};
use super::sum::Linear;
use super::{Formula, Sign};
use crate::kernel::code::{Comparison, Operation, Type};
use crate::kernel::lanes::Lanes;
use crate::kernel::value::{Term, ValueId};

impl Asker<'_> {
    /// `n - 1 <u 3` says that n is at least 1 and below 4, whether it is signed or not; `n + 1 <u 3` that n
    /// has a sign and is at least -1 and below 2, `n <u -4` that it is not at least -4 and below 0.
    ///
    /// A sum that is divided somewhere, as `(n + 31) / 32`, is of the source: it is taken not to overflow.
    pub(super) fn within(
        &self,
        comparison: Comparison,
        ty: Type,
        (a, b): (ValueId, ValueId),
    ) -> Option<Formula> {
        let bound = i64::try_from(self.values().as_known(b).and_then(Lanes::all)?).ok()?;
        let (below, holds) = match comparison {
            Comparison::Less => (bound, true),
            Comparison::LessOrEqual => (bound.checked_add(1)?, true),
            Comparison::Greater => (bound.checked_add(1)?, false),
            Comparison::GreaterOrEqual => (bound, false),
            Comparison::Equal | Comparison::NotEqual => return None,
        };
        let of = self.linear(a, Type { signed: true, ..ty }, DEPTH)?;
        if ty.signed || !of.rounds.is_empty() {
            return None;
        }
        let adds = of.known > 0 && !self.is_at_least_0(&of);
        let is_quotient = of.known > 0 && below == of.known.checked_mul(2)?.checked_add(1)?;
        let (from, to, sign, holds) = match below {
            ..HALF if of.known < 0 => (0, below, Sign::Either, holds),
            ..HALF if is_quotient || adds && !self.is_divided(a) => (0, below, Sign::Signed, holds),
            HALF..ALL if ty.bits == 32 && !self.is_at_least_0(&of) => (below - ALL, 0, Sign::Signed, !holds),
            _ => return None,
        };
        let reaches = |least| self.threshold(&of, least, (sign, true));
        let mut inside = vec![reaches(to)?.not()];
        if from > -HALF {
            inside.push(reaches(from)?);
        }
        let inside = Formula::All(inside);
        Some(if holds { inside } else { inside.not() })
    }

    /// Whether nothing in a sum is below 0.
    fn is_at_least_0(&self, of: &Linear) -> bool {
        of.atoms.iter().all(|(atom, times)| *times > 0 && self.is_natural(*atom))
    }

    /// Whether a value is divided, or rounded, somewhere.
    fn is_divided(&self, value: ValueId) -> bool {
        let numbers = 0..ValueId::try_from(self.values().count()).unwrap_or(ValueId::MAX);
        numbers.into_iter().any(|number| match self.values().term(number) {
            Term::Apply { operation, terms, .. } if terms.first() == Some(&value) => matches!(
                operation,
                Operation::And | Operation::Divide | Operation::MultiplyHigh | Operation::ShiftRight
            ),
            _ => false,
        })
    }
}

/// The numbers of 32 bits, and those of them that are not negative with a sign.
const ALL: i64 = 1 << 32;
const HALF: i64 = 1 << 31;

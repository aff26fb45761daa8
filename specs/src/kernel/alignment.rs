//! Of how many of its lowest bits a value is known that they are 0.

use std::collections::{BTreeMap, BTreeSet};

use super::code::{Operation, Register};
use super::lanes::Lanes;
use super::value::{Term, ValueId, Values};

/// What comes to where registers meet others.
pub(super) type Meets = BTreeMap<(usize, Register), Vec<(usize, ValueId)>>;

/// Terms that are looked at for one value.
const TERMS: u32 = 2_000;

/// How many of the lowest bits of a value are 0, whatever it is.
pub(super) fn zeros(values: &Values, meets: &Meets, value: ValueId) -> u32 {
    Zeros { values, meets, open: BTreeSet::new(), left: TERMS }.of(value)
}

impl Values {
    /// An addition, where bits are put together that are in different places whatever the values are: one of
    /// them fits into the lowest bits, which are 0 in the other.
    pub(super) fn as_sum(&self, operation: Operation, terms: &[ValueId]) -> Operation {
        let ([a, b], Operation::Or | Operation::Xor) = (terms, operation) else { return operation };
        let fits = |small: ValueId, large: ValueId| {
            let bits = u32::from(self.width(small));
            bits < u64::BITS && bits <= zeros(self, &Meets::new(), large)
        };
        if fits(*a, *b) || fits(*b, *a) { Operation::Add } else { operation }
    }
}

struct Zeros<'z> {
    values: &'z Values,
    meets: &'z Meets,
    /// Meetings that are being looked at: what comes round has as many zeros as what it is made of.
    open: BTreeSet<(usize, Register)>,
    left: u32,
}

impl Zeros<'_> {
    fn of(&mut self, value: ValueId) -> u32 {
        let Some(left) = self.left.checked_sub(1) else { return 0 };
        self.left = left;
        match self.values.term(value).clone() {
            Term::Known(lanes) => of_lanes(&lanes),
            Term::Sum { terms, known, .. } => {
                let parts = terms.into_iter().map(|(term, factor)| self.of(term) + of_lanes(&factor));
                parts.fold(of_lanes(&known), u32::min)
            }
            Term::Apply { operation, terms, .. } => match (operation, terms.as_slice()) {
                (Operation::And, [a, b]) => self.of(*a).max(self.of(*b)),
                (Operation::Or | Operation::Xor | Operation::Minimum | Operation::Maximum, [a, b])
                | (Operation::Select, [a, b, _]) => self.of(*a).min(self.of(*b)),
                (Operation::Multiply, [a, b]) => self.of(*a) + self.of(*b),
                (Operation::Convert(_), [a]) => self.of(*a),
                _ => 0,
            },
            Term::Gained { step, .. } => self.of(step),
            Term::Meet { block, register } => {
                let meet = (block, register);
                if !self.open.insert(meet) {
                    return u64::BITS;
                }
                let incoming = self.meets.get(&meet).cloned().unwrap_or_default();
                let least = incoming.into_iter().map(|(_, value)| self.of(value)).min();
                self.open.remove(&meet);
                least.unwrap_or(0)
            }
            _ => 0,
        }
    }
}

fn of_lanes(lanes: &Lanes) -> u32 {
    let of = |number: u64| number.trailing_zeros();
    match lanes {
        Lanes::All(number) => of(*number),
        Lanes::Each(numbers) => numbers.iter().map(|number| of(*number)).min().unwrap_or(0),
    }
}

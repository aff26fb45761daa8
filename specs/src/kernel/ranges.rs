//! What values may be, where unknown numbers are large.

use std::collections::BTreeSet;

use super::arithmetic::signed;
use super::code::{Operation, Register, Type};
use super::lanes::Lanes;
use super::terms::part_of;
use super::value::{Term, ValueId, Values};

/// Terms that are looked at for one value.
const TERMS: u32 = 2_000;

/// What is known of terms in one warp.
pub(super) trait Known {
    /// Whether a term can be computed where a node evaluates it.
    fn is_exact(&self, values: &Values, node: usize, value: ValueId) -> bool;
    /// Whether it is one of the unknown numbers there.
    fn is_number(&self, values: &Values, node: usize, value: ValueId) -> bool;
    /// The unknown numbers that loops count up to.
    fn numbers(&self) -> &BTreeSet<ValueId>;
    /// What comes to where a register meets others, and from which nodes.
    fn incoming(&self, meet: (usize, Register)) -> &[(usize, ValueId)];
}

/// The least and the greatest that something may be, where that is known.
pub(super) type Range = (Option<i64>, Option<i64>);

/// Finds what values may be.
pub(super) struct Ranges<'v> {
    values: &'v Values,
    known: &'v dyn Known,
    node: usize,
    /// Unknown numbers are at least this.
    from: i64,
    /// What registers hold where paths meet, as far as that is being found out.
    open: BTreeSet<(usize, Register)>,
    left: u32,
}

impl<'v> Ranges<'v> {
    /// As a node sees them, where unknown numbers are at least something.
    pub(super) fn new(values: &'v Values, known: &'v dyn Known, (node, from): (usize, i64)) -> Self {
        Self { values, known, node, from, open: BTreeSet::new(), left: TERMS }
    }

    pub(super) fn of(&mut self, value: ValueId) -> Range {
        let Some(left) = self.left.checked_sub(1) else { return (None, None) };
        self.left = left;
        let values = self.values;
        if self.known.is_number(values, self.node, value) {
            // What has met others was computed of numbers of any size.
            let least = if self.open.is_empty() { self.from } else { 0 };
            return (Some(least), None);
        }
        let bits = values.width(value);
        let natural = (Some(0), (bits < 32).then(|| (1_i64 << bits) - 1));
        match values.term(value).clone() {
            Term::Known(lanes) => {
                let number = lanes.all().and_then(|number| i64::try_from(number).ok());
                let number = number.filter(|number| *number < 1 << 31);
                (number, number)
            }
            Term::Sum { bits, mut terms, known } => {
                let known = known.all().map(|known| signed(known, bits));
                let mut sum = (known, known);
                while let Some((number, rest)) = part_of(values, self.known.numbers(), (bits, &terms))
                    && self.known.is_number(values, self.node, number)
                {
                    let least = self.of(number).0;
                    sum = (sum.0.zip(least).and_then(|(a, b)| a.checked_add(b)), None);
                    terms = rest;
                }
                for (term, factor) in terms {
                    let Some(factor) = factor.all().map(|factor| signed(factor, bits)) else {
                        return (None, None);
                    };
                    let (least, most) = self.of(term);
                    let (least, most) = if factor < 0 { (most, least) } else { (least, most) };
                    let plus = |sum: Option<i64>, by: Option<i64>| sum?.checked_add(by?.checked_mul(factor)?);
                    sum = (plus(sum.0, least), plus(sum.1, most));
                }
                sum
            }
            Term::Apply { operation, ty, terms } => match self.operation(operation, ty, &terms) {
                (None, None) if bits < 32 => natural,
                range => range,
            },
            Term::Meet { block, register } => self.meeting((block, register)),
            Term::Gained { step, .. } => {
                let step = values.as_known(step).and_then(Lanes::all);
                (step.filter(|step| *step < 1 << 31).map(|_| 0), None)
            }
            _ if bits < 32 => natural,
            _ => (None, None),
        }
    }

    fn operation(&mut self, operation: Operation, ty: Type, terms: &[ValueId]) -> Range {
        let values = self.values;
        let known = |value| values.as_known(value).and_then(Lanes::all).and_then(|n| i64::try_from(n).ok());
        let small = |number: &i64| (1..1 << 31).contains(number);
        match (operation, terms) {
            (Operation::And, [a, b]) => match known(*b).or(known(*a)).filter(small) {
                Some(mask) => (Some(0), Some(mask)),
                None => (None, None),
            },
            (Operation::Remainder, [_, by]) if !ty.signed => match known(*by).filter(small) {
                Some(by) => (Some(0), Some(by - 1)),
                None => (None, None),
            },
            (Operation::Remainder, [a, by]) => match (self.of(*a), known(*by).filter(small)) {
                ((Some(0..), _), Some(by)) => (Some(0), Some(by - 1)),
                _ => (None, None),
            },
            (Operation::Divide, [a, by]) => match (self.of(*a), known(*by).filter(small)) {
                ((Some(least), most), Some(by)) if least >= 0 => {
                    (Some(least / by), most.map(|most| most / by))
                }
                _ => (None, None),
            },
            (Operation::ShiftRight, [a, by]) => match (self.of(*a), known(*by).filter(|by| *by < 31)) {
                ((Some(least), most), Some(by)) if least >= 0 => {
                    (Some(least >> by), most.map(|most| most >> by))
                }
                _ => (None, None),
            },
            (Operation::Select, [a, b, _]) => joined(self.of(*a), self.of(*b)),
            (Operation::Minimum, [a, b]) => {
                let (a, b) = (self.of(*a), self.of(*b));
                let most = match (a.1, b.1) {
                    (Some(a), Some(b)) => Some(a.min(b)),
                    (a, b) => a.or(b),
                };
                let least = a.0.zip(b.0).map(|(a, b)| a.min(b));
                (
                    least.filter(|least| ty.signed || *least >= 0),
                    most.filter(|_| ty.signed || least >= Some(0)),
                )
            }
            (Operation::Maximum, [a, b]) => {
                let (a, b) = (self.of(*a), self.of(*b));
                let least = match (a.0, b.0) {
                    (Some(a), Some(b)) => Some(a.max(b)),
                    (a, b) => a.or(b),
                };
                // What is below 0 is the greater without a sign.
                let are_natural = a.0 >= Some(0) && b.0 >= Some(0);
                let most = a.1.zip(b.1).map(|(a, b)| a.max(b));
                if ty.signed || are_natural { (least, most) } else { (None, None) }
            }
            (Operation::Convert(from), [a]) if from.bits >= 32 && ty.bits >= 32 => match self.of(*a) {
                (Some(least), most) if least >= 0 => (Some(least), most),
                _ => (None, None),
            },
            (Operation::Compare(_) | Operation::LogicalNot, _) => (Some(0), Some(1)),
            (Operation::Xor | Operation::Or, [a, b]) => match (self.of(*a), self.of(*b)) {
                ((Some(0..), Some(a)), (Some(0..), Some(b))) => {
                    let all = (a.max(b) as u64 + 1).next_power_of_two() as i64 - 1;
                    (Some(0), Some(all))
                }
                _ => (None, None),
            },
            _ => (None, None),
        }
    }

    /// What may be where paths meet: at least 0 if all that comes is, as long as nothing that comes round
    /// lessens it.
    fn meeting(&mut self, meet: (usize, Register)) -> Range {
        if !self.open.insert(meet) {
            return (Some(0), None);
        }
        let incoming = self.known.incoming(meet).to_vec();
        let mut range: Option<Range> = None;
        for (_, value) in incoming {
            let is_itself = matches!(
                self.values.term(value),
                Term::Meet { block, register } if (*block, *register) == meet
            );
            if !is_itself {
                let of = self.of(value);
                range = Some(range.map_or(of, |range| joined(range, of)));
            }
        }
        self.open.remove(&meet);
        match range {
            Some((Some(0..), most)) => (Some(0), most),
            _ => (None, None),
        }
    }
}

/// What is in one of two ranges.
fn joined(a: Range, b: Range) -> Range {
    (a.0.zip(b.0).map(|(a, b)| a.min(b)), a.1.zip(b.1).map(|(a, b)| a.max(b)))
}

//! Rings that go on stage by stage: `x + 1 == n ? 0 : x + 1` is `(x + 1) % n` where `x` is below `n`.
//!
//! Where a ring is drained behind its loop, every stage is chosen by comparing the one before with the
//! number of stages. Written out, each holds the one before twice and more; as remainders they are as many
//! stages further than the first, and of their parities what was turned twice is left out. That `x` is below
//! `n` is found by induction: all that comes to where paths meet is, if what meets there is.

use std::collections::{BTreeMap, BTreeSet};

use super::code::{Comparison, Operation, Register, Type};
use super::evaluate::Evaluation;
use super::lanes::Lanes;
use super::value::{Term, ValueId, Values};

const WORD: Type = Type { bits: 32, signed: false };
/// Values that are looked at for one bound.
const MOST: u32 = 200;

/// Puts remainders in the place of such choices: in operands of barriers, and in what comes to where
/// paths meet.
pub(super) fn take(values: &mut Values, evaluation: &mut Evaluation) {
    let mut stages = Stages { values, evaluation, written: BTreeMap::new() };
    let mut operands = stages.evaluation.operands();
    for (_, operand) in &mut operands {
        *operand = stages.rewritten(*operand);
    }
    let mut meets = stages.evaluation.meets.clone();
    for (_, value) in meets.values_mut().flatten() {
        *value = stages.rewritten(*value);
    }
    evaluation.put(operands);
    evaluation.meets = meets;
}

struct Stages<'s> {
    values: &'s mut Values,
    evaluation: &'s Evaluation,
    written: BTreeMap<ValueId, ValueId>,
}

impl Stages<'_> {
    fn rewritten(&mut self, value: ValueId) -> ValueId {
        if let Some(written) = self.written.get(&value) {
            return *written;
        }
        let inside = self.values.inside(value);
        let parts: Vec<ValueId> = inside.iter().map(|part| self.rewritten(*part)).collect();
        let same = if parts == inside { Some(value) } else { self.values.with(value, &parts) };
        let mut written = same.unwrap_or(value);
        if let Some((stage, stages)) = next_of(self.values, written)
            && self.is_below(stage, stages)
        {
            written = self.further(stage, 1, stages);
        }
        written = self.cancelled(written).unwrap_or(written);
        self.written.insert(value, written);
        written
    }

    /// `x ^ y ^ x`: a parity is turned where the ring begins anew, and turned back a round later.
    fn cancelled(&mut self, value: ValueId) -> Option<ValueId> {
        let (mut odd, mut number) = (Vec::new(), 0_usize);
        let mut work = vec![value];
        while let Some(value) = work.pop() {
            if let Term::Apply { operation: Operation::Xor, ty: WORD, terms } = self.values.term(value) {
                work.extend(terms.iter().rev());
                continue;
            }
            number += 1;
            match odd.iter().position(|known| *known == value) {
                Some(at) => drop(odd.remove(at)),
                None => odd.push(value),
            }
        }
        if odd.len() == number || number as u32 > MOST {
            return None;
        }
        let first = odd.first().copied().unwrap_or_else(|| self.values.number(0));
        Some(odd.iter().skip(1).fold(first, |all, one| self.values.apply(Operation::Xor, WORD, &[all, *one])))
    }

    /// The stage that is so many further.
    fn further(&mut self, stage: ValueId, by: u64, stages: u64) -> ValueId {
        if let Some((first, more)) = self.begins(stage, stages)
            && self.is_below(first, stages)
        {
            return self.further(first, by + more, stages);
        }
        if by.is_multiple_of(stages) {
            return stage;
        }
        let more = self.values.number(by % stages);
        let sum = self.values.sum(32, &[(stage, Lanes::All(1)), (more, Lanes::All(1))]);
        let number = self.values.number(stages);
        self.values.apply(Operation::Remainder, WORD, &[sum.unwrap_or(stage), number])
    }

    /// The stage that another one is so many further than.
    fn begins(&self, stage: ValueId, stages: u64) -> Option<(ValueId, u64)> {
        let Term::Apply { operation, terms, .. } = self.values.term(stage) else { return None };
        let number = |value| self.values.as_known(value).and_then(Lanes::all);
        let (sum, by) = (terms.first()?, number(*terms.get(1)?)?);
        let is_rest = match operation {
            Operation::Remainder => by == stages,
            Operation::And => by + 1 == stages && stages.is_power_of_two(),
            _ => false,
        };
        let Term::Sum { bits: 32, terms, known } = self.values.term(*sum) else { return None };
        match terms[..] {
            [(first, Lanes::All(1))] if is_rest => Some((first, known.all().filter(|more| *more < stages)?)),
            _ => None,
        }
    }

    /// Whether a value is below a number.
    fn is_below(&self, value: ValueId, number: u64) -> bool {
        let mut left = MOST;
        self.stays_below(value, number, &mut BTreeSet::new(), &mut left).is_some()
    }

    fn stays_below(
        &self,
        value: ValueId,
        number: u64,
        assumed: &mut BTreeSet<(usize, Register, u64)>,
        left: &mut u32,
    ) -> Option<()> {
        *left = left.checked_sub(1)?;
        if is_narrow(self.values, value, number) {
            return Some(());
        }
        if let Some((stage, stages)) = next_of(self.values, value) {
            let is_one = stages <= number && self.stays_below(stage, stages, assumed, left).is_some();
            return is_one.then_some(());
        }
        match self.values.term(value) {
            Term::Meet { block, register } => {
                if !assumed.insert((*block, *register, number)) {
                    return Some(());
                }
                let incoming = self.evaluation.meets.get(&(*block, *register))?;
                incoming.iter().try_for_each(|(_, value)| self.stays_below(*value, number, assumed, left))
            }
            Term::Apply { operation: Operation::Select, terms, .. } => {
                terms[..2].iter().try_for_each(|value| self.stays_below(*value, number, assumed, left))
            }
            _ => None,
        }
    }
}

/// Whether a value is below a number by how it is made.
fn is_narrow(values: &Values, value: ValueId, number: u64) -> bool {
    let is_less = |lanes: &Lanes| Lanes::map(&[lanes], |n| Some(u64::from(n[0] >= number)));
    match values.term(value) {
        Term::Known(lanes) => is_less(lanes).is_some_and(|above| above.is_zero()),
        Term::Apply { operation: Operation::Remainder, ty, terms } if !ty.signed => {
            values.as_known(terms[1]).and_then(Lanes::all).is_some_and(|by| (1..=number).contains(&by))
        }
        _ => values.width(value) < 32 && 1_u64 << values.width(value) <= number,
    }
}

/// The stage and the number of stages, if a value is the stage behind it, provided that it is below the
/// number.
fn next_of(values: &Values, value: ValueId) -> Option<(ValueId, u64)> {
    let Term::Apply { operation: Operation::Select, terms, .. } = values.term(value) else { return None };
    let [one, other, condition] = terms[..] else { return None };
    let Term::Apply { operation: Operation::Compare(comparison), ty, terms } = values.term(condition) else {
        return None;
    };
    let (first, next) = match comparison {
        Comparison::Equal => (one, other),
        Comparison::NotEqual => (other, one),
        _ => return None,
    };
    let number = |value| values.as_known(value).and_then(Lanes::all);
    let Term::Sum { bits: 32, terms: parts, known: Lanes::All(1) } = values.term(next) else { return None };
    let [(stage, Lanes::All(1))] = parts[..] else { return None };
    let last = if terms[0] == stage { number(terms[1])?.checked_add(1)? } else { number(terms[1])? };
    let is_last = terms[0] == next || terms[0] == stage;
    let fits = ty.bits == 32 && (2..1 << 16).contains(&last) && values.width(stage) <= 32;
    (is_last && fits && number(first) == Some(0)).then_some((stage, last))
}

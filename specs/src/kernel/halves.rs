//! Counters of 64 bits, as far as their lower halves matter: `full[(int)i % 4]` of a `long long i`.
//!
//! Where what is asked of a counter are lowest bits of its lower half, a register of 32 bits stands for that
//! half, and what comes to it are the lower halves of what comes. By induction over the steps of an agent it
//! holds the lower half of the counter: that of a sum is the sum of the lower halves, and so on.

use std::collections::{BTreeMap, BTreeSet};

use super::arithmetic::cut;
use super::code::{HALF, Operation, Register, Type};
use super::evaluate::{Evaluation, OUTSIDE};
use super::lanes::Lanes;
use super::value::{Term, ValueId, Values};

const WORD: Type = Type { bits: 32, signed: false };
const LONG: Type = Type { bits: 64, signed: false };
const SIGNED: Type = Type { bits: 64, signed: true };
/// Terms that are looked at for one counter.
const MOST: usize = 200;

/// A register where paths meet.
type Meet = (usize, Register);

/// Puts lower halves in the place of counters, in operands of barriers.
pub(super) fn take(values: &mut Values, evaluation: &mut Evaluation) {
    let mut operands = evaluation.operands();
    let mut halves = Halves { values, evaluation, found: BTreeMap::new(), written: BTreeMap::new() };
    for (_, operand) in &mut operands {
        *operand = halves.rewritten(*operand);
    }
    let found = std::mem::take(&mut halves.found);
    evaluation.meets.extend(found.into_iter().filter_map(|(meet, incoming)| Some((meet, incoming?))));
    evaluation.put(operands);
}

struct Halves<'h> {
    values: &'h mut Values,
    evaluation: &'h Evaluation,
    /// What comes to the lower halves; `None` while it is being found out.
    found: BTreeMap<Meet, Option<Vec<(usize, ValueId)>>>,
    written: BTreeMap<ValueId, ValueId>,
}

impl Halves<'_> {
    fn rewritten(&mut self, value: ValueId) -> ValueId {
        if let Some(written) = self.written.get(&value) {
            return *written;
        }
        let new = self.masked(value).or_else(|| {
            if let Term::Apply { operation: Operation::Convert(LONG | SIGNED), ty, terms } =
                self.values.term(value).clone()
                && ty.bits == 32
            {
                return self.half(terms[0]);
            }
            let inside = self.values.inside(value);
            let parts: Vec<ValueId> = inside.iter().map(|part| self.rewritten(*part)).collect();
            if parts == inside { None } else { self.values.with(value, &parts) }
        });
        let new = new.unwrap_or(value);
        self.written.insert(value, new);
        new
    }

    /// `(int)(i >> 2) & 1` and `i & 3` of a counter of 64 bits.
    fn masked(&mut self, value: ValueId) -> Option<ValueId> {
        let Term::Apply { operation: Operation::And, terms, .. } = self.values.term(value).clone() else {
            return None;
        };
        let [a, b] = terms[..] else { return None };
        let number = |value| self.values.as_known(value).and_then(Lanes::all);
        let (of, mask) = number(b).map(|mask| (a, mask)).or_else(|| number(a).map(|mask| (b, mask)))?;
        let bits = u64::from(u64::BITS - mask.leading_zeros());
        let mut of = of;
        while let Term::Apply { operation: Operation::Convert(LONG | SIGNED), ty, terms } =
            self.values.term(of)
        {
            // Of what is cut to fewer bits than the mask has, others do not count.
            if u64::from(ty.bits) < bits {
                return None;
            }
            of = terms[0];
        }
        let mut by = 0;
        if let Term::Apply { operation: Operation::ShiftRight, ty, terms } = self.values.term(of)
            && ty.bits == 64
        {
            by = self.values.as_known(terms[1])?.all()?;
            of = terms[0];
        }
        if by.checked_add(bits)? > 32 || bits > 31 {
            return None;
        }
        let half = self.half(of)?;
        let (by, mask) = (self.values.number(by), self.values.number(mask));
        let shifted = self.values.apply(Operation::ShiftRight, WORD, &[half, by]);
        Some(self.values.apply(Operation::And, WORD, &[shifted, mask]))
    }

    /// The lower half of a number of 64 bits, if counters are in it and nothing else.
    fn half(&mut self, value: ValueId) -> Option<ValueId> {
        match self.values.term(value).clone() {
            Term::Meet { block, register } => self.meeting((block, register)),
            Term::Sum { bits: 64, terms, known } => {
                let known = Lanes::map(&[&known], |known| Some(cut(known[0], 32)))?;
                let mut parts = vec![(self.values.known(known), Lanes::All(1))];
                for (term, factor) in terms {
                    let factor = Lanes::map(&[&factor], |factor| Some(cut(factor[0], 32)))?;
                    parts.push((self.half(term)?, factor));
                }
                self.values.sum(32, &parts)
            }
            _ => None,
        }
    }

    fn meeting(&mut self, meet: Meet) -> Option<ValueId> {
        let of = (meet.0, meet.1 | HALF);
        if !self.found.contains_key(&of) {
            if !self.counts(meet) {
                return None;
            }
            self.found.insert(of, None);
            let incoming = self.evaluation.meets.get(&meet)?.clone().into_iter();
            let half = |(from, value)| Some((from, self.half_of_any(value)?));
            let incoming: Option<Vec<(usize, ValueId)>> = incoming.map(half).collect();
            self.found.insert(of, incoming);
        }
        Some(self.values.leaf(Term::Meet { block: of.0, register: of.1 }))
    }

    fn half_of_any(&mut self, value: ValueId) -> Option<ValueId> {
        match self.values.term(value) {
            Term::Known(lanes) => {
                let half = Lanes::map(&[lanes], |number| Some(cut(number[0], 32)))?;
                Some(self.values.known(half))
            }
            _ => self.half(value),
        }
    }

    /// Whether known numbers and what meets likewise are all that comes to a meeting of 64 bits.
    fn counts(&self, meet: Meet) -> bool {
        let (mut seen, mut work) = (BTreeSet::new(), vec![meet]);
        while let Some(meet) = work.pop() {
            if !seen.insert(meet) {
                continue;
            }
            let itself = self.values.find(&Term::Meet { block: meet.0, register: meet.1 });
            let is_long = itself.is_some_and(|meet| self.values.width(meet) == 64) && meet.1 & HALF == 0;
            let incoming = self.evaluation.meets.get(&meet).map_or(&[][..], Vec::as_slice);
            if !is_long || incoming.is_empty() || seen.len() > MOST {
                return false;
            }
            for (from, value) in incoming {
                let parts: Vec<ValueId> = match self.values.term(*value) {
                    Term::Known(_) => continue,
                    Term::Sum { bits: 64, terms, .. } => terms.iter().map(|(term, _)| *term).collect(),
                    _ => vec![*value],
                };
                for part in parts {
                    match self.values.term(part) {
                        Term::Meet { block, register } if *from != OUTSIDE => work.push((*block, *register)),
                        _ => return false,
                    }
                }
            }
        }
        true
    }
}

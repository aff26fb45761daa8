//! Counters that go on by unknown numbers, as far as their low bits matter.
//!
//! A ring of two stages that goes through `n` more steps with every tile is at `(total + i) & 1`, in
//! the phase `(total + i) >> 1 & 1`. Nobody knows `total`, nor does anybody have to: its two lowest
//! bits are those of the ones before and of `n`. So a register of its own stands for these bits where
//! paths meet, and what comes to it are the bits of what comes. By induction over the steps of an agent
//! it holds the low bits of the counter: low bits of sums, products with numbers, conjunctions, shifts
//! to the left and the like are those of their operands' low bits, and a shift to the right by s takes
//! s bits more.
//!
//! Only counters are looked at to which something unknown is added, and what begins with them: others can be
//! computed as they are. Where one of these cannot, those that begin with a multiple of 2 that is not known
//! are looked at as well.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::alignment::zeros;
use super::code::{HALF, Operation, Register, SINCE, Type};
use super::evaluate::{Evaluation, OUTSIDE};
use super::lanes::Lanes;
use super::value::{Term, ValueId, Values};

/// The number of low bits is added to a register from here on.
const BITS: u32 = 26;
/// The most bits that are followed.
const MOST: u32 = 6;
/// The digits of a register that say so.
const FIELD: u32 = 7;
/// Terms inside one another.
const DEPTH: u32 = 16;
const WORD: Type = Type { bits: 32, signed: false };

/// The register whose low bits a register stands for, and how many.
pub(super) fn whose(register: Register) -> Option<(Register, u32)> {
    if register & HALF == HALF {
        return Some((register & !HALF, 32));
    }
    let bits = (register >> BITS) & FIELD;
    (1..=MOST).contains(&bits).then_some((register & !(FIELD << BITS), bits))
}

/// A register where paths meet.
type Meet = (usize, Register);

/// Puts low bits in the place of counters, in operands of steps on objects of which no more matters.
pub(super) fn take(values: &mut Values, evaluation: &mut Evaluation, multiples: bool) {
    let mut low = Low { values, evaluation, multiples, found: BTreeMap::new(), grows: HashMap::new() };
    let mut written = Vec::new();
    for (at, (address, amount)) in &low.evaluation.barriers {
        written.push((*at, *address, *amount));
    }
    written.sort_unstable();
    for (_, address, amount) in &mut written {
        *address = low.rewritten(*address, DEPTH).unwrap_or(*address);
        *amount = amount.map(|amount| low.rewritten(amount, DEPTH).unwrap_or(amount));
    }
    let found = std::mem::take(&mut low.found);
    for (at, address, amount) in written {
        evaluation.barriers.insert(at, (address, amount));
    }
    evaluation.meets.extend(found.into_iter().filter_map(|(meet, incoming)| Some((meet, incoming?))));
}

struct Low<'l> {
    values: &'l mut Values,
    evaluation: &'l Evaluation,
    /// Counters that begin with multiples are looked at, too.
    multiples: bool,
    /// What comes to the low bits; `None` while it is being found out.
    found: BTreeMap<Meet, Option<Vec<(usize, ValueId)>>>,
    /// Whether something unknown is added to what meets.
    grows: HashMap<Meet, bool>,
}

impl Low<'_> {
    /// A value in which low bits stand for counters where no more of them matters.
    fn rewritten(&mut self, value: ValueId, left: u32) -> Option<ValueId> {
        let left = left.checked_sub(1)?;
        if let Some((of, mask)) = self.masked(value) {
            let bits = u64::BITS - mask.leading_zeros();
            let of = self.low(of, bits, left)?;
            let mask = self.values.number(mask);
            return Some(self.values.apply(Operation::And, WORD, &[of, mask]));
        }
        let inside = self.values.inside(value);
        let parts: Vec<ValueId> =
            inside.iter().map(|part| self.rewritten(*part, left).unwrap_or(*part)).collect();
        if parts == inside { Some(value) } else { self.values.with(value, &parts) }
    }

    /// What is masked, and by which small number.
    fn masked(&self, value: ValueId) -> Option<(ValueId, u64)> {
        let Term::Apply { operation: Operation::And, ty, terms } = self.values.term(value) else {
            return None;
        };
        let [a, b] = terms[..] else { return None };
        let number = |value| self.values.as_known(value).and_then(Lanes::all);
        let (of, mask) = number(b).map(|mask| (a, mask)).or_else(|| number(a).map(|mask| (b, mask)))?;
        (ty.bits == 32 && mask < 1 << (MOST + 3)).then_some((of, mask))
    }

    /// A value with the same low bits, so many of them; `None` if there is nothing to be won.
    fn low(&mut self, value: ValueId, bits: u32, left: u32) -> Option<ValueId> {
        let left = left.checked_sub(1)?;
        if self.multiples && zeros(self.values, &self.evaluation.meets, value) >= bits {
            return Some(self.values.number(0));
        }
        match self.values.term(value).clone() {
            Term::Meet { block, register } => self.meeting((block, register), bits, left),
            Term::Sum { bits: 32, terms, known } => {
                let known = self.values.known(known);
                let mut parts = vec![(known, Lanes::All(1))];
                for (term, factor) in terms {
                    let zeros = factor.all().map_or(0, u64::trailing_zeros);
                    let of = match bits.checked_sub(zeros).filter(|bits| *bits > 0) {
                        Some(bits) => self.low(term, bits, left).unwrap_or(term),
                        None => continue,
                    };
                    parts.push((of, factor));
                }
                self.values.sum(32, &parts)
            }
            Term::Apply { operation, ty, terms } if ty.bits == 32 => match (operation, &terms[..]) {
                (Operation::And | Operation::Or | Operation::Xor, [a, b]) => {
                    let parts = [*a, *b].map(|part| self.low(part, bits, left).unwrap_or(part));
                    Some(self.values.apply(operation, ty, &parts))
                }
                (Operation::Not, [a]) => {
                    let of = self.low(*a, bits, left)?;
                    Some(self.values.apply(operation, ty, &[of]))
                }
                (Operation::ShiftRight, [a, by]) => {
                    let more = self.values.as_known(*by)?.all().filter(|by| *by < 32)? as u32;
                    let of = self.low(*a, bits + more, left)?;
                    Some(self.values.apply(operation, ty, &[of, *by]))
                }
                (Operation::Select, [a, b, condition]) => {
                    let parts = [*a, *b].map(|part| self.low(part, bits, left).unwrap_or(part));
                    Some(self.values.apply(operation, ty, &[parts[0], parts[1], *condition]))
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn meeting(&mut self, meet: Meet, bits: u32, left: u32) -> Option<ValueId> {
        if bits > MOST || (meet.1 & !SINCE) >> BITS != 0 || !self.grows(meet) {
            return None;
        }
        let of = (meet.0, meet.1 | bits << BITS);
        if !self.found.contains_key(&of) {
            self.found.insert(of, None);
            let mask = self.values.number((1 << bits) - 1);
            let mut incoming = Vec::new();
            for (from, value) in self.evaluation.meets.get(&meet).cloned().unwrap_or_default() {
                let low = self.low(value, bits, left).unwrap_or(value);
                incoming.push((from, self.values.apply(Operation::And, WORD, &[low, mask])));
            }
            self.found.insert(of, Some(incoming));
        }
        Some(self.values.leaf(Term::Meet { block: of.0, register: of.1 }))
    }

    /// Whether something unknown is added to what meets, or to what it begins with.
    fn grows(&mut self, meet: Meet) -> bool {
        if let Some(grows) = self.grows.get(&meet) {
            return *grows;
        }
        let (mut seen, mut work) = (BTreeSet::new(), vec![meet]);
        let mut grows = false;
        while let Some(meet) = work.pop() {
            if !seen.insert(meet) {
                continue;
            }
            let Some(incoming) = self.evaluation.meets.get(&meet) else { continue };
            if incoming.iter().any(|(from, value)| {
                *from == OUTSIDE || *self.values.term(*value) == Term::Unset || self.values.width(*value) > 32
            }) {
                grows = false;
                break;
            }
            for (_, value) in incoming {
                let parts: Vec<ValueId> = match self.values.term(*value) {
                    Term::Sum { terms, .. } => terms.iter().map(|(term, _)| *term).collect(),
                    _ => vec![*value],
                };
                let meets = parts.iter().filter_map(|part| match self.values.term(*part) {
                    Term::Meet { block, register } => Some((*block, *register)),
                    _ => None,
                });
                let meets: Vec<Meet> = meets.collect();
                // What is left of a number after a loop of several at once begins with a multiple.
                let is_multiple = || {
                    self.multiples
                        && self.values.as_known(*value).is_none()
                        && zeros(self.values, &self.evaluation.meets, *value) > 0
                };
                grows |= if meets.is_empty() { is_multiple() } else { meets.len() < parts.len() };
                work.extend(meets);
            }
        }
        self.grows.insert(meet, grows);
        grows
    }
}

//! Counters that begin with an unknown number: `for (k = first; k < last; k++)`, whose stage is
//! `(k - first) % 4`.
//!
//! Where all that meets is counted from one number that never changes, a register of its own stands for what
//! has been counted since. By induction over the steps of an agent, what meets is that number and what this
//! register holds, modulo the bits of both: whatever comes to the meeting was so where it comes from. The
//! operands of barriers, and what comes to meetings in them, are written with it where the number then
//! cancels. A known number that is negative is taken out likewise: what counts from -1 up has no sign then.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::arithmetic::{cut, signed};
use super::code::{Operation, Register, SINCE};
use super::evaluate::{Evaluation, OUTSIDE};
use super::lanes::Lanes;
use super::terms::{any, differs, is_invariant};
use super::value::{Term, ValueId, Values};

/// Meetings and selections inside one another.
const DEPTH: u32 = 12;

/// The least known number that is taken out.
const LEAST: i64 = -(1 << 16);

/// A register where paths meet.
type Meet = (usize, Register);

/// Puts what has been counted in the place of such counters.
pub(super) fn take(values: &mut Values, evaluation: &mut Evaluation) {
    let mut operands = evaluation.operands();
    let mut begins = Begins { values, evaluation, begins: BTreeMap::new(), asked: BTreeSet::new() };
    let meets = begins.meets_in(operands.iter().map(|(_, operand)| *operand).collect());
    begins.settle();
    if begins.begins.is_empty() {
        return;
    }
    let mut written = HashMap::new();
    for (_, operand) in &mut operands {
        *operand = begins.rewritten(*operand, &mut written);
    }
    let mut found = Vec::new();
    for meet in meets {
        let Some(incoming) = begins.evaluation.meets.get(&meet).cloned() else { continue };
        if begins.begins.contains_key(&meet) {
            let since = |(from, value)| Some((from, begins.since(value, meet, DEPTH)?));
            let since: Option<Vec<(usize, ValueId)>> = incoming.into_iter().map(since).collect();
            found.extend(since.map(|since| ((meet.0, meet.1 | SINCE), since)));
        } else {
            let incoming = incoming.into_iter();
            let incoming = incoming.map(|(from, value)| (from, begins.rewritten(value, &mut written)));
            found.push((meet, incoming.collect()));
        }
    }
    evaluation.meets.extend(found);
    evaluation.put(operands);
}

struct Begins<'b> {
    values: &'b mut Values,
    evaluation: &'b Evaluation,
    /// For each meeting the number from which it is counted.
    begins: BTreeMap<Meet, ValueId>,
    asked: BTreeSet<Meet>,
}

impl Begins<'_> {
    /// The meetings in values, and in what comes to those, once it is asked what each begins with.
    fn meets_in(&mut self, mut work: Vec<ValueId>) -> BTreeSet<Meet> {
        let (mut seen, mut meets) = (BTreeSet::new(), BTreeSet::new());
        while let Some(value) = work.pop() {
            if !seen.insert(value) {
                continue;
            }
            if let Term::Meet { block, register } = *self.values.term(value) {
                meets.insert((block, register));
                self.begin_of((block, register), DEPTH);
                let incoming = self.evaluation.meets.get(&(block, register)).into_iter().flatten();
                work.extend(incoming.map(|(_, value)| *value));
            }
            work.extend(self.values.inside(value));
        }
        meets
    }

    /// The bits of what meets.
    fn bits(&mut self, (block, register): Meet) -> u8 {
        let meet = self.values.leaf(Term::Meet { block, register });
        self.values.width(meet)
    }

    /// The summands of a value of so many bits, without what is known.
    fn summands(&self, value: ValueId, bits: u8) -> Vec<(ValueId, Lanes)> {
        match self.values.term(value) {
            Term::Known(_) => Vec::new(),
            Term::Sum { bits: of, terms, .. } if *of == bits => terms.clone(),
            _ => vec![(value, Lanes::All(1))],
        }
    }

    /// The one meeting that is counted on from in a value, if there is one.
    fn meeting(&self, summands: &[(ValueId, Lanes)]) -> Option<Meet> {
        let [(term, Lanes::All(1))] = summands else { return None };
        match self.values.term(*term) {
            Term::Meet { block, register } => Some((*block, *register)),
            _ => None,
        }
    }

    /// The unknown number from which a value of so many bits is counted, as far as that is said by what does
    /// not come round.
    fn begin(&mut self, value: ValueId, bits: u8, left: u32) -> Option<ValueId> {
        let left = left.checked_sub(1)?;
        let summands = self.summands(value, bits);
        if let Some(meet) = self.meeting(&summands) {
            return if self.bits(meet) == bits { self.begin_of(meet, left) } else { None };
        }
        if let [(term, Lanes::All(1))] = summands[..]
            && let Term::Apply { operation: Operation::Select, terms, .. } = self.values.term(term).clone()
        {
            let begin = self.begin(terms[0], bits, left)?;
            return (self.begin(terms[1], bits, left) == Some(begin)).then_some(begin);
        }
        if let Some(known) = self.values.as_known(value).and_then(Lanes::all) {
            return (LEAST..0).contains(&signed(known, bits)).then_some(value);
        }
        let is_number = |(term, _): &(ValueId, Lanes)| {
            is_invariant(self.values, *term) && self.values.width(*term) <= bits
        };
        let is_one = !summands.is_empty() && summands.iter().all(is_number) && !differs(self.values, value);
        if is_one { self.values.sum(bits, &summands) } else { None }
    }

    fn begin_of(&mut self, meet: Meet, left: u32) -> Option<ValueId> {
        let bits = self.bits(meet);
        if self.asked.insert(meet) && bits >= 32 {
            for (from, value) in self.evaluation.meets.get(&meet).cloned().unwrap_or_default() {
                if from == OUTSIDE {
                    return None;
                }
                if let Some(begin) = self.begin(value, bits, left) {
                    self.begins.insert(meet, begin);
                    break;
                }
            }
        }
        self.begins.get(&meet).copied()
    }

    /// Gives up the meetings to which something comes that is counted from elsewhere.
    fn settle(&mut self) {
        loop {
            let mut wrong = Vec::new();
            for meet in self.begins.keys().copied().collect::<Vec<_>>() {
                let incoming = self.evaluation.meets.get(&meet).cloned().unwrap_or_default();
                let is_since = |(from, value): &(usize, ValueId)| {
                    *from != OUTSIDE && self.since(*value, meet, DEPTH).is_some()
                };
                if incoming.is_empty() || !incoming.iter().all(is_since) {
                    wrong.push(meet);
                }
            }
            if wrong.is_empty() {
                return;
            }
            self.begins.retain(|meet, _| !wrong.contains(meet));
        }
    }

    /// What has been counted where a value comes to a meeting.
    fn since(&mut self, value: ValueId, meet: Meet, left: u32) -> Option<ValueId> {
        let (begin, bits) = (*self.begins.get(&meet)?, self.bits(meet));
        self.less(value, begin, bits, left)
    }

    /// A value without what it is counted from.
    fn less(&mut self, value: ValueId, begin: ValueId, bits: u8, left: u32) -> Option<ValueId> {
        let left = left.checked_sub(1)?;
        let minus = Lanes::All(cut(u64::MAX, bits));
        let summands = self.summands(value, bits);
        if let Some(meet) = self.meeting(&summands) {
            if self.begins.get(&meet) != Some(&begin) || self.bits(meet) != bits {
                return None;
            }
            let itself = summands[0].0;
            let since = self.values.leaf(Term::Meet { block: meet.0, register: meet.1 | SINCE });
            let parts = [(value, Lanes::All(1)), (itself, minus), (since, Lanes::All(1))];
            return self.values.sum(bits, &parts);
        }
        if let [(term, Lanes::All(1))] = summands[..]
            && let Term::Apply { operation: Operation::Select, ty, terms } = self.values.term(term).clone()
        {
            let [a, b] = [terms[0], terms[1]].map(|part| self.less(part, begin, bits, left));
            let chosen = self.values.apply(Operation::Select, ty, &[a?, b?, terms[2]]);
            return self.values.sum(bits, &[(value, Lanes::All(1)), (term, minus), (chosen, Lanes::All(1))]);
        }
        let rest = self.values.sum(bits, &[(value, Lanes::All(1)), (begin, minus)])?;
        self.values.as_known(rest).is_some().then_some(rest)
    }

    /// An operand in which what was counted stands for counters, if what they begin with cancels.
    fn rewritten(&mut self, value: ValueId, written: &mut HashMap<ValueId, ValueId>) -> ValueId {
        let new = self.with_since(value, written);
        let numbers: BTreeSet<ValueId> = self
            .begins
            .iter()
            .flat_map(|(meet, begin)| {
                let bits = self.values.find(&Term::Meet { block: meet.0, register: meet.1 });
                self.summands(*begin, bits.map_or(64, |meet| self.values.width(meet)))
            })
            .map(|(term, _)| term)
            .collect();
        let is_left = |term: &Term| self.values.find(term).is_some_and(|term| numbers.contains(&term));
        if new == value || any(self.values, new, is_left) { value } else { new }
    }

    fn with_since(&mut self, value: ValueId, written: &mut HashMap<ValueId, ValueId>) -> ValueId {
        if let Some(written) = written.get(&value) {
            return *written;
        }
        let new = match *self.values.term(value) {
            Term::Meet { block, register } => {
                let begin = self.begins.get(&(block, register)).copied();
                let bits = self.values.width(value);
                begin.and_then(|begin| {
                    let since = self.values.leaf(Term::Meet { block, register: register | SINCE });
                    self.values.sum(bits, &[(begin, Lanes::All(1)), (since, Lanes::All(1))])
                })
            }
            _ => {
                let inside = self.values.inside(value);
                let parts: Vec<ValueId> = inside.iter().map(|part| self.with_since(*part, written)).collect();
                if parts == inside { None } else { self.values.with(value, &parts) }
            }
        };
        let new = new.unwrap_or(value);
        written.insert(value, new);
        new
    }
}

//! What a counter holds behind a loop that another one ends: `left` goes down from `n & 3` to 0, and `i` with
//! it from `n`, so that `i` is `n - (n & 3)` there. Where the loop is passed by because `n & 3` is 0, `n` is
//! that as well: compilers take the remainder of a loop that they unroll first.
//!
//! Each round changes both counters by known numbers, so there is a sum of both that no round changes. Where
//! the loop is left, the other counter is known by what is compared; so the first one is what the sum was
//! where the loop was entered. All that holds modulo the bits of the counters, and nothing is assumed.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::arithmetic::{cut, signed};
use super::code::{Comparison, Operation, Register};
use super::evaluate::{Evaluation, OUTSIDE, Way};
use super::facts::{facts, parts};
use super::flow::Flow;
use super::lanes::Lanes;
use super::terms::{any, is_invariant};
use super::value::{Term, ValueId, Values};

/// The width of counters that are looked at.
const BITS: u8 = 32;

/// Values that meet in one place, of which it is asked whether they are the same.
const FEW: usize = 4;

/// Parts of a sum that are looked at.
const MOST: usize = 64;

/// A register where paths meet.
type Meet = (usize, Register);

/// Puts what is known of counters behind loops in their place, in conditions. What operands of barriers
/// depend on stays as it is: there a register is told apart by what it was counted from.
pub(super) fn take(values: &mut Values, evaluation: &mut Evaluation) {
    let Ok(flow) = Flow::of(evaluation) else { return };
    if flow.loops.is_empty() {
        return;
    }
    let mut behind = Behind { values, evaluation, flow: &flow };
    let meets: Vec<Meet> = evaluation.meets.keys().copied().collect();
    let known: BTreeMap<Meet, ValueId> =
        meets.into_iter().filter_map(|meet| Some((meet, behind.known(meet)?))).collect();
    if known.is_empty() {
        return;
    }
    let operands = evaluation.operands().into_iter().map(|(_, operand)| operand).collect();
    let operands = reached(values, evaluation, operands);
    let mut written = Written { values, known, written: HashMap::new() };
    for way in evaluation.then.iter_mut().flatten() {
        if let Way::Branch(condition, ..) = way {
            *condition = written.rewritten(*condition);
        }
    }
    for (_, incoming) in evaluation.meets.iter_mut().filter(|(meet, _)| !operands.contains(meet)) {
        incoming.iter_mut().for_each(|(_, value)| *value = written.rewritten(*value));
    }
}

/// What meets and is part of some values, or of what comes there.
fn reached(values: &Values, evaluation: &Evaluation, mut work: Vec<ValueId>) -> BTreeSet<Meet> {
    let (mut seen, mut reached) = (BTreeSet::new(), BTreeSet::new());
    while let Some(value) = work.pop() {
        if !seen.insert(value) {
            continue;
        }
        if let Term::Meet { block, register } = *values.term(value) {
            let incoming = evaluation.meets.get(&(block, register)).into_iter().flatten();
            work.extend(incoming.map(|(_, value)| *value));
            reached.insert((block, register));
        }
        work.extend(values.inside(value));
    }
    reached
}

struct Behind<'b> {
    values: &'b mut Values,
    evaluation: &'b Evaluation,
    flow: &'b Flow,
}

impl Behind<'_> {
    /// What meets in a place, if it is the same on all ways.
    fn known(&mut self, meet: Meet) -> Option<ValueId> {
        let (block, _) = meet;
        let incoming = self.evaluation.meets.get(&meet).filter(|incoming| incoming.len() <= FEW)?;
        let ways = || incoming.iter().map(|(from, _)| (*from, block));
        let is_there = !self.flow.is_header(block) && ways().all(|(from, _)| from != OUTSIDE);
        if !is_there || ways().all(|way| self.zeros_between(way).is_empty()) {
            return None;
        }
        let left = |behind: &mut Self, (from, value): &(usize, ValueId)| {
            let left = behind.left((*from, block), *value);
            left.or_else(|| is_invariant(behind.values, *value).then_some(*value))
        };
        let left: Vec<Option<ValueId>> = incoming.iter().map(|one| left(self, one)).collect();
        let is_same = |behind: &mut Self, found: ValueId| {
            incoming.iter().zip(&left).all(|((from, value), left)| {
                *value == found || *left == Some(found) || behind.equal((*from, block), *value, found)
            })
        };
        left.iter().flatten().copied().find(|found| is_same(self, *found))
    }

    /// The loop that is left on the way from one node to another, if only that one is.
    fn leaves(&self, from: usize, to: usize) -> Option<usize> {
        let inner = self.flow.innermost[from]?;
        let around = self.flow.loops[inner].around;
        (!self.flow.contains(Some(inner), to) && self.flow.innermost[to] == around).then_some(inner)
    }

    /// Sums that are 0 on the way from one node to another, by the condition of the first.
    fn zeros_between(&mut self, (from, to): (usize, usize)) -> Vec<ValueId> {
        let Some(Way::Branch(condition, taken, other)) = self.evaluation.then[from] else {
            return Vec::new();
        };
        if taken == other {
            return Vec::new();
        }
        self.zeros(parts(self.values, condition, to == taken))
    }

    /// Sums that are 0 by what is known of conditions.
    fn zeros(&mut self, conditions: Vec<(ValueId, bool)>) -> Vec<ValueId> {
        let mut zeros = Vec::new();
        for (condition, holds) in conditions {
            let Term::Apply { operation: Operation::Compare(comparison), ty, terms } =
                self.values.term(condition).clone()
            else {
                continue;
            };
            let is_equal = comparison == if holds { Comparison::Equal } else { Comparison::NotEqual };
            if let (true, BITS, [a, b]) = (is_equal, ty.bits, terms.as_slice()) {
                zeros.extend(self.values.sum(BITS, &[(*a, Lanes::All(1)), (*b, minus(1))]));
            }
        }
        zeros
    }

    /// Whether two values are equal on a way, by what is known to be 0 there.
    fn equal(&mut self, way: (usize, usize), one: ValueId, other: ValueId) -> bool {
        let known = facts(self.values, self.evaluation, self.flow, way.0);
        let mut zeros = self.zeros_between(way);
        zeros.extend(self.zeros(known));
        let Some(more) = self.values.sum(BITS, &[(one, Lanes::All(1)), (other, minus(1))]) else {
            return false;
        };
        zeros.into_iter().any(|zero| {
            let is_none = |factor| {
                let rest = self.values.sum(BITS, &[(more, Lanes::All(1)), (zero, factor)]);
                rest.and_then(|rest| self.values.as_known(rest)).is_some_and(Lanes::is_zero)
            };
            [Lanes::All(1), minus(1)].into_iter().any(is_none)
        })
    }

    /// What a value is that a loop is left with, by what it was entered with.
    fn left(&mut self, way: (usize, usize), value: ValueId) -> Option<ValueId> {
        let inner = self.leaves(way.0, way.1)?;
        let counters = self.counters(value, inner);
        let zeros = if counters.is_empty() { Vec::new() } else { self.zeros_between(way) };
        for zero in zeros {
            for (ends, factor) in self.counters(zero, inner) {
                for (counter, _) in counters.iter().filter(|(counter, times)| *counter != ends && *times == 1)
                {
                    if let Some(found) = self.by([*counter, ends], factor, (value, zero), inner) {
                        return Some(found);
                    }
                }
            }
        }
        None
    }

    /// What a value is by one counter, of which it is the sum and something else, and by another, of which so
    /// many times are part of a sum that is 0.
    fn by(
        &mut self,
        [counter, ends]: [Meet; 2],
        factor: i64,
        (value, zero): (ValueId, ValueId),
        inner: usize,
    ) -> Option<ValueId> {
        let ((begin, step), (begin_of_ends, step_of_ends)) =
            (self.counts(counter, inner)?, self.counts(ends, inner)?);
        // So many times that of the other one the sum of both stays as it is.
        let times =
            if factor.abs() == 1 && step % step_of_ends == 0 { -(step / step_of_ends) } else { return None };
        let [counter, ends] =
            [counter, ends].map(|(block, register)| self.values.leaf(Term::Meet { block, register }));
        let parts = [
            (value, Lanes::All(1)),
            (zero, number(times * factor)),
            (counter, minus(1)),
            (ends, number(-times)),
        ];
        let rest = self.values.sum(BITS, &parts)?;
        let is_fixed = is_invariant(self.values, rest)
            && [begin, begin_of_ends].into_iter().all(|begin| self.is_outside(begin, inner));
        let parts = [(rest, Lanes::All(1)), (begin, Lanes::All(1)), (begin_of_ends, number(times))];
        if is_fixed { self.values.sum(BITS, &parts) } else { None }
    }

    /// The counters of a loop that are summands of a value, and how often.
    fn counters(&self, value: ValueId, inner: usize) -> Vec<(Meet, i64)> {
        let header = self.flow.loops[inner].header;
        let summands = match self.values.term(value) {
            Term::Sum { bits: BITS, terms, .. } => terms.clone(),
            _ if self.values.width(value) == BITS => vec![(value, Lanes::All(1))],
            _ => Vec::new(),
        };
        let counter = |(term, factor): &(ValueId, Lanes)| match *self.values.term(*term) {
            Term::Meet { block, register } if block == header && self.values.width(*term) == BITS => {
                Some(((block, register), signed(factor.all()?, BITS)))
            }
            _ => None,
        };
        summands.iter().take(MOST).filter_map(counter).collect()
    }

    /// What a counter of a loop begins with, and by how much each round changes it.
    fn counts(&mut self, meet: Meet, inner: usize) -> Option<(ValueId, i64)> {
        let incoming = self.evaluation.meets.get(&meet)?;
        let is_back = |from: usize| from != OUTSIDE && self.flow.contains(Some(inner), from);
        let (back, outside): (Vec<_>, Vec<_>) = incoming.iter().partition(|(from, _)| is_back(*from));
        let [(_, begin)] = outside[..] else { return None };
        let itself = self.values.leaf(Term::Meet { block: meet.0, register: meet.1 });
        let mut step = None;
        for (_, next) in back {
            let by = self.values.sum(BITS, &[(next, Lanes::All(1)), (itself, minus(1))])?;
            let by = signed(self.values.as_known(by)?.all()?, BITS);
            if by == 0 || by == i64::from(i32::MIN) || *step.get_or_insert(by) != by {
                return None;
            }
        }
        Some((begin, step?))
    }

    /// Whether a value that a loop is entered with is the same behind it.
    fn is_outside(&self, value: ValueId, inner: usize) -> bool {
        let changes = |term: &Term| match term {
            Term::Known(_) | Term::Same(_) | Term::Sum { .. } | Term::Apply { .. } | Term::Pure { .. } => {
                false
            }
            Term::Loaded { .. } => false,
            Term::Meet { block, .. } => self.flow.contains(Some(inner), *block),
            Term::Gained { .. } | Term::Given { .. } | Term::Unknown { .. } | Term::Unset => true,
        };
        !any(self.values, value, changes)
    }
}

fn number(number: i64) -> Lanes {
    Lanes::All(cut(number as u64, BITS))
}

fn minus(times: i64) -> Lanes {
    number(-times)
}

struct Written<'w> {
    values: &'w mut Values,
    known: BTreeMap<Meet, ValueId>,
    written: HashMap<ValueId, ValueId>,
}

impl Written<'_> {
    fn rewritten(&mut self, value: ValueId) -> ValueId {
        if let Some(written) = self.written.get(&value) {
            return *written;
        }
        // What is in itself, over loops further out, stays as it is there.
        self.written.insert(value, value);
        let new = match *self.values.term(value) {
            Term::Meet { block, register } => {
                self.known.get(&(block, register)).copied().map(|known| self.rewritten(known))
            }
            _ => {
                let inside = self.values.inside(value);
                let parts: Vec<ValueId> = inside.iter().map(|part| self.rewritten(*part)).collect();
                if parts == inside { None } else { self.values.with(value, &parts) }
            }
        };
        let new = new.unwrap_or(value);
        self.written.insert(value, new);
        new
    }
}

//! Conditions that follow from a branch on the way, or from what is known of every launch: behind `n > 64` it
//! is known that `n > 0`, and of `full + (n > 0 ? 8 : 0)` only one object is left. `12 * %ctaid.x + 11 < 0`
//! is never true, as long as the sum does not overflow.

use std::collections::BTreeSet;

use barcheck_model::Patience;

use super::arithmetic::{cut, signed};
use super::code::{Action, Code, Comparison, Function, Operation, Type};
use super::evaluate::{Evaluation, Way};
use super::flow::Flow;
use super::lanes::Lanes;
use super::slice::{Slice, Then};
use super::terms::{is_invariant, of_grid};
use super::value::{Term, ValueId, Values};
use crate::common::span::Span;

/// Nodes above one that are looked at for what they decide.
const ABOVE: usize = 256;

/// Parts of one condition that are looked at.
const PARTS: usize = 16;

/// A number that never changes lies from one number to another, as it is compared.
struct Within {
    number: ValueId,
    ty: Type,
    from: i128,
    to: i128,
}

/// Branches that go one way only by what is known on the way to them, each with where it leads, and the
/// places of those for which no sum must overflow.
pub(super) fn one_way(
    values: &Values,
    (code, slice): (&Code, &Slice),
    evaluation: &Evaluation,
    patience: &Patience,
) -> (Vec<(usize, usize)>, BTreeSet<Span>) {
    let (mut found, mut unwrapped, mut known) = (Vec::new(), BTreeSet::new(), None);
    for (node, then) in evaluation.then.iter().enumerate() {
        let Some(Way::Branch(condition, taken, other)) = *then else { continue };
        if patience.is_over() {
            break;
        }
        if !is_invariant(values, condition) {
            continue;
        }
        let Some(wanted) = within(values, condition, true) else { continue };
        let of_launch = of_launch(values, code, &wanted);
        let holds = of_launch.as_ref().and_then(|fact| fact.decides(&wanted));
        if holds.is_some()
            && let (Then::Branch { span, .. }, true) = (slice.nodes[node].then, is_sum(values, wanted.number))
        {
            unwrapped.insert(span);
        }
        let holds = holds.or_else(|| {
            let flow = known.get_or_insert_with(|| Flow::of(evaluation)).as_ref().ok()?;
            facts(values, evaluation, flow, node).iter().find_map(|fact| fact.decides(&wanted))
        });
        found.extend(holds.map(|holds| (node, if holds { taken } else { other })));
    }
    (found, unwrapped)
}

fn is_sum(values: &Values, value: ValueId) -> bool {
    matches!(values.term(value), Term::Sum { .. })
}

/// Where the number that is compared lies in every launch: a sum of what cannot be negative.
fn of_launch(values: &Values, code: &Code, wanted: &Within) -> Option<Within> {
    let (number, ty) = (wanted.number, wanted.ty);
    let least = match values.term(number) {
        Term::Sum { bits: 32, terms, known } if ty.bits == 32 => {
            terms.iter().try_fold(signed(known.all()?, 32), |sum, (term, factor)| {
                let factor = signed(factor.all()?, 32);
                let least = of_grid(values, code, *term).filter(|_| factor > 0)?;
                sum.checked_add(least.checked_mul(factor)?)
            })?
        }
        _ => of_grid(values, code, number).filter(|_| ty.bits == 32)?,
    };
    // A sum without a sign may be that of large positions.
    let to = if ty.signed || !is_sum(values, number) { i32::MAX.into() } else { u32::MAX.into() };
    (least >= 0 || ty.signed).then(|| Within { number, ty, from: least.into(), to })
}

/// Which of two numbers the lesser or the greater is, where one of them is known and branches on the way say
/// that the other lies on one side of it, by the position of the instruction; what a mask leaves is the
/// number itself where they say that it has no other bits. And the places of those for which no sum must
/// overflow.
pub(super) fn extremes(
    values: &Values,
    code: &Code,
    evaluation: &Evaluation,
    patience: &Patience,
) -> (Vec<(usize, usize)>, BTreeSet<Span>) {
    let (mut found, mut unwrapped, mut known) = (Vec::new(), BTreeSet::new(), None);
    for (node, at, [a, b]) in &evaluation.extremes {
        let Action::Compute { function: Function::Integer(operation, ty), .. } =
            code.instructions[*at].action
        else {
            continue;
        };
        let number = |value: ValueId| values.as_known(value).and_then(Lanes::all);
        let (of, limit, [own, bound]) = match (number(*a), number(*b)) {
            (None, Some(limit)) => (*a, limit, [0, 1]),
            (Some(limit), None) => (*b, limit, [1, 0]),
            _ => continue,
        };
        if patience.is_over() {
            break;
        }
        let is_mask = operation == Operation::And;
        if !is_invariant(values, of) || !(ty.signed || is_mask) || ty.bits != 32 {
            continue;
        }
        let flow = known.get_or_insert_with(|| Flow::of(evaluation)).as_ref().ok();
        let facts = flow.map(|flow| facts(values, evaluation, flow, *node)).unwrap_or_default();
        if facts.is_empty() {
            continue;
        }
        let mut reckoned = Reckoned { values, facts: &facts, by_fact: false, left: TERMS };
        let Some((from, to)) = reckoned.range(of) else { continue };
        if is_mask {
            let low = cut(limit, 32).trailing_ones();
            if from >= 0 && to < 1 << low && reckoned.by_fact {
                found.push((*at, own));
                unwrapped.insert(code.instructions[*at].span);
            }
            continue;
        }
        let limit = i128::from(signed(limit, 32));
        let (is_below, is_above) = (to <= limit, from >= limit);
        let lesser = if is_below { Some(own) } else { is_above.then_some(bound) };
        let greater = if is_below { Some(bound) } else { is_above.then_some(own) };
        let chosen = if operation == Operation::Minimum { lesser } else { greater };
        if let Some(chosen) = chosen.filter(|_| reckoned.by_fact) {
            found.push((*at, chosen));
            unwrapped.insert(code.instructions[*at].span);
        }
    }
    (found, unwrapped)
}

/// Terms that are looked at for where a number lies.
const TERMS: u32 = 64;

/// Where numbers of 32 bits with a sign lie by what is known, as long as no sum overflows.
struct Reckoned<'v> {
    values: &'v Values,
    facts: &'v [Within],
    /// Some fact was made use of.
    by_fact: bool,
    left: u32,
}

impl Reckoned<'_> {
    fn range(&mut self, value: ValueId) -> Option<(i128, i128)> {
        self.left = self.left.checked_sub(1)?;
        let ty = Type { bits: 32, signed: true };
        let of_facts = self.facts.iter().filter(|fact| fact.number == value && fact.ty == ty);
        let of_facts = of_facts.map(|fact| (fact.from, fact.to)).reduce(|a, b| (a.0.max(b.0), a.1.min(b.1)));
        if of_facts.is_some() {
            self.by_fact = true;
            return of_facts;
        }
        let small = i128::from(i32::MIN)..=i128::from(i32::MAX);
        let (from, to) = match self.values.term(value).clone() {
            Term::Known(lanes) => {
                let number = i128::from(signed(lanes.all()?, 32));
                (number, number)
            }
            Term::Sum { bits: 32, terms, known } => {
                let known = i128::from(signed(known.all()?, 32));
                terms.iter().try_fold((known, known), |(from, to), (term, factor)| {
                    let factor = i128::from(signed(factor.all()?, 32));
                    let (least, most) = self.range(*term)?;
                    let (least, most) = if factor < 0 { (most, least) } else { (least, most) };
                    Some((from + least * factor, to + most * factor))
                })?
            }
            Term::Apply { operation: Operation::Divide, ty: of, terms } if of.bits == 32 => {
                let by = i128::from(signed(self.values.as_known(terms[1])?.all()?, 32));
                let (from, to) = self.range(terms[0]).filter(|(from, _)| *from >= 0 && by > 0)?;
                (from / by, to / by)
            }
            Term::Apply { operation: Operation::ShiftRight, ty: of, terms } if of.bits == 32 => {
                let by = self.values.as_known(terms[1])?.all().filter(|by| *by < 31)?;
                let (from, to) = self.range(terms[0]).filter(|(from, _)| *from >= 0)?;
                (from >> by, to >> by)
            }
            _ => return None,
        };
        // What would be beyond overflows.
        let (from, to) = (from.max(*small.start()), to.min(*small.end()));
        (from <= to).then_some((from, to))
    }
}

/// Leaves of the operands of steps on objects what branches on the way there leave of them.
pub(super) fn take(values: &mut Values, slice: &Slice, evaluation: &mut Evaluation) {
    let chosen = |(address, amount): (ValueId, Option<ValueId>)| {
        let mut conditions = BTreeSet::new();
        collect(values, address, &mut conditions);
        amount.into_iter().for_each(|amount| collect(values, amount, &mut conditions));
        conditions
    };
    let asked: Vec<_> = evaluation.barriers.iter().map(|(at, step)| (*at, chosen(*step))).collect();
    let mut asked: Vec<_> = asked.into_iter().filter(|(_, conditions)| !conditions.is_empty()).collect();
    asked.sort_unstable_by_key(|(at, _)| *at);
    if asked.is_empty() {
        return;
    }
    let Ok(flow) = Flow::of(evaluation) else { return };
    for (at, conditions) in asked {
        let Some(node) = slice.nodes.iter().position(|node| node.instructions.contains(&at)) else {
            continue;
        };
        let facts = facts(values, evaluation, &flow, node);
        for condition in conditions {
            let wanted = within(values, condition, true);
            let Some(holds) = wanted.and_then(|wanted| facts.iter().find_map(|fact| fact.decides(&wanted)))
            else {
                continue;
            };
            let known = if holds { Some(condition) } else { values.truth(condition, false) };
            let (Some(known), Some((address, amount))) = (known, evaluation.barriers.get(&at).copied())
            else {
                continue;
            };
            let step = (values.given(address, known), amount.map(|amount| values.given(amount, known)));
            evaluation.barriers.insert(at, step);
        }
    }
}

/// Conditions by which parts of a value are selected, and which never change.
fn collect(values: &Values, value: ValueId, conditions: &mut BTreeSet<ValueId>) {
    let (mut seen, mut work) = (BTreeSet::new(), vec![value]);
    while let Some(value) = work.pop() {
        if let Term::Apply { operation: Operation::Select, terms, .. } = values.term(value)
            && is_invariant(values, terms[2])
        {
            conditions.insert(terms[2]);
        }
        if seen.insert(value) {
            work.extend(values.inside(value));
        }
    }
}

/// What branches on the way to a node say: those whose one side alone leads there.
fn facts(values: &Values, evaluation: &Evaluation, flow: &Flow, node: usize) -> Vec<Within> {
    let above = std::iter::successors(Some(node), |node| flow.dominator[*node]).take(ABOVE);
    let decided = above.filter_map(|node| {
        let [from] = flow.before[node].as_slice() else { return None };
        let Some(Way::Branch(condition, taken, other)) = evaluation.then[*from] else { return None };
        (taken != other && is_invariant(values, condition)).then_some((condition, node == taken))
    });
    decided.flat_map(|(condition, holds)| parts(values, condition, holds)).collect()
}

/// What all parts of a condition say that holds, or of one that does not.
fn parts(values: &Values, condition: ValueId, holds: bool) -> Vec<Within> {
    let (mut found, mut work) = (Vec::new(), vec![(condition, holds)]);
    while let Some((condition, holds)) = work.pop().filter(|_| found.len() < PARTS) {
        match values.term(condition) {
            Term::Apply { operation: Operation::LogicalNot, terms, .. } => work.push((terms[0], !holds)),
            Term::Apply { operation: Operation::And, terms, .. } if holds && values.width(condition) <= 1 => {
                work.extend(terms.iter().map(|term| (*term, holds)));
            }
            Term::Apply { operation: Operation::Or, terms, .. } if !holds && values.width(condition) <= 1 => {
                work.extend(terms.iter().map(|term| (*term, holds)));
            }
            _ => found.extend(within(values, condition, holds)),
        }
    }
    found
}

/// Where a number lies if its comparison with a known one comes out so.
fn within(values: &Values, condition: ValueId, holds: bool) -> Option<Within> {
    let Term::Apply { operation, ty, terms } = values.term(condition) else { return None };
    let comparison = match operation {
        Operation::LogicalNot => return within(values, terms[0], !holds),
        Operation::Compare(comparison) if holds => *comparison,
        Operation::Compare(comparison) => comparison.negated(),
        _ => return None,
    };
    let [a, b] = terms[..] else { return None };
    let known = |value| values.as_known(value).and_then(Lanes::all);
    let (number, bound, comparison) = match (known(a), known(b)) {
        (None, Some(bound)) => (a, bound, comparison),
        (Some(bound), None) => (b, bound, comparison.swapped()),
        _ => return None,
    };
    let bits = ty.bits;
    let (least, most) =
        if ty.signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
    let bound = if ty.signed { signed(bound, bits).into() } else { cut(bound, bits).into() };
    let (from, to): (i128, i128) = match comparison {
        Comparison::Less => (least, bound - 1),
        Comparison::LessOrEqual => (least, bound),
        Comparison::Greater => (bound + 1, most),
        Comparison::GreaterOrEqual => (bound, most),
        Comparison::Equal => (bound, bound),
        Comparison::NotEqual => return None,
    };
    Some(Within { number, ty: *ty, from, to })
}

impl Within {
    /// Whether a number that lies here lies where another says, if it does so or not wherever it is here.
    fn decides(&self, other: &Self) -> Option<bool> {
        if self.number != other.number || self.ty != other.ty {
            None
        } else if other.from <= self.from && self.to <= other.to {
            Some(true)
        } else {
            (self.to < other.from || other.to < self.from).then_some(false)
        }
    }
}

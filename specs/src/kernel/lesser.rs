//! Loops up to the lesser of an unknown number and a few: `for (k = 0; k < min(n, 4); k++)`, which compilers
//! count from `-min(n, 4)` up to 0, or down to it.
//!
//! A register of its own stands for what has been counted since, as for other counters (`begins`). It begins
//! below both numbers and goes up by one, so that it comes to the lesser of them first: the loop is left
//! where it is the one or the other. If the unknown number is less than what it begins with, the loop would
//! have to go on until the register overflows, which is taken not to happen, and said.

use std::collections::BTreeSet;

use super::arithmetic::{cut, signed};
use super::code::{Comparison, Operation, Register, SINCE, Type};
use super::comparisons::FEW;
use super::dominators::dominates;
use super::evaluate::{Evaluation, Way};
use super::flow::Flow;
use super::lanes::Lanes;
use super::slice::{Slice, Then};
use super::terms::any;
use super::value::{Term, ValueId, Values};
use crate::common::span::Span;

/// The width of counters that are looked at.
const BITS: u8 = 32;

/// Asks in the place of such conditions for each of both numbers; the branches at which sums must not
/// overflow for that.
pub(super) fn take(values: &mut Values, slice: &Slice, evaluation: &mut Evaluation) -> BTreeSet<Span> {
    let mut unwrapped = BTreeSet::new();
    let branches: Vec<_> = evaluation.then.iter().copied().enumerate().collect();
    let mut flow = None;
    for (node, then) in branches {
        let Some(Way::Branch(condition, taken, other)) = then else { continue };
        let Some(equal) = equal(values, condition) else { continue };
        let Ok(flow) = flow.get_or_insert_with(|| Flow::of(evaluation)) else { return unwrapped };
        // Behind the lesser of both the counter would come to the other as well.
        if !is_left(flow, node, if equal.negated { other } else { taken }) {
            continue;
        }
        let Some(counter) = counter(values, (evaluation, flow, slice), node, &equal) else { continue };
        let (meet, condition) = (counter.meet, counter.condition(values, &equal));
        evaluation.meets.insert((meet.0, meet.1 | SINCE), counter.incoming(values));
        evaluation.then[node] = Some(Way::Branch(condition, taken, other));
        if let Then::Branch { span, .. } = slice.nodes[node].then {
            unwrapped.insert(span);
        }
    }
    unwrapped
}

/// Whether each round of the loop around a node comes there, and one way from it leads out.
fn is_left(flow: &Flow, node: usize, to: usize) -> bool {
    let Some(inner) = flow.innermost[node] else { return false };
    let is_outside = to >= flow.after.len() || !flow.contains(Some(inner), to);
    let header = flow.loops[inner].header;
    let mut backs = flow.before[header].iter().filter(|from| flow.contains(Some(inner), **from));
    is_outside && backs.all(|back| dominates(&flow.dominator, node, *back))
}

/// A condition that something that meets, or its negative, and a number are 0 together, or are not.
struct Equal {
    meet: (usize, Register),
    factor: i64,
    known: i64,
    negated: bool,
}

fn equal(values: &mut Values, condition: ValueId) -> Option<Equal> {
    let Term::Apply { operation: Operation::Compare(comparison), ty, terms } = values.term(condition).clone()
    else {
        return None;
    };
    let negated = match comparison {
        Comparison::Equal => false,
        Comparison::NotEqual => true,
        _ => return None,
    };
    let [a, b] = terms[..] else { return None };
    let minus = Lanes::All(cut(u64::MAX, BITS));
    let difference = (ty.bits == BITS).then(|| values.sum(BITS, &[(a, Lanes::All(1)), (b, minus)]))??;
    let (term, factor, known) = only(values, difference)?;
    match *values.term(term) {
        Term::Meet { block, register } => Some(Equal { meet: (block, register), factor, known, negated }),
        _ => None,
    }
}

/// The only term of a sum, with a factor of 1 or -1, and what is known of it.
fn only(values: &Values, value: ValueId) -> Option<(ValueId, i64, i64)> {
    let (term, factor, known) = match values.term(value) {
        Term::Sum { bits: BITS, terms, known } => {
            let [(term, factor)] = terms.as_slice() else { return None };
            (*term, signed(factor.all()?, BITS), signed(known.all()?, BITS))
        }
        Term::Known(_) => return None,
        _ => (value, 1, 0),
    };
    (factor.abs() == 1).then_some((term, factor, known))
}

/// A counter that begins with the lesser of two numbers, or its negative, and comes to 0.
struct Counter {
    meet: (usize, Register),
    /// From where what it begins with comes, and what is one further.
    outside: Vec<usize>,
    back: Vec<usize>,
    /// What has been counted and this is compared with the lesser of these numbers.
    more: i64,
    numbers: [ValueId; 2],
}

fn counter(
    values: &Values,
    (evaluation, flow, slice): (&Evaluation, &Flow, &Slice),
    node: usize,
    equal: &Equal,
) -> Option<Counter> {
    let meet = equal.meet;
    let inner = flow.innermost[meet.0].filter(|_| flow.is_header(meet.0))?;
    let is_new = !evaluation.meets.contains_key(&(meet.0, meet.1 | SINCE));
    if flow.innermost[node] != Some(inner) || !is_new {
        return None;
    }
    let incoming = evaluation.meets.get(&meet)?;
    let (back, outside): (Vec<_>, Vec<_>) =
        incoming.iter().copied().partition(|(from, _)| flow.contains(Some(inner), *from));
    let of = |ways: &[(usize, ValueId)]| {
        let (_, first) = *ways.first()?;
        ways.iter().all(|(_, value)| *value == first).then_some(first)
    };
    let (least, sign, begin) = only(values, of(&outside)?)?;
    let (counted, factor, step) = only(values, of(&back)?)?;
    let is_itself = *values.term(counted) == Term::Meet { block: meet.0, register: meet.1 };
    if !is_itself || factor != 1 || step != -sign {
        return None;
    }
    let Term::Apply { operation: Operation::Minimum, ty: Type { bits: BITS, .. }, terms } =
        values.term(least)
    else {
        return None;
    };
    let numbers = [terms[0], terms[1]];
    let few = numbers.iter().find_map(|number| values.as_known(*number)?.all().filter(|n| *n <= FEW))?;
    let more = -sign * (begin + equal.factor * equal.known);
    // What is compared is what the loop began with.
    let of_round =
        |at: usize| flow.loops[inner].nodes.iter().any(|node| slice.nodes[*node].instructions.contains(&at));
    let changes = |term: &Term| match term {
        Term::Meet { block: node, .. } | Term::Gained { header: node, .. } => {
            flow.contains(Some(inner), *node)
        }
        Term::Loaded { at, varies: true, .. } | Term::Given { at } | Term::Unknown { at, .. } => {
            of_round(*at)
        }
        _ => false,
    };
    let is_still = numbers.iter().all(|number| !any(values, *number, changes));
    let from = |ways: Vec<(usize, ValueId)>| ways.into_iter().map(|(from, _)| from).collect();
    let counter = Counter { meet, outside: from(outside), back: from(back), more, numbers };
    (is_still && more >= 0 && more.unsigned_abs() <= few).then_some(counter)
}

impl Counter {
    fn since(&self, values: &mut Values, more: i64) -> ValueId {
        let since = values.leaf(Term::Meet { block: self.meet.0, register: self.meet.1 | SINCE });
        let more = values.number(more.unsigned_abs());
        values.sum(BITS, &[(since, Lanes::All(1)), (more, Lanes::All(1))]).unwrap_or(since)
    }

    /// What has been counted where the loop begins anew.
    fn incoming(&self, values: &mut Values) -> Vec<(usize, ValueId)> {
        let (nothing, next) = (values.number(0), self.since(values, 1));
        let outside = self.outside.iter().map(|from| (*from, nothing));
        outside.chain(self.back.iter().map(|from| (*from, next))).collect()
    }

    /// That what has been counted is one number or the other.
    fn condition(&self, values: &mut Values, equal: &Equal) -> ValueId {
        let counted = self.since(values, self.more);
        let (ty, truth) = (Type { bits: BITS, signed: true }, Type { bits: 1, signed: false });
        let (comparison, joined) = match equal.negated {
            false => (Comparison::Equal, Operation::Or),
            true => (Comparison::NotEqual, Operation::And),
        };
        let parts =
            self.numbers.map(|number| values.apply(Operation::Compare(comparison), ty, &[counted, number]));
        values.apply(joined, truth, &parts)
    }
}

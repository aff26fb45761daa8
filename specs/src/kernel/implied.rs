//! Conditions that follow from a branch on the way, or from what is known of every launch: behind `n > 64` it
//! is known that `n > 0`, and of `full + (n > 0 ? 8 : 0)` only one object is left. `12 * %ctaid.x + 11 < 0`
//! is never true, as long as the sum does not overflow.

use std::collections::BTreeSet;

use barcheck_model::Patience;

use super::arithmetic::signed;
use super::code::{Action, Code, Comparison, Function, Operation, Type};
use super::comparisons::FEW;
use super::evaluate::{Evaluation, Way};
use super::extremes::Leaves;
use super::facts::{Reckoned, Within, facts, within};
use super::flow::Flow;
use super::lanes::Lanes;
use super::slice::{Slice, Then};
use super::terms::{is_invariant, of_grid};
use super::value::{Term, ValueId, Values};
use crate::common::span::Span;

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
            decided(values, &facts(values, evaluation, flow, node), &wanted)
        });
        found.extend(holds.map(|holds| (node, if holds { taken } else { other })));
    }
    (found, unwrapped)
}

/// Whether a number lies where it is asked, by what is known.
fn decided(values: &Values, facts: &[(ValueId, bool)], wanted: &Within) -> Option<bool> {
    facts.iter().find_map(|(condition, holds)| within(values, *condition, *holds)?.decides(wanted))
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

/// Which of two numbers the lesser or the greater is, where branches on the way say so, by the position of
/// the instruction; what a mask leaves is the number itself where they say that it has no other bits, or it
/// but for low ones. And the places of those for which no sum must overflow.
pub(super) fn extremes(
    values: &mut Values,
    code: &Code,
    evaluation: &Evaluation,
    patience: &Patience,
) -> (Vec<(usize, Leaves)>, BTreeSet<Span>) {
    let (mut found, mut unwrapped, mut known) = (Vec::new(), BTreeSet::new(), None);
    for (node, at, numbers) in &evaluation.extremes {
        let Action::Compute { function: Function::Integer(operation, ty), .. } =
            code.instructions[*at].action
        else {
            continue;
        };
        if patience.is_over() {
            break;
        }
        if !(ty.signed || operation == Operation::And) || ty.bits != 32 {
            continue;
        }
        let flow = known.get_or_insert_with(|| Flow::of(evaluation)).as_ref().ok();
        let facts = flow.map(|flow| facts(values, evaluation, flow, *node)).unwrap_or_default();
        if facts.is_empty() {
            continue;
        }
        let mut reckoned = Reckoned::by(values, &facts);
        if let Some(chosen) = chosen(&mut reckoned, operation, *numbers)
            && reckoned.by_fact
        {
            found.push((*at, chosen));
            unwrapped.insert(code.instructions[*at].span);
        }
    }
    (found, unwrapped)
}

/// What is known that an operation leaves of two numbers.
fn chosen(reckoned: &mut Reckoned<'_>, operation: Operation, numbers: [ValueId; 2]) -> Option<Leaves> {
    if operation == Operation::And {
        let [first, second] = numbers.map(|number| reckoned.known(number));
        let (mask, number) = first.map(|mask| (mask, 1)).or(second.map(|mask| (mask, 0)))?;
        let (from, to) = reckoned.range(numbers[number])?;
        if from >= 0 && to < 1 << mask.trailing_ones() {
            return Some(Leaves::Operand(number));
        }
        // What clears the sign as well is known to round: see `without_sign`.
        let has_no_more = from >= 0 && mask >> 30 == 0 && to < 1 << (u64::BITS - mask.leading_zeros());
        return has_no_more.then_some(Leaves::Rounded(number));
    }
    let (from, to) = reckoned.between(numbers)?;
    let is_first = (to <= 0 || from >= 0).then_some(to <= 0)?;
    Some(Leaves::Operand(usize::from(is_first != (operation == Operation::Minimum))))
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
            let Some(holds) = wanted.and_then(|wanted| decided(values, &facts, &wanted)) else { continue };
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

/// Reads with a sign what is compared without one, where branches on the way there say that it is not
/// negative: of `n / 128` compilers ask by `n <u 512` whether it is below 4. The places of those for which no
/// sum must overflow.
pub(super) fn with_sign(
    values: &mut Values,
    slice: &Slice,
    evaluation: &mut Evaluation,
    patience: &Patience,
) -> BTreeSet<Span> {
    let (mut unwrapped, mut known) = (BTreeSet::new(), None);
    for node in 0..evaluation.then.len() {
        let Some(Way::Branch(condition, taken, other)) = evaluation.then[node] else { continue };
        if patience.is_over() {
            break;
        }
        let Term::Apply { operation: operation @ Operation::Compare(_), ty, terms } =
            values.term(condition).clone()
        else {
            continue;
        };
        let bound = values.as_known(terms[1]).and_then(Lanes::all);
        if ty.signed
            || ty.bits != 32
            || bound.is_none_or(|bound| bound > i32::MAX as u64 || bound <= FEW)
            || is_equality(operation)
            // `n <u 4` and `n - 1 <u 3` are how it is known that the remainder alone is left.
            || is_sum(values, terms[0])
        {
            continue;
        }
        let flow = known.get_or_insert_with(|| Flow::of(evaluation)).as_ref().ok();
        let facts = flow.map(|flow| facts(values, evaluation, flow, node)).unwrap_or_default();
        if facts.is_empty() {
            continue;
        }
        let mut reckoned = Reckoned::by(values, &facts);
        if reckoned.range(terms[0]).is_some_and(|(from, _)| from >= 0) && reckoned.by_fact {
            let condition = values.apply(operation, Type { signed: true, ..ty }, &terms);
            evaluation.then[node] = Some(Way::Branch(condition, taken, other));
            if let Then::Branch { span, .. } = slice.nodes[node].then {
                unwrapped.insert(span);
            }
        }
    }
    unwrapped
}

fn is_equality(operation: Operation) -> bool {
    matches!(operation, Operation::Compare(Comparison::Equal | Comparison::NotEqual))
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

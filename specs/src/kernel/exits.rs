//! What a register holds behind a loop that ends when another number has come to its end.
//!
//! A compiler that makes four rounds of a loop one leaves the loop when what is left of `n - n % 4` is 0, and
//! goes on with the number of rounds that it has made. That number is `n - n % 4`, as both have changed in
//! step; and it is 0, as written on the way around the loop, where there are fewer rounds than four. Others
//! compute it anew, as `n / 4 * 4`. Or it makes the `n % 4` rounds that are too many first, and goes on from
//! `first + n % 4`, which is `first` on the way around that loop.

use super::arithmetic::{cut, signed};
use super::code::{Comparison, Operation, Register};
use super::evaluate::{Evaluation, OUTSIDE, Way};
use super::flow::Flow;
use super::lanes::Lanes;
use super::terms::is_invariant;
use super::value::{Term, ValueId, Values};

/// Nodes between a branch and where paths meet, at most.
const NODES: usize = 8;

/// The width of what is counted so.
const BITS: u8 = 32;

/// What a meeting behind a loop comes to, in terms that are the same while the kernel runs, given what its
/// values are made of: `expanded` splits them into what they began with and what loops have added.
pub(super) fn exit(
    values: &mut Values,
    (evaluation, flow): (&Evaluation, &Flow),
    meet: (usize, Register),
    expanded: &dyn Fn(&mut Values, ValueId) -> ValueId,
) -> Option<ValueId> {
    let (block, _) = meet;
    let incoming = evaluation.meets.get(&meet)?;
    if flow.is_header(block) || incoming.iter().any(|(from, _)| *from == OUTSIDE) {
        return None;
    }
    let (mut found, mut around) = (None, Vec::new());
    for (from, value) in incoming {
        if let Some(end) = in_whole(values, *value) {
            if found.is_some_and(|known| known != end) {
                return None;
            }
            found = Some(end);
            continue;
        }
        let (node, to) = decided(evaluation, flow, *from, block)?;
        let Some(Way::Branch(condition, taken, other)) = evaluation.then[node] else { return None };
        let ways = (taken == to, other == to);
        if flow.innermost[node].is_none_or(|inner| flow.contains(Some(inner), to)) {
            around.push((condition, ways, *value));
            continue;
        }
        let end = behind(values, (condition, ways), *value, expanded)?;
        if found.is_some_and(|known| known != end) {
            return None;
        }
        found = Some(end);
    }
    let found = found.filter(|found| is_invariant(values, *found))?;
    let is_same = around.into_iter().all(|(condition, ways, value)| {
        let is_0 = ways == (true, false)
            && is_0_there(values, found, condition)
            && values.as_known(value).is_some_and(Lanes::is_zero);
        is_0 || is_added_0(values, (condition, ways), [found, value])
    });
    is_same.then_some(found)
}

/// `n - n % 4` for `n / 4 * 4`.
fn in_whole(values: &mut Values, value: ValueId) -> Option<ValueId> {
    let Term::Sum { bits: BITS, terms, known: Lanes::All(0) } = values.term(value).clone() else {
        return None;
    };
    let [(quotient, Lanes::All(factor))] = terms[..] else { return None };
    let Term::Apply { operation: Operation::ShiftRight, ty, terms } = values.term(quotient).clone() else {
        return None;
    };
    let by = values.as_known(terms[1])?.all()?;
    if ty.signed || ty.bits != BITS || !(1..31).contains(&by) || factor != 1 << by {
        return None;
    }
    let mask = values.number(factor - 1);
    let rest = values.apply(Operation::And, ty, &[terms[0], mask]);
    let minus = Lanes::All(cut(u64::MAX, BITS));
    values.sum(BITS, &[(terms[0], Lanes::All(1)), (rest, minus)])
}

/// The branch that decides, on the only way there, that control comes from one node to another, and where it
/// goes on from it.
fn decided(evaluation: &Evaluation, flow: &Flow, from: usize, to: usize) -> Option<(usize, usize)> {
    let (mut node, mut next) = (from, to);
    for _ in 0..NODES {
        if let Some(Way::Branch(..)) = evaluation.then[node] {
            return Some((node, next));
        }
        let [before] = flow.before[node].as_slice() else { return None };
        (node, next) = (*before, node);
    }
    None
}

/// What a value is where a loop is left because two numbers are equal.
fn behind(
    values: &mut Values,
    (condition, (taken, other)): (ValueId, (bool, bool)),
    value: ValueId,
    expanded: &dyn Fn(&mut Values, ValueId) -> ValueId,
) -> Option<ValueId> {
    let Term::Apply { operation: Operation::Compare(comparison), ty, terms } = values.term(condition).clone()
    else {
        return None;
    };
    let leaves_if_equal = match comparison {
        Comparison::Equal => taken && !other,
        Comparison::NotEqual => other && !taken,
        _ => false,
    };
    let [a, b] = terms[..] else { return None };
    if !leaves_if_equal || ty.bits != BITS {
        return None;
    }
    let minus = Lanes::All(cut(u64::MAX, BITS));
    let left = values.sum(BITS, &[(a, Lanes::All(1)), (b, minus)])?;
    let (left, value) = (expanded(values, left), expanded(values, value));
    let (gained, step, left) = split(values, left)?;
    let (own, own_step, begin) = split(values, value)?;
    let Term::Gained { header, .. } = *values.term(gained) else { return None };
    let is_together = matches!(values.term(own), Term::Gained { header: of, .. } if *of == header);
    if !is_together || step == 0 || own_step % step != 0 {
        return None;
    }
    // What is left is 0: so what has been added is what there was less, as often as the one goes into the
    // other.
    let times = Lanes::All(cut((-(own_step / step)) as u64, BITS));
    values.sum(BITS, &[(begin, Lanes::All(1)), (left, times)])
}

/// A sum without the one thing that a loop has added to it, that, and by how much the sum grows with it.
fn split(values: &mut Values, sum: ValueId) -> Option<(ValueId, i64, ValueId)> {
    let terms = match values.term(sum).clone() {
        Term::Sum { bits: BITS, terms, .. } => terms,
        Term::Gained { .. } => vec![(sum, Lanes::All(1))],
        _ => return None,
    };
    let mut gained = terms.into_iter().filter(|(term, _)| matches!(values.term(*term), Term::Gained { .. }));
    let (Some((gained, Lanes::All(factor))), None) = (gained.next(), gained.next()) else { return None };
    let Term::Gained { step, .. } = *values.term(gained) else { return None };
    let step = signed(values.as_known(step)?.all()?, BITS).checked_mul(signed(factor, BITS))?;
    let less = Lanes::All(cut(factor.wrapping_neg(), BITS));
    let rest = values.sum(BITS, &[(sum, Lanes::All(1)), (gained, less)])?;
    Some((gained, step, rest))
}

/// Whether one value is another and something more that is 0 where a condition holds: `first + n % 4` is
/// `first` where `n % 4 == 0`.
fn is_added_0(
    values: &mut Values,
    (condition, (taken, other)): (ValueId, (bool, bool)),
    [sum, value]: [ValueId; 2],
) -> bool {
    let Term::Apply { operation: Operation::Compare(comparison), ty, terms } = values.term(condition).clone()
    else {
        return false;
    };
    let is_equal = match comparison {
        Comparison::Equal => taken && !other,
        Comparison::NotEqual => other && !taken,
        _ => false,
    };
    let minus = Lanes::All(cut(u64::MAX, BITS));
    let mut less = |a, b| values.sum(BITS, &[(a, Lanes::All(1)), (b, minus.clone())]);
    let (more, difference) = (less(sum, value), less(terms[0], terms[1]));
    is_equal && ty.bits == BITS && more.is_some() && more == difference
}

/// Whether `n - (n & mask)` is 0 where a condition holds: `n - 1 < 3` without a sign, of a mask of 3.
fn is_0_there(values: &mut Values, value: ValueId, condition: ValueId) -> bool {
    let rounded = |values: &Values| {
        let Term::Sum { terms, known, .. } = values.term(value) else { return None };
        let minus = Lanes::All(cut(u64::MAX, BITS));
        let (Some(Lanes::All(0)), [one, two]) = (Some(known), terms.as_slice()) else { return None };
        let [(number, _), (rest, _)] = match (one.1 == minus, two.1 == minus) {
            (false, true) if one.1 == Lanes::All(1) => [one, two],
            (true, false) if two.1 == Lanes::All(1) => [two, one],
            _ => return None,
        };
        let Term::Apply { operation: Operation::And, terms, .. } = values.term(*rest) else { return None };
        let mask = terms.iter().find_map(|term| values.as_known(*term)?.all());
        let is_of_it = terms.contains(number);
        mask.filter(|mask| is_of_it && (mask + 1).is_power_of_two()).map(|mask| (*number, mask))
    };
    let Some((number, mask)) = rounded(values) else { return false };
    let Term::Apply { operation: Operation::Compare(Comparison::Less), ty, terms } =
        values.term(condition).clone()
    else {
        return false;
    };
    let minus = Lanes::All(cut(u64::MAX, BITS));
    let more = values.sum(BITS, &[(terms[0], Lanes::All(1)), (number, minus)]);
    let known = |values: &Values, value: ValueId| values.as_known(value).and_then(Lanes::all);
    let less = more.and_then(|more| known(values, more)).map(|more| -signed(more, BITS));
    let (Some(less), Some(bound)) = (less, known(values, terms[1])) else { return false };
    // So it is from `less` to `less + bound - 1`.
    let most = u64::try_from(less).ok().and_then(|less| less.checked_add(bound)?.checked_sub(1));
    !ty.signed && ty.bits == BITS && bound > 0 && most.is_some_and(|most| most <= mask)
}

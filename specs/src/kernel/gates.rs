//! What comes to a node over a branch, where the branch tells which of two values has come to another place
//! before: of `x = a < b ? 1 : 0` it is 1 where `a < b` has led on.

use super::arithmetic::{cut, signed};
use super::code::{Comparison, Operation, Register, Type};
use super::evaluate::{Evaluator, State, Way};
use super::lanes::Lanes;
use super::value::{Term, ValueId, Values};

/// The nodes between a branch and where its two ways come together again, on each of them.
const NODES: usize = 16;

/// A condition on two values, such that equal conditions are equal and opposite ones differ in `negated`.
#[derive(PartialEq, Eq)]
struct Plain {
    ty: Type,
    is_equality: bool,
    left: ValueId,
    right: Result<i128, ValueId>,
}

impl Evaluator<'_> {
    /// What a register holds that comes from one node to another.
    pub(super) fn coming(&self, state: &State, (from, to): (usize, usize), index: usize) -> Option<ValueId> {
        let value = state.behind[from].as_ref()?[index];
        Some(self.of_two(state, (from, to), value).unwrap_or(value))
    }

    /// What all registers hold.
    pub(super) fn all_coming(&self, state: &State, (from, to): (usize, usize)) -> Option<Vec<ValueId>> {
        let values = state.behind[from].as_ref()?;
        match state.then[from]? {
            Way::To(_) => Some(values.clone()),
            Way::Branch(..) => (0..values.len()).map(|index| self.coming(state, (from, to), index)).collect(),
        }
    }

    /// The one of two values that a branch leaves.
    fn of_two(&self, state: &State, (from, to): (usize, usize), value: ValueId) -> Option<ValueId> {
        let Term::Meet { block, register } = *self.values.term(value) else { return None };
        let Some(Way::Branch(condition, taken, other)) = state.then[from] else { return None };
        if taken == other {
            return None;
        }
        let (decides, sides) = self.gate(state, block)?;
        let (known, is_known_negated) = plain(self.values, condition)?;
        let (asked, is_negated) = plain(self.values, decides)?;
        if known != asked {
            return None;
        }
        let holds = (to == taken) == (is_known_negated == is_negated);
        let side = if holds { sides[0] } else { sides[1] };
        let index = self.index(register)?;
        Some(state.behind[side].as_ref()?[index])
    }

    /// The condition that decides from which of two nodes a node is reached, and those nodes: where it holds,
    /// and where not.
    pub(super) fn gate(&self, state: &State, join: usize) -> Option<(ValueId, [usize; 2])> {
        let from: Vec<usize> = state.leading(join).collect();
        let [one, other] = from[..] else { return None };
        // Back over nodes to which one way leads alone.
        let back = |last: usize| {
            let (mut node, mut to) = (last, join);
            for _ in 0..NODES {
                match state.then[node]? {
                    Way::Branch(condition, taken, other) if taken != other => {
                        return Some((node, condition, to == taken));
                    }
                    _ => {}
                }
                let mut before = state.leading(node);
                let (Some(from), None) = (before.next(), before.next()) else { return None };
                (node, to) = (from, node);
            }
            None
        };
        let ((branch, condition, holds), (same, _, holds_too)) = (back(one)?, back(other)?);
        (branch == same && holds != holds_too)
            .then_some((condition, if holds { [one, other] } else { [other, one] }))
    }

    fn index(&self, register: Register) -> Option<usize> {
        self.slice.registers.get(&register).copied()
    }
}

/// A condition in its plain form, and whether it is the negation of that.
fn plain(values: &Values, condition: ValueId) -> Option<(Plain, bool)> {
    let Term::Apply { operation, ty, terms } = values.term(condition) else { return None };
    match (operation, terms.as_slice()) {
        (Operation::LogicalNot, [of]) => plain(values, *of).map(|(plain, negated)| (plain, !negated)),
        (Operation::Compare(comparison), [a, b]) => compared(values, *comparison, *ty, (*a, *b)),
        _ => None,
    }
}

fn compared(
    values: &Values,
    comparison: Comparison,
    ty: Type,
    (a, b): (ValueId, ValueId),
) -> Option<(Plain, bool)> {
    let known = |value: ValueId| {
        let number = values.as_known(value).and_then(Lanes::all)?;
        Some(if ty.signed { i128::from(signed(number, ty.bits)) } else { i128::from(cut(number, ty.bits)) })
    };
    if known(a).is_some() && known(b).is_none() {
        return compared(values, comparison.swapped(), ty, (b, a));
    }
    let plain = |is_equality, left, right| Plain { ty, is_equality, left, right };
    Some(match (comparison, known(b)) {
        (Comparison::Equal, Some(number)) => (plain(true, a, Ok(number)), false),
        (Comparison::NotEqual, Some(number)) => (plain(true, a, Ok(number)), true),
        (Comparison::Equal, None) => (plain(true, a.min(b), Err(a.max(b))), false),
        (Comparison::NotEqual, None) => (plain(true, a.min(b), Err(a.max(b))), true),
        (Comparison::Less, Some(number)) => (plain(false, a, Ok(number)), false),
        (Comparison::GreaterOrEqual, Some(number)) => (plain(false, a, Ok(number)), true),
        (Comparison::LessOrEqual, Some(number)) => (plain(false, a, Ok(number + 1)), false),
        (Comparison::Greater, Some(number)) => (plain(false, a, Ok(number + 1)), true),
        (Comparison::Less, None) => (plain(false, a, Err(b)), false),
        (Comparison::GreaterOrEqual, None) => (plain(false, a, Err(b)), true),
        (Comparison::Greater, None) => (plain(false, b, Err(a)), false),
        (Comparison::LessOrEqual, None) => (plain(false, b, Err(a)), true),
    })
}

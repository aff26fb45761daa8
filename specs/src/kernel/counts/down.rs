//! Loops that count down and are left by an unsigned comparison: `do { …; i -= 1; } while (i + 1 >u 1)`.

use std::collections::BTreeMap;

use super::linear::{Asker, DEPTH};
use super::sum::Linear;
use crate::kernel::code::{Comparison, Operation, Type};
use crate::kernel::dominators::dominates;
use crate::kernel::evaluate::{OUTSIDE, Way};
use crate::kernel::facts::facts_at_entry;
use crate::kernel::lanes::Lanes;
use crate::kernel::value::{Term, ValueId};

impl Asker<'_> {
    /// Whether a number of which a comparison without a sign asks is not negative with one, so that it may be
    /// read with a sign as well: the branch of the node asks of it, too. It goes down in the rounds of a
    /// loop, no round follows but where it was no less than what is taken off, and a branch on the way says
    /// that it does not begin below 0.
    ///
    /// By induction over the rounds: it begins so, and whenever a round follows, it was at least as much as
    /// what was taken off since.
    pub(super) fn goes_down(&self, ty: Type, (a, b): (ValueId, ValueId)) -> bool {
        if ty.signed || ty.bits != 32 {
            return false;
        }
        let (value, bound) = match (self.bound(a), self.bound(b)) {
            (None, Some(bound)) => (a, bound),
            (Some(bound), None) => (b, bound),
            _ => return false,
        };
        let of = self.linear(value, Type { signed: true, ..ty }, DEPTH);
        bound <= i64::from(i32::MAX) && of.is_some_and(|of| self.counted_down().as_ref() == Some(&of))
    }

    fn bound(&self, value: ValueId) -> Option<i64> {
        i64::try_from(self.values().as_known(value).and_then(Lanes::all)?).ok()
    }

    /// Of which number the branch of the node asks, if that is known never to be negative.
    fn counted_down(&self) -> Option<Linear> {
        let (flow, evaluation, node) = (self.keys.agent.flow, self.keys.agent.evaluation, self.keys.node);
        let Some(Way::Branch(mut condition, mut taken, mut other)) = evaluation.then[node] else {
            return None;
        };
        while let Term::Apply { operation: Operation::LogicalNot, terms, .. } = self.values().term(condition)
        {
            condition = terms[0];
            std::mem::swap(&mut taken, &mut other);
        }
        let Term::Apply { operation: Operation::Compare(comparison), ty, terms } =
            self.values().term(condition)
        else {
            return None;
        };
        let [a, b] = terms[..] else { return None };
        let (value, bound, comparison) = match (self.bound(a), self.bound(b)) {
            (None, Some(bound)) => (a, bound, *comparison),
            (Some(bound), None) => (b, bound, comparison.swapped()),
            _ => return None,
        };
        // What it is at least where another round follows, and where that leads.
        let (least, goes_on, left_by) = match comparison {
            Comparison::Greater => (bound + 1, taken, other),
            Comparison::GreaterOrEqual => (bound, taken, other),
            Comparison::LessOrEqual => (bound + 1, other, taken),
            Comparison::Less => (bound, other, taken),
            Comparison::Equal | Comparison::NotEqual => return None,
        };
        let stays = |inner: &usize| goes_on < flow.after.len() && flow.contains(Some(*inner), goes_on);
        let inner = flow.innermost[node].filter(stays)?;
        let header = flow.loops[inner].header;
        let is_back = |from: &usize| flow.contains(Some(inner), *from);
        let leaves = left_by >= flow.after.len() || !flow.contains(Some(inner), left_by);
        let mut backs = flow.before[header].iter().filter(|from| is_back(from));
        if ty.signed || !leaves || !backs.all(|back| dominates(&flow.dominator, node, *back)) {
            return None;
        }
        let ty = Type { signed: true, ..*ty };
        let of = self.linear(value, ty, DEPTH)?;
        let meet = of.alone()?;
        let Term::Meet { block, register } = *self.values().term(meet) else { return None };
        let (mut begin, mut step) = (None, None);
        for (from, value) in evaluation.meets.get(&(block, register)).filter(|_| block == header)? {
            (*from != OUTSIDE).then_some(())?;
            let mut value = self.linear(*value, ty, DEPTH)?;
            let known = if is_back(from) { &mut step } else { &mut begin };
            if is_back(from) {
                value.add(&Linear { atoms: BTreeMap::from([(meet, 1)]), ..Linear::default() }, -1)?;
            }
            (known.get_or_insert_with(|| value.clone()) == &value).then_some(())?;
        }
        let (mut begin, step): (Linear, Linear) = (begin?, step?);
        begin.known = begin.known.checked_add(of.known)?;
        let is_number = step.atoms.is_empty() && step.rounds.is_empty() && begin.rounds.is_empty();
        let is_enough = step.known < 0 && step.known.checked_add(least)? >= 0;
        (is_number && is_enough && self.is_known_natural(header, &begin)).then_some(())?;
        begin.rounds.insert((header, None), step.known);
        Some(begin)
    }

    /// Whether branches on the way into a loop say that a number with a sign is not negative, as long as no
    /// sum overflows.
    fn is_known_natural(&self, header: usize, number: &Linear) -> bool {
        let agent = &self.keys.agent;
        let facts = facts_at_entry(agent.values, agent.evaluation, agent.flow, header);
        facts.into_iter().any(|(condition, holds)| {
            self.difference(condition, holds).is_some_and(|mut difference| {
                // It is 0 or more.
                let at_least = difference.known;
                difference.known = 0;
                let same = Linear { known: 0, ..number.clone() };
                difference == same && number.known >= at_least
            })
        })
    }

    /// What is 0 or more since a comparison with a sign comes out so.
    fn difference(&self, condition: ValueId, holds: bool) -> Option<Linear> {
        let Term::Apply { operation: Operation::Compare(comparison), ty, terms } =
            self.values().term(condition)
        else {
            return None;
        };
        let [a, b] = terms[..] else { return None };
        if !ty.signed || ty.bits != 32 {
            return None;
        }
        let (a, b) = (self.linear(a, *ty, DEPTH)?, self.linear(b, *ty, DEPTH)?);
        let comparison = if holds { *comparison } else { comparison.negated() };
        let (mut more, less, strictly) = match comparison {
            Comparison::Greater => (a, b, 1),
            Comparison::GreaterOrEqual => (a, b, 0),
            Comparison::Less => (b, a, 1),
            Comparison::LessOrEqual => (b, a, 0),
            Comparison::Equal | Comparison::NotEqual => return None,
        };
        more.add(&less, -1)?;
        more.known = more.known.checked_sub(strictly)?;
        Some(more)
    }
}

//! What is known of unknown numbers on the way to a node.

use super::linear::Asker;
use super::{Formula, Threshold};
use crate::kernel::code::Operation;
use crate::kernel::evaluate::Way;
use crate::kernel::terms::{any, is_invariant};
use crate::kernel::value::{Term, ValueId};

impl Asker<'_> {
    /// Whether a number is at least a known one wherever the node is reached: a branch on the way there has
    /// asked for that, or for more. Of the greater of the two nothing is left then but the number.
    pub(super) fn is_reached(&self, number: ValueId, least: i64) -> bool {
        let is_it = |fact: &Threshold, wanted: &Threshold| {
            fact.side.what == wanted.side.what && fact.side.least >= wanted.side.least
        };
        let wanted = || self.reaches(number, least);
        is_invariant(self.values(), number)
            && !self.is_of_greater(number)
            && self.passed().iter().any(|fact| wanted().is_some_and(|wanted| is_it(fact, &wanted)))
    }

    /// The thresholds that are reached wherever the node is: of numbers that never change.
    fn passed(&self) -> Vec<Threshold> {
        let (flow, then) = (self.keys.agent.flow, &self.keys.agent.evaluation.then);
        let above = std::iter::successors(Some(self.keys.node), |node| flow.dominator[*node]);
        let decided = above.filter_map(|node| {
            let [from] = flow.before[node].as_slice() else { return None };
            let Some(Way::Branch(condition, taken, other)) = then[*from] else { return None };
            (taken != other).then_some((condition, node == taken))
        });
        let known = decided.filter(|(condition, _)| {
            is_invariant(self.values(), *condition) && !self.is_of_greater(*condition)
        });
        known.filter_map(|(condition, holds)| reached(self.formula(condition)?, holds)).collect()
    }

    /// Whether the greater of two numbers is in a value: to look at that would begin anew.
    fn is_of_greater(&self, value: ValueId) -> bool {
        let is_greater = |term: &Term| matches!(term, Term::Apply { operation: Operation::Maximum, .. });
        any(self.values(), value, is_greater)
    }
}

/// The threshold that is reached where a condition holds, or does not, if it is one.
fn reached(condition: Formula, holds: bool) -> Option<Threshold> {
    match condition {
        Formula::Reaches(threshold) => holds.then_some(*threshold),
        Formula::Not(inside) => reached(*inside, !holds),
        Formula::Low(_) | Formula::All(_) | Formula::Any(_) => None,
    }
}

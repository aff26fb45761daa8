//! Decisions that all agents share: what they are about, and what they rest on.

use std::collections::BTreeSet;

use super::counts::{Asker, Formula};
use super::keys::Keys;
use super::origins::Agent;
use super::residual::Residual;
use super::traits::any;
use super::tree::{Assumption, Decision};
use super::value::{Term, ValueId};

impl Residual<'_> {
    /// Terms in words, as a node sees them.
    pub(super) fn keys(&self, node: usize) -> Keys<'_> {
        let agent = Agent { values: self.values, evaluation: self.evaluation, flow: self.flow };
        Keys { code: self.code, agent, origins: self.origins, rank: self.rank, node }
    }

    /// What is decided, and whether the condition is its negation.
    pub(super) fn decision(&self, node: usize, normal: ValueId, value: ValueId) -> (Decision, bool) {
        let keys = self.keys(node);
        let (key, negated) = keys.decided(normal);
        let varies = self.knowledge.at(self.values, node, normal).varies;
        let mut assumes = self.loads(normal);
        if self.knowledge.unwrapped.contains(&node) && normal != value {
            assumes.insert(Assumption::Unwrapped(self.branch(node)));
        }
        let asker = Asker { slice: self.slice, keys };
        let formula = asker.formula(normal);
        let keys = asker.keys;
        let formula = if negated { formula.map(Formula::not) } else { formula };
        (Decision { key, name: None, varies, assumes, about: keys.about(normal), formula }, negated)
    }

    /// What has to be assumed of the loads in a term.
    fn loads(&self, value: ValueId) -> BTreeSet<Assumption> {
        let found = std::cell::RefCell::new(BTreeSet::new());
        any(self.values, value, |term| {
            if let Term::Loaded { at, varies, .. } = term {
                let span = self.code.instructions[*at].span;
                let assumption = if *varies { Assumption::Told(span) } else { Assumption::Unwritten(span) };
                found.borrow_mut().insert(assumption);
            }
            false
        });
        found.into_inner()
    }
}

//! Whether an answer is about the phase that is waited for.
//!
//! The answer is followed back to its questions, over each way on which it comes, along with the address and
//! the parity of the wait: where values meet, what they are on that way. A term stands for what was computed
//! last. So one may be taken along to a place only if nothing in it is computed anew between there and where
//! it is needed: if that is computed in a node that dominates the place. Otherwise two terms might be equal
//! and their values not, as one is of an earlier iteration.
//!
//! A way is left out if a branch is taken on it by which the wait would not be reached: where a kernel asks
//! only if something holds, and waits only if it does.

use std::collections::{BTreeSet, HashMap};

use super::dominators::{dominates, immediate};
use super::evaluate::{Evaluation, OUTSIDE, Way};
use super::slice::Slice;
use super::value::{Term, ValueId, Values};

/// Ways over which one answer is followed back.
const WAYS: usize = 256;

/// What is known of one agent.
pub(super) struct Phases<'a> {
    pub(super) slice: &'a Slice,
    pub(super) values: &'a mut Values,
    pub(super) evaluation: &'a Evaluation,
    pub(super) questions: &'a [usize],
    pub(super) dominators: &'a [Option<usize>],
}

/// Conditions and their outcomes.
type Outcomes = BTreeSet<(ValueId, bool)>;

/// What is followed back: an answer, the address and the parity of the wait, what must hold for the wait to
/// be reached.
type Followed = (ValueId, [ValueId; 2], Outcomes);

/// The question of these that a term is the answer to.
pub(super) fn question(values: &Values, questions: &[usize], value: ValueId) -> Option<usize> {
    let Term::Unknown { at, .. } = values.term(value) else { return None };
    let question = at.checked_sub(1)?;
    questions.contains(&question).then_some(question)
}

/// The immediate dominator of each node, as an agent goes.
pub(super) fn dominators(evaluation: &Evaluation) -> Vec<Option<usize>> {
    let nodes = evaluation.then.len();
    let of = |way: &Option<Way>| way.iter().flat_map(|way| way.nodes()).filter(|to| *to < nodes).collect();
    let after: Vec<Vec<usize>> = evaluation.then.iter().map(of).collect();
    immediate(0, &after)
}

impl Phases<'_> {
    /// Whether all answers in the condition of a node are to questions about this address and parity, on
    /// each way on which they come.
    pub(super) fn are_asked_for(
        &mut self,
        node: usize,
        condition: ValueId,
        phase: [ValueId; 2],
    ) -> Option<()> {
        let is_known = |value: &ValueId| self.is_computed(*value, &|of| dominates(self.dominators, of, node));
        if !phase.iter().all(is_known) {
            return None;
        }
        let outcomes = self.needed_for(node);
        self.is_same((condition, phase, outcomes), &mut Vec::new())
    }

    fn is_same(&mut self, followed: Followed, ways: &mut Vec<Followed>) -> Option<()> {
        if ways.contains(&followed) {
            return Some(());
        }
        ways.push(followed.clone());
        if ways.len() > WAYS {
            return None;
        }
        let (answer, phase, outcomes) = followed;
        if let Some(question) = question(self.values, self.questions, answer) {
            let (address, parity) = *self.evaluation.barriers.get(&question)?;
            return (phase == [address, parity?]).then_some(());
        }
        let Term::Meet { block, register } = *self.values.term(answer) else {
            let parts = self.values.inside(answer).into_iter();
            return parts
                .map(|part| (part, phase, outcomes.clone()))
                .try_for_each(|part| self.is_same(part, ways));
        };
        let evaluation = self.evaluation;
        for (from, value) in evaluation.meets.get(&(block, register))? {
            if *from == OUTSIDE
                || self.outcome(*from, block).is_some_and(|(of, is)| outcomes.contains(&(of, !is)))
            {
                continue;
            }
            let [address, parity] = phase.map(|value| self.on_the_way(value, block, *from));
            let kept = outcomes.iter().copied();
            let kept = kept.filter(|(of, _)| self.on_the_way(*of, block, *from) == Some(*of)).collect();
            self.is_same((*value, [address?, parity?], kept), ways)?;
        }
        Some(())
    }

    /// The condition by which control goes from a node to another, if it would go elsewhere otherwise.
    fn outcome(&self, from: usize, to: usize) -> Option<(ValueId, bool)> {
        match self.evaluation.then.get(from).copied().flatten()? {
            Way::Branch(condition, taken, other) if taken != other => {
                (taken == to || other == to).then_some((condition, taken == to))
            }
            _ => None,
        }
    }

    /// The outcomes of conditions without which a node is not reached. They are decided in nodes that
    /// dominate it, so that nothing in them is computed anew before it is reached.
    fn needed_for(&self, node: usize) -> Outcomes {
        let mut outcomes = Outcomes::new();
        let mut above = self.dominators.get(node).copied().flatten();
        while let Some(branch) = above {
            above = self.dominators[branch];
            let Some(Way::Branch(condition, taken, other)) = self.evaluation.then[branch] else { continue };
            match [taken, other].map(|to| self.leads(to, node, branch)) {
                [true, false] => outcomes.insert((condition, true)),
                [false, true] => outcomes.insert((condition, false)),
                _ => continue,
            };
        }
        outcomes
    }

    /// Whether a node is reached from another but by way of a third.
    fn leads(&self, from: usize, to: usize, without: usize) -> bool {
        let (mut seen, mut work) = (BTreeSet::from([without]), vec![from]);
        while let Some(node) = work.pop() {
            if !seen.insert(node) {
                continue;
            }
            if node == to {
                return true;
            }
            let then = self.evaluation.then.get(node).copied().flatten();
            work.extend(then.iter().flat_map(|way| way.nodes()));
        }
        false
    }

    /// A term as it is where control comes to a node from another; `None` if something in it need not have
    /// been computed yet for the last time.
    fn on_the_way(&mut self, value: ValueId, block: usize, from: usize) -> Option<ValueId> {
        self.found_on_the_way(value, (block, from), &mut HashMap::new())
    }

    fn found_on_the_way(
        &mut self,
        value: ValueId,
        (block, from): (usize, usize),
        known: &mut HashMap<ValueId, Option<ValueId>>,
    ) -> Option<ValueId> {
        if let Term::Meet { block: at, register } = *self.values.term(value)
            && at == block
        {
            let incoming = self.evaluation.meets.get(&(block, register))?;
            return incoming.iter().find(|(source, _)| *source == from).map(|(_, value)| *value);
        }
        if let Some(found) = known.get(&value) {
            return *found;
        }
        let is_before = |node: usize| node != block && dominates(self.dominators, node, block);
        let mut found = None;
        if self.is_computed_by_itself(value, &is_before) {
            let inside = self.values.inside(value).into_iter();
            let inside: Option<Vec<ValueId>> =
                inside.map(|part| self.found_on_the_way(part, (block, from), known)).collect();
            found = inside.and_then(|inside| self.values.with(value, &inside));
        }
        known.insert(value, found);
        found
    }

    /// Whether all that a term is made of is computed in such nodes.
    fn is_computed(&self, value: ValueId, there: &impl Fn(usize) -> bool) -> bool {
        let (mut seen, mut work) = (BTreeSet::new(), vec![value]);
        while let Some(value) = work.pop() {
            if !self.is_computed_by_itself(value, there) {
                return false;
            }
            work.extend(self.values.inside(value).into_iter().filter(|part| seen.insert(*part)));
        }
        true
    }

    /// Whether a term, but for those inside it, is computed in such a node, or is the same everywhere.
    fn is_computed_by_itself(&self, value: ValueId, there: &impl Fn(usize) -> bool) -> bool {
        match self.values.term(value) {
            Term::Meet { block: node, .. } | Term::Gained { header: node, .. } => there(*node),
            Term::Loaded { at, varies: true, .. } | Term::Given { at } | Term::Unknown { at, .. } => {
                let mut nodes = self.slice.nodes.iter();
                nodes.position(|node| node.instructions.contains(at)).is_some_and(there)
            }
            Term::Loaded { varies: false, .. } | Term::Known(_) | Term::Same(_) | Term::Unset => true,
            Term::Sum { .. } | Term::Apply { .. } | Term::Pure { .. } => true,
        }
    }
}

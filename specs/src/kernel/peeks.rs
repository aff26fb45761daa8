//! Questions whether a phase is complete that are asked once, ahead of a wait: where the answer is yes the
//! wait is left out.
//!
//! The answer may be no whenever the question comes early, and then the wait asks again. If an answer steers
//! nothing but whether a wait for *the same* phase of the same object is left out, it makes no difference to
//! anybody: a phase that was complete at the question is complete at the wait, where nobody has completed the
//! next one in between, and one that was not is waited for. Then the answer is taken to be no. That the phase
//! is the same is shown by following the answer back to its question, over each way on which it comes, with
//! the address and the parity of the wait as they are on that way.
//!
//! Each lane has an answer of its own. So the lanes of a warp have to come together behind the wait before
//! any of them arrives anywhere: otherwise one that need not wait may run ahead, and the others miss a phase.

use std::collections::{BTreeMap, BTreeSet};

use super::code::{Action, Argument, Code, Function, ObjectKind, Operation, Register, Type};
use super::evaluate::{Evaluation, OUTSIDE, Way};
use super::slice::Slice;
use super::value::{Term, ValueId, Values};

/// The nodes on the way to a wait that is left out.
const NODES: usize = 8;
/// Ways over which one answer is followed back.
const WAYS: usize = 256;

/// The questions of a kernel, by their positions: the answer is what the next instruction writes.
pub(super) fn questions(code: &Code) -> Vec<usize> {
    let is_question = |at: &usize| matches!(code.instructions[*at].action, Action::Test { .. });
    (0..code.instructions.len()).filter(is_question).collect()
}

/// Puts the answer no in the place of each question whose answer makes no difference; others are not
/// followed. `refuted` are those of them.
pub(super) fn settle(code: &mut Code, questions: &[usize], refuted: &BTreeSet<usize>) {
    for at in questions {
        let Action::Test { name, .. } = &code.instructions[*at].action else { continue };
        let action = match refuted.contains(at) {
            true => Action::Beyond(format!("`{name}`, which is not asked until it holds")),
            false => Action::Nothing,
        };
        code.instructions[*at].action = action;
        let bit = Type { bits: 1, signed: false };
        if let Some(next) = code.instructions.get_mut(at + 1)
            && let Action::Compute { function, arguments, .. } = &mut next.action
        {
            *function = Function::Integer(Operation::Convert(bit), bit);
            *arguments = vec![Argument::Number(0)];
        }
    }
}

/// What is known of one agent, where answers are unknown.
pub(super) struct Peeks<'a> {
    pub(super) code: &'a Code,
    pub(super) slice: &'a Slice,
    pub(super) values: &'a mut Values,
    pub(super) evaluation: &'a Evaluation,
    pub(super) questions: &'a [usize],
}

/// A place where values meet.
type Meet = (usize, Register);

impl Peeks<'_> {
    /// The questions whose answers may make a difference to this agent.
    pub(super) fn refuted(&mut self) -> BTreeSet<usize> {
        let meets = self.answers_that_meet();
        let mut refuted: BTreeSet<usize> =
            self.operands().flat_map(|value| self.answers(value, &meets)).collect();
        let needed = self.needed();
        for node in 0..self.slice.nodes.len() {
            let Some(Way::Branch(condition, taken, other)) = self.evaluation.then[node] else { continue };
            let asked = self.answers(condition, &meets);
            if !asked.is_empty() && self.leaves_out((node, condition), [taken, other], &needed).is_none() {
                refuted.extend(asked);
            }
        }
        refuted
    }

    /// The question that a term is the answer to.
    fn question(&self, value: ValueId) -> Option<usize> {
        let Term::Unknown { at, .. } = self.values.term(value) else { return None };
        let question = at.checked_sub(1)?;
        self.questions.contains(&question).then_some(question)
    }

    /// The answers in a term, those that come by way of places where values meet among them.
    fn answers(&self, value: ValueId, meets: &BTreeMap<Meet, BTreeSet<usize>>) -> BTreeSet<usize> {
        let (mut found, mut seen, mut work) = (BTreeSet::new(), BTreeSet::new(), vec![value]);
        while let Some(value) = work.pop() {
            if !seen.insert(value) {
                continue;
            }
            found.extend(self.question(value));
            if let Term::Meet { block, register } = self.values.term(value) {
                found.extend(meets.get(&(*block, *register)).into_iter().flatten());
            }
            work.extend(self.values.inside(value));
        }
        found
    }

    /// Where answers come to meet others.
    fn answers_that_meet(&self) -> BTreeMap<Meet, BTreeSet<usize>> {
        let mut meets: BTreeMap<Meet, BTreeSet<usize>> = BTreeMap::new();
        loop {
            let mut changed = false;
            for (meet, incoming) in &self.evaluation.meets {
                let found: BTreeSet<usize> =
                    incoming.iter().flat_map(|(_, value)| self.answers(*value, &meets)).collect();
                if !found.is_empty() && meets.get(meet) != Some(&found) {
                    meets.insert(*meet, found);
                    changed = true;
                }
            }
            if !changed {
                return meets;
            }
        }
    }

    /// What barriers are given.
    fn operands(&self) -> impl Iterator<Item = ValueId> {
        let evaluation = self.evaluation;
        let steps = evaluation.barriers.values().flat_map(|(address, amount)| [Some(*address), *amount]);
        let operands = evaluation.synchronisations.values().flatten().copied();
        steps.flatten().chain(operands).chain(evaluation.masks.values().copied())
    }

    /// Where values meet that barriers or branches need.
    fn needed(&self) -> BTreeSet<Meet> {
        let conditions = self.evaluation.then.iter().filter_map(|way| match way {
            Some(Way::Branch(condition, ..)) => Some(*condition),
            _ => None,
        });
        let mut work: Vec<ValueId> = self.operands().chain(conditions).collect();
        let (mut needed, mut seen) = (BTreeSet::new(), BTreeSet::new());
        while let Some(value) = work.pop() {
            if !seen.insert(value) {
                continue;
            }
            if let Term::Meet { block, register } = self.values.term(value)
                && needed.insert((*block, *register))
            {
                let incoming = self.evaluation.meets.get(&(*block, *register)).into_iter().flatten();
                work.extend(incoming.map(|(_, value)| *value));
            }
            work.extend(self.values.inside(value));
        }
        needed
    }

    /// Whether a branch does nothing but leave out a wait for the phase that was asked for.
    fn leaves_out(
        &mut self,
        (node, condition): (usize, ValueId),
        ways: [usize; 2],
        needed: &BTreeSet<Meet>,
    ) -> Option<()> {
        let [one, other] = [self.wait(ways[0], ways[1]), self.wait(ways[1], ways[0])];
        let ((wait, last), joined) = match (one, other) {
            (Some(found), None) => (found, ways[1]),
            (None, Some(found)) => (found, ways[0]),
            _ => return None,
        };
        // What is known behind does not depend on whether it was left out.
        let of_join = self.evaluation.meets.range((joined, 0)..=(joined, Register::MAX));
        for (_, incoming) in of_join.filter(|(meet, _)| needed.contains(meet)) {
            let from = |node: usize| incoming.iter().find(|(from, _)| *from == node).map(|(_, value)| *value);
            if from(last) != from(node) {
                return None;
            }
        }
        let is_first_round = self.is_first_round(node, condition);
        let lanes = self.evaluation.lanes[node].count_ones();
        if lanes > 1 && !is_first_round && !self.meets_behind(wait) {
            return None;
        }
        let (address, parity) = *self.evaluation.barriers.get(&wait)?;
        let mut ways = Vec::new();
        self.is_same(condition, [address, parity?], &mut ways)
    }

    /// Whether a branch is on the answer to a question in the same node, with nothing else behind it that
    /// concerns barriers: the first round of a waiting loop, laid out by itself.
    fn is_first_round(&self, node: usize, condition: ValueId) -> bool {
        // What is computed of one value and known numbers asks for nothing else.
        let mut bare = condition;
        while self.question(bare).is_none() {
            let inside = self.values.inside(bare);
            let mut unknown = inside.iter().filter(|part| self.values.as_known(**part).is_none());
            let (Some(one), None) = (unknown.next(), unknown.next()) else { return false };
            bare = *one;
        }
        let Some(question) = self.question(bare) else { return false };
        let instructions = &self.slice.nodes[node].instructions;
        instructions.contains(&question)
            && !instructions
                .iter()
                .any(|at| *at > question && self.code.instructions[*at].action.is_about_barriers())
    }

    /// The one wait between a node and another to which control goes on from there, and the last node before
    /// that.
    fn wait(&self, from: usize, to: usize) -> Option<(usize, usize)> {
        let (mut node, mut last, mut wait) = (from, from, None);
        for _ in 0..NODES {
            if node == to {
                return Some((wait?, last));
            }
            for at in &self.slice.nodes.get(node)?.instructions {
                match &self.code.instructions[*at].action {
                    Action::Compute { .. } => {}
                    Action::Object(step) if step.kind == ObjectKind::Wait && wait.is_none() => {
                        wait = Some(*at);
                    }
                    _ => return None,
                }
            }
            let Some(Way::To(next)) = self.evaluation.then[node] else { return None };
            (last, node) = (node, next);
        }
        None
    }

    /// Whether the lanes of a warp come together on every way from a wait to whatever else they do on
    /// barriers.
    fn meets_behind(&self, wait: usize) -> bool {
        let (mut seen, mut work) = (BTreeSet::new(), vec![wait + 1]);
        while let Some(at) = work.pop() {
            let Some(instruction) = self.code.instructions.get(at) else { continue };
            if self.code.meetings.contains(&at) || !seen.insert(at) {
                continue;
            }
            let goes_on = match &instruction.action {
                Action::Jump(to) => {
                    work.push(*to);
                    instruction.guard.is_some()
                }
                Action::Exit | Action::Abort => instruction.guard.is_some(),
                Action::Object(step) if step.kind == ObjectKind::Wait => true,
                Action::Object(_) | Action::Synchronise(_) | Action::Beyond(_) => return false,
                Action::Compute { .. } | Action::Test { .. } | Action::Store { .. } | Action::Nothing => true,
            };
            if goes_on {
                work.push(at + 1);
            }
        }
        true
    }

    /// Whether all answers in a term are to questions about this address and parity, on each way on which
    /// they come.
    fn is_same(
        &mut self,
        answer: ValueId,
        phase: [ValueId; 2],
        ways: &mut Vec<(ValueId, [ValueId; 2])>,
    ) -> Option<()> {
        if ways.contains(&(answer, phase)) {
            return Some(());
        }
        ways.push((answer, phase));
        if ways.len() > WAYS {
            return None;
        }
        if let Some(question) = self.question(answer) {
            let (address, parity) = *self.evaluation.barriers.get(&question)?;
            return (phase == [address, parity?]).then_some(());
        }
        let Term::Meet { block, register } = *self.values.term(answer) else {
            return self
                .values
                .inside(answer)
                .into_iter()
                .try_for_each(|part| self.is_same(part, phase, ways));
        };
        for (from, value) in self.evaluation.meets.get(&(block, register))?.clone() {
            if from == OUTSIDE {
                continue;
            }
            let [address, parity] = phase.map(|value| self.on_the_way(value, block, from));
            self.is_same(value, [address?, parity?], ways)?;
        }
        Some(())
    }

    /// A term as it is where control comes to a node from another.
    fn on_the_way(&mut self, value: ValueId, block: usize, from: usize) -> Option<ValueId> {
        if let Term::Meet { block: at, register } = *self.values.term(value) {
            if at != block {
                return Some(value);
            }
            let incoming = self.evaluation.meets.get(&(block, register))?;
            return incoming.iter().find(|(source, _)| *source == from).map(|(_, value)| *value);
        }
        let inside = self.values.inside(value).into_iter();
        let inside: Vec<ValueId> =
            inside.map(|part| self.on_the_way(part, block, from)).collect::<Option<_>>()?;
        self.values.with(value, &inside)
    }
}

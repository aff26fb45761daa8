//! Questions whether a phase is complete that are asked once, ahead of a wait: where the answer is yes the
//! wait is left out.
//!
//! The answer may be no whenever the question comes early, and then the wait asks again. If an answer steers
//! nothing but whether a wait for *the same* phase of the same object is left out, it makes no difference to
//! anybody: a phase that was complete at the question is complete at the wait, where nobody has completed
//! the next one in between, and one that was not is waited for. Then the answer is taken to be no. That the
//! phase is the same is shown by following the answer back to its question, over each way on which it comes,
//! with the address and the parity of the wait as they are on that way: see [`phases`](super::phases).
//!
//! Each lane has an answer of its own. So the lanes of a warp have to come together behind the wait before
//! any of them arrives anywhere: otherwise one that need not wait may run ahead, and the others miss a
//! phase. One thing may come before: bytes are announced on an object for which the warp itself begins a
//! copy once its lanes are together. Before that no phase of the object can be complete, so that nobody gets
//! any further by the announcement.

use std::collections::{BTreeMap, BTreeSet};

use super::code::{Action, Argument, Code, Function, ObjectKind, Operation, Register, Type};
use super::evaluate::{Evaluation, Way};
use super::lanes::Lanes;
use super::objects::{Masked, masked};
use super::phases::{Phases, question};
use super::slice::Slice;
use super::value::{Term, ValueId, Values};

/// The nodes on the way to a wait that is left out.
const NODES: usize = 8;
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
    /// The rank of its group.
    pub(super) rank: u32,
    /// The immediate dominator of each node, as this agent goes.
    pub(super) dominators: &'a [Option<usize>],
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
        question(self.values, self.questions, value)
    }

    fn phases(&mut self) -> Phases<'_> {
        let Peeks { slice, evaluation, questions, dominators, .. } = *self;
        Phases { slice, values: self.values, evaluation, questions, dominators }
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
        self.phases().are_asked_for(node, condition, [address, parity?])
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
    /// barriers, but for announcements of what they copy behind.
    fn meets_behind(&self, wait: usize) -> bool {
        let Some((_, announced)) = self.until_together(wait, false) else { return false };
        announced.into_iter().all(|at| {
            let together = self.until_together(at, true);
            together.is_some_and(|(meetings, _)| meetings.into_iter().all(|to| self.copies_behind(to, at)))
        })
    }

    /// Where lanes come together behind an instruction, and the announcements on the way; `None` if they do
    /// anything else on barriers before, do the same once more, or, where they must come together, end.
    fn until_together(&self, from: usize, must: bool) -> Option<(Vec<usize>, Vec<usize>)> {
        let (mut meetings, mut announced) = (Vec::new(), Vec::new());
        let (mut seen, mut work) = (BTreeSet::new(), vec![from + 1]);
        while let Some(at) = work.pop() {
            let Some(instruction) = self.code.instructions.get(at) else { continue };
            if !seen.insert(at) {
                continue;
            }
            if self.code.meetings.contains(&at) {
                meetings.push(at);
                continue;
            }
            let goes_on = match &instruction.action {
                Action::Jump(to) => {
                    work.push(*to);
                    instruction.guard.is_some()
                }
                Action::Exit if must => return None,
                Action::Exit | Action::Abort => instruction.guard.is_some(),
                Action::Object(step) if step.kind == ObjectKind::Wait => true,
                Action::Object(step) if announces(step.kind) && at != from => {
                    announced.push(at);
                    true
                }
                Action::Object(_) | Action::Synchronise(_) => return None,
                Action::Beyond(_) | Action::Together(_) => return None,
                Action::Compute { .. } | Action::Test { .. } | Action::Store { .. } => true,
                Action::Access(_) | Action::Uses(_) | Action::Nothing => true,
            };
            if goes_on {
                work.push(at + 1);
            }
        }
        Some((meetings, announced))
    }

    /// Whether some lane certainly begins a copy for the object of an announcement, behind a place where all
    /// are together and before anything else is done on barriers.
    fn copies_behind(&self, meeting: usize, announcement: usize) -> bool {
        // Who never comes there announces nothing.
        let Some((object, bytes)) = self.evaluation.barriers.get(&announcement) else { return true };
        // No bytes would be as if nothing were announced.
        let bytes = bytes.and_then(|bytes| self.values.as_known(bytes)).and_then(Lanes::all);
        if bytes.is_none_or(|bytes| bytes == 0) {
            return false;
        }
        let of_node = |node: usize| {
            let instructions = self.slice.nodes[node].instructions.iter();
            instructions.copied().filter(|at| *at >= meeting).min().map(|at| (at, node))
        };
        let Some((first, node)) = (0..self.slice.nodes.len()).filter_map(of_node).min() else { return false };
        let goes_on = |at: usize| self.code.instructions[at].action.is_idle();
        (meeting..first).all(goes_on) && self.copies((node, first), self.evaluation.lanes[node], *object, 0)
    }

    /// Whether one of these lanes certainly begins a copy for an object, from an instruction of a node on.
    fn copies(&self, (node, first): (usize, usize), lanes: u32, object: ValueId, nodes: usize) -> bool {
        let Some(then) = self.evaluation.then.get(node).copied().flatten().filter(|_| nodes < NODES) else {
            return false;
        };
        for at in self.slice.nodes[node].instructions.iter().filter(|at| **at >= first) {
            let instruction = &self.code.instructions[*at];
            let for_object = |at: &usize| {
                let address = self.evaluation.barriers.get(at);
                address.is_some_and(|(address, _)| self.is_of(*address, object))
            };
            match &instruction.action {
                action if action.is_idle() => {}
                Action::Object(step) if step.kind == ObjectKind::Copy => {
                    if instruction.guard.is_none() && for_object(at) {
                        return true;
                    }
                }
                _ => return false,
            }
        }
        let behind = |to: usize, lanes: u32| lanes != 0 && self.copies((to, 0), lanes, object, nodes + 1);
        match then {
            Way::To(to) => behind(to, lanes),
            Way::Branch(condition, taken, other) => match self.values.as_known(condition) {
                Some(known) => {
                    let holds =
                        (0..32).filter(|lane| known.get(*lane) != 0).fold(0, |all, lane| all | 1 << lane);
                    behind(taken, lanes & holds) || behind(other, lanes & !holds)
                }
                None => behind(taken, lanes) && behind(other, lanes),
            },
        }
    }

    /// Whether an address is that of an object, or the same without the bit by which those of a pair of
    /// groups differ, in the group that has it clear.
    fn is_of(&self, address: ValueId, object: ValueId) -> bool {
        let even = |masked: Masked| {
            let is_here = !masked.is_even || self.rank.is_multiple_of(2);
            masked.of == object && masked.cleared == 0 && is_here
        };
        address == object || masked(self.values, address).is_some_and(even)
    }
}

/// Whether a step announces bytes.
fn announces(kind: ObjectKind) -> bool {
    matches!(kind, ObjectKind::ArriveExpectTx { .. } | ObjectKind::ExpectTx)
}

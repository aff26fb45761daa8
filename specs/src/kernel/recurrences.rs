//! Values that roles have in common although each has code of its own for them: what a variable of a loop
//! becomes from round to round, and what is told through shared memory.
//!
//! **Variables of loops.** What meets at the header of a loop is one value on the way in and one on each way
//! back: a recurrence. It is called by its two parts, with itself in its place, and by the depth of its
//! loop. Two agents with the same words have the same value in the same round: in the first round by the
//! first part, in each further one by the second, whose own parts are the same by induction. Behind the loop
//! it is the value of the last round, which is the first one in which the condition holds that the loop is
//! left by: a total that is summed up, say. So it is called by that condition as well, if there is one that
//! each round asks, and else by the place.
//!
//! What two ways inside a round bring together is called by what decides between them and by both values; so
//! is what two ways back bring.
//!
//! **What is told.** A load behind a wait at an mbarrier object finds what was stored for the phase that was
//! waited for, as long as its warp has not arrived anywhere since. It is called by its address and by that
//! wait: whoever waits for the same phase of the same object in the same round, and then looks at the same
//! address, is told the same. That nothing is stored there meanwhile is taken for true of such loads anyway,
//! and said.

use std::collections::{BTreeMap, BTreeSet};

use super::code::{Action, Code, Function, Memory, ObjectKind, Register};
use super::dominators::dominates;
use super::evaluate::{OUTSIDE, Way};
use super::flow::Flow;
use super::keys::{Keys, Words};
use super::slice::Slice;
use super::value::ValueId;

/// For each load from shared memory, by its position, the wait at an mbarrier object behind which it stands:
/// the last one on every way there from where the loop around it begins anew, with no other step on an object
/// since.
pub(super) fn told(code: &Code, slice: &Slice, flow: &Flow) -> BTreeMap<usize, usize> {
    let mut last: Vec<Option<usize>> = vec![None; slice.nodes.len()];
    let mut told = BTreeMap::new();
    for node in &flow.order {
        let inner = flow.innermost[*node];
        let mut ways =
            flow.before[*node].iter().map(|from| last[*from].filter(|_| flow.innermost[*from] == inner));
        let first = ways.next().flatten();
        let mut wait =
            first.filter(|first| !flow.is_header(*node) && ways.all(|other| other == Some(*first)));
        for at in &slice.nodes[*node].instructions {
            let instruction = &code.instructions[*at];
            match &instruction.action {
                Action::Object(step) => {
                    let waits = step.kind == ObjectKind::Wait && instruction.guard.is_none();
                    wait = waits.then_some(*at);
                }
                Action::Compute { function: Function::Load(Memory::Shared), .. } => {
                    told.extend(wait.map(|wait| (*at, wait)));
                }
                _ => {}
            }
        }
        last[*node] = wait;
    }
    told
}

/// What comes to a meeting.
enum Comes {
    One(ValueId),
    /// The first value if a condition holds, and else the second.
    Chosen(ValueId, ValueId, ValueId),
}

/// The value that comes over all of some ways.
fn only(ways: &[(usize, ValueId)]) -> Option<ValueId> {
    let (_, first) = *ways.first()?;
    ways.iter().all(|(_, value)| *value == first).then_some(first)
}

impl Keys<'_> {
    /// The value on the way into a loop and that on the ways back, of what meets at its header, if the loop
    /// has not been left.
    fn recurrence(&self, block: usize, register: Register) -> Option<(ValueId, Comes)> {
        let flow = self.agent.flow;
        let inner = flow.innermost[block].filter(|_| flow.is_header(block))?;
        if !flow.contains(Some(inner), self.node) {
            return None;
        }
        let incoming = self.agent.evaluation.meets.get(&(block, register))?;
        let is_back = |from: usize| from != OUTSIDE && flow.contains(Some(inner), from);
        let (back, there): (Vec<_>, Vec<_>) = incoming.iter().copied().partition(|(from, _)| is_back(*from));
        let begin = only(&there)?;
        let next = only(&back)
            .map(Comes::One)
            .or_else(|| self.chosen(block, &back, flow.deciding_back(block, incoming)))?;
        Some((begin, next))
    }

    /// The last node of the loop around a block that has been left on the way here, if each round asks there
    /// and nowhere else whether to leave it, and the condition in words.
    fn last_round(&self, block: usize, words: &mut Words) -> Option<(Keys<'_>, String)> {
        let flow = self.agent.flow;
        let inner = flow.innermost[block]?;
        let is_inside = |node: usize| flow.contains(Some(inner), node);
        let header = flow.loops[inner].header;
        let is_around = flow.loops[inner].around.is_none_or(|outer| flow.contains(Some(outer), self.node));
        // Where ways around the loop lead here too, only what comes over the others is called so.
        if is_inside(self.node) || !is_around {
            return None;
        }
        let leaves = |node: &&usize| flow.after[**node].iter().any(|to| !is_inside(*to));
        let mut exits = flow.loops[inner].nodes.iter().filter(leaves);
        let (Some(exit), None) = (exits.next(), exits.next()) else { return None };
        let Some(Way::Branch(condition, taken, _)) = self.agent.evaluation.then[*exit] else { return None };
        let mut backs = flow.before[header].iter().filter(|from| is_inside(**from));
        let is_asked = flow.innermost[*exit] == Some(inner)
            && dominates(&flow.dominator, block, *exit)
            && backs.all(|back| dominates(&flow.dominator, *exit, *back));
        if !is_asked {
            return None;
        }
        let keys = Keys { node: *exit, ..*self };
        let holds = if flow.after[*exit].contains(&taken) && is_inside(taken) { "!" } else { "" };
        let condition = keys.text(condition, words)?;
        Some((keys, format!("{holds}{condition}")))
    }

    /// In which iteration a loop was left on the way here.
    pub(super) fn last_iteration(&self, header: usize, words: &mut Words) -> Option<String> {
        let (keys, until) = self.last_round(header, words)?;
        Some(format!("({} until {until})", keys.iteration(header, words)?))
    }

    /// What decides between two values that meet, the one that comes if it holds and the other.
    fn selection(&self, block: usize, register: Register) -> Option<Comes> {
        let flow = self.agent.flow;
        let incoming = self.agent.evaluation.meets.get(&(block, register))?;
        // It is decided in the same round of the same loop, which has not been left.
        let is_around = flow.around(block).all(|one| flow.contains(Some(one), self.node));
        if incoming.len() != 2 || !is_around || flow.is_header(block) {
            return None;
        }
        self.chosen(block, incoming, flow.deciding(block, incoming))
    }

    /// What decides between some of the values that come to a block: a branch that each round of its loop
    /// comes to once, and of which each side leads on with one of two values.
    fn chosen(&self, block: usize, some: &[(usize, ValueId)], deciding: BTreeSet<usize>) -> Option<Comes> {
        let flow = self.agent.flow;
        let comes_over = |node: usize, to: usize, from: usize| {
            if to == block {
                return from == node;
            }
            from != node && flow.before[to] == [node] && dominates(&flow.dominator, to, from)
        };
        deciding.into_iter().filter(|node| flow.innermost[*node] == flow.innermost[block]).find_map(|node| {
            let Some(Way::Branch(condition, taken, other)) = self.agent.evaluation.then[node] else {
                return None;
            };
            let over = |to: usize| -> Vec<(usize, ValueId)> {
                some.iter().copied().filter(|(from, _)| comes_over(node, to, *from)).collect()
            };
            let (a, b) = (over(taken), over(other));
            let is_all = taken != other && a.len() + b.len() == some.len();
            is_all.then_some(Comes::Chosen(condition, only(&a)?, only(&b)?))
        })
    }

    /// A variable of a loop, by what it begins with and what it becomes; what two ways bring, by what
    /// decides.
    pub(super) fn carried(&self, (block, register): (usize, Register), words: &mut Words) -> Option<String> {
        if let Some(chosen) = self.selection(block, register) {
            return self.comes(chosen, words);
        }
        if let Some(position) = words.open.iter().position(|one| *one == (block, register)) {
            return Some(format!("${position}"));
        }
        if let Some((keys, until)) = self.last_round(block, words) {
            return Some(format!("({} until {until})", keys.carried((block, register), words)?));
        }
        let (begin, next) = self.recurrence(block, register)?;
        let iteration = self.iteration(block, words)?;
        words.open.push((block, register));
        let begin = self.text(begin, words);
        let next = begin.is_some().then(|| self.comes(next, words)).flatten();
        words.open.pop();
        Some(format!("{iteration}{{{}; {}}}", begin?, next?))
    }

    /// What comes, in words.
    fn comes(&self, comes: Comes, words: &mut Words) -> Option<String> {
        match comes {
            Comes::One(value) => self.text(value, words),
            Comes::Chosen(condition, a, b) => self.choice(condition, [a, b], words),
        }
    }

    /// What was waited for before a load: the object, and which of its array.
    pub(super) fn wait_before(&self, load: usize, words: &mut Words) -> Option<String> {
        let wait = self.told.get(&load)?;
        let object = self.agent.evaluation.objects.get(wait)?;
        let parity = self.agent.evaluation.barriers.get(wait)?.1?;
        let index = match object.index {
            Some((index, size, number)) => {
                let divided = if size == 1 { String::new() } else { format!("/{size}") };
                let more = if number == 0 { String::new() } else { format!("+{number}") };
                format!("[{}{divided}{more}]", self.text(index, words)?)
            }
            None => String::new(),
        };
        Some(format!("{}{index} {}", object.name, self.text(parity, words)?))
    }
}

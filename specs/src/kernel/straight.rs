//! Ways without branches and barriers.

use super::code::{Action, Code, ObjectKind};
use super::evaluate::{Evaluation, Way};
use super::slice::Slice;
use super::value::ValueId;

/// Nodes on such a way, at most.
const LONGEST: usize = 16;

/// Where an agent goes.
#[derive(Clone, Copy)]
pub(super) struct Straight<'a> {
    pub(super) code: &'a Code,
    pub(super) slice: &'a Slice,
    pub(super) evaluation: &'a Evaluation,
}

impl Straight<'_> {
    /// What a single lane executes behind an instruction, up to the next branch or barrier, or to where there
    /// are more lanes.
    pub(super) fn behind(self, (mut node, at): (usize, usize)) -> Vec<usize> {
        let mut found = Vec::new();
        let mut from = Some(at);
        for _ in 0..LONGEST {
            // Behind the last node the kernel ends.
            if self.evaluation.lanes.get(node).is_none_or(|lanes| lanes.count_ones() != 1) {
                break;
            }
            for one in &self.slice.nodes[node].instructions {
                if from.is_some_and(|at| *one <= at) {
                    continue;
                }
                if self.code.instructions[*one].action.is_about_barriers() {
                    return found;
                }
                found.push(*one);
            }
            match self.evaluation.then[node] {
                Some(Way::To(next)) => (node, from) = (next, None),
                _ => break,
            }
        }
        found
    }

    /// Where lanes that come to a node have left the others, and on what condition, if they join them again
    /// without a branch or a barrier on the way.
    pub(super) fn apart(self, node: usize) -> Option<(usize, ValueId)> {
        let (from, condition, joined) = self.before(node)?;
        let mut last = node;
        for _ in 0..LONGEST {
            match self.evaluation.then[last] {
                Some(Way::To(next)) if next == joined => return Some((from, condition)),
                Some(Way::To(next)) if self.is_plain(next) => last = next,
                _ => return None,
            }
        }
        None
    }

    /// The branch before a node, its condition, and where its other way leads.
    fn before(self, mut node: usize) -> Option<(usize, ValueId, usize)> {
        for _ in 0..LONGEST {
            let all = self.evaluation.then.iter().enumerate();
            let mut before = all.filter(|(_, way)| way.is_some_and(|way| way.nodes().any(|to| to == node)));
            let (from, way) = before.next()?;
            if before.next().is_some() || !self.is_plain(node) {
                return None;
            }
            match *way {
                Some(Way::Branch(condition, taken, other)) => {
                    return Some((from, condition, if taken == node { other } else { taken }));
                }
                Some(Way::To(_)) => node = from,
                None => return None,
            }
        }
        None
    }

    /// Nothing at a node is about barriers, but that objects are initialised: nobody waits for that.
    fn is_plain(self, node: usize) -> bool {
        self.slice.nodes[node].instructions.iter().all(|at| match &self.code.instructions[*at].action {
            Action::Object(step) => step.kind == ObjectKind::Init,
            action => !action.is_about_barriers(),
        })
    }
}

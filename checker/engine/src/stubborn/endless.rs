//! Whether the states that an exploration goes through have no end.

use super::explore::Exploration;
use super::node::NodeId;
use super::paths::path_to;
use crate::paths::backlog;
use crate::verdict::Inconclusive;
use crate::verdict::blow_up::no_end;
use barcheck_model::machine::Choice;

/// States between two looks.
const BETWEEN: NodeId = 256;
/// Decisions that somebody has yet to make from which on a path is looked at.
const MANY_DECISIONS: usize = 128;

impl Exploration<'_> {
    /// Why there is no end to the states, if the path to one of them shows it.
    pub(super) fn endless(&mut self, node: NodeId) -> Option<Inconclusive> {
        if !node.is_multiple_of(BETWEEN) || self.machine.program().sequences.is_empty() {
            return None;
        }
        let (state, _) = self.components.state(&self.nodes[node as usize].key);
        let decisions = state.sequences.iter().map(|sequence| sequence.ahead.len()).max()?;
        if decisions < MANY_DECISIONS.max(2 * self.decisions_looked_at) {
            return None;
        }
        self.decisions_looked_at = decisions;
        self.repeats = true;
        let steps = self.steps_to(node);
        self.repeats = false;
        let ahead = backlog::without_end(&mut self.machine, &steps?)?;
        Some(Inconclusive::Endless(no_end(self.machine.program(), ahead)))
    }

    /// The steps of real agents that lead to a state.
    fn steps_to(&mut self, node: NodeId) -> Option<Vec<Choice>> {
        let (made, ..) = path_to(self, node);
        let start = self.initial();
        self.steps(start, &made, None)
    }
}

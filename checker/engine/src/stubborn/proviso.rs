//! The cycle proviso: nobody closes a cycle again before all others that have a step have moved on.
//!
//! An agent that takes an edge which closes a cycle of its automaton is *held back*: it makes no further step
//! before every agent that has a step is held back too; then all go on. So a run that never ends leaves
//! nobody out: every cycle of states contains a cycle of the automaton of each agent that moves in it, hence
//! a closing edge of each, and between two closing edges of one agent a all have been let go on, which takes
//! a step of everybody who has one. Edges may count as closing besides: that costs states, never correctness.

use crate::packed::numbering::to_u32;
use barcheck_model::machine::ConfigId;
use rustc_hash::{FxHashMap, FxHashSet};

/// Configurations looked at, at most, to see whether an edge closes a cycle. An edge for which this is not
/// enough counts as closing: that costs states, never correctness.
const MOST_LOOKED_AT: usize = 1 << 12;

/// Configurations of an automaton between two edges that count as closing although they close no cycle. An
/// agent whose locals grow without end closes none, and would leave nobody else a step.
const MOST_BETWEEN_CLOSING: u32 = 1 << 12;

/// Who is held back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Proviso {
    held: Vec<u32>,
}

impl Proviso {
    pub(super) fn new(agents: usize) -> Self {
        Self { held: vec![0; agents.div_ceil(32)] }
    }

    pub(super) fn of(words: &[u32]) -> Self {
        Self { held: words.to_vec() }
    }

    /// One bit for each agent.
    pub(super) fn words(&self) -> &[u32] {
        &self.held
    }

    pub(super) fn is_held(&self, agent: usize) -> bool {
        self.held[agent / 32] >> (agent % 32) & 1 == 1
    }

    pub(super) fn set(&mut self, agent: usize, held: bool) {
        let bit = 1 << (agent % 32);
        if held {
            self.held[agent / 32] |= bit;
        } else {
            self.held[agent / 32] &= !bit;
        }
    }

    pub(super) fn renew(&mut self) {
        self.held.fill(0);
    }

    pub(super) fn holds_nobody(&self) -> bool {
        self.held.iter().all(|word| *word == 0)
    }
}

/// The edges of an automaton taken so far, and which of them close a cycle.
///
/// Of every cycle the edge that was taken last for the first time closes it: then the path back was known.
#[derive(Debug, Default)]
pub(super) struct Cycles {
    /// By configuration, those that edges lead to.
    edges: Vec<Vec<u32>>,
    closing: FxHashMap<(u32, u32), bool>,
}

impl Cycles {
    /// Whether an edge closes a cycle.
    pub(super) fn closes(&mut self, from: ConfigId, to: ConfigId) -> bool {
        let edge = (from.0, to.0);
        if let Some(closes) = self.closing.get(&edge) {
            return *closes;
        }
        let closes = self.leads(edge.1, edge.0) || edge.1 % MOST_BETWEEN_CLOSING == MOST_BETWEEN_CLOSING - 1;
        let size = self.edges.len().max(edge.0.max(edge.1) as usize + 1);
        self.edges.resize(size, Vec::new());
        self.edges[edge.0 as usize].push(edge.1);
        self.closing.insert(edge, closes);
        closes
    }

    /// Whether edges taken so far lead from one configuration to another.
    fn leads(&self, from: u32, to: u32) -> bool {
        let (mut open, mut seen) = (vec![from], FxHashSet::default());
        while let Some(at) = open.pop() {
            if at == to || seen.len() > MOST_LOOKED_AT {
                return true;
            }
            if seen.insert(at) {
                open.extend(self.edges.get(at as usize).into_iter().flatten());
            }
        }
        false
    }

    /// Edges that close a cycle have been taken.
    pub(super) fn has_cycle(&self) -> bool {
        self.closing.values().any(|closes| *closes)
    }

    /// Roughly the bytes in use.
    pub(super) fn bytes(&self) -> u64 {
        u64::from(to_u32(self.edges.len())) * 32 + self.closing.len() as u64 * 24
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_every_cycle_one_edge_closes_it_and_a_join_closes_none() {
        let mut cycles = Cycles::default();
        let mut closes = |from, to| cycles.closes(ConfigId(from), ConfigId(to));
        assert!(!closes(0, 1));
        assert!(!closes(0, 2));
        assert!(!closes(1, 3));
        assert!(!closes(2, 3), "two ways join");
        assert!(closes(3, 1));
        assert!(!closes(1, 3), "an edge keeps what it was found to be");
        assert!(closes(4, 4));
        assert!(cycles.has_cycle());
    }
}

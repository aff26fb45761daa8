//! The cycle proviso: nobody closes a cycle again before all others that have a step have moved on.
//!
//! An agent that takes an edge which closes a cycle of its automaton is *held back*: it makes no further step
//! before every agent that has a step is held back too; then all go on. So a run that never ends leaves
//! nobody out: every cycle of states contains a cycle of the automaton of each agent that moves in it, hence
//! a closing edge of each, and between two closing edges of one agent a all have been let go on, which takes
//! a step of everybody who has one. Edges may count as closing besides: that costs states, never correctness.
//!
//! Whoever is held back at a decision of a uniform sequence that somebody else has made *follows*: it makes
//! that step, and those after it as long as each is the only one, until it closes a cycle once more. Without
//! that, one agent could go ahead of another by more decisions each time that all are let go on, and the
//! states would have no end. Nobody is left out for that either: who follows decides nothing, so there is an
//! end to the decisions that it comes to as long as nobody is let go on; and who is not held back comes to
//! be, as before.
//!
//! Whoever has many decisions yet to make that others have made closes a few cycles before it is held back:
//! in its rounds there may be more loops than in theirs. That only puts off what is said above by so many.

use crate::packed::numbering::to_u32;
use barcheck_model::machine::ConfigId;
use rustc_hash::{FxHashMap, FxHashSet};

/// Configurations looked at, at most, to see whether an edge closes a cycle. An edge for which this is not
/// enough counts as closing: that costs states, never correctness.
const MOST_LOOKED_AT: usize = 1 << 12;

/// Configurations of an automaton between two edges that count as closing although they close no cycle. An
/// agent whose locals grow without end closes none, and would leave nobody else a step.
const MOST_BETWEEN_CLOSING: u32 = 1 << 12;

/// What becomes of an agent until all are let go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Hold {
    /// It makes its steps.
    Free,
    /// It makes none.
    Held,
    /// It makes those that others have decided.
    Follows,
}

/// Cycles that an agent closes more, at most, that has many decisions yet to make, before it is held back.
const MORE: u32 = 3;

/// Who is held back, and how many more cycles each has closed: two bits of each for each agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Proviso {
    holds: Vec<u32>,
}

/// Agents of which one word tells.
const EACH: usize = 8;

/// The bits of a word that say who is held back.
const HOLDS: u32 = 0x3333_3333;

impl Proviso {
    pub(super) fn new(agents: usize) -> Self {
        Self { holds: vec![0; agents.div_ceil(EACH)] }
    }

    pub(super) fn of(words: &[u32]) -> Self {
        Self { holds: words.to_vec() }
    }

    pub(super) fn words(&self) -> &[u32] {
        &self.holds
    }

    pub(super) fn hold(&self, agent: usize) -> Hold {
        match self.holds[agent / EACH] >> (4 * (agent % EACH)) & 3 {
            0 => Hold::Free,
            1 => Hold::Held,
            _ => Hold::Follows,
        }
    }

    pub(super) fn is_held(&self, agent: usize) -> bool {
        self.hold(agent) != Hold::Free
    }

    pub(super) fn set(&mut self, agent: usize, hold: Hold) {
        let (word, from) = (&mut self.holds[agent / EACH], 4 * (agent % EACH));
        *word = *word & !(3 << from) | (hold as u32) << from;
    }

    /// What is known of an agent, as a number.
    pub(super) fn of_agent(&self, agent: usize) -> u32 {
        self.holds[agent / EACH] >> (4 * (agent % EACH)) & 15
    }

    /// The same is known of an agent from now on.
    pub(super) fn set_agent(&mut self, agent: usize, known: u32) {
        let (word, from) = (&mut self.holds[agent / EACH], 4 * (agent % EACH));
        *word = *word & !(15 << from) | known << from;
    }

    /// Lets an agent that has closed a cycle go on, unless it has done so as often as it may.
    pub(super) fn puts_off(&mut self, agent: usize) -> bool {
        let from = 4 * (agent % EACH) + 2;
        let word = &mut self.holds[agent / EACH];
        let goes_on = *word >> from & 3 < MORE;
        *word += u32::from(goes_on) << from;
        goes_on
    }

    pub(super) fn renew(&mut self) {
        self.holds.fill(0);
    }

    pub(super) fn holds_nobody(&self) -> bool {
        self.holds.iter().all(|word| *word & HOLDS == 0)
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
    fn who_is_behind_puts_off_being_held_back_three_times_until_all_are_let_go_on() {
        let mut proviso = Proviso::new(9);
        for agent in [7, 8] {
            assert!((0..MORE).all(|_| proviso.puts_off(agent)));
            assert!(!proviso.puts_off(agent), "it would leave others out for ever");
            assert!(!proviso.is_held(agent));
        }
        assert!(proviso.holds_nobody());
        proviso.set(7, Hold::Held);
        let known = proviso.of_agent(7);
        proviso.set_agent(0, known);
        assert!(proviso.is_held(0) && !proviso.puts_off(0), "agents that change places keep what is known");
        assert_eq!(proviso.hold(6), Hold::Free);
        assert!(!proviso.holds_nobody());
        proviso.renew();
        assert!(proviso.holds_nobody() && proviso.puts_off(7));
    }

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

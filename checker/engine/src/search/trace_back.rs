//! From the numbers of a search back to the steps of real agents.
//!
//! The store knows for each state a few among which is the one that it was found from. Which it was, and
//! which step led there, is found out again by making their steps once more; where states were sorted by
//! symmetry, the permutations are composed along the way, so that every step is that of a real agent.

use crate::packed::layout::Packed;
use crate::packed::numbering::to_u32;
use crate::paths::{permuted, real};
use crate::search::Search;
use crate::successors::expand::{Opened, Successor};
use crate::visited::{StateId, Store};
use barcheck_model::machine::Choice;
use barcheck_model::program::AgentId;

/// A step between two packed states, and where each agent went when the second was sorted.
pub(crate) struct Edge<const W: usize> {
    pub(crate) choice: Choice,
    pub(crate) to: Packed<W>,
    pub(crate) permutation: Vec<u32>,
}

impl Search<'_> {
    /// Every step from a state that leads to a state, in order. Numbers that the layout has no room for do
    /// not occur once the search is complete.
    pub(crate) fn edges<const W: usize>(&mut self, words: &Packed<W>) -> Vec<Edge<W>> {
        self.edges_to(words, None)
    }

    /// The same, or only those that lead to a certain state, of agents that are alike those of the first.
    fn edges_to<const W: usize>(&mut self, words: &Packed<W>, goal: Option<&Packed<W>>) -> Vec<Edge<W>> {
        let mut opened = Opened::default();
        self.tables.open(&self.layout, words, &mut opened);
        let mut edges = Vec::new();
        let alike = goal.map(|_| self.symmetry.like_another(&self.tables, &self.layout, words));
        for agent in 0..opened.slots.len() {
            if alike.as_ref().is_some_and(|alike| alike[agent]) {
                continue;
            }
            for index in 0..self.tables.slot(agent, opened.slots[agent]).moves.len() {
                for pick in self.tables.picks(&self.layout, words, &mut opened, agent, index) {
                    let pick = u32::try_from(pick).unwrap_or(u32::MAX);
                    let choice = Choice::of(AgentId::from_index(agent), to_u32(index), pick);
                    edges.extend(self.edge(words, &mut opened, choice, goal));
                }
            }
        }
        for choice in self.tables.landings(&self.layout, words, &mut opened) {
            edges.extend(self.edge(words, &mut opened, choice, goal));
        }
        edges
    }

    /// A step from a state, if it leads to a state, to the one wanted if there is one.
    fn edge<const W: usize>(
        &mut self,
        words: &Packed<W>,
        opened: &mut Opened,
        choice: Choice,
        goal: Option<&Packed<W>>,
    ) -> Option<Edge<W>> {
        let to = match self.tables.successor(&self.layout, words, opened, choice, &mut |_| {}) {
            Successor::State(to) => to,
            Successor::Same => *words,
            Successor::TooWide | Successor::End(_) | Successor::None => return None,
        };
        if let Some(goal) = goal {
            // Who goes where when a state is sorted takes longer to find out.
            let sorted = self.symmetry.canonical(&mut self.tables, &self.layout, to, None);
            if sorted.as_ref() != Some(goal) {
                return None;
            }
        }
        let mut permutation = Vec::new();
        let to = self.symmetry.canonical(&mut self.tables, &self.layout, to, Some(&mut permutation))?;
        Some(Edge { choice, to, permutation })
    }

    /// The steps of real agents that lead to a state of the store, and which real agent is where in it.
    pub(crate) fn path_to<const W: usize>(
        &mut self,
        store: &Store<W>,
        state: StateId,
    ) -> (Vec<Choice>, Vec<AgentId>) {
        let (mut at, mut back) = (state, Vec::new());
        // The store holds no state without a step that leads there.
        while let Some((parent, edge)) = self.step_to(store, at) {
            at = parent;
            back.push(edge);
        }
        let mut who = self.initial_agents::<W>();
        let mut steps = Vec::with_capacity(back.len());
        for edge in back.into_iter().rev() {
            steps.push(real(edge.choice, &who));
            who = permuted(&who, &edge.permutation);
        }
        (steps, who)
    }

    /// The step by which a state was found, and from where.
    fn step_to<const W: usize>(&mut self, store: &Store<W>, state: StateId) -> Option<(StateId, Edge<W>)> {
        let goal = store.get(state);
        store.possible_parents(state).find_map(|parent| {
            let edges = self.edges_to(&store.get(parent), Some(&goal));
            edges.into_iter().next().map(|edge| (parent, edge))
        })
    }

    /// Which real agent is where in the sorted initial state.
    fn initial_agents<const W: usize>(&mut self) -> Vec<AgentId> {
        let agents: Vec<AgentId> = self.tables.machine.agents().collect();
        let initial = self.tables.machine.initial();
        let numbers = self.tables.number(&initial);
        let Some(words) = numbers.pack::<W>(&self.layout) else { return agents };
        let mut to = Vec::new();
        match self.symmetry.canonical(&mut self.tables, &self.layout, words, Some(&mut to)) {
            Some(_) => permuted(&agents, &to),
            None => agents,
        }
    }
}

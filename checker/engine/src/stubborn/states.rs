//! The states kept: their components numbered, in canonical form where agents are interchangeable.

use super::happens_before::HappensBefore;
use super::proviso::Proviso;
use crate::packed::numbering::{Numbered, to_u32};
use crate::packed::residual::{Residual, ResidualOf};
use barcheck_model::barrier::BarrierId;
use barcheck_model::machine::{AgentState, AnyBarrier, Machine, Sequence, State};
use barcheck_model::memory::Layout;
use barcheck_model::program::AgentId;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A state, as the numbers of its components: each agent, the barriers, the residual, and who is held back.
pub(super) type Key = Arc<[u32]>;

/// Residuals in which is looked for what grew.
const LATEST: usize = 1000;

/// Numbers states, and sorts the agents that are interchangeable: see [`crate::successors::canonical`] for
/// why that loses nothing.
#[derive(Debug)]
pub(super) struct Components {
    layout: Layout,
    /// For each agent, its automaton: agents of one are numbered alike.
    class_of: Vec<usize>,
    agents: Vec<Numbered<AgentState>>,
    barriers: Numbered<Vec<(BarrierId, AnyBarrier)>>,
    residuals: Numbered<Residual>,
    memories: Numbered<HappensBefore>,
    /// Interchangeable agents, two at least in each group.
    groups: Vec<Vec<usize>>,
}

impl Components {
    pub(super) fn new(machine: &Machine) -> Self {
        let mut groups: FxHashMap<(usize, usize), Vec<usize>> = FxHashMap::default();
        for agent in machine.agents() {
            groups.entry((machine.class(agent), machine.subgroup(agent))).or_default().push(agent.index());
        }
        let mut groups: Vec<_> = groups.into_values().filter(|group| group.len() > 1).collect();
        groups.sort_unstable();
        Self {
            layout: machine.layout(),
            class_of: machine.agents().map(|agent| machine.class(agent)).collect(),
            agents: machine.automata().iter().map(|_| Numbered::default()).collect(),
            barriers: Numbered::default(),
            residuals: Numbered::default(),
            memories: Numbered::default(),
            groups,
        }
    }

    /// The numbers of a state whose agents have been sorted, and where each of them went.
    pub(super) fn key(&mut self, state: &State<HappensBefore>, proviso: &Proviso) -> (Key, Vec<u32>) {
        let agents = state.agents.iter().zip(&self.class_of);
        let slots: Vec<u32> =
            agents.map(|(agent, class)| self.agents[*class].number(agent, AgentState::clone)).collect();
        let barriers = self.barriers.number(&state.barriers, Vec::clone);
        let to = self.permutation_of(state, proviso, &slots);
        let is_sorted = (0..).zip(&to).all(|(agent, to)| agent == *to);
        let (residual, memory) = if is_sorted {
            let residual = self.residuals.number(&ResidualOf::of(state), ResidualOf::to_residual);
            (residual, self.memories.number(&state.memory, HappensBefore::clone))
        } else {
            let (residual, memory) = self.renamed(state, &to);
            (
                self.residuals.number(&residual, Residual::clone),
                self.memories.number(&memory, HappensBefore::clone),
            )
        };
        let mut sorted = proviso.clone();
        let mut key = vec![0; slots.len()];
        for (agent, to) in to.iter().enumerate() {
            key[*to as usize] = slots[agent];
            sorted.set(*to as usize, proviso.is_held(agent));
        }
        key.extend([barriers, residual, memory]);
        key.extend_from_slice(sorted.words());
        (key.into(), to)
    }

    /// The state that numbers stand for.
    pub(super) fn state(&self, key: &Key) -> (State<HappensBefore>, Proviso) {
        let count = self.class_of.len();
        let Residual { sequences, allocated, pending } = self.residuals.get(key[count + 1]).clone();
        let agents = self.class_of.iter().zip(&key[..count]);
        let state = State {
            agents: agents.map(|(class, slot)| self.agents[*class].get(*slot).clone()).collect(),
            barriers: self.barriers.get(key[count]).clone(),
            memory: self.memories.get(key[count + 2]).clone(),
            sequences,
            allocated,
            pending,
        };
        (state, Proviso::of(&key[count + 3..]))
    }

    /// Where each agent goes when the groups are sorted.
    fn permutation_of(&self, state: &State<HappensBefore>, proviso: &Proviso, slots: &[u32]) -> Vec<u32> {
        let mut to: Vec<u32> = (0..to_u32(slots.len())).collect();
        for group in &self.groups {
            let mut order: Vec<_> = group.iter().map(|a| (slots[*a], proviso.is_held(*a), *a)).collect();
            order.sort_unstable();
            // Only those who are alike so far are told apart by what they know.
            for alike in order.chunk_by_mut(|a, b| (a.0, a.1) == (b.0, b.1)) {
                if alike.len() > 1 {
                    alike.sort_by_cached_key(|(_, _, agent)| self.profile(state, *agent));
                }
            }
            for (place, (.., agent)) in group.iter().zip(order) {
                to[agent] = to_u32(*place);
            }
        }
        to
    }

    /// What tells an agent apart from others with the same slot.
    fn profile(&self, state: &State<HappensBefore>, agent: usize) -> impl Ord + use<> {
        let id = AgentId::from_index(agent);
        let accesses = state.memory.memory.profile(self.layout, id);
        (ResidualOf::of(state).profile(agent), accesses, state.memory.profile(self.layout, id), agent)
    }

    fn renamed(&self, state: &State<HappensBefore>, to: &[u32]) -> (Residual, HappensBefore) {
        let names: Vec<AgentId> = to.iter().map(|agent| AgentId(*agent)).collect();
        let residual = ResidualOf::of(state).renamed(to);
        (residual, state.memory.renamed(self.layout, &names))
    }

    /// The sequences of uniform decisions in the states made last.
    pub(super) fn latest_sequences(&self) -> impl Iterator<Item = &[Sequence]> {
        let from = self.residuals.len().saturating_sub(LATEST);
        self.residuals.from(from).map(|residual| &residual.sequences[..])
    }

    /// Roughly the bytes in use.
    pub(super) fn bytes(&self) -> u64 {
        let agents: usize = self.agents.iter().map(|slots| slots.len()).sum();
        // As measured on the library's protocols, rounded up.
        let residual = 300 + self.class_of.len() * 40;
        (agents * 200 + self.barriers.len() * 600 + (self.residuals.len() + self.memories.len()) * residual)
            as u64
    }
}

//! The states kept: their components numbered, in canonical form where agents are interchangeable.

use super::happens_before::{Fact, HappensBefore};
use super::proviso::Proviso;
use crate::packed::numbering::{Numbered, to_u32};
use crate::packed::residual::{Residual, ResidualOf};
use barcheck_model::barrier::BarrierId;
use barcheck_model::machine::{AgentState, AnyBarrier, Machine, Sequence, State};
use barcheck_model::memory::{Layout, Memory};
use barcheck_model::program::AgentId;
use rustc_hash::FxHashMap;
use std::hash::Hash;
use std::sync::Arc;

/// A state, as the numbers of its components: each agent, the barriers, the residual, and who is held back.
pub(super) type Key = Arc<[u32]>;

/// Residuals in which is looked for what grew.
const LATEST: usize = 1000;

/// Bytes beside a thing that is numbered, roughly: its entry in the table, and room in its list.
const BESIDE: usize = 16;

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
    memories: Memories,
    /// Bytes of barriers and residuals.
    bytes: usize,
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
            memories: Memories::default(),
            bytes: 0,
            groups,
        }
    }

    /// The numbers of a state whose agents have been sorted, and where each of them went.
    pub(super) fn key(&mut self, state: &State<HappensBefore>, proviso: &Proviso) -> (Key, Vec<u32>) {
        let agents = state.agents.iter().zip(&self.class_of);
        let slots: Vec<u32> =
            agents.map(|(agent, class)| self.agents[*class].number(agent, AgentState::clone)).collect();
        let bytes = &mut self.bytes;
        let barriers = self.barriers.number(&state.barriers, |barriers| {
            *bytes += size_of_val(barriers) + size_of_val(&barriers[..]) + BESIDE;
            barriers.clone()
        });
        let to = self.permutation_of(state, proviso, &slots);
        let is_sorted = (0..).zip(&to).all(|(agent, to)| agent == *to);
        let (residual, memory) = if is_sorted {
            (
                self.residual(&ResidualOf::of(state), ResidualOf::to_residual),
                self.memories.number(&state.memory),
            )
        } else {
            let (residual, memory) = self.renamed(state, &to);
            (self.residual(&residual, Residual::clone), self.memories.number(&memory))
        };
        let mut sorted = proviso.clone();
        let mut key = vec![0; slots.len()];
        for (agent, to) in to.iter().enumerate() {
            key[*to as usize] = slots[agent];
            sorted.set_agent(*to as usize, proviso.of_agent(agent));
        }
        key.extend([barriers, residual, memory]);
        key.extend_from_slice(sorted.words());
        (key.into(), to)
    }

    fn residual<Q: Hash + PartialEq<Residual>>(&mut self, of: &Q, make: impl Fn(&Q) -> Residual) -> u32 {
        let bytes = &mut self.bytes;
        self.residuals.number(of, |of| {
            let residual = make(of);
            *bytes += residual.bytes() + BESIDE;
            residual
        })
    }

    /// The state that numbers stand for.
    pub(super) fn state(&self, key: &Key) -> (State<HappensBefore>, Proviso) {
        let count = self.class_of.len();
        let Residual { sequences, allocated, pending } = self.residuals.get(key[count + 1]).clone();
        let agents = self.class_of.iter().zip(&key[..count]);
        let state = State {
            agents: agents.map(|(class, slot)| self.agents[*class].get(*slot).clone()).collect(),
            barriers: self.barriers.get(key[count]).clone(),
            memory: self.memories.get(key[count + 2]),
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
            let mut order: Vec<_> = group.iter().map(|a| (slots[*a], proviso.of_agent(*a), *a)).collect();
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
        (agents * 200 + self.bytes + self.memories.bytes) as u64
    }
}

/// What everybody knows, numbered, each barrier by itself: most states differ from others in few of them.
#[derive(Debug, Default)]
struct Memories {
    accesses: Numbered<Memory>,
    facts: Numbered<Vec<Fact>>,
    /// The numbers of the accesses, and of the facts about each barrier.
    parts: Numbered<(u32, Vec<u32>)>,
    bytes: usize,
}

impl Memories {
    fn number(&mut self, of: &HappensBefore) -> u32 {
        let bytes = &mut self.bytes;
        let accesses = self.accesses.number(&of.memory, |memory| {
            *bytes += size_of_val(memory) + memory.bytes() + BESIDE;
            memory.clone()
        });
        let facts = of.by_barrier().map(|facts| {
            self.facts.number(&facts, |facts| {
                *bytes += size_of::<Vec<Fact>>() + facts.iter().map(Fact::bytes).sum::<usize>() + BESIDE;
                facts.to_vec()
            })
        });
        let parts = (accesses, facts.collect());
        self.parts.number(&parts, |parts: &(u32, Vec<u32>)| {
            *bytes += size_of_val(parts) + size_of_val(&parts.1[..]) + BESIDE;
            parts.clone()
        })
    }

    fn get(&self, number: u32) -> HappensBefore {
        let (accesses, facts) = self.parts.get(number);
        let facts = facts.iter().map(|facts| &self.facts.get(*facts)[..]);
        HappensBefore::of(self.accesses.get(*accesses).clone(), facts)
    }
}

//! `stuck-agent`: a blocked agent that no continuation unblocks, while some continuation runs for ever.
//!
//! Judged on the graph of all reachable states, once it is complete. For every state the set of agents that
//! some continuation unblocks is the least fixed point of: those that are not blocked here, and those that
//! are unblocked from a successor. States are visited from the last found to the first until nothing changes.
//! Where states have been sorted by symmetry, agents are followed through the permutations of the edges.

use super::trace_back::Edge;
use crate::packed::layout::Packed;
use crate::paths::lasso::{Segment, findings, state_after, unroll};
use crate::search::Search;
use crate::successors::expand::Opened;
use crate::visited::{StateId, Store};
use barcheck_model::agent::Action;
use barcheck_model::machine::{Finding, Path};
use barcheck_model::program::AgentId;
use petgraph::algo::{kosaraju_scc, toposort};
use petgraph::graph::{DiGraph, NodeIndex};
use std::collections::{HashMap, VecDeque};

/// A set of agents for each state.
struct AgentSets {
    words: usize,
    bits: Vec<u64>,
}

impl AgentSets {
    fn new(states: usize, agents: usize) -> Self {
        let words = agents.div_ceil(64);
        Self { words, bits: vec![0; states * words] }
    }

    fn has(&self, state: usize, agent: usize) -> bool {
        self.bits[state * self.words + agent / 64] >> (agent % 64) & 1 == 1
    }

    fn add(&mut self, state: usize, agent: usize) {
        self.bits[state * self.words + agent / 64] |= 1 << (agent % 64);
    }

    fn count(&self, state: usize) -> u32 {
        self.bits[state * self.words..(state + 1) * self.words].iter().map(|w| w.count_ones()).sum()
    }
}

/// The agents that are stuck, one finding for each place, with a path that ends in a cycle.
pub(crate) fn find<const W: usize>(search: &mut Search<'_>, store: &Store<W>) -> Vec<(Finding, Path)> {
    if !may_run_for_ever(search) {
        return Vec::new();
    }
    let unblocked = unblocked_agents(search, store);
    let agents = search.layout.agents.len();
    let suspects: Vec<StateId> = (0..store.len())
        .filter(|state| (unblocked.count(*state) as usize) < agents)
        .map(crate::packed::numbering::to_u32)
        .collect();
    let Some(cyclic) = first_cyclic(search, store, &suspects) else { return Vec::new() };
    let stuck: Vec<usize> = (0..agents).filter(|agent| !unblocked.has(cyclic as usize, *agent)).collect();
    let (steps, who) = search.path_to(store, cyclic);
    let cycle = shortest_cycle(search, store, cyclic);
    let segment = |edge: Edge<W>| Segment { choices: vec![edge.choice], permutation: edge.permutation };
    let cycle: Vec<Segment> = cycle.into_iter().map(segment).collect();
    let machine = &mut search.tables.machine;
    // What cannot be unrolled is found all the same; whoever looks at the path says that it does not show it.
    let to_cycle = Path { steps: steps.clone(), cycle_from: None };
    let path = unroll(machine, steps, &who, &cycle).unwrap_or(to_cycle);
    let state = state_after(machine, None, &path.steps).unwrap_or_else(|| machine.initial());
    let mut names: Vec<AgentId> = stuck.iter().map(|place| who[*place]).collect();
    names.sort_unstable();
    let found = findings(&search.tables.machine, &state, &names);
    found.into_iter().map(|finding| (finding, path.clone())).collect()
}

/// Whether some agent's automaton has a cycle. Without one, every path is finite.
pub(crate) fn may_run_for_ever(search: &Search<'_>) -> bool {
    search.tables.machine.automata().iter().any(|automaton| {
        let mut graph = DiGraph::<(), ()>::with_capacity(automaton.len(), automaton.len());
        for _ in 0..automaton.len() {
            graph.add_node(());
        }
        for (from, to) in automaton.edges() {
            graph.add_edge(NodeIndex::new(from.0 as usize), NodeIndex::new(to.0 as usize), ());
        }
        let spins = (0..automaton.len()).any(|id| {
            let id = barcheck_model::machine::ConfigId(crate::packed::numbering::to_u32(id));
            automaton.moves(id).iter().any(|m| m.action == Action::Spin)
        });
        spins || toposort(&graph, None).is_err()
    })
}

fn unblocked_agents<const W: usize>(search: &mut Search<'_>, store: &Store<W>) -> AgentSets {
    let agents = search.layout.agents.len();
    let mut sets = AgentSets::new(store.len(), agents);
    let mut opened = Opened::default();
    for state in 0..store.len() {
        search.tables.open(&search.layout, &store.get(crate::packed::numbering::to_u32(state)), &mut opened);
        for (agent, slot) in opened.slots.iter().enumerate() {
            if !search.tables.slot(agent, *slot).blocked {
                sets.add(state, agent);
            }
        }
    }
    // Only states in which somebody is blocked and not yet known to be unblocked are looked at again.
    let mut open: Vec<usize> = (0..store.len()).filter(|s| (sets.count(*s) as usize) < agents).collect();
    loop {
        let mut changed = false;
        for state in open.iter().rev() {
            let words = store.get(crate::packed::numbering::to_u32(*state));
            for edge in search.edges(&words) {
                let Some(to) = store.find(&edge.to) else { continue };
                for agent in 0..agents {
                    if !sets.has(*state, agent) && sets.has(to as usize, edge.permutation[agent] as usize) {
                        sets.add(*state, agent);
                        changed = true;
                    }
                }
            }
        }
        if !changed {
            return sets;
        }
        open.retain(|s| (sets.count(*s) as usize) < agents);
    }
}

/// The first of the states, which are closed under successors, that lies on a cycle.
fn first_cyclic<const W: usize>(
    search: &mut Search<'_>,
    store: &Store<W>,
    states: &[StateId],
) -> Option<StateId> {
    let mut graph = DiGraph::<StateId, ()>::with_capacity(states.len(), states.len());
    let nodes: HashMap<StateId, NodeIndex> = states.iter().map(|s| (*s, graph.add_node(*s))).collect();
    for state in states {
        let words = store.get(*state);
        for edge in search.edges(&words) {
            let to = store.find(&edge.to).and_then(|to| nodes.get(&to));
            if let Some(to) = to {
                graph.update_edge(nodes[state], *to, ());
            }
        }
    }
    // Of the algorithms at hand, this one does not recurse: graphs are as deep as protocols are long.
    let components = kosaraju_scc(&graph);
    let cyclic = components.into_iter().filter(|c| c.len() > 1 || graph.contains_edge(c[0], c[0]));
    cyclic.flatten().map(|node| graph[node]).min()
}

/// The shortest cycle through a state that lies on one, as edges.
fn shortest_cycle<const W: usize>(search: &mut Search<'_>, store: &Store<W>, state: StateId) -> Vec<Edge<W>> {
    let goal = store.get(state);
    let mut before: HashMap<Packed<W>, (Packed<W>, Edge<W>)> = HashMap::new();
    let mut queue = VecDeque::from([goal]);
    while let Some(words) = queue.pop_front() {
        for edge in search.edges(&words) {
            let to = edge.to;
            if before.contains_key(&to) {
                continue;
            }
            before.insert(to, (words, edge));
            if to == goal {
                let mut cycle = Vec::new();
                let mut at = goal;
                while let Some((from, edge)) = before.remove(&at) {
                    cycle.push(edge);
                    at = from;
                }
                cycle.reverse();
                return cycle;
            }
            queue.push_back(to);
        }
    }
    Vec::new()
}

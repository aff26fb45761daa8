//! `stuck-agent`, judged on the graph of the states kept: see [`super`] for why that is enough.

use super::explore::{At, Exploration};
use super::node::{Made, NodeId};
use super::paths::{kept, path_to};
use super::pools;
use crate::packed::numbering::to_u32;
use crate::paths::lasso::{self, Segment};
use crate::paths::real;
use crate::verdict::{Found, Inconclusive};
use barcheck_model::agent::Action;
use barcheck_model::machine::{Choice, Machine, Path};
use barcheck_model::program::AgentId;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use std::collections::{HashMap, VecDeque};

/// Ways out of states, made once more, between two looks at the budgets.
const EDGES_BETWEEN_LOOKS: usize = 64;
/// States, where no steps are made, between two looks.
const STATES_BETWEEN_LOOKS: usize = 1024;

/// A path from one state kept to another.
struct Edge {
    made: Made,
    to: NodeId,
    /// Where each agent went when the state was sorted.
    permutation: Vec<u32>,
    /// Agents that are not blocked somewhere on it.
    unblocked: Vec<bool>,
}

impl Edge {
    /// Roughly the bytes in use.
    fn bytes(&self) -> u64 {
        // Of two allocations, each with the allocator's own words.
        (size_of::<Self>() + size_of_val(&*self.permutation) + self.unblocked.len() + 32) as u64
    }
}

/// The graph, by state: the edges out, and the agents that some continuation unblocks.
struct Graph {
    edges: Vec<Vec<Edge>>,
    unblocked: Vec<Vec<bool>>,
}

/// Agents that are stuck, one finding for each place, with a path that ends in a cycle; `None` if there are
/// some and no path shows it, an error if the search is to end.
pub(super) fn find(exploration: &mut Exploration<'_>) -> Result<Option<Vec<Found>>, Inconclusive> {
    if !exploration.has_cycle() && first_spinner(exploration, 0..to_u32(exploration.nodes.len()))?.is_none() {
        return Ok(Some(Vec::new()));
    }
    exploration.repeats = true;
    let mut graph = graph(exploration)?;
    spread(exploration, &mut graph)?;
    let suspects: Vec<NodeId> =
        (0..graph.edges.len()).filter(|n| graph.unblocked[*n].contains(&false)).map(to_u32).collect();
    let Some((node, spins)) = first_endless(exploration, &graph, &suspects)? else {
        return Ok(Some(Vec::new()));
    };
    if exploration.decides_late() {
        // Who is stuck, and on which cycle, shows without merged configurations.
        return Ok(None);
    }
    let (made, who, _) = path_to(exploration, node);
    let start = exploration.initial();
    let Some(mut steps) = exploration.steps(start, &made, None) else { return Ok(None) };
    let stuck = graph.unblocked[node as usize].iter().zip(&who).filter(|(unblocked, _)| !**unblocked);
    let mut names: Vec<AgentId> = stuck.map(|(_, agent)| *agent).collect();
    names.sort_unstable();
    let waits = exploration.settings.all
        && pools::waiting(&exploration.machine, &kept(exploration, node).state).is_some();
    if waits {
        // What else is found may be different in another order.
        return Ok(None);
    }
    let path = match spins {
        Some(choice) => {
            let cycle_from = Some(steps.len());
            steps.push(real(choice, &who));
            Path { steps, cycle_from }
        }
        None => {
            let cycle = shortest_cycle(&graph, node);
            let segments = cycle.into_iter().map(|(from, number)| {
                let edge = &graph.edges[from as usize][number];
                let at = kept(exploration, from);
                // It has been made before, to its end.
                drop(exploration.go_on(&mut at.clone(), from, edge.made, &mut |_, _| {}));
                let made = exploration.made.clone();
                Some(Segment {
                    choices: exploration.steps(at, &made, None)?,
                    permutation: edge.permutation.clone(),
                })
            });
            let Some(cycle) = segments.collect::<Option<Vec<_>>>() else { return Ok(None) };
            let path = lasso::unroll(&mut exploration.machine, steps, &who, &cycle);
            let Some(path) = path else { return Ok(None) };
            path
        }
    };
    let upto = path.cycle_from.unwrap_or(path.steps.len());
    let state = lasso::state_after(&mut exploration.machine, None, &path.steps[..upto]);
    let Some(state) = state else { return Ok(None) };
    let found = lasso::findings(&exploration.machine, &state, &names);
    let level = |rule| exploration.level(rule);
    let found =
        found.into_iter().map(|finding| Found { level: level(finding.rule), finding, path: path.clone() });
    Ok(Some(found.collect()))
}

/// A step of an endless local loop in a state.
fn spinner(exploration: &Exploration<'_>, node: NodeId) -> Option<Choice> {
    let at = kept(exploration, node);
    exploration.machine.agents().find_map(|agent| {
        let moves = exploration.machine.moves(&at.state, agent);
        let index = moves.iter().position(|made| made.action == Action::Spin)?;
        Some(Choice::of(agent, to_u32(index), 0))
    })
}

/// The first of the states in which an agent is in an endless local loop, and the step of that loop.
fn first_spinner(
    exploration: &mut Exploration<'_>,
    nodes: impl Iterator<Item = NodeId>,
) -> Result<Option<(NodeId, Choice)>, Inconclusive> {
    for (number, node) in nodes.enumerate() {
        if number.is_multiple_of(STATES_BETWEEN_LOOKS) {
            exploration.look_on(0)?;
        }
        if let Some(choice) = spinner(exploration, node) {
            return Ok(Some((node, choice)));
        }
    }
    Ok(None)
}

/// Makes all steps once more.
fn graph(exploration: &mut Exploration<'_>) -> Result<Graph, Inconclusive> {
    let count = exploration.nodes.len();
    let (mut edges, mut unblocked) = (Vec::with_capacity(count), Vec::with_capacity(count));
    let mut outgoing = 0_usize;
    for node in 0..count {
        let at = kept(exploration, to_u32(node));
        let agents = exploration.machine.agents();
        unblocked
            .push(agents.map(|a| !exploration.machine.config(&at.state, a).is_blocked()).collect::<Vec<_>>());
        let mut out = Vec::new();
        exploration.graph_bytes += (2 * size_of::<Vec<Edge>>() + unblocked[node].len()) as u64;
        for made in exploration.outgoing(&at) {
            if outgoing.is_multiple_of(EDGES_BETWEEN_LOOKS) {
                exploration.look_on((count - node) as u64)?;
            }
            outgoing += 1;
            let edge = edge(exploration, &at, to_u32(node), made, &unblocked[node]);
            exploration.graph_bytes += edge.as_ref().map_or(0, Edge::bytes);
            out.extend(edge);
        }
        edges.push(out);
    }
    Ok(Graph { edges, unblocked })
}

/// Makes the steps of an edge once more.
fn edge(
    exploration: &mut Exploration<'_>,
    at: &At,
    node: NodeId,
    made: Made,
    unblocked: &[bool],
) -> Option<Edge> {
    let (mut on, mut unblocked) = (at.clone(), unblocked.to_vec());
    let mut watch = |machine: &Machine, at: &At| {
        for (agent, unblocked) in machine.agents().zip(&mut unblocked) {
            *unblocked |= !machine.config(&at.state, agent).is_blocked();
        }
    };
    exploration.go_on(&mut on, node, made, &mut watch).ok()?;
    let (key, permutation) = exploration.components.key(&on.state, &on.proviso);
    Some(Edge { made, to: *exploration.numbers.get(&key)?, permutation, unblocked })
}

/// What is unblocked after a state is unblocked by a continuation of the states before.
fn spread(exploration: &mut Exploration<'_>, graph: &mut Graph) -> Result<(), Inconclusive> {
    let mut changed = true;
    while changed {
        changed = false;
        for node in (0..graph.edges.len()).rev() {
            // There may be as many passes as states: each looks once at least.
            if node.is_multiple_of(STATES_BETWEEN_LOOKS) {
                exploration.look_on(0)?;
            }
            for edge in &graph.edges[node] {
                for agent in 0..edge.permutation.len() {
                    let later = || graph.unblocked[edge.to as usize][edge.permutation[agent] as usize];
                    if !graph.unblocked[node][agent] && (edge.unblocked[agent] || later()) {
                        graph.unblocked[node][agent] = true;
                        changed = true;
                    }
                }
            }
        }
    }
    Ok(())
}

/// The first of the states, which are closed under successors, from which a run goes on for ever without
/// leaving it for good, and the step of a local loop that does so, if it is one.
fn first_endless(
    exploration: &mut Exploration<'_>,
    graph: &Graph,
    suspects: &[NodeId],
) -> Result<Option<(NodeId, Option<Choice>)>, Inconclusive> {
    let mut among = DiGraph::<NodeId, ()>::with_capacity(suspects.len(), suspects.len());
    let nodes: HashMap<NodeId, NodeIndex> = suspects.iter().map(|n| (*n, among.add_node(*n))).collect();
    for node in suspects {
        for edge in &graph.edges[*node as usize] {
            if let Some(to) = nodes.get(&edge.to) {
                among.update_edge(nodes[node], *to, ());
            }
        }
    }
    // This algorithm does not recurse: graphs are as deep as protocols are long.
    let components = kosaraju_scc(&among);
    let cyclic = components.into_iter().filter(|c| c.len() > 1 || among.contains_edge(c[0], c[0]));
    let cyclic = cyclic.flatten().map(|node| (among[node], None)).min_by_key(|(node, _)| *node);
    let spins = first_spinner(exploration, suspects.iter().copied())?;
    let spins = spins.map(|(node, choice)| (node, Some(choice)));
    Ok(cyclic.into_iter().chain(spins).min_by_key(|(node, _)| *node))
}

/// The shortest cycle through a state that lies on one.
fn shortest_cycle(graph: &Graph, node: NodeId) -> Vec<(NodeId, usize)> {
    let mut before: HashMap<NodeId, (NodeId, usize)> = HashMap::new();
    let mut queue = VecDeque::from([node]);
    while let Some(at) = queue.pop_front() {
        for (number, edge) in graph.edges[at as usize].iter().enumerate() {
            if before.contains_key(&edge.to) {
                continue;
            }
            before.insert(edge.to, (at, number));
            if edge.to == node {
                let (mut cycle, mut at) = (Vec::new(), node);
                while let Some((from, number)) = before.remove(&at) {
                    cycle.push((from, number));
                    at = from;
                }
                cycle.reverse();
                return cycle;
            }
            queue.push_back(edge.to);
        }
    }
    Vec::new()
}

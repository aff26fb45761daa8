//! `stuck-agent`, judged on the graph of the states kept: see [`super`] for why that is enough.

use super::explore::{At, Exploration, Made, NodeId};
use super::paths::{kept, path_to};
use crate::engine::numbering::to_u32;
use crate::engine::paths::real;
use crate::engine::stuck::{self, Stretch};
use crate::settings::Progress;
use crate::verdict::{Found, Inconclusive};
use barcheck_model::agent::Action;
use barcheck_model::machine::{Choice, Machine, Path};
use barcheck_model::program::AgentId;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use std::collections::{HashMap, VecDeque};

/// A way from one state kept to another.
struct Edge {
    made: Made,
    to: NodeId,
    /// Where each agent went when the state was sorted.
    moved: Vec<u32>,
    /// Agents that are not blocked somewhere on the way.
    unblocked: Vec<bool>,
}

/// The graph, by state: the ways out, and the agents that some continuation unblocks.
struct Graph {
    edges: Vec<Vec<Edge>>,
    unblocked: Vec<Vec<bool>>,
}

/// Agents that are stuck, one finding for each place, with a path that ends in a cycle; `None` if there are some and no path shows it, an error
/// if the search is to end.
pub(super) fn find(exploration: &mut Exploration<'_>) -> Result<Option<Vec<Found>>, Inconclusive> {
    let spins = |e: &Exploration<'_>| (0..e.nodes.len()).any(|node| spinner(e, to_u32(node)).is_some());
    if !exploration.loops.iter().any(|loops| loops.has_cycle()) && !spins(exploration) {
        return Ok(Some(Vec::new()));
    }
    exploration.repeats = true;
    let mut graph = graph(exploration)?;
    spread(&mut graph);
    let suspects: Vec<NodeId> =
        (0..graph.edges.len()).filter(|n| graph.unblocked[*n].contains(&false)).map(to_u32).collect();
    let Some((node, spins)) = first_endless(exploration, &graph, &suspects) else {
        return Ok(Some(Vec::new()));
    };
    let (made, who, _) = path_to(exploration, node);
    let mut steps = exploration.steps(&made, None);
    let stuck = graph.unblocked[node as usize].iter().zip(&who).filter(|(unblocked, _)| !**unblocked);
    let mut names: Vec<AgentId> = stuck.map(|(_, agent)| *agent).collect();
    names.sort_unstable();
    let path = match spins {
        Some(choice) => {
            let cycle_from = Some(steps.len());
            steps.push(real(choice, &who));
            Path { steps, cycle_from }
        }
        None => {
            let cycle = shortest_cycle(&graph, node);
            let cycle: Vec<Stretch> = cycle
                .into_iter()
                .map(|(from, number)| {
                    let edge = &graph.edges[from as usize][number];
                    let mut at = kept(exploration, from);
                    // It has been made before, to its end.
                    drop(exploration.go_on(&mut at, from, edge.made, &mut |_, _| {}));
                    Stretch { choices: exploration.steps(&exploration.made, None), moved: edge.moved.clone() }
                })
                .collect();
            let path = stuck::unroll(&mut exploration.machine, steps, &who, &cycle);
            let Some(path) = path else { return Ok(None) };
            path
        }
    };
    let upto = path.cycle_from.unwrap_or(path.steps.len());
    let state = stuck::state_after(&mut exploration.machine, None, &path.steps[..upto]);
    let Some(state) = state else { return Ok(None) };
    let found = stuck::findings(&exploration.machine, &state, &names);
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
        Some(Choice { agent, index: to_u32(index), pick: 0 })
    })
}

/// Makes all steps once more.
fn graph(exploration: &mut Exploration<'_>) -> Result<Graph, Inconclusive> {
    let count = exploration.nodes.len();
    let (mut edges, mut unblocked) = (Vec::with_capacity(count), Vec::with_capacity(count));
    for node in 0..count {
        if node % 1024 == 0 {
            still_in_time(exploration)?;
        }
        let at = kept(exploration, to_u32(node));
        let agents = exploration.machine.agents();
        unblocked
            .push(agents.map(|a| !exploration.machine.config(&at.state, a).is_blocked()).collect::<Vec<_>>());
        let mut out = Vec::new();
        for made in exploration.ways(&at) {
            out.extend(edge(exploration, &at, to_u32(node), made, &unblocked[node]));
        }
        edges.push(out);
    }
    Ok(Graph { edges, unblocked })
}

/// Makes the steps of a way out once more.
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
    let (key, moved) = exploration.components.key(&on.state, &on.turns);
    Some(Edge { made, to: *exploration.numbers.get(&key)?, moved, unblocked })
}

fn still_in_time(exploration: &Exploration<'_>) -> Result<(), Inconclusive> {
    let limit = exploration.settings.budgets.timeout;
    if let Some(limit) = limit.filter(|limit| exploration.started.elapsed() >= *limit) {
        return Err(Inconclusive::Time(limit, None));
    }
    let progress = Progress { states: exploration.nodes.len() as u64, ..Progress::default() };
    if exploration.control.goes_on(progress) { Ok(()) } else { Err(Inconclusive::Interrupted) }
}

/// What is unblocked after a state is unblocked by a continuation of the states before.
fn spread(graph: &mut Graph) {
    let mut changed = true;
    while changed {
        changed = false;
        for node in (0..graph.edges.len()).rev() {
            for edge in &graph.edges[node] {
                for agent in 0..edge.moved.len() {
                    let later = || graph.unblocked[edge.to as usize][edge.moved[agent] as usize];
                    if !graph.unblocked[node][agent] && (edge.unblocked[agent] || later()) {
                        graph.unblocked[node][agent] = true;
                        changed = true;
                    }
                }
            }
        }
    }
}

/// The first of the states, which are closed under successors, from which a run goes on for ever without leaving it for good, and the step of a local
/// loop that does so, if it is one.
fn first_endless(
    exploration: &Exploration<'_>,
    graph: &Graph,
    suspects: &[NodeId],
) -> Option<(NodeId, Option<Choice>)> {
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
    let spins = suspects.iter().find_map(|node| Some((*node, Some(spinner(exploration, *node)?))));
    cyclic.into_iter().chain(spins).min_by_key(|(node, _)| *node)
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

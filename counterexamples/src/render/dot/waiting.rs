//! Who waits for whom in the end: agents, barriers, and arrows from whoever waits to what is awaited.

use std::collections::BTreeMap;

use petgraph::algo::tarjan_scc;
use petgraph::graph::NodeIndex;

use crate::names::{self, noun, short};
use crate::render::dot::Picture;
use crate::timeline::{Conflict, Figure, Room, Timeline, conflict};
use crate::trace::{AgentState, Awaits, BarrierState, Situation, Status, Trace, Waits};

/// An arrow of a cycle is drawn like this.
const CYCLE: &str = "penwidth=2.5";

pub(crate) fn waiting(trace: &Trace, warning: Option<&str>) -> String {
    let end = trace.last_situation();
    let mut picture = Picture { title: title(trace, &end, warning), ..Picture::default() };
    let mut barriers: BTreeMap<u32, NodeIndex> = BTreeMap::new();
    let awaited = end.agents.values().filter_map(|agent| agent.waits.map(|waits| waits.barrier));
    let in_use = end.barriers.values().filter(|barrier| barrier.active).map(|barrier| barrier.barrier);
    for barrier in awaited.chain(in_use) {
        let lines = || lines_of_barrier(trace, barrier, end.barriers.get(&barrier));
        barriers.entry(barrier).or_insert_with(|| picture.node(lines(), "shape=ellipse"));
    }
    let race = conflict(trace);
    let mut parties: BTreeMap<u32, NodeIndex> = BTreeMap::new();
    for Group { agents, state, missing } in groups(trace, &end, race.as_ref()) {
        let mut lines = lines_of_agents(trace, &agents, state);
        let is_blamed = agents.first().is_some_and(|agent| trace.outcome.blamed.contains(agent));
        if is_blamed {
            lines.push("to blame".to_owned());
        }
        let node = picture.node(lines, look(state.status, is_blamed));
        parties.extend(agents.first().map(|agent| (*agent, node)));
        if let Some(Waits { barrier, awaits }) = state.waits
            && let Some(at) = barriers.get(&barrier)
        {
            let verb = if agents.len() == 1 { "waits" } else { "wait" };
            let on = match awaits {
                Awaits::Agents => verb.to_owned(),
                Awaits::Lanes => format!("{verb} for own lanes"),
            };
            picture.edge(node, *at, vec![on], "");
        }
        for barrier in missing {
            if let Some(at) = barriers.get(&barrier) {
                picture.edge(*at, node, vec!["not arrived".to_owned()], "style=dashed");
            }
        }
    }
    mark_cycles(&mut picture);
    if let Some(Conflict { location, earlier, later, missing }) = race
        && let (Some(from), Some(to)) = (parties.get(&earlier.agent), parties.get(&later.agent))
    {
        let accesses = format!("{} and {} of {location}", earlier.access, later.access);
        picture.edge(*from, *to, vec![accesses, missing.to_owned()], "color=red, dir=none, constraint=false");
    }
    figure(trace, &end, &mut picture, &mut barriers);
    picture.to_dot()
}

/// What the rule is about: who could arrive on a barrier, or the steps that do not go together.
fn figure(trace: &Trace, end: &Situation, picture: &mut Picture, barriers: &mut BTreeMap<u32, NodeIndex>) {
    let Some(Figure { title, barrier, sides, room }) = Timeline::of(trace).figure() else { return };
    let mut before = None;
    let mut nodes = Vec::new();
    for side in &sides {
        let step = side.step.map(|step| format!("step {step}: ")).unwrap_or_default();
        let at = if side.line > 0 { format!(" at line {}", side.line) } else { String::new() };
        let head = format!("{step}{}{at}", names::agents(noun(trace), &side.agents));
        let mut lines = vec![head, side.instruction.clone()];
        let differ = side.locals.iter().filter(|local| local.differs);
        lines.extend(differ.map(|local| format!("{} = {}", local.name, local.value)));
        lines.push(side.said.clone());
        let node = picture.node(lines, if side.fails { "shape=note, color=red" } else { "shape=note" });
        nodes.push(node);
        if let Some(before) = before.replace(node).filter(|_| room.is_none()) {
            picture.edge(before, node, vec!["then".to_owned()], "style=dotted");
        }
        if let (Some(Room { standing, room, .. }), Some(barrier)) = (room, barrier) {
            let mut lines = lines_of_barrier(trace, barrier, end.barriers.get(&barrier));
            lines.push(format!("{standing} could come"));
            let at = *barriers.entry(barrier).or_insert_with(|| picture.node(lines, "shape=ellipse"));
            picture.edge(node, at, vec![format!("could arrive, room for {room}")], "color=red");
        }
    }
    picture.frames.push((title, nodes));
}

fn look(status: Status, is_blamed: bool) -> &'static str {
    match (status, is_blamed) {
        (Status::Blocked, false) => "shape=box",
        (Status::Blocked, true) => "shape=box, color=red, fontcolor=red",
        (Status::Exited, false) => "shape=box, style=dashed",
        (Status::Exited, true) => "shape=box, style=dashed, color=red, fontcolor=red",
        (Status::Running, false) => "shape=box, style=rounded",
        (Status::Running, true) => "shape=box, style=rounded, color=red, fontcolor=red",
        (Status::Failed, _) => "shape=octagon",
    }
}

fn title(trace: &Trace, end: &Situation, warning: Option<&str>) -> Vec<String> {
    let mut title = vec![names::facts(trace), trace.outcome.headline.clone()];
    title.extend(warning.map(str::to_owned));
    if end.with(Status::Blocked).is_empty() {
        title.push(format!("In the end no {} waits.", noun(trace)));
    } else {
        title.push("Who waits for whom in the end; thick arrows: in a cycle.".to_owned());
    }
    title
}

/// Agents that are in the same situation, in every respect that is drawn.
struct Group<'a> {
    agents: Vec<u32>,
    state: &'a AgentState,
    /// Barriers on which they have not arrived and could.
    missing: Vec<u32>,
}

fn groups<'a>(trace: &Trace, end: &'a Situation, race: Option<&Conflict<'_>>) -> Vec<Group<'a>> {
    // Each of two accesses is by an agent of its own.
    let in_race =
        |agent: u32| race.is_some_and(|race| race.earlier.agent == agent || race.later.agent == agent);
    let party = |agent: u32| in_race(agent).then_some(agent);
    let mut absent: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for barrier in end.barriers.values().filter(|barrier| barrier.active) {
        for agent in &barrier.missing {
            absent.entry(*agent).or_default().push(barrier.barrier);
        }
    }
    let mut groups: Vec<Group<'a>> = Vec::new();
    let mut known = BTreeMap::new();
    for state in end.agents.values() {
        let missing = absent.remove(&state.agent).unwrap_or_default();
        let role = trace.agents.get(state.agent as usize).and_then(|agent| agent.role.as_deref());
        let waits = state.waits.map(|waits| (waits.barrier, waits.awaits == Awaits::Lanes));
        let is_blamed = trace.outcome.blamed.contains(&state.agent);
        let situation =
            (state.status, state.location, waits, missing.clone(), role, is_blamed, party(state.agent));
        let at = *known.entry(situation).or_insert(groups.len());
        match groups.get_mut(at) {
            Some(group) => group.agents.push(state.agent),
            None => groups.push(Group { agents: vec![state.agent], state, missing }),
        }
    }
    groups
}

fn lines_of_agents(trace: &Trace, agents: &[u32], state: &AgentState) -> Vec<String> {
    let role = agents.first().and_then(|agent| trace.agents.get(*agent as usize)?.role.as_deref());
    let mut name = names::agents(noun(trace), agents);
    if let Some(role) = role {
        name = format!("{name} ({role})");
    }
    let status = match state.status {
        Status::Running => "could go on",
        Status::Blocked => "blocked",
        Status::Exited => "exited",
        Status::Failed => "failed",
    };
    let place = state.location.filter(|place| place.line > 0);
    let place = place.map(|place| format!(" at line {}", place.line)).unwrap_or_default();
    let mut lines = vec![name, format!("{status}{place}")];
    if !state.instruction.is_empty() && state.instruction != "}" {
        lines.push(state.instruction.clone());
    }
    lines
}

fn lines_of_barrier(trace: &Trace, barrier: u32, state: Option<&BarrierState>) -> Vec<String> {
    let mut lines = vec![short(trace, barrier)];
    let Some(state) = state else { return lines };
    if state.active {
        let of = state.counts.iter().map(|count| count.of.as_str()).collect::<Vec<_>>().join(" + ");
        lines.push(format!("{} {of}", state.counter()));
        if !state.arrived.is_empty() {
            lines.push(format!("arrived: {}", names::agents(noun(trace), &state.arrived)));
        }
    }
    lines.push(match state.generation {
        0 => "no generation complete".to_owned(),
        1 => "1 generation complete".to_owned(),
        n => format!("{n} generations complete"),
    });
    lines
}

/// Makes the arrows of cycles thick.
fn mark_cycles(picture: &mut Picture) {
    let mut cycle: BTreeMap<NodeIndex, usize> = BTreeMap::new();
    for (number, nodes) in tarjan_scc(&picture.graph).into_iter().enumerate().filter(|(_, n)| n.len() > 1) {
        cycle.extend(nodes.into_iter().map(|node| (node, number)));
    }
    let edges: Vec<_> = picture.graph.edge_indices().collect();
    for edge in edges {
        let Some((from, to)) = picture.graph.edge_endpoints(edge) else { continue };
        let closes = cycle.contains_key(&from) && cycle.get(&from) == cycle.get(&to);
        if closes && let Some(weight) = picture.graph.edge_weight_mut(edge) {
            weight.look = if weight.look.is_empty() { CYCLE } else { "style=dashed, penwidth=2.5" };
        }
    }
}

//! Graphs, read by Graphviz, where it is installed.

use crate::{TRACES, converted, hostile};
use barcheck_counterexamples::{Format, Trace, trace::Awaits};
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::Write;
use std::process::Command;

/// A graph, and how many nodes and arrows it should have.
struct Expected {
    name: String,
    dot: String,
    nodes: usize,
    arrows: usize,
}

/// Graphs to be read together: to start Graphviz takes longer than to read a graph.
#[derive(Default)]
pub(crate) struct Graphs(Vec<Expected>);

impl Graphs {
    pub(crate) fn add(&mut self, name: &str, dot: String, nodes: usize, arrows: usize) {
        self.0.push(Expected { name: name.to_owned(), dot, nodes, arrows });
    }

    /// Graphviz draws each, and finds in it what there should be.
    pub(crate) fn check(&self) {
        let mut file = tempfile::NamedTempFile::new().expect("a file can be made");
        for graph in &self.0 {
            file.write_all(graph.dot.as_bytes()).expect("it can be written");
        }
        let Ok(output) = Command::new("dot").arg("-Tjson0").arg(file.path()).output() else {
            println!("skipped: Graphviz is not installed");
            return;
        };
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && !said.to_lowercase().contains("error"), "{said}");
        let read = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>();
        let read: Vec<Value> = read.map(|graph| graph.expect("it is JSON")).collect();
        assert_eq!(read.len(), self.0.len());
        for (read, Expected { name, dot, nodes, arrows }) in read.iter().zip(&self.0) {
            let list = |key: &str| read[key].as_array().map_or(&[][..], Vec::as_slice);
            let frame = |object: &Value| object["name"].as_str().is_some_and(|n| n.starts_with("cluster"));
            let found = list("objects").iter().filter(|object| !frame(object)).count();
            assert_eq!((found, list("edges").len()), (*nodes, *arrows), "{name}:\n{dot}");
        }
    }
}

fn add(graphs: &mut Graphs, name: &str, trace: &Trace) {
    let end = trace.last_situation();
    // Agents in one situation share a node; each barrier that is used has one of its own.
    let mut barriers: BTreeSet<u32> = end.barriers.values().filter(|b| b.active).map(|b| b.barrier).collect();
    barriers.extend(end.agents.values().filter_map(|agent| agent.waits.map(|waits| waits.barrier)));
    let missing = |agent: u32| -> Vec<u32> {
        end.barriers.values().filter(|b| b.active && b.missing.contains(&agent)).map(|b| b.barrier).collect()
    };
    let mut groups: Vec<String> = Vec::new();
    // Two accesses that nothing orders are joined, and whoever makes one has a node of its own.
    let race = barcheck_counterexamples::conflict(trace);
    let party = |agent: u32| {
        race.as_ref().is_some_and(|race| [race.earlier.agent, race.later.agent].contains(&agent))
    };
    let mut arrows = usize::from(race.is_some());
    for agent in end.agents.values() {
        let role = &trace.agents[agent.agent as usize].role;
        let own = party(agent.agent).then_some(agent.agent);
        let blamed = trace.outcome.blamed.contains(&agent.agent);
        let situation = (agent.status, agent.location, agent.waits, missing(agent.agent), role, own, blamed);
        let situation = format!("{situation:?}");
        if !groups.contains(&situation) {
            groups.push(situation);
            arrows += usize::from(agent.waits.is_some()) + missing(agent.agent).len();
        }
    }
    // What the rule is about has a node for each side; those who could arrive are joined to their barrier.
    let mut sides = 0;
    if let Some(figure) = barcheck_counterexamples::Timeline::of(trace).figure() {
        sides = figure.sides.len();
        arrows += if figure.room.is_some() { sides } else { sides - 1 };
        barriers.extend(figure.barrier.filter(|_| figure.room.is_some()));
    }
    graphs.add(name, converted(trace, Format::Dot), groups.len() + barriers.len() + sides, arrows);
}

#[test]
fn graphviz_draws_who_waits_for_whom_at_the_end_of_every_trace() {
    let mut graphs = Graphs::default();
    for (name, trace) in TRACES.iter() {
        add(&mut graphs, name, trace);
    }
    graphs.check();
}

#[test]
fn a_circle_of_waits_is_drawn_with_thick_arrows() {
    let thick = |trace: &Trace| converted(trace, Format::Dot).matches("penwidth").count();
    let (_, circle) = TRACES
        .iter()
        .find(|(name, _)| name.starts_with("ptx/deadlock_crossed_order.bar deadlock"))
        .expect("it is there");
    assert_eq!(thick(circle), 4);
    let (_, none) = TRACES
        .iter()
        .find(|(name, _)| name.starts_with("ptx/wavelet_one_short_broken.bar deadlock"))
        .expect("it is there");
    assert_eq!(thick(none), 0);
    assert!(
        none.last_situation().agents.values().any(|a| a.waits.is_some_and(|w| w.awaits == Awaits::Agents))
    );
}

#[test]
fn names_in_a_graph_are_text_whatever_they_are() {
    let mut graphs = Graphs::default();
    for (name, trace) in hostile() {
        add(&mut graphs, &name, &trace);
    }
    graphs.check();
}

//! Graphs, read by Graphviz, where it is installed.

use crate::{TRACES, converted, hostile};
use barcheck_counterexamples::{Format, Trace, trace::Awaits};
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::Write;
use std::process::{Command, Stdio};

/// What Graphviz makes of a text, as JSON; `None` if it is not installed.
pub(crate) fn graphviz(name: &str, dot: &str) -> Option<Value> {
    let piped = Stdio::piped;
    let started = Command::new("dot").arg("-Tjson0").stdin(piped()).stdout(piped()).stderr(piped()).spawn();
    let Ok(mut child) = started else {
        println!("skipped: Graphviz is not installed");
        return None;
    };
    child.stdin.take().expect("it is piped").write_all(dot.as_bytes()).expect("it is read");
    let output = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !said.contains("rror"), "{name}: {said}\n{dot}");
    Some(serde_json::from_slice(&output.stdout).expect("it is JSON"))
}

/// The labels of the nodes, frames left aside.
pub(crate) fn nodes(graph: &Value) -> Vec<&str> {
    let objects = graph["objects"].as_array().map_or(&[][..], Vec::as_slice);
    let nodes = objects.iter().filter(|object| object["nodes"].is_null() && object["subgraphs"].is_null());
    nodes
        .filter(|object| !object["name"].as_str().is_some_and(|n| n.starts_with("cluster")))
        .map(|n| n["label"].as_str().unwrap_or(""))
        .collect()
}

pub(crate) fn edges(graph: &Value) -> usize {
    graph["edges"].as_array().map_or(0, Vec::len)
}

fn holds(name: &str, trace: &Trace) -> bool {
    let dot = converted(trace, Format::Dot);
    let Some(graph) = graphviz(name, &dot) else { return false };
    let end = trace.last_situation();
    // Agents in one situation share a node; each barrier that is used has one of its own.
    let mut barriers: BTreeSet<u32> = end.barriers.values().filter(|b| b.active).map(|b| b.barrier).collect();
    barriers.extend(end.agents.values().filter_map(|agent| agent.waits.map(|waits| waits.barrier)));
    let missing = |agent: u32| -> Vec<u32> {
        end.barriers.values().filter(|b| b.active && b.missing.contains(&agent)).map(|b| b.barrier).collect()
    };
    let mut groups: Vec<String> = Vec::new();
    let mut arrows = 0;
    for agent in end.agents.values() {
        let role = &trace.agents[agent.agent as usize].role;
        let situation =
            format!("{:?}", (agent.status, agent.location, agent.waits, missing(agent.agent), role));
        if !groups.contains(&situation) {
            groups.push(situation);
            arrows += usize::from(agent.waits.is_some()) + missing(agent.agent).len();
        }
    }
    assert_eq!(nodes(&graph).len(), groups.len() + barriers.len(), "{name}:\n{dot}");
    assert_eq!(edges(&graph), arrows, "{name}:\n{dot}");
    true
}

#[test]
fn graphviz_draws_who_waits_for_whom_at_the_end_of_every_trace() {
    for (name, trace) in TRACES.iter() {
        if !holds(name, trace) {
            return;
        }
    }
}

#[test]
fn a_circle_of_waits_is_drawn_with_thick_arrows() {
    let thick = |trace: &Trace| converted(trace, Format::Dot).matches("penwidth").count();
    let (_, circle) = TRACES
        .iter()
        .find(|(name, _)| name.starts_with("ptx/ring_never_frees.bar deadlock"))
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
    for (name, trace) in hostile() {
        if !holds(&name, &trace) {
            return;
        }
    }
}

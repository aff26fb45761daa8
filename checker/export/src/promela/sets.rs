//! Sets of nodes, and of agents at them, as Promela conditions.

use crate::arrivals::Standing;
use crate::group::Group;
use crate::node::Act;
use crate::says;
use barcheck_model::program::AgentId;
use std::collections::BTreeMap;

/// Whether `node` is one of some, which are in order.
pub(super) fn among(node: &str, nodes: &[usize]) -> String {
    let range = |(from, to): (usize, usize)| match from == to {
        true => format!("{node} == {from}"),
        false => format!("({node} >= {from} && {node} <= {to})"),
    };
    match says::ranges(nodes).into_iter().map(range).collect::<Vec<_>>() {
        none if none.is_empty() => "false".to_owned(),
        some => format!("({})", some.join(" || ")),
    }
}

/// How many agents are at some nodes, each as often as it counts there.
pub(super) fn standing(group: &Group, nodes: &Standing) -> String {
    let mut terms = Vec::new();
    for agent in (0..group.starts.len()).map(AgentId::from_index) {
        let mut own: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (node, often) in nodes.iter().filter(|(node, _)| group.nodes[**node].agents.contains(&agent)) {
            own.entry(*often).or_default().push(*node);
        }
        for (often, nodes) in own {
            let there = among(&format!("at[{}]", agent.index()), &nodes);
            terms.push(if often == 1 { there } else { format!("{often} * {there}") });
        }
    }
    if terms.is_empty() { "0".to_owned() } else { terms.join(" + ") }
}

/// Whether an agent at `node` may still make a decision of `sequence`.
pub(super) fn may_decide(group: &Group) -> String {
    let sequences = (0..group.program.sequences.len()).map(|sequence| {
        let leads = group.leads_to(|node| {
            let decides = |act: &Act| matches!(act, Act::Decide(id, _) if id.index() == sequence);
            node.steps.iter().any(|step| decides(&step.act))
        });
        let nodes: Vec<usize> = (0..leads.len()).filter(|node| leads[*node]).collect();
        format!("(sequence) == {sequence} && {}", among("(node)", &nodes))
    });
    sequences.collect::<Vec<_>>().join(" || ")
}

//! Sets of nodes, and of agents at them, as Promela conditions.

use crate::export::group::{Act, Group};
use crate::export::says;
use barcheck_model::program::AgentId;
use std::collections::BTreeSet;

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

/// How many agents are at one of some nodes.
pub(super) fn standing(group: &Group, nodes: &[usize]) -> String {
    let agents: BTreeSet<AgentId> =
        nodes.iter().flat_map(|node| group.nodes[*node].agents.iter().copied()).collect();
    let terms = agents.iter().map(|agent| {
        let own: Vec<usize> =
            nodes.iter().copied().filter(|node| group.nodes[*node].agents.contains(agent)).collect();
        among(&format!("at[{}]", agent.index()), &own)
    });
    terms.collect::<Vec<_>>().join(" + ")
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

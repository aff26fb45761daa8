//! From states kept to paths of real agents.

use super::explore::{At, Exploration, NodeId};
use crate::engine::paths::{moved, real};
use barcheck_model::machine::Choice;
use barcheck_model::program::AgentId;

/// The steps of real agents that lead to a state, which real agent is where in it, and the state.
pub(super) fn path_to(exploration: &mut Exploration<'_>, node: NodeId) -> (Vec<Choice>, Vec<AgentId>, At) {
    let mut back = vec![node];
    while let Some(last) = back.last().filter(|node| **node != 0) {
        back.push(exploration.nodes[*last as usize].parent);
    }
    let agents: Vec<AgentId> = exploration.machine.agents().collect();
    let initial = exploration.initial();
    let (_, to) = exploration.components.key(&initial.state, &initial.turns);
    let mut who = moved(&agents, &to);
    let mut steps = Vec::new();
    for pair in back.windows(2).rev() {
        let [next, node] = [pair[0], pair[1]];
        let mut at = kept(exploration, node);
        let choice = exploration.nodes[next as usize].choice;
        // It has been made before, to its end.
        drop(exploration.go_on(&mut at, node, choice, &mut |_, _| {}));
        steps.extend(exploration.made.iter().map(|choice| real(*choice, &who)));
        let (_, to) = exploration.components.key(&at.state, &at.turns);
        who = moved(&who, &to);
    }
    (steps, who, kept(exploration, node))
}

/// A state kept.
pub(super) fn kept(exploration: &Exploration<'_>, node: NodeId) -> At {
    let (state, turns) = exploration.components.state(&exploration.nodes[node as usize].key);
    At { state, turns }
}

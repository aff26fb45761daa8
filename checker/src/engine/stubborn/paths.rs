//! From states kept to paths of real agents.

use super::explore::{At, Exploration, Made, NodeId};
use crate::engine::paths::{moved, real};
use barcheck_model::machine::{Choice, Detail, Finding};
use barcheck_model::program::AgentId;

/// The steps of real agents that lead to a state, which real agent is where in it, and the state.
pub(super) fn path_to(exploration: &mut Exploration<'_>, node: NodeId) -> (Vec<Made>, Vec<AgentId>, At) {
    let mut back = vec![node];
    while let Some(last) = back.last().filter(|node| **node != 0) {
        back.push(exploration.nodes[*last as usize].parent);
    }
    let agents: Vec<AgentId> = exploration.machine.agents().collect();
    let initial = exploration.initial();
    let (_, to) = exploration.components.key(&initial.state, &initial.turns);
    let mut who = moved(&agents, &to);
    let mut path = Vec::new();
    for pair in back.windows(2).rev() {
        let [next, node] = [pair[0], pair[1]];
        let mut at = kept(exploration, node);
        let made = exploration.nodes[next as usize].made;
        // It has been made before, to its end.
        drop(exploration.go_on(&mut at, node, made, &mut |_, _| {}));
        path.extend(exploration.made.iter().map(|made| made.real(&who)));
        let (_, to) = exploration.components.key(&at.state, &at.turns);
        who = moved(&who, &to);
    }
    (path, who, kept(exploration, node))
}

/// A state kept.
pub(super) fn kept(exploration: &Exploration<'_>, node: NodeId) -> At {
    let (state, turns) = exploration.components.state(&exploration.nodes[node as usize].key);
    At { state, turns }
}

impl Made {
    /// The same, made by whoever is at the place.
    pub(super) fn real(self, who: &[AgentId]) -> Self {
        match self {
            Self::Step(choice) => Self::Step(real(choice, who)),
            Self::Detour(agent, from) => Self::Detour(who[agent.index()], from),
        }
    }
}

impl Exploration<'_> {
    /// The steps of a path: of every detour one way. Where a conflict of accesses has been seen, those who made these go the ways on which they are.
    pub(super) fn steps(&self, made: &[Made], seen: Option<&Finding>) -> Vec<Choice> {
        let mut steps = Vec::new();
        for (number, made) in made.iter().enumerate().map(|(n, m)| (made.len() - 1 - n, m)) {
            let (agent, from) = match made {
                Made::Step(choice) => {
                    steps.push(*choice);
                    continue;
                }
                Made::Detour(agent, from) => (*agent, *from),
            };
            let detour = self.detours.as_ref().and_then(|d| d.known(&self.machine, agent, from));
            let Some(detour) = detour else { continue };
            let wanted = seen.and_then(|seen| match &seen.detail {
                Detail::Conflict { location, kind, .. } if number == 0 && agent == seen.agent => {
                    Some((*location, *kind))
                }
                Detail::Conflict { location, earlier, earlier_kind, .. } if agent == *earlier => {
                    Some((*location, *earlier_kind))
                }
                _ => None,
            });
            let (way, upto) = detour.way(wanted, number == 0);
            let upto = &way.steps[..upto];
            steps.extend(upto.iter().map(|(index, pick, _)| Choice { agent, index: *index, pick: *pick }));
        }
        steps
    }
}

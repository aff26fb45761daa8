//! From states kept to paths of real agents.

use super::detours::Detour;
use super::explore::{At, Exploration, Made, NodeId};
use super::ties::Ties;
use crate::paths::{moved, real};
use barcheck_model::agent::Outcome as AgentOutcome;
use barcheck_model::machine::{Advanced, Choice, ConfigId, Detail, Event, Finding, Log, Machine, State};
use barcheck_model::program::{AccessKind, AgentId, LocationId};
use std::cmp::Reverse;

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
            Self::Detour(agent, from, number) => Self::Detour(who[agent.index()], from, number),
        }
    }
}

impl Exploration<'_> {
    /// The steps of a path that begins in a state: of every detour one way, such that each agent has made its choices in one way all along.
    /// Where a conflict of accesses has been seen, those who made these go ways on which they are, if any go on as the path does. `None` if no choices of
    /// some agent lead along the path.
    pub(super) fn steps(&mut self, at: At, made: &[Made], seen: Option<&Finding>) -> Option<Vec<Choice>> {
        let mut state = at.state;
        let agents = state.agents.iter().enumerate();
        let mut ways: Vec<Ways> =
            agents.map(|(n, a)| Ways::new(&self.machine, AgentId::from_index(n), a.config)).collect();
        for (number, one) in made.iter().enumerate() {
            match *one {
                Made::Step(choice) => self.follow_step(&mut state, &mut ways, number, choice),
                Made::Detour(agent, from, of) => {
                    let fork = self.detours.as_ref().and_then(|d| d.known(&self.machine, agent, from))?;
                    let detour = fork.get(of as usize)?;
                    let is_last = number + 1 == made.len();
                    let wanted = seen.and_then(|seen| wanted(seen, agent, is_last));
                    ways[agent.index()].detour(number, detour, wanted, is_last);
                    state.agents[agent.index()].config = detour.to;
                }
            }
        }
        let mut steps = vec![Vec::new(); made.len()];
        for ways in ways {
            ways.best(&mut steps)?;
        }
        Some(steps.into_iter().flatten().collect())
    }

    /// What a step does to the configurations that each agent may be in.
    fn follow_step(&mut self, state: &mut State<Ties>, ways: &mut [Ways], number: usize, choice: Choice) {
        let (machine, mut log) = (&mut self.machine, Log::default());
        let actor = &mut ways[choice.agent.index()];
        let from = machine.members(choice.agent, state.agents[choice.agent.index()].config);
        let decides = machine.alike_configs(choice.agent, &from).len() > 1;
        if let Advanced::Error(_) = machine.advance(state, choice, &mut log) {
            // The last step of the path.
            actor.goes(number, Some(choice), &mut Some);
            return;
        }
        if decides {
            // Which of its members it has been all the time: none of them makes a step.
            let left = machine.members(choice.agent, state.agents[choice.agent.index()].config);
            actor.goes(number, None, &mut |config| left.contains(&config).then_some(config));
            return;
        }
        let blocks = log.events.iter().any(|event| matches!(event, Event::Blocked(_)));
        let outcome = if blocks { AgentOutcome::Block } else { AgentOutcome::Pass };
        actor.goes(number, Some(choice), &mut |config| {
            let Choice { agent, index, pick } = choice;
            let to = machine.config_after(agent, config, index, pick, outcome);
            (!machine.has_failed(agent, to)).then_some(to)
        });
        let mut result = None;
        for event in &log.events {
            match event {
                Event::Completed(_, with) => result = *with,
                Event::Released(agent, _) => {
                    ways[agent.index()].goes(number, None, &mut |config| {
                        let to = machine.config_released(*agent, config, result);
                        (!machine.has_failed(*agent, to)).then_some(to)
                    });
                }
                _ => {}
            }
        }
    }
}

/// The access that an agent should make on a detour, so that what has been seen shows.
fn wanted(seen: &Finding, agent: AgentId, is_last: bool) -> Option<(LocationId, AccessKind)> {
    match &seen.detail {
        Detail::Conflict { location, kind, .. } if is_last && agent == seen.agent => Some((*location, *kind)),
        Detail::Conflict { location, earlier, earlier_kind, .. } if agent == *earlier => {
            Some((*location, *earlier_kind))
        }
        _ => None,
    }
}

/// All ways that an agent can have gone along a path.
struct Ways {
    agent: AgentId,
    /// What it may have come to after each thing that it has done.
    after: Vec<Vec<Reached>>,
}

/// A configuration that an agent may have come to, and how.
struct Reached {
    config: ConfigId,
    /// The position of the one before.
    before: usize,
    /// Of all ways that lead here this is the best: the number on the path of the last detour with a wanted access, and then as few accesses as possible.
    worth: (Option<usize>, Reverse<usize>),
    /// The steps, and the number on the path of what they are made for.
    steps: (usize, Vec<Choice>),
}

impl Ways {
    /// It may be in any member of a configuration.
    fn new(machine: &Machine, agent: AgentId, config: ConfigId) -> Self {
        let worth = (None, Reverse(0));
        let start = |config: &ConfigId| Reached { config: *config, before: 0, worth, steps: (0, Vec::new()) };
        Self { agent, after: vec![machine.members(agent, config).iter().map(start).collect()] }
    }

    /// It makes a step, or is released: from each configuration this leads to one other, or to one where local computation fails, and the path ends.
    fn goes(
        &mut self,
        number: usize,
        choice: Option<Choice>,
        leads: &mut dyn FnMut(ConfigId) -> Option<ConfigId>,
    ) {
        let mut next = Vec::new();
        for (before, reached) in self.after[self.after.len() - 1].iter().enumerate() {
            let steps = (number, choice.into_iter().collect());
            if let Some(config) = leads(reached.config) {
                add(&mut next, Reached { config, before, worth: reached.worth, steps });
            }
        }
        self.after.push(next);
    }

    /// It goes some way of a detour, of the `last` one on the path no further than to the access wanted.
    fn detour(
        &mut self,
        number: usize,
        detour: &Detour,
        wanted: Option<(LocationId, AccessKind)>,
        last: bool,
    ) {
        let mut next = Vec::new();
        for (before, reached) in self.after[self.after.len() - 1].iter().enumerate() {
            for way in detour.ways(reached.config, wanted) {
                let (so_far, Reverse(accesses)) = reached.worth;
                let worth = (way.upto.map(|_| number).or(so_far), Reverse(accesses + way.accesses));
                let upto = way.upto.filter(|_| last).unwrap_or(way.picks.len());
                let made = way.picks[..upto].iter();
                let made = made.map(|pick| Choice { agent: self.agent, index: 0, pick: *pick });
                add(&mut next, Reached { config: way.to, before, worth, steps: (number, made.collect()) });
            }
        }
        self.after.push(next);
    }

    /// The steps of the best way, by what they are made for; `None` if there is no way.
    fn best(self, steps: &mut [Vec<Choice>]) -> Option<()> {
        let ends = self.after.last()?.iter().enumerate();
        // Of equals the first.
        let (mut at, _) = ends.min_by_key(|(_, reached)| Reverse(reached.worth))?;
        for mut layer in self.after.into_iter().skip(1).rev() {
            let Reached { before, steps: (number, made), .. } = layer.swap_remove(at);
            steps[number].extend(made);
            at = before;
        }
        Some(())
    }
}

/// Adds a configuration; of the ways to one, the best is kept.
fn add(reached: &mut Vec<Reached>, new: Reached) {
    match reached.iter_mut().find(|known| known.config == new.config) {
        Some(known) if known.worth < new.worth => *known = new,
        Some(_) => {}
        None => reached.push(new),
    }
}

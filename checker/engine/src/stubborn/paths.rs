//! From states kept to paths of real agents.

use super::explore::{At, Exploration};
use super::happens_before::HappensBefore;
use super::merges::Merge;
use super::node::{Made, NodeId};
use crate::paths::{permuted, real};
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
    let (_, to) = exploration.components.key(&initial.state, &initial.proviso);
    let mut who = permuted(&agents, &to);
    let mut path = Vec::new();
    for pair in back.windows(2).rev() {
        let [next, node] = [pair[0], pair[1]];
        let mut at = kept(exploration, node);
        let made = exploration.nodes[next as usize].made;
        // It has been made before, to its end.
        drop(exploration.go_on(&mut at, node, made, &mut |_, _| {}));
        path.extend(exploration.made.iter().map(|made| made.real(&who)));
        let (_, to) = exploration.components.key(&at.state, &at.proviso);
        who = permuted(&who, &to);
    }
    (path, who, kept(exploration, node))
}

/// A state kept.
pub(super) fn kept(exploration: &Exploration<'_>, node: NodeId) -> At {
    let (state, proviso) = exploration.components.state(&exploration.nodes[node as usize].key);
    At { state, proviso }
}

impl Made {
    /// The same, made by whoever is at the place.
    pub(super) fn real(self, who: &[AgentId]) -> Self {
        match self {
            Self::Step(choice) => Self::Step(real(choice, who)),
            Self::Merge(agent, from, number) => Self::Merge(who[agent.index()], from, number),
        }
    }
}

impl Exploration<'_> {
    /// The steps of a path that begins in a state: of every merge one path, such that each agent has made the
    /// same choices all along. Where a conflict of accesses has been seen, those who made these take paths on
    /// which they are, if any go on as the path does. `None` if no choices of some agent lead along the path.
    pub(super) fn steps(&mut self, at: At, made: &[Made], seen: Option<&Finding>) -> Option<Vec<Choice>> {
        let mut state = at.state;
        let agents = state.agents.iter().enumerate();
        let mut local_paths: Vec<LocalPaths> =
            agents.map(|(n, a)| LocalPaths::new(&self.machine, AgentId::from_index(n), a.config)).collect();
        for (number, one) in made.iter().enumerate() {
            match *one {
                Made::Step(choice) => self.follow_step(&mut state, &mut local_paths, number, choice),
                Made::Merge(agent, from, of) => {
                    let fork = self.merges.as_ref().and_then(|d| d.known(&self.machine, agent, from))?;
                    let merge = fork.get(of as usize)?;
                    let is_last = number + 1 == made.len();
                    let wanted = seen.and_then(|seen| wanted(seen, agent, is_last));
                    local_paths[agent.index()].merge(number, merge, wanted, is_last);
                    state.agents[agent.index()].config = merge.to;
                }
            }
        }
        let mut steps = vec![Vec::new(); made.len()];
        for local_paths in local_paths {
            local_paths.best(&mut steps)?;
        }
        Some(steps.into_iter().flatten().collect())
    }

    /// What a step does to the configurations that each agent may be in.
    fn follow_step(
        &mut self,
        state: &mut State<HappensBefore>,
        local_paths: &mut [LocalPaths],
        number: usize,
        choice: Choice,
    ) {
        let (machine, mut log) = (&mut self.machine, Log::default());
        let agent = choice.agent();
        let actor = &mut local_paths[agent.index()];
        if choice.is_landing() {
            // Whatever the agent has come to meanwhile.
            actor.goes(number, Some(choice), &mut Some);
            if !matches!(machine.advance(state, choice, &mut log), Advanced::Error(_)) {
                release(machine, local_paths, number, &log);
            }
            return;
        }
        let from = machine.members(agent, state.agents[agent.index()].config);
        let decides = machine.alike_configs(agent, &from).len() > 1;
        if let Advanced::Error(_) = machine.advance(state, choice, &mut log) {
            // The last step of the path.
            actor.goes(number, Some(choice), &mut Some);
            return;
        }
        if decides {
            // Which of its members it has been all the time: none of them makes a step.
            let left = machine.members(agent, state.agents[agent.index()].config);
            actor.goes(number, None, &mut |config| left.contains(&config).then_some(config));
            return;
        }
        let blocks = log.events.iter().any(|event| matches!(event, Event::Blocked(_)));
        let outcome = if blocks { AgentOutcome::Block } else { AgentOutcome::Pass };
        actor.goes(number, Some(choice), &mut |config| {
            let Choice { index, pick, .. } = choice;
            let to = machine.config_after(agent, config, index, pick, outcome);
            (!machine.has_failed(agent, to)).then_some(to)
        });
        release(machine, local_paths, number, &log);
    }
}

/// What a step does to the configurations that those whom it releases may be in.
fn release(machine: &mut Machine, local_paths: &mut [LocalPaths], number: usize, log: &Log) {
    let mut result = None;
    for event in &log.events {
        match event {
            Event::Completed(_, with) => result = *with,
            Event::Released(agent, _) => {
                local_paths[agent.index()].goes(number, None, &mut |config| {
                    let to = machine.config_released(*agent, config, result);
                    (!machine.has_failed(*agent, to)).then_some(to)
                });
            }
            _ => {}
        }
    }
}

/// The access that an agent should make on a merge, so that what has been seen shows.
fn wanted(seen: &Finding, agent: AgentId, is_last: bool) -> Option<(LocationId, AccessKind)> {
    match &seen.detail {
        Detail::Conflict { location, kind, .. } if is_last && agent == seen.agent => Some((*location, *kind)),
        Detail::Conflict { location, earlier, earlier_kind, .. } if agent == *earlier => {
            Some((*location, *earlier_kind))
        }
        _ => None,
    }
}

/// All local paths of an agent that agree with a path of the group.
struct LocalPaths {
    agent: AgentId,
    /// What it may have come to after each thing that it has done.
    after: Vec<Vec<Reached>>,
}

/// A configuration that an agent may have come to, and how.
struct Reached {
    config: ConfigId,
    /// The position of the one before.
    before: usize,
    /// Of all paths that lead here this is the best: the number on the path of the last merge with a wanted
    /// access, and then as few accesses as possible.
    worth: (Option<usize>, Reverse<usize>),
    /// The steps, and the number on the path of what they are made for.
    steps: (usize, Vec<Choice>),
}

impl LocalPaths {
    /// It may be in any member of a configuration.
    fn new(machine: &Machine, agent: AgentId, config: ConfigId) -> Self {
        let worth = (None, Reverse(0));
        let start = |config: &ConfigId| Reached { config: *config, before: 0, worth, steps: (0, Vec::new()) };
        Self { agent, after: vec![machine.members(agent, config).iter().map(start).collect()] }
    }

    /// It makes a step, or is released: from each configuration this leads to one other, or to one where
    /// local computation fails, and the path ends.
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

    /// It takes some path of a merge, of the `last` one on the path no further than to the access wanted.
    fn merge(&mut self, number: usize, merge: &Merge, wanted: Option<(LocationId, AccessKind)>, last: bool) {
        let mut next = Vec::new();
        for (before, reached) in self.after[self.after.len() - 1].iter().enumerate() {
            for local_path in merge.local_paths(reached.config, wanted) {
                let (so_far, Reverse(accesses)) = reached.worth;
                let worth =
                    (local_path.upto.map(|_| number).or(so_far), Reverse(accesses + local_path.accesses));
                let upto = local_path.upto.filter(|_| last).unwrap_or(local_path.picks.len());
                let made = local_path.picks[..upto].iter();
                let made = made.map(|pick| Choice::of(self.agent, 0, *pick));
                add(
                    &mut next,
                    Reached { config: local_path.to, before, worth, steps: (number, made.collect()) },
                );
            }
        }
        self.after.push(next);
    }

    /// The steps of the best path, by what they are made for; `None` if there is none.
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

/// Adds a configuration; of the paths to one, the best is kept.
fn add(reached: &mut Vec<Reached>, new: Reached) {
    match reached.iter_mut().find(|known| known.config == new.config) {
        Some(known) if known.worth < new.worth => *known = new,
        Some(_) => {}
        None => reached.push(new),
    }
}

//! Whose turn it is.

use super::explore::{At, Exploration};
use super::node::{Made, Next};
use super::proviso::Hold;
use barcheck_model::agent::{Action, Choices};
use barcheck_model::machine::{Choice, ConfigId, Event};
use barcheck_model::program::AgentId;

impl Exploration<'_> {
    /// What is to be made: of those whom the proviso does not hold back, or who follow, by the first who has
    /// only one thing to make, otherwise by the first who is not held back.
    pub(super) fn next(&mut self, at: &At) -> Option<Next> {
        // What is pending has but one step, and no other step takes it away.
        if let Some(landing) = at.state.landings().next() {
            return Some(Next::Forced(Made::Step(landing)));
        }
        let mut open = None;
        for agent in self.machine.agents() {
            let is_held = at.proviso.is_held(agent.index());
            if is_held && !self.follows(at, agent) {
                continue;
            }
            if let Some(forced) = self.forced(at, agent) {
                return Some(Next::Forced(forced));
            }
            if !is_held && open.is_none() && self.has_step(at, agent) {
                open = Some(Next::Open(agent));
            }
        }
        open
    }

    /// The only thing that an agent can make.
    fn forced(&mut self, at: &At, agent: AgentId) -> Option<Made> {
        let [made] = self.machine.moves(&at.state, agent) else { return None };
        if made.action == Action::Spin {
            return None;
        }
        let picks = self.machine.picks(&at.state, agent, made);
        if picks.end - picks.start == 1 {
            let pick = u32::try_from(picks.start).unwrap_or(u32::MAX);
            return Some(Made::Step(Choice::of(agent, 0, pick)));
        }
        if made.action != Action::Decide || !matches!(made.choices, Choices::Open(_)) {
            return None;
        }
        let from = at.state.agents[agent.index()].config;
        let fork = self.merges.as_mut()?.at(&mut self.machine, agent, from)?;
        (fork.len() == 1).then_some(Made::Merge(agent, from, 0))
    }

    fn has_step(&self, at: &At, agent: AgentId) -> bool {
        self.machine.moves(&at.state, agent).iter().any(|made| made.action != Action::Spin)
    }

    /// Whether an agent that is held back follows others, or is about to.
    fn follows(&self, at: &At, agent: AgentId) -> bool {
        if at.proviso.hold(agent.index()) == Hold::Follows {
            return true;
        }
        let [made] = self.machine.moves(&at.state, agent) else { return false };
        let picks = || self.machine.picks(&at.state, agent, made);
        matches!(made.choices, Choices::Uniform(_)) && picks().end - picks().start == 1
    }

    /// Lets everybody go on if everybody who has a step is held back, and nobody follows.
    pub(super) fn renews(&mut self, at: &mut At) -> bool {
        if at.proviso.holds_nobody() || !at.state.pending.is_empty() {
            return false;
        }
        let mut follow = Vec::new();
        for agent in self.machine.agents() {
            if self.machine.config(&at.state, agent).has_exited() {
                at.proviso.set(agent.index(), Hold::Free);
            } else if self.has_step(at, agent) {
                if !at.proviso.is_held(agent.index()) {
                    return false;
                }
                follow.extend(self.follows(at, agent).then_some(agent));
            }
        }
        if follow.into_iter().any(|agent| self.forced(at, agent).is_some()) {
            return false;
        }
        at.proviso.renew();
        true
    }

    /// Whoever has closed a cycle is held back.
    pub(super) fn hold_back(&mut self, at: &mut At, agent: AgentId) {
        for event in 0..=self.log.events.len() {
            let agent = match self.log.events.get(event) {
                Some(Event::Released(released, _)) => *released,
                Some(_) => continue,
                None => agent,
            };
            let (from, to) = (self.before[agent.index()], at.state.agents[agent.index()].config);
            if self.closes(agent, from, to) && !(is_behind(at, agent) && at.proviso.puts_off(agent.index())) {
                at.proviso.set(agent.index(), Hold::Held);
            }
        }
    }

    /// Whether a step counts as closing a cycle. Where agents decide alike, every step back in the program
    /// does: so they come to the same decisions at about the same time.
    pub(super) fn closes(&mut self, agent: AgentId, from: ConfigId, to: ConfigId) -> bool {
        let class = self.machine.class(agent);
        if self.cycles[class].closes(from, to) {
            return true;
        }
        let pc = |config| {
            let fragments = &self.machine.automata()[class].config(config).fragments;
            fragments.first().map(|fragment| fragment.pc)
        };
        !self.machine.program().sequences.is_empty() && pc(to) < pc(from)
    }
}

/// Decisions that an agent has yet to make and others have made, from which on it is let catch up.
const MANY_BEHIND: usize = 48;

/// Whether an agent has many decisions yet to make that others have made.
fn is_behind(at: &At, agent: AgentId) -> bool {
    at.state.sequences.iter().any(|sequence| {
        let made = sequence.position.get(agent.index()).map_or(0, |position| *position as usize);
        sequence.ahead.len() >= made + MANY_BEHIND
    })
}

//! The state after any number of a trace's steps.

use std::collections::BTreeMap;

use crate::trace::{AgentState, BarrierState, State, Status, Trace};

/// A whole state, put together from the differences.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Situation {
    /// Every agent, by index.
    pub agents: BTreeMap<u32, AgentState>,
    /// Every barrier that is not as it was in the beginning, by number.
    pub barriers: BTreeMap<u32, BarrierState>,
}

impl Situation {
    /// Takes in what a step changes.
    pub fn apply(&mut self, changes: &State) {
        for agent in &changes.agents {
            self.agents.insert(agent.agent, agent.clone());
        }
        for barrier in &changes.barriers {
            self.barriers.insert(barrier.barrier, barrier.clone());
        }
    }

    /// Agents with a status, in order.
    #[must_use]
    pub fn with(&self, status: Status) -> Vec<u32> {
        self.agents.values().filter(|a| a.status == status).map(|a| a.agent).collect()
    }

    /// What an agent is doing; an unknown one has exited.
    #[must_use]
    pub fn status(&self, agent: u32) -> Status {
        self.agents.get(&agent).map_or(Status::Exited, |a| a.status)
    }
}

impl Trace {
    /// The state after the first `steps` steps; all of them, if there are fewer.
    #[must_use]
    pub fn situation(&self, steps: usize) -> Situation {
        let mut situation = Situation::default();
        let made = &self.steps[..steps.min(self.steps.len())];
        // Of a long trace only what is so in the end is copied.
        for changes in made.iter().rev().map(|step| &step.changes).chain([&self.initial]) {
            for agent in &changes.agents {
                situation.agents.entry(agent.agent).or_insert_with(|| agent.clone());
            }
            for barrier in &changes.barriers {
                situation.barriers.entry(barrier.barrier).or_insert_with(|| barrier.clone());
            }
        }
        situation
    }

    /// The state after the last step.
    #[must_use]
    pub fn last_situation(&self) -> Situation {
        self.situation(self.steps.len())
    }
}

impl AgentState {
    /// What the agent is doing, in words: `is running`, `is blocked on barrier 3`, `has exited`.
    pub(crate) fn in_words(&self) -> String {
        let line = self.location.map(|l| format!(" at line {}", l.line)).unwrap_or_default();
        match (self.status, self.waits) {
            (Status::Blocked, Some(waits)) => format!("is blocked on barrier {}{line}", waits.barrier),
            (Status::Blocked, None) => format!("is blocked{line}"),
            (Status::Running, _) => format!("is running{line}"),
            (Status::Failed, _) => format!("cannot go on{line}"),
            (Status::Exited, _) => "has exited".to_owned(),
        }
    }
}

impl BarrierState {
    /// How many have arrived of how many: `64/128`; `1/2+0/1` where producers and consumers are counted
    /// apart.
    #[must_use]
    pub fn counter(&self) -> String {
        let parts: Vec<String> =
            self.counts.iter().map(|c| format!("{}/{}", c.arrived, c.expected)).collect();
        parts.join("+")
    }
}

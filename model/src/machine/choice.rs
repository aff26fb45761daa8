//! Steps to make, and runs of them.

use crate::program::AgentId;

/// Who makes a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Actor {
    /// An agent.
    Agent(AgentId),
    /// Something that the agent has left pending: it lands.
    Pending(AgentId),
}

impl Actor {
    /// The agent itself, or the one that has left pending what lands.
    #[must_use]
    #[inline]
    pub fn agent(self) -> AgentId {
        match self {
            Self::Agent(agent) | Self::Pending(agent) => agent,
        }
    }

    /// The same with another agent.
    #[must_use]
    pub fn renamed(self, agent: AgentId) -> Self {
        match self {
            Self::Agent(_) => Self::Agent(agent),
            Self::Pending(_) => Self::Pending(agent),
        }
    }
}

/// A step to make: who, which of its moves, and the choice where the protocol leaves one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Choice {
    /// Who makes it.
    pub actor: Actor,
    /// An agent's move, by position in [`Machine::moves`](super::Machine::moves); what lands, by position in
    /// [`State::pending_of`](super::State::pending_of).
    pub index: u32,
    /// The choice, 0 where there is none.
    pub pick: u32,
}

impl Choice {
    /// A step of an agent.
    #[must_use]
    #[inline]
    pub fn of(agent: AgentId, index: u32, pick: u32) -> Self {
        Self { actor: Actor::Agent(agent), index, pick }
    }

    /// A landing of what the agent has left pending.
    #[must_use]
    #[inline]
    pub fn landing(agent: AgentId, index: u32) -> Self {
        Self { actor: Actor::Pending(agent), index, pick: 0 }
    }

    /// The agent that makes the step, or whose operation lands.
    #[must_use]
    #[inline]
    pub fn agent(self) -> AgentId {
        self.actor.agent()
    }

    /// Whether something lands.
    #[must_use]
    #[inline]
    pub fn is_landing(self) -> bool {
        matches!(self.actor, Actor::Pending(_))
    }
}

/// A run of the group from its initial state, as the steps made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path {
    /// The steps, in order.
    pub steps: Vec<Choice>,
    /// Where the run ends in a cycle: the number of steps before its first. The state after the last
    /// step is the one before that step.
    pub cycle_from: Option<usize>,
}

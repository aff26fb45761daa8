//! What can become of a step.

use super::{CutReason, Finding, Pending, State};
use crate::agent::Fault;
use crate::barrier::BarrierId;
use crate::program::{AgentId, Locations, Pc};

/// What becomes of an attempt to make a step.
#[derive(Clone, Debug, PartialEq)]
pub enum StepOutcome {
    /// There is no such step in this state: the agent has exited, is blocked, or has no such move or choice.
    Disabled,
    /// The step changes nothing.
    NoEffect,
    /// The step leads to another state.
    Progress(Box<Progressed>),
    /// The same, and something is found that does not end the path.
    Noted(Box<Progressed>, Vec<Finding>),
    /// The path ends.
    Error(Box<End>),
}

/// A step that leads to another state.
#[derive(Clone, Debug, PartialEq)]
pub struct Progressed {
    /// The state after it.
    pub state: State,
    /// What happened, in order.
    pub events: Vec<Event>,
    /// What it did to the agent may depend on the configurations of others.
    pub is_about_others: bool,
}

/// Why a path ends at a step.
// clause: barcheck.path, barcheck.verdict
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// A rule that ends paths is violated: nothing is claimed about what would follow.
    Violation(Finding),
    /// Something cannot be evaluated.
    Fault {
        /// The agent.
        agent: AgentId,
        /// What went wrong.
        fault: Fault,
        /// What the step itself found before.
        noted: Vec<Finding>,
    },
    /// The model cannot follow.
    Cut {
        /// The agent.
        agent: AgentId,
        /// Where it stands.
        at: Pc,
        /// Why.
        reason: CutReason,
        /// What the step itself found before.
        noted: Vec<Finding>,
    },
}

/// Something that happened at a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A warp's fragment parked at a barrier, waiting for its own lanes.
    Parked(BarrierId),
    /// The agent arrived.
    Arrived(BarrierId),
    /// The agent changed what the generation waits for besides arrivals.
    Counted(BarrierId),
    /// The agent began or ended the barrier's life.
    Begun(BarrierId),
    /// The agent blocks.
    Blocked(BarrierId),
    /// The agent's wait passed at once.
    Passed(BarrierId),
    /// The agent asked whether a generation is complete, and the answer.
    Asked(BarrierId, bool),
    /// A generation completed, with a reduction's result.
    Completed(BarrierId, Option<u32>),
    /// An agent that was blocked goes on.
    Released(AgentId, BarrierId),
    /// An agent may now pass its wait.
    Notified(AgentId, BarrierId),
    /// Lanes of the agent exited.
    LanesExited(u32),
    /// The agent exited.
    Exited,
    /// This is pending from now on.
    Issued(Pending),
    /// What was pending has landed.
    Landed(Pending),
    /// Memory was accessed.
    Accessed(Locations),
    /// A decision was made.
    Decided(u32),
    /// A state or result was read or written.
    StateMoved,
    /// A fence.
    Fenced,
}

/// What happened at a step made in place, and what was found.
#[derive(Clone, Debug, Default)]
pub struct Log {
    /// What happened, in order.
    pub events: Vec<Event>,
    /// What was found that does not end the path.
    pub noted: Vec<Finding>,
    /// What the step did to the agent may depend on the configurations of others.
    pub is_about_others: bool,
}

/// What becomes of an attempt to make a step in place.
#[derive(Clone, Debug, PartialEq)]
pub enum Advanced {
    /// There is no such step.
    Disabled,
    /// The step changes nothing.
    NoEffect,
    /// The state is the one after the step.
    Progress,
    /// The path ends; the state is of no use any more.
    Error(Box<End>),
}

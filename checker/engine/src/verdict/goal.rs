//! What is looked for among the states of a protocol, and what is found: see [`crate::locate()`].

use super::{Found, Inconclusive, Statistics};
use barcheck_model::machine::{Finding, Path};
use barcheck_model::program::{AgentId, Pc};

/// Agents of which a goal can ask something, at most.
pub const MOST_WANTED: usize = 128;

/// Where an agent is to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The agent.
    pub agent: AgentId,
    /// At one of these operations, at least with some of its lanes: to execute it, or blocked in it.
    pub at: Vec<Pc>,
    /// It has exited; then `at` is not looked at.
    pub exited: bool,
}

/// Which states are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seek {
    /// All states.
    State,
    /// Those in which nobody can take a step and not all have exited.
    Deadlock,
    /// Such a one if there is one, otherwise any.
    Either,
}

/// A state in which agents are where they are looked for, or as many of them as can be.
#[derive(Clone, Debug)]
pub struct Sighting {
    /// The agents that are there, as positions in the goal.
    pub met: Vec<usize>,
    /// Where nobody can take a step: the finding.
    pub deadlock: Option<Finding>,
    /// A path to it: the shortest that there is, where a search found it.
    pub path: Path,
}

/// What a search for a state has come to.
#[derive(Clone, Debug)]
pub struct Located {
    /// Among all states, one with as many agents in place as can be. Several of them, if they differ in who
    /// that is.
    pub states: Vec<Sighting>,
    /// The same among deadlocks.
    pub deadlocks: Vec<Sighting>,
    /// No state was seen because the protocol was proved to have no deadlock: that is why there is none.
    pub has_no_deadlock: bool,
    /// Violations that end paths: nothing is said of what would follow.
    pub ended: Vec<Found>,
    /// Why there may be others. Where all that was looked for is found, that does not matter.
    pub inconclusive: Option<Inconclusive>,
    /// An evaluation error ends paths, too.
    pub faulty: bool,
    /// How much was searched.
    pub statistics: Statistics,
}

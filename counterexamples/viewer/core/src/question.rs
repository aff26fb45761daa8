//! What a page asks.

use barcheck_counterexamples::trace::{Choice, Protocol};
use barcheck_model::machine;
use barcheck_model::program::AgentId;
use serde::Deserialize;

/// Of a trace, what it takes to run it again.
#[derive(Deserialize)]
pub(crate) struct Given {
    pub(crate) format: String,
    pub(crate) protocol: Protocol,
    pub(crate) steps: Vec<GivenStep>,
    pub(crate) outcome: GivenOutcome,
}

/// A step of a trace, as far as it matters.
#[derive(Deserialize)]
pub(crate) struct GivenStep {
    pub(crate) agent: u32,
    pub(crate) choice: Choice,
}

/// The outcome of a trace, as far as it matters.
#[derive(Deserialize)]
pub(crate) struct GivenOutcome {
    pub(crate) rule: Option<String>,
    pub(crate) level: Option<String>,
}

/// A question: about a run that follows the trace for `at` steps and then goes its `own` way.
#[derive(Deserialize)]
pub(crate) struct Question {
    pub(crate) at: usize,
    /// Agent, move and pick of each step.
    pub(crate) own: Vec<(u32, u32, u32)>,
    /// Ask what could be done after so many steps of it.
    #[serde(default)]
    pub(crate) after: Option<usize>,
    /// Let it run.
    #[serde(default)]
    pub(crate) on: Option<On>,
}

/// How a run goes on by itself.
#[derive(Deserialize)]
pub(crate) struct On {
    /// One agent alone, as far as it gets; all in turns without one.
    pub(crate) agent: Option<u32>,
    /// Steps at most.
    pub(crate) most: usize,
}

/// A step to make, from its parts.
pub(crate) fn choice((agent, index, pick): (u32, u32, u32)) -> machine::Choice {
    machine::Choice { agent: AgentId(agent), index, pick }
}

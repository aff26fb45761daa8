//! What a search has found.

pub(crate) mod answer;
pub(crate) mod blow_up;
pub(crate) mod goal;

use crate::settings::Reduction;
use barcheck_model::agent::Fault;
use barcheck_model::machine::{CutReason, Finding, Path};
use barcheck_model::program::{AgentId, Pc};
use barcheck_model::rule::{Level, Rule};
use std::time::Duration;

/// The verdict on a protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every reachable state was covered and no rule at level error is violated.
    Verified,
    /// Some path violates a rule at level error.
    Violated,
    /// The search was ended before it covered everything, or a path could not be followed.
    Inconclusive,
    /// An evaluation error was reached.
    Error,
}

impl Verdict {
    /// The verdict's name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::Violated => "violated",
            Self::Inconclusive => "inconclusive",
            Self::Error => "error",
        }
    }
}

/// Why a search is inconclusive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inconclusive {
    /// The budget of states is used up. Names what grew, where that can be told.
    States(u64, Option<String>),
    /// The budget of memory is used up. Names what grew, where that can be told.
    Memory(u64, Option<String>),
    /// Time is up. Names what grew, where that can be told.
    Time(Duration, Option<String>),
    /// There is no end to the states; why.
    Endless(String),
    /// States could not be kept on disk, or read back; why.
    Disk(String),
    /// Ended from outside.
    Interrupted,
    /// A rule that ends paths was lowered below error and has cut a path.
    Lowered(Rule),
    /// Whether an agent is stuck for ever cannot be told from hashes of states.
    Forgotten,
    /// One schedule was asked for and is not enough; why.
    Undecided(String),
    /// The model could not follow a path.
    Cut {
        /// The agent.
        agent: AgentId,
        /// Where it stands.
        at: Pc,
        /// Why.
        reason: CutReason,
        /// A path to it.
        path: Path,
    },
}

/// A violation, and a path to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The violation.
    pub finding: Finding,
    /// Its level in force.
    pub level: Level,
    /// A path to it, as short as the search can make it. The last step is the one that violates the
    /// rule, or leads to the state that does.
    pub path: Path,
}

/// An evaluation error, and a path to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReachedFault {
    /// The agent.
    pub agent: AgentId,
    /// What went wrong.
    pub fault: Fault,
    /// A path to it.
    pub path: Path,
}

/// What a search has found.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The verdict.
    pub verdict: Verdict,
    /// Every violation reported, sorted by rule, then place, one for each.
    pub findings: Vec<Found>,
    /// For the verdict `error`.
    pub fault: Option<ReachedFault>,
    /// For the verdict `inconclusive`.
    pub inconclusive: Option<Inconclusive>,
    /// For the verdict `violated`, where all rules are wanted: why some that are violated may be missing.
    pub uncovered: Option<Inconclusive>,
    /// How much was searched.
    pub statistics: Statistics,
    /// How it was found.
    pub method: Method,
}

/// How a verdict was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Method {
    /// The engine.
    pub engine: Engine,
    /// What was not searched because it need not be: never [`Reduction::Auto`].
    pub reduction: Reduction,
    /// The protocol was looked at as a whole, not location by location or part by part.
    pub whole: bool,
    /// Why so, in words.
    pub why: String,
}

/// The engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Breadth-first search over packed states.
    Search,
    /// One run, of which all others are permutations.
    Schedule,
    /// One run for each outcome of choices: of every state, the steps of one agent.
    Stubborn,
}

impl Engine {
    /// The engine's name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Search => "search",
            Self::Schedule => "schedule",
            Self::Stubborn => "stubborn",
        }
    }
}

/// How much was searched.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Statistics {
    /// States found.
    pub states: u64,
    /// Transitions made.
    pub transitions: u64,
    /// Steps from the initial state to the farthest.
    pub depth: u64,
    /// Wall-clock seconds.
    pub seconds: f64,
    /// Memory for states and tables at its peak, in bytes.
    pub peak_memory_bytes: u64,
    /// Every reachable state was covered.
    pub complete: bool,
    /// Where only hashes of states were kept: the probability, at most, that states were taken for others,
    /// and what follows from them was not searched. A violation found is one all the same.
    pub odds_of_omission: Option<f64>,
}

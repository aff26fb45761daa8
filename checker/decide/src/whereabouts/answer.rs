//! What can be said of a state that is looked for.

use crate::reason::Reason;
use barcheck_counterexamples::{Noun, Trace};
use barcheck_engine::Statistics;
use barcheck_model::program::Target;
use barcheck_specs::LoadError;

/// An agent that is looked for.
#[derive(Clone, Debug)]
pub struct Named {
    /// The agent.
    pub agent: u32,
    /// For people: `warp 3`.
    pub name: String,
    /// Where it is to be, for people: `line 120 (kernel.cu:44)`.
    pub place: String,
}

/// What there is to say of the state that is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A run gets there, and nobody can go on.
    Hangs,
    /// A run gets there.
    Reachable,
    /// No run gets there, or none hangs there where only that was asked for: all states were searched.
    Unreachable,
    /// Nobody knows: the search did not get to its end.
    Inconclusive,
}

impl Answer {
    /// Its name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Hangs => "hangs",
            Self::Reachable => "reachable",
            Self::Unreachable => "unreachable",
            Self::Inconclusive => "inconclusive",
        }
    }
}

/// Whether a run hangs in the state that is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hang {
    /// One does.
    Found,
    /// None does: all states were searched.
    Excluded,
    /// None does, since it is proved that the protocol never hangs.
    Never,
    /// Nobody knows.
    Undecided,
    /// Nobody has asked.
    NotAsked,
}

impl Hang {
    /// Its name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Found => "found",
            Self::Excluded => "excluded",
            Self::Never => "never",
            Self::Undecided => "undecided",
            Self::NotAsked => "not-asked",
        }
    }
}

/// A state, and a run that leads there.
#[derive(Clone, Debug)]
pub struct Shown {
    /// Those who are where they are looked for, by position in [`Whereabouts::wanted`].
    pub met: Vec<usize>,
    /// Nobody can go on.
    pub hangs: bool,
    /// The run, replayed.
    pub trace: Trace,
    /// What is left out of the trace, if something is.
    pub left_out: Option<String>,
}

/// Where a protocol can be.
#[derive(Clone, Debug)]
pub struct Whereabouts {
    /// Which of the kernels in the file, where it is a module of them.
    pub kernel: Option<String>,
    /// The position of that kernel among them, from 0.
    pub entry: Option<usize>,
    /// The barrier system.
    pub target: Target,
    /// What its agents are called.
    pub noun: Noun,
    /// Who is looked for, and where.
    pub wanted: Vec<Named>,
    /// The answer.
    pub answer: Answer,
    /// Whether it hangs there.
    pub hang: Hang,
    /// The run that the answer is about.
    pub shown: Option<Shown>,
    /// Where there is none: states in which as many as possible are where they are looked for. Proved to be
    /// the most that can be, where the answer is [`Answer::Unreachable`].
    pub nearest: Vec<Shown>,
    /// Where only a hang was asked for, and there is none: a run that gets there and goes on.
    pub passing: Option<Shown>,
    /// What the answer rests on, in sentences without a full stop.
    pub remarks: Vec<String>,
    /// Why something is not decided.
    pub reason: Option<Reason>,
    /// How much was searched.
    pub statistics: Statistics,
}

/// Why there is no answer at all.
#[derive(Debug)]
pub enum Unanswered {
    /// The text cannot be read.
    Unread(LoadError),
    /// What is asked makes no sense for this protocol: a message.
    Wrong(String),
    /// What was found does not hold, which is a defect of this program.
    Defect(String),
}

//! What the user asks of a search.

use barcheck_model::Patience;
use barcheck_model::program::Target;
use barcheck_model::rule::{Level, Rule};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What the user asks of a search.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Search on after the first error and report every rule violated.
    pub all: bool,
    /// How grave each rule is.
    pub levels: Levels,
    /// When to give up.
    pub budgets: Budgets,
    /// What need not be searched.
    pub reduction: Reduction,
    /// Threads that search; one, if not given. More than four do no better. The outcome is the same for any
    /// number.
    pub threads: Option<NonZeroUsize>,
    /// So many states have to wait to be explored for several threads to search; 256, if not given. The
    /// outcome is the same for any number.
    pub many_states: Option<u32>,
    /// Bytes that may be taken by what is learnt of steps' effects on what is known of accesses to memory; 64
    /// MiB, if not given. Beyond, steps take longer. The outcome is the same for any number.
    pub learnt_bytes: Option<usize>,
    /// A folder to which a search moves old states once they have no room in memory. The outcome is the same.
    /// Without the feature `disk` none is moved: the search ends as inconclusive.
    pub spill: Option<PathBuf>,
    /// Searches keep only hashes of the states that have been explored: far less memory, and a small
    /// probability that something is missed, see [`crate::Statistics::odds_of_omission`].
    pub compact: bool,
    /// A folder in which a long search keeps what it has found, to go on from there if it is ended before it
    /// is complete. Each protocol has a folder of its own there. The outcome is the same.
    /// Without the feature `disk` there are none.
    pub checkpoint: Option<PathBuf>,
    /// Whether a protocol is decided location by location. The outcome is the same.
    pub by_location: ByLocation,
}

/// Whether a protocol is decided location by location: see [`Reduction::Auto`], which alone does so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ByLocation {
    /// Where it takes long otherwise.
    #[default]
    Auto,
    /// Wherever that can be.
    Always,
    /// Never.
    Never,
}

impl Settings {
    /// Threads that search.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.threads.map_or(1, NonZeroUsize::get)
    }
}

/// How grave each rule is: the defaults, and what the user has changed.
#[derive(Clone, Debug, Default)]
pub struct Levels {
    /// Changes, the last one for a rule counts.
    pub changes: Vec<(Rule, Level)>,
    /// Raise pedantic rules to warnings, unless they are named in `changes`.
    pub strict: bool,
    /// Rules of this level and above are errors, unless they are named in `changes`.
    pub deny: Option<Level>,
}

impl Levels {
    /// The level in force.
    #[must_use]
    pub fn of(&self, rule: Rule, target: Target) -> Level {
        if let Some((_, level)) = self.changes.iter().rev().find(|(named, _)| *named == rule) {
            return *level;
        }
        self.raised(rule.default_level(target))
    }

    /// The level of what is not named and has this level by itself.
    #[must_use]
    pub fn raised(&self, level: Level) -> Level {
        let level = if level == Level::Pedantic && self.strict { Level::Warning } else { level };
        if self.deny.is_some_and(|least| level >= least) { Level::Error } else { level }
    }
}

/// When to give up on a protocol: the verdict is then `inconclusive`, unless an error was found before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budgets {
    /// States.
    pub max_states: Option<u64>,
    /// Memory for the search, in bytes.
    pub max_memory: Option<u64>,
    /// Wall-clock time.
    pub timeout: Option<Duration>,
}

/// What the process takes besides what engines count: its code, the text, threads' stacks, what an allocator
/// keeps. Measured.
const OWN_BYTES: u64 = 14 << 20;
/// Below, a budget is one for what engines count alone.
const LEAST_OF_PROCESS: u64 = 64 << 20;

impl Budgets {
    /// What of the budget of memory is left for what engines count, in bytes.
    pub(crate) fn memory(&self) -> Option<u64> {
        self.max_memory.map(|most| if most < LEAST_OF_PROCESS { most } else { most - OWN_BYTES })
    }
}

/// What need not be searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reduction {
    /// One schedule where that is enough, one for each choice where that is, otherwise a search with
    /// symmetry.
    #[default]
    Auto,
    /// Every interleaving of every agent.
    None,
    /// One schedule: where the protocol leaves nothing open, every run is a permutation of it.
    Schedule,
    /// One schedule for each outcome of choices, what they share explored once; agents that run the same
    /// automaton are interchangeable.
    Stubborn,
    /// Agents that run the same automaton are interchangeable: of states that differ only in who is who, one
    /// is searched.
    Symmetry,
}

impl Reduction {
    /// The name as users type it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::None => "none",
            Self::Schedule => "schedule",
            Self::Stubborn => "stubborn",
            Self::Symmetry => "symmetry",
        }
    }
}

/// How far a search has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// States found.
    pub states: u64,
    /// Transitions made.
    pub transitions: u64,
    /// Steps from the initial state to the states now explored.
    pub depth: u64,
    /// States found and not yet explored.
    pub frontier: u64,
    /// Memory in use for the search, in bytes.
    pub memory_bytes: u64,
    /// Of a single schedule: how much of it has been made, about, in percent. Nothing where that cannot be
    /// said, as of a loop without a bound.
    pub percent: Option<u8>,
}

/// Watches over a search from outside, and may end it.
pub trait Control {
    /// Called every few thousand states. `false` ends the search; what was found so far is reported.
    fn goes_on(&self, progress: Progress) -> bool;

    /// How long what cannot be watched step by step may go on: local computation, the reading of a text. It
    /// is over once the user asks to end; budgets of time need not be looked at.
    fn patience(&self) -> Patience {
        Patience::default()
    }

    /// When the time began that a budget limits, if that was before the search: when the reading began.
    fn began(&self) -> Option<Instant> {
        None
    }

    /// Called when something happens of which the user should know at once.
    fn notes(&self, _: Note<'_>) {}
}

/// What happens in a search and the user should know of at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note<'n> {
    /// Memory is used up: from now on old states are moved to this folder.
    MovesToDisk(&'n Path),
    /// The search goes on from a checkpoint, with so many states.
    Resumes(u64),
    /// The checkpoint that is there cannot be used, for this reason: the search begins anew.
    CannotResume(&'n str),
    /// No more checkpoints are made, for this reason.
    NoCheckpoint(&'n str),
}

/// Lets a search run undisturbed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quiet;

impl Control for Quiet {
    fn goes_on(&self, _: Progress) -> bool {
        true
    }
}

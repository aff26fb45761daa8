//! What is asked of an exploration, and how far it came.

use barcheck_decide::Budgets;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Seconds that stand for any longer time: thirty years.
const LONGEST: f64 = 1e9;

/// The most agents that loom runs beside the main thread.
pub const MOST_UNDER_LOOM: usize = 4;

/// Who runs the threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum With {
    /// The model checker loom.
    Loom,
    /// The randomised tester shuttle.
    Shuttle,
    /// Threads of the operating system.
    Std,
}

impl With {
    /// The name as users type it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Loom => "loom",
            Self::Shuttle => "shuttle",
            Self::Std => "std",
        }
    }
}

/// How much is to be explored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Effort {
    /// Wall-clock seconds.
    pub seconds: f64,
    /// Bytes that a counterexample may take that is whole: beyond, it is an excerpt.
    pub memory: u64,
    /// Loom: the most preemptions of a schedule; `None` raises the bound until everything is explored or time
    /// is up.
    pub preemptions: Option<usize>,
    /// Shuttle, std: executions.
    pub executions: u64,
    /// Shuttle, std: where chance begins.
    pub seed: u64,
    /// Shuttle: the schedule to be run again, as an earlier run has printed it.
    pub schedule: Option<String>,
    /// Loom: go on after a violation that a barrier reports and collect all such rules.
    pub all: bool,
}

impl Effort {
    /// What the model may take to confirm what was found: as much time again.
    pub(super) fn budgets(&self) -> Budgets {
        Budgets { max_states: None, max_memory: Some(self.memory), timeout: Some(self.time()) }
    }

    /// The time for the exploration, as far as clocks go.
    pub(super) fn time(&self) -> Duration {
        let seconds = if self.seconds.is_nan() { 0.0 } else { self.seconds.clamp(0.0, LONGEST) };
        Duration::from_secs_f64(seconds)
    }
}

impl Default for Effort {
    fn default() -> Self {
        Self {
            seconds: 10.0,
            memory: 256 << 20,
            preemptions: None,
            executions: 5_000,
            seed: 1,
            schedule: None,
            all: false,
        }
    }
}

/// How far an exploration came that found nothing, or collected everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Extent {
    /// Every schedule.
    Everything,
    /// Every schedule with at most so many preemptions.
    Preemptions(usize),
    /// So many schedules, chosen at random.
    Sample(u64),
    /// Time was up before even the smallest bound was explored.
    Unfinished,
}

//! What is left of the budgets of a search for its counterexamples.

use crate::numbers::grouped;
use barcheck_counterexamples::{LeftOut, Limits, Why};
use barcheck_engine::{Budgets, Control, Inconclusive, Outcome, Progress, Statistics, Verdict};
use barcheck_model::Patience;
use std::cell::Cell;
use std::time::{Duration, Instant};

/// Steps of a counterexample that is written down whole, at most: what has more nobody reads to the end.
const MOST_STEPS: usize = 50_000;

/// What counterexamples have at least: the verdict of a search that has used up its time, or that was
/// interrupted, is to be explained all the same.
const LEAST_TIME: Duration = Duration::from_secs(1);

/// Why there is no counterexample.
pub(crate) enum Unshown {
    /// It does not hold, which would be a defect of this program: what is wrong.
    Defect(String),
    /// Local computation on its way took longer than there was time for.
    Late,
}

/// Time and memory for the counterexamples of one protocol.
pub(crate) struct Purse<'c> {
    started: Instant,
    /// Until then nobody is asked.
    least: Instant,
    deadline: Option<Instant>,
    memory: Option<u64>,
    spent: Cell<u64>,
    control: &'c dyn Control,
    progress: Progress,
    limit: Option<Duration>,
    patience: Patience,
}

impl<'c> Purse<'c> {
    /// What a search that began at a time and came to this leaves.
    pub(crate) fn of(
        budgets: Budgets,
        started: Instant,
        outcome: &Outcome,
        control: &'c dyn Control,
    ) -> Self {
        let purse = Self::new(budgets, started, &outcome.statistics, control);
        purse.spend(outcome.findings.iter().map(|found| size_of_val(&*found.path.steps) as u64).sum());
        purse
    }

    /// Nothing is spent yet but time.
    pub(crate) fn new(
        budgets: Budgets,
        started: Instant,
        statistics: &Statistics,
        control: &'c dyn Control,
    ) -> Self {
        let Statistics { states, transitions, depth, peak_memory_bytes: memory_bytes, .. } = *statistics;
        let progress = Progress { states, transitions, depth, frontier: 0, memory_bytes, percent: None };
        let deadline = budgets.timeout.and_then(|limit| started.checked_add(limit));
        let least = Instant::now() + LEAST_TIME;
        let ended = barcheck_engine::patience(budgets, started, control);
        Self {
            started,
            least,
            limit: budgets.timeout,
            patience: Patience::new(move || Instant::now() >= least && ended.is_over()),
            deadline,
            memory: budgets.max_memory,
            spent: Cell::new(0),
            control,
            progress,
        }
    }

    fn goes_on(&self) -> bool {
        let now = Instant::now();
        now < self.least
            || self.deadline.is_none_or(|deadline| now < deadline) && self.control.goes_on(self.progress)
    }

    /// Calls with the limits of the next counterexample.
    pub(crate) fn within<R>(&self, call: impl FnOnce(&Limits<'_>) -> R) -> R {
        let bytes = self.memory.map_or(u64::MAX, |most| most.saturating_sub(self.spent.get()));
        call(&Limits {
            steps: MOST_STEPS,
            bytes,
            goes_on: &|| self.goes_on(),
            patience: Some(&self.patience),
        })
    }

    /// Why there is no counterexample, where the model departs from it.
    pub(crate) fn unshown(&self, departure: String) -> Unshown {
        if self.patience.has_run_out() { Unshown::Late } else { Unshown::Defect(departure) }
    }

    /// Time was up before each counterexample was confirmed. What is not confirmed is not reported; a
    /// violation is one if some other error `is_confirmed`.
    pub(crate) fn end_early(&self, outcome: &mut Outcome, is_confirmed: bool) {
        let late = self.limit.filter(|limit| self.started.elapsed() >= *limit);
        let what = "what was found is not confirmed, which takes long local computation".to_owned();
        let why = late.map_or(Inconclusive::Interrupted, |limit| Inconclusive::Time(limit, Some(what)));
        outcome.statistics.complete = false;
        if outcome.verdict == Verdict::Violated && is_confirmed {
            outcome.uncovered = Some(why);
        } else {
            outcome.verdict = Verdict::Inconclusive;
            outcome.inconclusive = Some(why);
        }
    }

    /// So much is taken for good.
    pub(crate) fn spend(&self, bytes: u64) {
        self.spent.set(self.spent.get().saturating_add(bytes));
    }

    /// Puts what the counterexamples have cost to what the search has.
    pub(crate) fn settle(&self, statistics: &mut Statistics) {
        statistics.seconds = self.started.elapsed().as_secs_f64();
        statistics.peak_memory_bytes = statistics.peak_memory_bytes.max(self.spent.get());
    }
}

/// What is left out of a counterexample and why, in a sentence without a full stop.
pub(crate) fn in_words(left_out: LeftOut) -> String {
    let LeftOut { steps, of, why } = left_out;
    let why = match why {
        Why::Length(most) => format!("it is longer than {} steps", grouped(most as u64)),
        Why::Memory => "the whole needs more memory than is left of --max-memory".to_owned(),
        Why::Time => "no time was left to write the whole down, see --timeout".to_owned(),
    };
    let (steps, of) = (grouped(steps as u64), grouped(of as u64));
    format!("the counterexample has {of} steps, and {steps} of them are left out: {why}")
}

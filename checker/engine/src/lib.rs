//! Engines that decide GPU barrier protocols.
//!
//! [`check`] decides a protocol: it covers every interleaving of its agents, or as few as prove the same, and
//! says whether some path violates a rule, with a path to each violation.
//!
//! This crate knows the model. It knows nothing of notations, traces, files of protocols or terminals. The
//! paths it hands out were not replayed: whoever reports them does that first, as `barcheck::decide` does.

mod independence;
mod packed;
mod parallel;
mod paths;
mod random;
mod schedule;
mod search;
mod settings;
mod strategy;
mod stubborn;
mod successors;
mod verdict;
mod visited;

pub use settings::{Budgets, ByLocation, Control, Levels, Note, Progress, Quiet, Reduction, Settings};
pub use verdict::goal::{Located, MOST_WANTED, Seek, Sighting, Wanted};
pub use verdict::{Engine, Found, Inconclusive, Method, Outcome, ReachedFault, Statistics, Verdict};

use barcheck_model::Patience;
use barcheck_model::machine::Options;
use barcheck_model::program::Program;
use std::sync::Arc;
use std::time::Instant;
use verdict::answer::Question;

/// Decides a protocol.
///
/// Explores every interleaving, up to what `settings` say need not be searched and the budgets they set.
/// The result depends on the protocol, the options and the settings only, unless time runs out or
/// `control` ends the search.
#[must_use]
pub fn check(program: Arc<Program>, options: Options, settings: &Settings, control: &dyn Control) -> Outcome {
    let started = control.began().unwrap_or_else(Instant::now);
    let patience = patience(settings.budgets, started, control);
    let slice = None;
    strategy::in_time(&Question { program, options, settings, control, started, patience, slice })
}

/// Looks for a state in which every agent of a goal is where it is wanted, breadth first: the path to it is
/// the shortest that there is, unless a quick look at the protocol has come to a deadlock there.
///
/// Of `settings` the budgets count; one thread searches. Runs that violate a rule end there, whatever its
/// level. The result depends on the protocol, the options and the goal only, unless a budget is used up or
/// `control` ends the search.
#[must_use]
pub fn locate(
    (program, options): (Arc<Program>, Options),
    goal: &[Wanted],
    seek: Seek,
    settings: &Settings,
    control: &dyn Control,
) -> Located {
    let started = control.began().unwrap_or_else(Instant::now);
    let patience = patience(settings.budgets, started, control);
    let settings = strategy::locate::whole(settings, &program);
    let (settings, slice) = (&settings, None);
    let question = Question { program, options, settings, control, started, patience, slice };
    strategy::locate::locate(&question, goal, seek)
}

/// Over once a budget of time is used up, or whoever watches ends it.
#[must_use]
pub fn patience(budgets: Budgets, started: Instant, control: &dyn Control) -> Patience {
    let ended = control.patience();
    let deadline = budgets.timeout.and_then(|limit| started.checked_add(limit));
    Patience::new(move || deadline.is_some_and(|deadline| Instant::now() >= deadline) || ended.is_over())
}

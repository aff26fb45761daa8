//! Counterexamples of paths that something else than an engine has found.

use crate::purse::{Purse, Unshown};
use barcheck_counterexamples::{self as counterexamples, Counterexample, SourceInfo, What};
use barcheck_engine::{Budgets, Quiet, Statistics};
use barcheck_model::machine::{Options, Path};
use barcheck_model::program::Program;
use std::sync::Arc;
use std::time::Instant;

/// Why a path has no counterexample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unconfirmed {
    /// The model departs from it, and how.
    Departs(String),
    /// There was not enough time to find out.
    Late,
}

/// The counterexample that a path is: shortened, replayed on the model alone, and within budgets, of time
/// from now on; an excerpt where it is too long for that.
///
/// # Errors
/// The path does not lead to `what`, or nobody knows in time.
pub fn confirm(
    program: &Arc<Program>,
    readings: Options,
    source: &SourceInfo,
    (path, what): (&Path, What<'_>),
    budgets: Budgets,
) -> Result<Counterexample, Unconfirmed> {
    let purse = Purse::new(budgets, Instant::now(), &Statistics::default(), &Quiet);
    let shown = purse.within(|limits| {
        counterexamples::counterexample_within(program, readings, source, path, what, limits)
    });
    shown.map_err(|departure| match purse.unshown(departure.to_string()) {
        Unshown::Defect(how) => Unconfirmed::Departs(how),
        Unshown::Late => Unconfirmed::Late,
    })
}

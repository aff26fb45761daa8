//! From the path that an engine found to a counterexample that holds.

use std::sync::Arc;

use barcheck_model::machine::{Options, Path};
use barcheck_model::program::Program;

use crate::build::record::Departure;
use crate::build::{SourceInfo, What, build};
use crate::replay::replay;
use crate::shorten::shorten;
use crate::trace::Trace;

/// The trace of a path, [shortened](shorten()) and [replayed](replay()).
///
/// # Errors
/// Where the path departs from the model, or does not lead to `what`.
pub fn counterexample(
    program: &Arc<Program>,
    options: Options,
    source: &SourceInfo,
    path: &Path,
    what: What<'_>,
) -> Result<Trace, Departure> {
    let traced = |path: &Path| {
        let trace = build(Arc::clone(program), options, source, path, what)?;
        replay(&trace, Arc::clone(program)).map(|_| trace)
    };
    // What holds must not be lost because it could not be said more briefly.
    traced(&shorten(Arc::clone(program), options, path, what)).or_else(|_| traced(path))
}

//! From the path that an engine found to a counterexample that holds.

use std::sync::Arc;

use barcheck_model::machine::{Detail, Options, Path};
use barcheck_model::program::Program;

use crate::build::excerpt::Kept;
use crate::build::limits::{LeftOut, Limits, Why};
use crate::build::record::Departure;
use crate::build::{Extent, Recorded, SourceInfo, What, recorded};
use crate::replay::{replay_within, survey};
use crate::shorten::shorten_within;
use crate::trace::Trace;

/// A counterexample that holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterexample {
    /// The trace; an excerpt where something is left out.
    pub trace: Trace,
    /// What is left out of it.
    pub left_out: Option<LeftOut>,
    /// The memory that it takes, about.
    pub bytes: u64,
}

/// The trace of a path, [shortened](crate::shorten()) and [replayed](crate::replay()).
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
    counterexample_within(program, options, source, path, what, &Limits::NONE).map(|whole| whole.trace)
}

/// The same within limits: beyond them the trace is an excerpt. The whole path has been made on the model
/// all the same, once to confirm it and once to write it down.
///
/// # Errors
/// Where the path departs from the model, or does not lead to `what`.
pub fn counterexample_within(
    program: &Arc<Program>,
    options: Options,
    source: &SourceInfo,
    path: &Path,
    what: What<'_>,
    limits: &Limits<'_>,
) -> Result<Counterexample, Departure> {
    let case = Case { program, options, source, what, limits };
    if path.steps.len() > limits.steps {
        return case.excerpt(path, Why::Length(limits.steps));
    }
    if !(limits.goes_on)() {
        return case.excerpt(path, Why::Time);
    }
    let shorter = shorten_within(Arc::clone(program), options, path, what, limits);
    match case.whole(&shorter) {
        Ok(Ok(whole)) => Ok(whole),
        Ok(Err(why)) => case.excerpt(&shorter, why).or_else(|_| case.excerpt(path, why)),
        // What holds must not be lost because it could not be said more briefly.
        Err(_) => match case.whole(path)? {
            Ok(whole) => Ok(whole),
            Err(why) => case.excerpt(path, why),
        },
    }
}

struct Case<'c> {
    program: &'c Arc<Program>,
    options: Options,
    source: &'c SourceInfo,
    what: What<'c>,
    limits: &'c Limits<'c>,
}

impl Case<'_> {
    fn recorded(&self, path: &Path, extent: &Extent<'_>) -> Result<Recorded, Departure> {
        recorded(Arc::clone(self.program), self.options, self.source, path, self.what, extent)
    }

    /// All of a path; why not, where that is beyond the limits.
    fn whole(&self, path: &Path) -> Result<Result<Counterexample, Why>, Departure> {
        let (trace, bytes) = match self.recorded(path, &Extent::Whole(self.limits))? {
            Recorded::Over(why) => return Ok(Err(why)),
            Recorded::Trace(trace, bytes) => (*trace, bytes),
        };
        replay_within(&trace, Arc::clone(self.program), self.limits.patience())?;
        Ok(Ok(Counterexample { trace, left_out: None, bytes }))
    }

    /// The beginning and the end of a path, and what else matters of it.
    fn excerpt(&self, path: &Path, why: Why) -> Result<Counterexample, Departure> {
        let earlier = match self.what {
            What::Finding(finding, _) => match finding.detail {
                Detail::Conflict { earlier, .. } => Some(earlier),
                _ => None,
            },
            What::Fault(..) | What::Cut(..) | What::State(_) => None,
        };
        let mut kept = Kept::of(path, self.program.agents.len(), earlier);
        let program = Arc::clone(self.program);
        survey((program, self.options, self.limits.patience()), path, self.what, &mut kept)?;
        kept.settle();
        let (trace, bytes) = match self.recorded(path, &Extent::Excerpt(&kept, self.limits))? {
            Recorded::Trace(trace, bytes) => (*trace, bytes),
            // An excerpt has no limits.
            Recorded::Over(_) => return Err(Departure::default()),
        };
        let of = path.steps.len();
        let steps = of - trace.steps.len();
        let left_out = (steps > 0).then_some(LeftOut { steps, of, why });
        Ok(Counterexample { trace, left_out, bytes })
    }
}

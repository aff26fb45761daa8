//! From the text of a protocol to a verdict that can be relied on: read, search, build each counterexample,
//! replay it on the model alone, leave out what was found twice.
//!
//! The engines hand out paths; here they become counterexamples. A violation whose counterexample does not
//! hold is a defect of this program, and never a verdict: [`Decision::verdict`] is then [`Verdict::Error`].
//!
//! ```
//! use barcheck_decide::{Options, Source, Verdict, decide};
//!
//! let text = b"target ptx; cta 64; warp 0 { bar.sync 1, 64; } warp 1 { }";
//! let decision = decide(&Source::new("hang.bar", text), &Options::default());
//! assert_eq!(decision.verdict, Verdict::Violated);
//! let hang = &decision.findings[0];
//! assert_eq!(hang.rule.name(), "deadlock");
//! assert_eq!((hang.place.line, hang.place.column), (1, 30));
//! // The schedule that leads there; `to_json` writes it, the viewers show it.
//! assert_eq!(hang.trace.steps.len(), 1);
//! ```

mod allowed;
mod case;
mod concrete;
mod confirm;
mod coverage;
mod data;
mod decision;
pub mod doubt;
mod judge;
mod leftovers;
mod memory;
pub mod numbers;
mod purse;
mod question;
mod random_runs;
mod reason;
mod remark;
mod replay;
mod shorter;
mod trials;
mod tried;
mod unreached;
pub mod whereabouts;

pub use allowed::levels;
pub use barcheck_counterexamples::Trace;
pub use barcheck_engine::{
    Budgets, ByLocation, Control, Engine, Levels, Method, Note, Progress, Quiet, Reduction, Seek, Settings,
    Statistics, Verdict, patience,
};
pub use barcheck_model::Patience;
pub use barcheck_specs::{Allow, Check, Format, Lint, LoadOptions, Source};
pub use confirm::{Unconfirmed, confirm};
pub use coverage::{BarrierCoverage, LoopCoverage, RoleCoverage};
pub use decision::{Allowed, Clause, Decision, Finding, Related, Smaller, Trouble};
pub use question::Options;
pub use reason::{Cause, Reason};
pub use remark::Remark;
pub use replay::{About, Replayed, replay, replay_within};
pub use tried::Tried;

use barcheck_specs::{LineIndex, LoadError, load_within};
use judge::{judge, look_for_fewer_rounds, settle};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

/// Decides a protocol.
///
/// Never fails and never panics, whatever the text: what keeps it from having a verdict is said by
/// [`Decision::trouble`] and [`Decision::reason`].
#[must_use]
pub fn decide(source: &Source<'_>, options: &Options) -> Decision {
    decide_under(source, options, &Quiet)
}

/// As [`decide`], with somebody who watches over the search and may end it.
#[must_use]
pub fn decide_under(source: &Source<'_>, options: &Options, control: &dyn Control) -> Decision {
    let mut decision = Decision::error(source.name, options);
    let started = control.began().unwrap_or_else(Instant::now);
    let patience = barcheck_engine::patience(options.settings.budgets, started, control);
    if let Some(reason) = Reason::no_room_to_read(source.bytes.len(), options.settings.budgets) {
        decision.verdict = Verdict::Inconclusive;
        return decision.because(reason);
    }
    // No text may bring its host down: there may be others to decide.
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let loaded = load_within(source, &options.load, &patience)?;
        decision.text.clone_from(&loaded.text);
        let judged = judge(source.name, loaded, options, (started, control, &patience));
        let judged = settle(source, judged, options, (started, control));
        let mut judged = memory::look_at(source, judged, options, (started, control));
        look_for_fewer_rounds(source, &mut judged, options, (started, control));
        Ok::<_, LoadError>(judged)
    }));
    match outcome {
        Ok(Ok(judged)) => memory::demand(judged.into_decision(decision), options),
        Ok(Err(error)) if error.is_late() => {
            decision.verdict = Verdict::Inconclusive;
            decision.because(Reason::late_in_reading(options.settings.budgets, started))
        }
        Ok(Err(error)) => match not_followed(&error) {
            Some(reason) => {
                decision.verdict = Verdict::Inconclusive;
                decision.text = error.text;
                decision.because(reason)
            }
            None => Decision::malformed(source.name, error.text, error.diagnostics, options),
        },
        // The panic hook has said what happened.
        Err(_) => decision.panicked(),
    }
}

/// Why a kernel has no verdict with whose text nothing need be wrong.
fn not_followed(error: &LoadError) -> Option<Reason> {
    let diagnostic = error.not_followed()?;
    Some(Reason::not_followed(diagnostic, diagnostic.place(&LineIndex::new(&error.text))))
}

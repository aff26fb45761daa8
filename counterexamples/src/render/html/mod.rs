//! The counterexample as a page: one HTML file that holds everything, asks for nothing and opens anywhere.

mod data;
mod notes;
#[cfg(feature = "page")]
mod page;

use crate::timeline::Timeline;
use crate::trace::Trace;
use data::View;
pub use notes::{ClauseNote, CompiledFrom, Notes, RuleNote, SourceFile, SourceLine};
#[cfg(feature = "page")]
pub use page::page;

/// What a page needs of a run made by hand, as JSON; `shows` says whether the trace's outcome says anything.
///
/// # Errors
/// None in practice: every field of a trace can be written as JSON.
pub fn run_view(trace: &Trace, shows: bool) -> serde_json::Result<String> {
    View::of(&Timeline::of(trace), &Notes::default(), shows).to_json()
}

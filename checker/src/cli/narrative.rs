//! The narrative of a counterexample, as this terminal or file takes it.

use super::output::Look;
use barcheck_counterexamples::{self as counterexamples, Style, Trace};

/// What a counterexample tells, below the line that says what it shows.
pub(crate) fn narrative(trace: &Trace, look: Look) -> String {
    let style = Style {
        colour: look.palette.colour(),
        width: look.width,
        unicode: look.unicode,
        headline: false,
        all: look.unfold,
    };
    counterexamples::narrative(trace, &style)
}

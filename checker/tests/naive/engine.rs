//! The engine under judgement, as the random tests see it.

use super::explore::Verdict;
use std::collections::BTreeSet;

/// What an engine says of a protocol's text, in all-violations mode with the given state budget:
/// the verdict and every rule that some path violates. None if there is no engine to ask, or if it
/// hit its budget.
pub fn engine(_text: &str) -> Option<(Verdict, BTreeSet<String>)> {
    None
}

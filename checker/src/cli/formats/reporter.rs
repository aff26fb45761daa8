//! What every form of a report does.

use crate::cli::decided::Decided;
use crate::cli::tally::Tally;
use crate::cli::written::Written;

/// A report in the making.
pub(crate) trait Reporter {
    /// Takes a file that is decided, with the counterexamples written of it, and returns what is to be
    /// written now.
    fn file(&mut self, decided: &Decided, traces: &[Written]) -> String;

    /// Returns what is to be written after the last file.
    fn end(&mut self, tally: &Tally) -> String;
}

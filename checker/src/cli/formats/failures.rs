//! What did not pass, once more at the end: what stands above has left the screen.

use crate::cli::decided::Decided;
use crate::cli::human;
use crate::cli::output::Palette;
use crate::cli::table::table;
use barcheck::Verdict;

/// What did not pass so far.
#[derive(Default)]
pub(super) struct Failures {
    /// The heading, then a row for each: file, verdict, what happened.
    rows: Vec<[String; 3]>,
    /// Lines that have been said of all files.
    lines: usize,
}

impl Failures {
    /// Takes a file that is decided, of which so many lines have been said.
    pub(super) fn take(&mut self, decided: &Decided, lines: usize) {
        self.lines += lines;
        let passes = match &decided.expectation {
            Some(expectation) => expectation.is_met(),
            None => decided.verdict == Verdict::Verified,
        };
        if passes {
            return;
        }
        if self.rows.is_empty() {
            let missed = if decided.expectation.is_some() { "not as expected" } else { "not verified" };
            self.rows.push([missed, "verdict", ""].map(str::to_owned));
        }
        self.rows.push([decided.title(), decided.verdict.name().to_owned(), human::in_short(decided)]);
    }

    /// The list, if what was said of the files is more than a screen of so many lines shows.
    pub(super) fn again(&self, height: usize, palette: Palette) -> String {
        if self.rows.is_empty() || self.lines <= height {
            return String::new();
        }
        let paint = |column: usize, cell: &str| match column {
            1 => human::painted(cell, palette),
            _ => cell.to_owned(),
        };
        format!("\n{}", table(&self.rows, palette, paint))
    }
}

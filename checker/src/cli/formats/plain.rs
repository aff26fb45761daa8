//! The reports that go on file by file: text for people, and JSON.

use super::reporter::Reporter;
use crate::cli::decided::Decided;
use crate::cli::output::Look;
use crate::cli::tally::Tally;
use crate::cli::traces::Written;
use crate::cli::{human, report};

/// Text for people.
pub(super) struct Human {
    look: Look,
    quiet: bool,
    /// Complaints are part of it.
    alone: bool,
    /// What was written last is long: the next file stands apart from it.
    apart: bool,
}

impl Human {
    /// Text that looks like this.
    pub(super) fn new(look: Look, quiet: bool, alone: bool) -> Self {
        Self { look, quiet, alone, apart: false }
    }
}

impl Reporter for Human {
    fn file(&mut self, decided: &Decided, traces: &[Written]) -> String {
        let complaint =
            if self.alone { human::on_standard_error(decided, self.look.palette) } else { String::new() };
        let text = human::on_standard_output(decided, traces, self.quiet, self.look);
        if text.is_empty() {
            return complaint;
        }
        let gap = if self.apart { "\n" } else { "" };
        self.apart = !decided.findings.is_empty()
            || !decided.remarks.is_empty()
            || decided.coverage.is_some()
            || decided.path_to_stop.is_some();
        format!("{gap}{complaint}{text}")
    }

    fn end(&mut self, tally: &Tally) -> String {
        let line = tally.line(self.look.palette);
        match tally.files() {
            _ if self.quiet => String::new(),
            1 if !tally.is_of_a_part() => String::new(),
            0 => line,
            _ => format!("\n{line}"),
        }
    }
}

/// One JSON object for each file, on a line of its own.
pub(super) struct Json;

impl Reporter for Json {
    fn file(&mut self, decided: &Decided, _: &[Written]) -> String {
        report::json(decided)
    }

    fn end(&mut self, _: &Tally) -> String {
        String::new()
    }
}

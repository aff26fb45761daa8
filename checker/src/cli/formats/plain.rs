//! The reports that go on file by file: text for people, and JSON.

use super::combinations::Combinations;
use super::failures::Failures;
use super::reporter::Reporter;
use crate::cli::assumed::notes;
use crate::cli::decided::Decided;
use crate::cli::names::shown;
use crate::cli::output::Look;
use crate::cli::tally::Tally;
use crate::cli::written::Written;
use crate::cli::{human, report};
use barcheck::Check;
use barcheck_model::program::Place;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::PathBuf;

/// Text for people.
pub(super) struct Human {
    look: Look,
    quiet: bool,
    /// Complaints are part of it.
    alone: bool,
    /// What was written last is long: the next file stands apart from it.
    apart: bool,
    /// The rows of the table of combinations.
    combinations: Combinations,
    /// What has been told of the combination before: findings by rule and place.
    told: BTreeSet<(PathBuf, Check, u32, u32)>,
    /// What is to be listed again at the end.
    failures: Failures,
}

impl Human {
    /// Text that looks like this.
    pub(super) fn new(look: Look, quiet: bool, alone: bool) -> Self {
        Self {
            look,
            quiet,
            alone,
            apart: false,
            combinations: Combinations::default(),
            told: BTreeSet::new(),
            failures: Failures::default(),
        }
    }
}

impl Human {
    /// Whether all that was found for this combination of values was found for an earlier one, too.
    fn is_told(&mut self, decided: &Decided) -> bool {
        if decided.parameters.is_empty() || self.look.unfold || decided.is_as_expected() {
            return false;
        }
        let key = |check: Check, at: Place| (decided.path.clone(), check, at.line, at.column);
        let found = decided.findings.iter().map(|found| key(Check::Rule(found.rule), found.place));
        let said = decided.remarks.iter().map(|said| key(Check::Lint(said.lint), said.place));
        let keys: Vec<_> = found.chain(said).collect();
        let is_told = !keys.is_empty() && keys.iter().all(|key| self.told.contains(key));
        self.told.extend(keys);
        is_told
    }
}

impl Reporter for Human {
    fn file(&mut self, decided: &Decided, traces: &[Written]) -> String {
        self.combinations.take(decided);
        let complaint =
            if self.alone { human::on_standard_error(decided, self.look.palette) } else { String::new() };
        let text = if self.is_told(decided) {
            human::once_more(decided, traces, self.quiet, self.look)
        } else {
            human::on_standard_output(decided, traces, self.quiet, self.look)
        };
        let behind = if self.alone { notes(decided, self.quiet, self.look.palette) } else { String::new() };
        if text.is_empty() {
            self.failures.take(decided, complaint.lines().count().max(decided.diagnostics.len()));
            return complaint + &behind;
        }
        self.failures.take(decided, text.lines().count());
        let gap = if self.apart { "\n" } else { "" };
        self.apart = !decided.findings.is_empty()
            || !decided.remarks.is_empty()
            || decided.coverage.is_some()
            || decided.path_to_stop.is_some();
        format!("{gap}{complaint}{text}{behind}")
    }

    fn end(&mut self, tally: &Tally) -> String {
        let line = tally.line(self.look.palette);
        let palette = self.look.palette;
        let mut table = self.combinations.table(palette);
        if table.is_empty() && tally.files() > 1 {
            table = self.failures.again(self.look.height, palette);
        }
        if let Some(path) = tally.index.as_ref().filter(|_| !self.quiet) {
            let _ = writeln!(table, "\n  {} {}", palette.faint("all files are listed in"), shown(path));
        }
        match tally.files() {
            _ if self.quiet => table,
            1 if !tally.is_of_a_part() => table,
            0 => line,
            _ => format!("{table}\n{line}"),
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

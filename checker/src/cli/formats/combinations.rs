//! The table of verdicts at the end, where a file is decided for several combinations of values.

use crate::cli::decided::Decided;
use crate::cli::human;
use crate::cli::input::display_name;
use crate::cli::output::{Palette, counted};
use crate::cli::table::table;
use std::fmt::Write;

/// What the combinations came to, by file.
#[derive(Default)]
pub(super) struct Combinations {
    files: Vec<File>,
}

struct File {
    name: String,
    /// The heading, then a row for each combination.
    rows: Vec<Vec<String>>,
}

impl Combinations {
    /// Takes a file that is decided, if it is for one of several combinations.
    pub(super) fn take(&mut self, decided: &Decided) {
        if decided.parameters.is_empty() {
            return;
        }
        let name = display_name(&decided.path);
        let mut heading: Vec<_> = decided.parameters.iter().map(|(name, _)| name.clone()).collect();
        heading.extend(["verdict".to_owned(), String::new()]);
        if self.files.last().is_none_or(|last| last.name != name) {
            self.files.push(File { name, rows: vec![heading] });
        }
        let mut row: Vec<_> = decided.parameters.iter().map(|(_, value)| value.to_string()).collect();
        row.push(decided.verdict.name().to_owned());
        row.push(in_short(decided));
        if let Some(file) = self.files.last_mut() {
            file.rows.push(row);
        }
    }

    /// The tables, each below the name of its file.
    pub(super) fn table(&self, palette: Palette) -> String {
        let mut text = String::new();
        for File { name, rows } in &self.files {
            let verdict = rows.first().map_or(0, |row| row.len() - 2);
            let paint = |column: usize, cell: &str| match column {
                _ if column == verdict => human::painted(cell, palette),
                _ => cell.to_owned(),
            };
            let _ = write!(text, "\n{}\n{}", palette.strong(name), table(rows, palette, paint));
        }
        text
    }
}

/// What there is to say of a combination in a line.
fn in_short(decided: &Decided) -> String {
    let what = human::in_short(decided);
    if what.is_empty() { counted(decided.statistics.states, "state") } else { what }
}

//! A table of all that was decided, a row for each file or kernel, and what stands in the way of those that
//! were not: for terminals, or as Markdown to be kept.

use super::reporter::Reporter;
use crate::cli::decided::Decided;
use crate::cli::human;
use crate::cli::input::display_name;
use crate::cli::output::{Look, Palette, bytes, counted, grouped};
use crate::cli::sweep;
use crate::cli::table::table;
use crate::cli::tally::Tally;
use crate::cli::written::Written;
use barcheck::{Cause, Verdict};
use barcheck_model::rule::Level;
use barcheck_specs::Severity;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Entries that are named of those that have one thing in common.
const MOST_NAMED: usize = 6;

const HEADING: [&str; 8] = ["file", "kernel", "verdict", "rules", "assumed", "states", "time", "memory"];

/// The table in the making.
pub(super) struct Listing {
    look: Look,
    markdown: bool,
    rows: Vec<Vec<String>>,
    /// Why entries have no verdict: how many of which kind, and which.
    open: BTreeMap<(Cause, String), Vec<String>>,
    /// What is taken for true, and of which entries.
    assumed: BTreeMap<String, Vec<String>>,
}

impl Listing {
    pub(super) fn new(look: Look, markdown: bool) -> Self {
        let rows = vec![HEADING.map(str::to_owned).to_vec()];
        Self { look, markdown, rows, open: BTreeMap::new(), assumed: BTreeMap::new() }
    }
}

impl Reporter for Listing {
    fn file(&mut self, decided: &Decided, _: &[Written]) -> String {
        let file = display_name(&decided.path);
        let kernel = decided.kernel_in_short();
        let with = (!decided.parameters.is_empty()).then(|| sweep::shown(&decided.parameters));
        let which = kernel.into_iter().chain(with).collect::<Vec<_>>().join(" ");
        let rules: BTreeSet<&str> = decided
            .findings
            .iter()
            .filter(|found| found.level >= Level::Warning)
            .map(|found| found.rule.name())
            .collect();
        let short = if which.is_empty() { file.clone() } else { which.clone() };
        let assumptions = assumptions(decided);
        for assumption in &assumptions {
            self.assumed.entry(assumption.clone()).or_default().push(short.clone());
        }
        if !matches!(decided.verdict, Verdict::Verified | Verdict::Violated) {
            let reason = decided.reason.as_ref();
            let (cause, why) = reason.map_or((Cause::Other, String::new()), |r| (r.cause, kind_of(&r.what)));
            self.open.entry((cause, why)).or_default().push(short);
        }
        let statistics = &decided.statistics;
        self.rows.push(vec![
            file,
            which,
            decided.verdict.name().to_owned(),
            rules.into_iter().collect::<Vec<_>>().join(", "),
            if assumptions.is_empty() { String::new() } else { assumptions.len().to_string() },
            grouped(statistics.states),
            format!("{:.2} s", statistics.seconds),
            bytes(statistics.peak_memory_bytes),
        ]);
        String::new()
    }

    fn end(&mut self, tally: &Tally) -> String {
        let palette = self.look.palette;
        let mut text = if self.markdown { markdown(&self.rows) } else { self.plain(palette) };
        let open: Vec<Group<'_>> =
            self.open.iter().map(|((cause, what), of)| (Some(*cause), what, of)).collect();
        text.push_str(&self.groups("What stands in the way", &open));
        let assumed: Vec<Group<'_>> = self.assumed.iter().map(|(what, of)| (None, what, of)).collect();
        text.push_str(&self.groups("What is assumed", &assumed));
        let _ = write!(text, "\n{}", tally.line(palette));
        text
    }
}

/// What several entries have in common, and which.
type Group<'g> = (Option<Cause>, &'g String, &'g Vec<String>);

impl Listing {
    fn plain(&self, palette: Palette) -> String {
        table(&self.rows, palette, |column, cell| match column {
            2 => human::painted(cell, palette),
            _ => cell.to_owned(),
        })
    }

    /// Groups of entries, those with most first.
    fn groups(&self, title: &str, groups: &[Group<'_>]) -> String {
        if groups.is_empty() {
            return String::new();
        }
        let mut groups = groups.to_vec();
        groups.sort_by_key(|(cause, what, of)| (*cause, std::cmp::Reverse(of.len()), *what));
        let mut text = if self.markdown { format!("\n{title}:\n\n") } else { format!("\n{title}\n") };
        for (cause, what, of) in groups {
            let mut named: Vec<String> = of.iter().take(MOST_NAMED).map(|name| self.name(name)).collect();
            if of.len() > MOST_NAMED {
                named.push(format!("{} more", of.len() - MOST_NAMED));
            }
            let cause = cause.map(|cause| format!("{}: ", in_words(cause)));
            let cause = cause.filter(|cause| !what.starts_with(cause)).unwrap_or_default();
            let count = counted(of.len() as u64, "time");
            let bullet = if self.markdown { "*" } else { " " };
            let _ = writeln!(text, "{bullet} {cause}{what}, {count}: {}", named.join(", "));
        }
        text
    }

    fn name(&self, name: &str) -> String {
        if self.markdown { format!("`{name}`") } else { name.to_owned() }
    }
}

fn in_words(cause: Cause) -> &'static str {
    match cause {
        Cause::NotFollowed => "not followed",
        Cause::Data => "rests on data",
        Cause::Budget => "a budget is used up",
        Cause::Other => "no verdict",
    }
}

/// What is taken for true of a kernel, each once, without the places.
fn assumptions(decided: &Decided) -> Vec<String> {
    let notes = decided.diagnostics.iter().filter(|note| note.severity != Severity::Error);
    let kinds: BTreeSet<String> = notes.map(|note| kind_of(&note.message)).collect();
    kinds.into_iter().collect()
}

/// A message without what differs from place to place: numbers, and what follows a semicolon.
fn kind_of(message: &str) -> String {
    let message = message.split("; ").next().unwrap_or_default();
    let mut kind = String::with_capacity(message.len());
    let mut rest = message.chars().peekable();
    let (mut in_number, mut before) = (false, ' ');
    while let Some(c) = rest.next() {
        // A digit of a name stays: `bar2`, `sm_90`.
        let begins = c.is_ascii_digit() && !(before.is_alphanumeric() || before == '_');
        let goes_on = c.is_ascii_digit() || ",.".contains(c) && rest.peek().is_some_and(char::is_ascii_digit);
        let is_number = if in_number { goes_on } else { begins };
        if !is_number {
            kind.push(c);
        } else if !in_number {
            kind.push('N');
        }
        (in_number, before) = (is_number, c);
    }
    kind
}

/// The rows as a table in Markdown.
fn markdown(rows: &[Vec<String>]) -> String {
    let mut text = String::new();
    for (number, row) in rows.iter().enumerate() {
        let cell = |(column, cell): (usize, &String)| {
            let cell = cell.replace('\\', "\\\\").replace('|', "\\|").replace(['\n', '\r'], " ");
            // What is typed stands as code; so do names in which a line could mean something else.
            if number > 0 && column < 2 && !cell.is_empty() {
                format!("`{}`", cell.replace('`', "'"))
            } else {
                cell
            }
        };
        let cells: Vec<String> = row.iter().enumerate().map(cell).collect();
        let _ = writeln!(text, "| {} |", cells.join(" | "));
        if number == 0 {
            let _ = writeln!(text, "|{}", "---|".repeat(row.len()));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_from_place_to_place_is_left_out() {
        assert_eq!(kind_of("gave up after 2,000 states, 1.5 s; n"), "gave up after N states, N s");
        assert_eq!(kind_of("`bar2` of sm_90 at 128 x 1"), "`bar2` of sm_90 at N x N");
    }

    #[test]
    fn cells_cannot_end_a_row() {
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        let rows = [row(["file", "kernel", "verdict"]), row(["a|b", "x`y", "z\nw"])];
        assert_eq!(
            markdown(&rows),
            "| file | kernel | verdict |\n|---|---|---|\n| `a\\|b` | `x'y` | z w |\n"
        );
    }
}

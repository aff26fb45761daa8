//! A trace for the terminal: what happened step by step, how it ended, and why.

mod end;
mod paint;
mod rows;
mod style;

use std::collections::BTreeSet;
use std::ops::Range;

use crate::names::{self, noun};
use crate::render::harmless::harmless;
use crate::trace::{Situation, Trace};
use paint::{Ink, cut, pad, pad_left};
pub(crate) use paint::{Sign, wrap};
pub(crate) use rows::{Row, remarks, rows, sign};
pub use style::Style;

/// Rows shown of a long trace: at its beginning and at its end.
pub(crate) const FIRST_ROWS: usize = 12;
pub(crate) const LAST_ROWS: usize = 28;
/// Columns of instructions, at most.
const MOST_INSTRUCTION: usize = 44;

/// A trace as text for the terminal.
#[must_use]
pub fn narrative(trace: &Trace, style: &Style) -> String {
    let style = Style { width: style.width.max(40), ..*style };
    let mut lines = Vec::new();
    heading(trace, &style, &mut lines);
    Diagram::of(trace, style).draw(&mut lines);
    end::draw(trace, &style, &mut lines);
    let mut text: String = lines.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n");
    text.push('\n');
    text
}

fn heading(trace: &Trace, style: &Style, lines: &mut Vec<String>) {
    if style.headline {
        for line in wrap(&harmless(&trace.outcome.headline), style.width) {
            lines.push(style.paint(Ink::Bad, &line));
        }
    }
    let facts = names::facts(trace);
    lines.extend(wrap(&harmless(&facts), style.width).iter().map(|line| style.paint(Ink::Faint, line)));
    let roles = end::roles(trace);
    if !roles.is_empty() {
        lines.extend(wrap(&harmless(&roles), style.width).iter().map(|line| style.paint(Ink::Faint, line)));
    }
    lines.push(String::new());
}

/// The rows and columns of a narrative.
struct Diagram<'t> {
    trace: &'t Trace,
    style: Style,
    rows: Vec<Row<'t>>,
    /// The agents that have a column.
    columns: Vec<u32>,
    column: usize,
    number: usize,
    instruction: usize,
}

impl<'t> Diagram<'t> {
    fn of(trace: &'t Trace, style: Style) -> Self {
        let rows = rows(trace);
        let number = rows.iter().map(|r| r.numbers().len()).max().unwrap_or(0).max(4);
        let column = trace.agents.len().saturating_sub(1).to_string().len() + 2;
        let widest = |row: &Row<'_>| unicode_width::UnicodeWidthStr::width(text_of(row).as_str());
        let instruction = rows.iter().map(widest).max().unwrap_or(0).clamp(11, MOST_INSTRUCTION);
        let mut diagram = Self { trace, style, rows, columns: Vec::new(), column, number, instruction };
        let room = style.width.saturating_sub(number + 7 + instruction.min(24) + 14) / column;
        diagram.columns = chosen(trace, room.max(2));
        let left = style.width.saturating_sub(diagram.margin() + 14);
        diagram.instruction = instruction.min(left.max(16));
        diagram
    }

    /// Columns before the instruction.
    fn margin(&self) -> usize {
        self.number + 8 + self.columns.len() * self.column
    }

    fn draw(&self, lines: &mut Vec<String>) {
        if self.rows.is_empty() {
            lines.push("No step is made: it is so from the beginning.".to_owned());
            return;
        }
        self.head(lines);
        let hidden = self.hidden();
        let mut situation = self.trace.situation(0);
        let mut shown = Vec::new();
        let mut made = 0;
        for (index, row) in self.rows.iter().enumerate() {
            made += row.steps.len();
            if hidden.contains(&index) {
                continue;
            }
            if index == hidden.end && !hidden.is_empty() {
                situation = self.trace.situation(made);
            } else {
                row.steps.iter().for_each(|step| situation.apply(&step.changes));
            }
            self.omission(index, &hidden, lines);
            if self.trace.outcome.cycle_from == Some(row.first()) {
                lines.push(self.style.paint(Ink::Heading, &self.style.rule("from here on, again and again")));
            }
            shown.extend(self.columns.iter().map(|agent| sign(row, &situation, *agent)));
            self.row(row, &situation, lines);
        }
        if let Some(from) = self.trace.outcome.cycle_from {
            let back = format!("back to step {}", from + 1);
            lines.push(self.style.paint(Ink::Heading, &self.style.rule(&back)));
        }
        self.foot(&shown, lines);
    }

    /// The rows left out, by position.
    fn hidden(&self) -> Range<usize> {
        if self.style.all { 0..0 } else { left_out(self.rows.len(), FIRST_ROWS, LAST_ROWS) }
    }

    /// Says what is left out before a row that is shown.
    fn omission(&self, row: usize, hidden: &Range<usize>, lines: &mut Vec<String>) {
        let shown_before = if row == hidden.end { hidden.start } else { row };
        let from = shown_before.checked_sub(1).map_or(0, |before| self.rows[before].last() + 1);
        let to = self.rows[row].first();
        if from >= to {
            return;
        }
        let cycle = self.trace.outcome.cycle_from.filter(|cycle| (from..to).contains(cycle));
        let cycle = cycle.map(|from| format!("; the cycle begins at step {}", from + 1)).unwrap_or_default();
        let dots = if self.style.unicode { "⋮" } else { ":" };
        let steps = to - from;
        let text = format!("{} {steps} steps left out{cycle}", pad_left(dots, self.number));
        lines.push(self.style.paint(Ink::Faint, &text));
    }

    fn head(&self, lines: &mut Vec<String>) {
        let letter = names::letter(noun(self.trace));
        let mut line = format!("{} {}", pad_left("step", self.number), pad_left("line", 5));
        for agent in &self.columns {
            line.push_str(&pad_left(&format!("{letter}{agent}"), self.column));
        }
        line.push_str(&format!("  {}  after it", pad("instruction", self.instruction)));
        lines.push(self.style.paint(Ink::Heading, &line));
    }

    fn row(&self, row: &Row<'_>, after: &Situation, lines: &mut Vec<String>) {
        let line = row.steps.first().map_or(0, |s| s.location.line);
        let line = if line == 0 { String::new() } else { line.to_string() };
        let mut text = format!("{} {}", pad_left(&row.numbers(), self.number), pad_left(&line, 5));
        for agent in &self.columns {
            let (sign, ink) = self.style.sign(sign(row, after, *agent));
            text.push_str(&" ".repeat(self.column.saturating_sub(1)));
            text.push_str(&self.style.paint(ink, sign));
        }
        let mut instruction = text_of(row);
        if row.steps.iter().any(|s| !self.columns.contains(&s.agent)) {
            // An agent without a column is named.
            let agents: Vec<u32> =
                row.steps.iter().map(|s| s.agent).collect::<BTreeSet<_>>().into_iter().collect();
            instruction = format!("{}: {instruction}", names::agents(noun(self.trace), &agents));
        }
        let shown = cut(&instruction, self.instruction, self.style.unicode);
        text.push_str("  ");
        text.push_str(&pad(&shown, self.instruction));
        let remarks = remarks(self.trace, row, after);
        let mut said: Vec<(Ink, String)> = remarks.violated.iter().map(|v| (Ink::Bad, harmless(v))).collect();
        said.push((Ink::Goes, harmless(&remarks.happened.join(", "))));
        said.push((Ink::Barrier, harmless(&remarks.counters)));
        said.retain(|(_, text)| !text.is_empty());
        self.remark(&said, text, lines);
    }

    /// Puts remarks behind a row as far as they fit, and below it otherwise.
    fn remark(&self, said: &[(Ink, String)], row: String, lines: &mut Vec<String>) {
        let start = self.margin() + self.instruction + 2;
        let mut line = row;
        let mut at = start - 2;
        for (ink, text) in said {
            let width = unicode_width::UnicodeWidthStr::width(text.as_str());
            if at > start && at + 2 + width > self.style.width
                || at + 2 + width > self.style.width.max(start + 20)
            {
                lines.push(std::mem::take(&mut line));
                // Below, there is room from the instruction on.
                let indent = if start + width <= self.style.width { start } else { self.margin() + 2 };
                let room = self.style.width.saturating_sub(indent).max(20);
                let mut pieces = wrap(text, room);
                let last = pieces.pop().unwrap_or_default();
                for piece in pieces {
                    lines.push(format!("{}{}", " ".repeat(indent), self.style.paint(*ink, &piece)));
                }
                at = indent + unicode_width::UnicodeWidthStr::width(last.as_str());
                line = format!("{}{}", " ".repeat(indent), self.style.paint(*ink, &last));
            } else {
                line.push_str("  ");
                line.push_str(&self.style.paint(*ink, text));
                at += 2 + width;
            }
        }
        lines.push(line);
    }

    fn foot(&self, shown: &[Sign], lines: &mut Vec<String>) {
        let meanings = [
            (Sign::Acts, "goes on"),
            (Sign::Blocks, "blocks"),
            (Sign::Waiting, "blocked"),
            (Sign::Released, "released"),
            (Sign::Exits, "exits"),
            (Sign::Fails, "may not"),
        ];
        let used = meanings.into_iter().filter(|(sign, _)| shown.contains(sign));
        let legend: Vec<String> =
            used.map(|(sign, meaning)| format!("{} {meaning}", self.style.sign(sign).0)).collect();
        lines.push(
            self.style.paint(Ink::Faint, &format!("{}{}", " ".repeat(self.number + 1), legend.join("   "))),
        );
        let without = self.trace.agents.len() - self.columns.len();
        if without > 0 {
            let text = format!(
                "{without} {}s have no column: those shown are concerned, or act last.",
                noun(self.trace)
            );
            lines.push(self.style.paint(Ink::Faint, &format!("{}{text}", " ".repeat(self.number + 1))));
        }
        lines.push(String::new());
    }
}

/// Of so many rows those left out, if the first and the last are kept; none, if that would save nothing.
pub(crate) fn left_out(rows: usize, first: usize, last: usize) -> Range<usize> {
    if rows <= first + last + 1 { 0..0 } else { first..rows - last }
}

/// A row's instruction, lanes included.
pub(crate) fn text_of(row: &Row<'_>) -> String {
    let Some(step) = row.steps.first() else { return String::new() };
    let lanes = step.lanes.as_ref().map(|l| format!(" [{}]", names::lanes_of(l))).unwrap_or_default();
    harmless(&format!("{}{lanes}", step.resolved))
}

/// The agents that get a column: all if there is room; else those concerned, then those that act last.
pub(crate) fn chosen(trace: &Trace, room: usize) -> Vec<u32> {
    let all: Vec<u32> = trace.agents.iter().map(|a| a.index).collect();
    if all.len() <= room {
        return all;
    }
    let outcome = &trace.outcome;
    let mut chosen = BTreeSet::new();
    let concerned = [outcome.agent].into_iter();
    let concerned =
        concerned.chain(outcome.related.iter().map(|r| r.agent)).chain(outcome.agents.iter().copied());
    let acting = trace.steps.iter().rev().map(|s| s.agent);
    for agent in concerned.chain(acting).chain(all) {
        if chosen.len() >= room {
            break;
        }
        chosen.insert(agent);
    }
    chosen.into_iter().collect()
}

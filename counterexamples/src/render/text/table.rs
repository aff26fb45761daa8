//! The table of steps.

use std::collections::BTreeSet;

use unicode_width::UnicodeWidthStr;

use super::columns::{self, Column};
use super::paint::{Ink, Sign, cut, pad, pad_left, wrap};
use super::rows::{FIRST_ROWS, LAST_ROWS, Row, compact, left_out, remarks, rows, sign, text_of};
use super::spells::{shown, spells};
use super::style::Style;
use crate::names::{self, noun};
use crate::render::harmless::harmless;
use crate::trace::{Situation, Trace};

/// Columns of instructions, at most.
const MOST_INSTRUCTION: usize = 44;
/// Columns between two agents.
const APART: usize = 1;

/// The rows and columns.
pub(super) struct Table<'t> {
    trace: &'t Trace,
    style: Style,
    rows: Vec<Row<'t>>,
    /// The rows that are shown, by position.
    shown: BTreeSet<usize>,
    /// Who has a column.
    columns: Vec<Column>,
    /// Agents that are alike share a column.
    folded: bool,
    number: usize,
    instruction: usize,
}

impl<'t> Table<'t> {
    pub(super) fn of(trace: &'t Trace, style: Style) -> Self {
        let room = |number: usize| style.width.saturating_sub(number + 7 + 24 + 14);
        let widest = trace.steps.last().map_or(0, |step| step.index + 1).to_string().len();
        let end = trace.last_situation();
        let fold = || columns::folded(trace, &end, room(2 * widest + 1), APART);
        let folded = if style.all { None } else { fold() };
        let (rows, columns, is_folded) = match folded {
            Some(columns) => (spells(trace, &columns), columns, true),
            None => (rows(trace), columns::single(trace, room(2 * widest + 1), APART), false),
        };
        let shown = if style.all {
            (0..rows.len()).collect()
        } else if is_folded {
            shown(trace, &rows, &columns)
        } else {
            let hidden = left_out(rows.len(), FIRST_ROWS, LAST_ROWS);
            (0..rows.len()).filter(|row| !hidden.contains(row)).collect()
        };
        let number = rows.iter().map(|r| r.numbers().len()).max().unwrap_or(0).max(4);
        let widest = rows.iter().map(|row| row_text(row).width()).max().unwrap_or(0);
        let instruction = widest.clamp(11, MOST_INSTRUCTION);
        let mut table = Self { trace, style, rows, shown, columns, folded: is_folded, number, instruction };
        let left = style.width.saturating_sub(table.margin() + if is_folded { 26 } else { 14 });
        table.instruction = instruction.min(left.max(16));
        table
    }

    /// Columns before the instruction.
    fn margin(&self) -> usize {
        self.number + 8 + self.columns.iter().map(width).sum::<usize>()
    }

    pub(super) fn draw(&self, lines: &mut Vec<String>) {
        if self.rows.is_empty() {
            lines.push("No step is made: it is so from the beginning.".to_owned());
            lines.push(String::new());
            return;
        }
        self.head(lines);
        let mut situation = self.trace.situation(0);
        let mut signs = Vec::new();
        let mut before = None;
        for (index, row) in self.rows.iter().enumerate() {
            row.steps.iter().for_each(|step| situation.apply(&step.changes));
            if !self.shown.contains(&index) {
                continue;
            }
            self.omission(before, index, lines);
            before = Some(index);
            if self.trace.outcome.cycle_from == Some(row.first()) {
                lines.push(self.style.paint(Ink::Heading, &self.style.rule("from here on, again and again")));
            }
            let cells: Vec<Cell> = self.columns.iter().map(|c| Cell::of(row, &situation, c)).collect();
            signs.extend(cells.iter().map(|cell| cell.sign));
            self.row(row, &cells, &situation, lines);
        }
        if let Some(from) = self.trace.outcome.cycle_from {
            let back = format!("back to step {}", from + 1);
            lines.push(self.style.paint(Ink::Heading, &self.style.rule(&back)));
        }
        self.foot(&signs, lines);
    }

    /// Says what is left out between two rows that are shown.
    fn omission(&self, before: Option<usize>, row: usize, lines: &mut Vec<String>) {
        let from = before.map_or(0, |before| self.rows[before].last() + 1);
        let to = self.rows[row].first();
        if from >= to {
            return;
        }
        let cycle = self.trace.outcome.cycle_from.filter(|cycle| (from..to).contains(cycle));
        let cycle = cycle.map(|from| format!("; the cycle begins at step {}", from + 1)).unwrap_or_default();
        let dots = if self.style.unicode { "⋮" } else { ":" };
        let steps = to - from;
        let plural = if steps == 1 { "" } else { "s" };
        let text = format!("{} {steps} step{plural} left out{cycle}", pad_left(dots, self.number));
        lines.push(self.style.paint(Ink::Faint, &text));
    }

    fn head(&self, lines: &mut Vec<String>) {
        let mut line = format!("{} {}", pad_left("step", self.number), pad_left("line", 5));
        for column in &self.columns {
            line.push_str(&pad_left(&column.title, width(column)));
        }
        line.push_str(&format!("  {}  after it", pad("instruction", self.instruction)));
        lines.push(self.style.paint(Ink::Heading, &line));
    }

    fn row(&self, row: &Row<'_>, cells: &[Cell], after: &Situation, lines: &mut Vec<String>) {
        let line = row.steps.first().map_or(0, |s| s.location.line);
        let line = if line == 0 { String::new() } else { line.to_string() };
        let mut text = format!("{} {}", pad_left(&row.numbers(), self.number), pad_left(&line, 5));
        for (column, cell) in self.columns.iter().zip(cells) {
            let (sign, ink) = self.style.sign(cell.sign);
            let of = if cell.of < column.agents.len() { cell.of.to_string() } else { String::new() };
            // The sign stands where the title ends; how many it is for, behind it.
            let room = width(column).saturating_sub(1 + digits(column));
            text.push_str(&" ".repeat(room));
            text.push_str(&self.style.paint(ink, sign));
            text.push_str(&pad(&of, digits(column)));
        }
        let mut instruction = row_text(row);
        let has_column = |agent: u32| self.columns.iter().any(|column| column.agents.contains(&agent));
        if row.steps.iter().any(|s| !has_column(s.agent)) {
            // An agent without a column is named.
            let agents = names::distinct(row.steps.iter().map(|s| s.agent));
            instruction = format!("{}: {instruction}", names::agents(noun(self.trace), &agents));
        }
        let shown = cut(&instruction, self.instruction, self.style.unicode);
        text.push_str("  ");
        text.push_str(&pad(&shown, self.instruction));
        let remarks =
            if self.folded { compact(self.trace, row, after) } else { remarks(self.trace, row, after) };
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
            let width = text.width();
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
                at = indent + last.width();
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
        let indent = " ".repeat(self.number + 1);
        lines.push(self.style.paint(Ink::Faint, &format!("{indent}{}", legend.join("   "))));
        let without = self.trace.agents.len() - self.columns.iter().map(|c| c.agents.len()).sum::<usize>();
        if without > 0 {
            let text = format!(
                "{without} {}s have no column: those shown are concerned, or act last.",
                noun(self.trace)
            );
            lines.push(self.style.paint(Ink::Faint, &format!("{indent}{text}")));
        }
        lines.push(String::new());
    }
}

/// What stands in a column of a row: a sign, and for how many of its agents.
struct Cell {
    sign: Sign,
    of: usize,
}

impl Cell {
    fn of(row: &Row<'_>, after: &Situation, column: &Column) -> Self {
        let signs: Vec<Sign> = column.agents.iter().map(|agent| sign(row, after, *agent)).collect();
        let count = |wanted: &[Sign]| signs.iter().filter(|sign| wanted.contains(sign)).count();
        // All are free again, whoever of them freed the others.
        let freed = count(&[Sign::Released, Sign::Acts]);
        if count(&[Sign::Released]) > 0 && freed == signs.len() {
            return Self { sign: Sign::Released, of: freed };
        }
        let by_weight = [
            Sign::Fails,
            Sign::Exits,
            Sign::Blocks,
            Sign::Acts,
            Sign::Released,
            Sign::Waiting,
            Sign::Idle,
            Sign::Gone,
        ];
        let sign = by_weight.into_iter().find(|sign| signs.contains(sign)).unwrap_or(Sign::Gone);
        Self { sign, of: count(&[sign]) }
    }
}

/// Columns of text that a column takes.
fn width(column: &Column) -> usize {
    column.title.width().max(1 + digits(column)) + APART
}

/// Columns for how many a sign is for.
fn digits(column: &Column) -> usize {
    if column.agents.len() > 1 { column.agents.len().to_string().len() } else { 0 }
}

/// A row's instructions, lanes included.
fn row_text(row: &Row<'_>) -> String {
    let mut texts: Vec<String> = Vec::new();
    for step in row.steps.iter().take(row.parts) {
        let text = text_of(&Row { steps: vec![*step], parts: 1 });
        if texts.last() != Some(&text) {
            texts.push(text);
        }
    }
    texts.join("; ")
}

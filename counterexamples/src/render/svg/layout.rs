//! Where everything is: a column for each agent, a row for each step or several alike.

use std::ops::Range;

use unicode_width::UnicodeWidthStr;

use crate::names::{self, noun};
use crate::objects::phases;
use crate::render::escape;
use crate::render::text::{FIRST_ROWS, LAST_ROWS, Row, chosen, left_out, remarks, rows, text_of, wrap};
use crate::trace::{Situation, Trace};

/// Width of a letter of the texts beside the lanes, in pixels.
pub(super) const LETTER: f64 = 7.3;
/// The same of the headline, which is larger. Its letters are all of one width, too: what is put instead of a
/// font that is not there may be far wider.
const BOLD_LETTER: f64 = 8.6;
/// Height of a line of text.
pub(super) const LINE: f64 = 15.0;
/// Distance of the picture's contents from its edges.
pub(super) const MARGIN: f64 = 16.0;
/// Height of the heads of the columns.
const HEAD: f64 = 54.0;
/// Width of the numbers of lines, and of the bracket around a cycle before those of steps.
const LINES: f64 = 54.0;
const BRACKET: f64 = 26.0;
/// Objects that have a column.
const MOST_OBJECTS: usize = 12;
/// Agents that have a column.
const MOST_COLUMNS: usize = 32;
/// Letters of an instruction, and of a line of what happened.
const MOST_INSTRUCTION: usize = 44;
const MOST_REMARK: usize = 46;
/// Lines of a remark.
const MOST_LINES: usize = 4;

/// A row and where it is.
pub(super) struct Placed<'t> {
    pub(super) row: Row<'t>,
    /// The state after it, of the agents that have a column.
    pub(super) after: Situation,
    pub(super) top: f64,
    pub(super) height: f64,
    pub(super) instruction: String,
    /// What happened, line by line.
    pub(super) remarks: Vec<String>,
    /// What is violated at this very step.
    pub(super) violated: Vec<String>,
}

impl Placed<'_> {
    /// Where its signs are.
    pub(super) fn y(&self) -> f64 {
        self.top + 11.0
    }
}

/// The whole picture.
pub(super) struct Layout<'t> {
    pub(super) trace: &'t Trace,
    /// The rows that are shown, in order.
    pub(super) rows: Vec<Placed<'t>>,
    /// Behind which of the shown rows some are left out, and how many steps they have.
    pub(super) gap: Option<(usize, usize)>,
    pub(super) columns: Vec<u32>,
    pub(super) spacing: f64,
    /// The mbarrier objects that have a column beside the agents, and their names.
    pub(super) objects: Vec<(u32, String)>,
    object_spacing: f64,
    /// The lines above the lanes.
    pub(super) headline: Vec<String>,
    pub(super) facts: Vec<String>,
    /// Where the lanes begin, below their heads, and where they end.
    pub(super) top: f64,
    pub(super) bottom: f64,
    /// Where the columns and the texts begin.
    pub(super) left: f64,
    pub(super) instructions: f64,
    pub(super) remarks: f64,
    pub(super) width: f64,
}

impl<'t> Layout<'t> {
    pub(super) fn of(trace: &'t Trace, warning: Option<&str>) -> Self {
        let columns = chosen(trace, MOST_COLUMNS);
        let spacing = spacing(trace, &columns);
        let bracket = if trace.outcome.cycle_from.is_some() { BRACKET } else { 0.0 };
        let (mut placed, gap) = shown(trace, &columns);
        let widest =
            |least: usize, texts: &mut dyn Iterator<Item = usize>| texts.fold(least, usize::max) as f64;
        let number = widest(5, &mut placed.iter().map(|placed| placed.row.numbers().width()));
        let left = MARGIN + bracket + number * LETTER + LINES;
        let instruction = widest(11, &mut placed.iter().map(|placed| placed.instruction.width()));
        let said = placed.iter().flat_map(|placed| placed.remarks.iter().chain(&placed.violated));
        let remark = widest(11, &mut said.map(|line| line.width()));
        let (objects, without_objects) = objects(trace);
        let longest = objects.iter().map(|(_, name)| name.width()).max().unwrap_or(0) as f64;
        let object_spacing = (longest * LETTER + 8.0).max(40.0);
        let lanes = columns.len() as f64 * spacing + objects.len() as f64 * object_spacing;
        let instructions = left + lanes + 10.0;
        let remarks = instructions + instruction * LETTER + 16.0;
        let width = (remarks + remark * LETTER + MARGIN).max(560.0);
        let lines = |text: &str, letter: f64| -> Vec<String> {
            let letters = ((width - 2.0 * MARGIN) / letter) as usize;
            // What has no spaces does not break.
            wrap(&escape::line(text, 600), letters).iter().map(|line| escape::line(line, letters)).collect()
        };
        let headline = lines(&trace.outcome.headline, BOLD_LETTER);
        let mut facts = lines(&names::facts(trace), LETTER);
        facts.extend(warning.map(|said| lines(said, LETTER)).into_iter().flatten());
        let without = trace.agents.len() - columns.len();
        if without > 0 {
            facts.push(format!(
                "{without} {}s have no column: those shown are concerned, or act last",
                noun(trace)
            ));
        }
        if without_objects > 0 {
            facts.push(format!("{without_objects} mbarriers have no column"));
        }
        let top = MARGIN + (headline.len() as f64) * 19.0 + (facts.len() as f64) * LINE + HEAD;
        let bottom = place(&mut placed, gap, top);
        Self {
            trace,
            rows: placed,
            gap,
            columns,
            spacing,
            objects,
            object_spacing,
            headline,
            facts,
            top,
            bottom,
            left,
            instructions,
            remarks,
            width,
        }
    }

    /// The middle of an agent's column.
    pub(super) fn x(&self, agent: u32) -> Option<f64> {
        let at = self.columns.iter().position(|column| *column == agent)?;
        Some(self.left + (at as f64 + 0.5) * self.spacing)
    }

    /// The position of an object's column among those of objects.
    pub(super) fn object_at(&self, barrier: u32) -> Option<usize> {
        self.objects.iter().position(|(object, _)| *object == barrier)
    }

    /// The middle of an object's column.
    pub(super) fn object_x(&self, barrier: u32) -> Option<f64> {
        let lanes = self.left + self.columns.len() as f64 * self.spacing;
        Some(lanes + (self.object_at(barrier)? as f64 + 0.5) * self.object_spacing)
    }

    /// Whether what begins and ends at these steps is among those left out altogether.
    pub(super) fn leaves_out(&self, from: usize, to: Option<usize>) -> bool {
        let Some((behind, _)) = self.gap else { return false };
        let (Some(before), Some(after)) = (self.rows.get(behind), self.rows.get(behind + 1)) else {
            return false;
        };
        from > before.row.last() && to.is_some_and(|to| to < after.row.first())
    }

    /// Where the row of a step, by its position, is among those shown; the nearest one after it, if it is
    /// left out.
    pub(super) fn row_of(&self, step: usize) -> Option<usize> {
        self.rows.iter().position(|placed| placed.row.last() >= step)
    }
}

/// The objects that have a column, those that the outcome is about and those in use first, and how many have
/// none.
fn objects(trace: &Trace) -> (Vec<(u32, String)>, usize) {
    let all = phases(trace);
    let end = trace.last_situation();
    let in_use = |barrier: u32| end.barriers.get(&barrier).is_some_and(|state| state.active);
    let mut kept: Vec<u32> = all.keys().copied().collect();
    kept.sort_by_key(|barrier| (trace.outcome.barrier != Some(*barrier), !in_use(*barrier), *barrier));
    kept.truncate(MOST_OBJECTS);
    kept.sort_unstable();
    let without = all.len() - kept.len();
    let named = kept.into_iter().map(|barrier| (barrier, escape::object(&names::short(trace, barrier), 12)));
    (named.collect(), without)
}

/// The width of a column: so that the names of roles have room above theirs, as far as there is any.
fn spacing(trace: &Trace, columns: &[u32]) -> f64 {
    let role = |agent: &u32| trace.agents.get(*agent as usize).and_then(|agent| agent.role.as_deref());
    let needed = columns.chunk_by(|a, b| role(a) == role(b)).filter_map(|alike| {
        let name = role(alike.first()?)?;
        Some((name.width() as f64 * LETTER + 8.0) / alike.len() as f64)
    });
    let (least, most) =
        if columns.len() > 12 { (22.0, 22.0) } else { (32.0, 420.0 / columns.len().max(1) as f64) };
    needed.fold(least, f64::max).min(f64::max(least, most).min(110.0))
}

/// The rows to be shown, and where some are left out.
fn shown<'t>(trace: &'t Trace, columns: &[u32]) -> (Vec<Placed<'t>>, Option<(usize, usize)>) {
    let all = rows(trace);
    let hidden = left_out(all.len(), FIRST_ROWS, LAST_ROWS);
    let gap = gap(&all, &hidden);
    let mut situation = trace.situation(0);
    let mut shown = Vec::new();
    for (index, row) in all.into_iter().enumerate() {
        for step in &row.steps {
            situation.apply(&step.changes);
        }
        if !hidden.contains(&index) {
            shown.push(prepared(trace, columns, row, &situation));
        }
    }
    (shown, gap)
}

fn gap(rows: &[Row<'_>], hidden: &Range<usize>) -> Option<(usize, usize)> {
    let behind = hidden.start.checked_sub(1).filter(|_| !hidden.is_empty())?;
    Some((behind, rows.get(hidden.clone())?.iter().map(|row| row.steps.len()).sum()))
}

fn prepared<'t>(trace: &Trace, columns: &[u32], row: Row<'t>, after: &Situation) -> Placed<'t> {
    let said = remarks(trace, &row, after);
    let mut instruction = text_of(&row);
    if row.steps.iter().any(|step| !columns.contains(&step.agent)) {
        let mut agents: Vec<u32> = row.steps.iter().map(|step| step.agent).collect();
        agents.sort_unstable();
        instruction = format!("{}: {instruction}", names::agents(noun(trace), &agents));
    }
    let counters = said.counters.split("  ").filter(|counter| !counter.is_empty());
    let remarks = packed(said.happened.iter().map(String::as_str).chain(counters));
    let violated: Vec<String> = said.violated.iter().map(|rule| escape::line(rule, MOST_REMARK)).collect();
    let lines = (remarks.len() + violated.len()).max(1);
    Placed {
        after: Situation {
            agents: columns.iter().filter_map(|a| Some((*a, after.agents.get(a)?.clone()))).collect(),
            ..Situation::default()
        },
        top: 0.0,
        height: (lines as f64 * LINE + 7.0).max(22.0),
        instruction: escape::line(&instruction, MOST_INSTRUCTION),
        remarks,
        violated,
        row,
    }
}

/// Pieces in as few lines as may be, broken where one ends rather than within it.
fn packed<'p>(pieces: impl Iterator<Item = &'p str>) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for piece in pieces {
        for part in wrap(&escape::line(piece, MOST_REMARK * MOST_LINES), MOST_REMARK) {
            match lines.last_mut() {
                Some(line) if line.width() + part.width() + 2 <= MOST_REMARK => {
                    *line = format!("{line}; {part}");
                }
                _ => lines.push(escape::line(&part, MOST_REMARK)),
            }
        }
    }
    if lines.len() > MOST_LINES {
        lines.truncate(MOST_LINES - 1);
        lines.push("\u{2026}".to_owned());
    }
    lines
}

/// Gives each row its place, and room where some are left out; where the last ends.
fn place(rows: &mut [Placed<'_>], gap: Option<(usize, usize)>, top: f64) -> f64 {
    let mut y = top;
    for (index, placed) in rows.iter_mut().enumerate() {
        placed.top = y;
        y += placed.height;
        if gap.is_some_and(|(behind, _)| behind == index) {
            y += 26.0;
        }
    }
    y
}

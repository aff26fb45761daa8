//! The protocol's text, with the places that matter now.

use crate::cli::show::state::{Panel, Viewer};
use crate::cli::show::text::{Page, fit};
use crate::cli::show::theme::Ink;
use barcheck_counterexamples::trace::Location;
use barcheck_counterexamples::{PlaceLabel, harmless, labels};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns that say who stands at a line, at most.
const MOST_WHO: usize = 8;

/// What a marked place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    /// Executed by the step.
    Executed,
    /// Where the agent that is looked at stands.
    At,
    /// What the outcome is about.
    Wrong,
}

/// A line of the panel: one of the source, or what is said of a place in the one above.
enum Entry {
    Source(usize),
    Label(usize),
}

/// What there is to say of the lines.
struct Remarks {
    labels: Vec<PlaceLabel>,
    /// The places that are marked, by line.
    marks: BTreeMap<usize, Vec<(Location, Mark)>>,
    /// Who stands where, by line.
    standing: BTreeMap<u32, Vec<u32>>,
    /// Columns for who stands at a line, and for its text.
    who: usize,
    room: usize,
}

pub(super) fn draw(frame: &mut Frame<'_>, viewer: &mut Viewer<'_>, area: Rect) {
    let area = super::compiled::above(frame, viewer, area);
    let lines = viewer.source.len();
    let who = who_columns(viewer);
    let gutter = lines.to_string().len() + 1 + who + 1 + 3;
    let room = usize::from(area.width).saturating_sub(gutter);
    let remarks =
        Remarks { labels: labels_of(viewer), marks: marks(viewer), standing: standing(viewer), who, room };
    let labels = &remarks.labels;
    // Lines are numbered from 1, and labels stand below theirs.
    let position = |line: usize| line - 1 + labels.partition_point(|label| (label.line as usize) < line);
    let wanted = wanted(viewer, &remarks.marks).map(position);
    let scroll = viewer.scroll(Panel::Source);
    scroll.settle(lines + labels.len(), usize::from(area.height), wanted);
    let top = scroll.top;
    // The first line seen, or one not far above it.
    let first = (top + 1).saturating_sub(labels.len()).max(1);
    let seen = entries(first..=lines, labels).skip(top - position(first));
    for (y, entry) in (area.top()..area.bottom()).zip(seen) {
        let line = match entry {
            Entry::Source(number) => source_line(viewer, number, &remarks),
            Entry::Label(index) => label_line(viewer, &labels[index], area.width),
        };
        frame.render_widget(line, Rect { y, height: 1, ..area });
    }
}

/// What is said of places within the source, by line.
fn labels_of(viewer: &Viewer<'_>) -> Vec<PlaceLabel> {
    let mut labels = labels(viewer.timeline.trace());
    labels.retain(|label| (1..=viewer.source.len()).contains(&(label.line as usize)));
    labels.sort_by_key(|label| label.line);
    labels.dedup_by(|a, b| (a.line, &a.text) == (b.line, &b.text));
    labels
}

/// Columns that say who stands at a line.
fn who_columns(viewer: &Viewer<'_>) -> usize {
    let all: Vec<u32> = viewer.timeline.trace().agents.iter().map(|agent| agent.index).collect();
    viewer.timeline.agents_in_short(&all).width().min(MOST_WHO)
}

/// Lines, and what is said below them.
fn entries(lines: RangeInclusive<usize>, labels: &[PlaceLabel]) -> impl Iterator<Item = Entry> + '_ {
    lines.flat_map(|number| {
        let own = labels.partition_point(|label| (label.line as usize) < number)
            ..labels.partition_point(|label| (label.line as usize) <= number);
        std::iter::once(Entry::Source(number)).chain(own.map(Entry::Label))
    })
}

/// The places that are marked, by line.
fn marks(viewer: &Viewer<'_>) -> BTreeMap<usize, Vec<(Location, Mark)>> {
    let executed = viewer.step().map(|step| step.location);
    let at = viewer.subject().and_then(|agent| viewer.timeline.agent(agent, viewer.time)?.location);
    let mut marks: BTreeMap<usize, Vec<(Location, Mark)>> = BTreeMap::new();
    let all = [(viewer.wrong_place(), Mark::Wrong), (at, Mark::At), (executed, Mark::Executed)];
    for (place, mark) in all {
        if let Some(place) = place.filter(|place| (1..=viewer.source.len()).contains(&(place.line as usize)))
        {
            marks.entry(place.line as usize).or_default().push((place, mark));
        }
    }
    marks
}

/// The line that is to be seen.
fn wanted(viewer: &Viewer<'_>, marks: &BTreeMap<usize, Vec<(Location, Mark)>>) -> Option<usize> {
    let order = if viewer.agent.is_some() {
        [Mark::At, Mark::Executed, Mark::Wrong]
    } else {
        [Mark::Executed, Mark::At, Mark::Wrong]
    };
    let line_of = |wanted: Mark| marks.iter().find(|(_, all)| all.iter().any(|(_, mark)| *mark == wanted));
    order.into_iter().find_map(line_of).map(|(line, _)| *line)
}

/// Columns by which a line is moved to the left, so that its marks are seen.
fn shift_to(text: &str, marks: &[(Location, Mark)], room: usize) -> usize {
    let Some((place, _)) = marks.last() else { return 0 };
    let columns = |letters: u32| -> usize { text.chars().take(letters as usize).map(width).sum() };
    let start = columns(place.column.saturating_sub(1));
    // Of a long mark the beginning is enough.
    let end = start + (place.length as usize).min(room / 2);
    // A sign takes the place of what is left out.
    if end <= room { 0 } else { end + 1 - room }
}

/// Columns of a character as it is shown.
fn width(c: char) -> usize {
    match c {
        ' '..='~' => 1,
        c => shown(c).width(),
    }
}

/// How a character of the source is shown.
fn shown(c: char) -> String {
    let text = harmless(c.encode_utf8(&mut [0; 4]));
    text.chars().filter(|c| c.width().unwrap_or(0) > 0).collect()
}

/// Who stands where, by line.
fn standing(viewer: &Viewer<'_>) -> BTreeMap<u32, Vec<u32>> {
    let mut standing: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for agent in &viewer.timeline.trace().agents {
        if let Some(place) = viewer.timeline.agent(agent.index, viewer.time).and_then(|state| state.location)
        {
            standing.entry(place.line).or_default().push(agent.index);
        }
    }
    standing
}

fn source_line(viewer: &Viewer<'_>, number: usize, remarks: &Remarks) -> Line<'static> {
    let theme = viewer.theme;
    let room = remarks.room;
    let marks = remarks.marks.get(&number).map(Vec::as_slice).unwrap_or_default();
    let has = |wanted: Mark| marks.iter().any(|(_, mark)| *mark == wanted);
    let here = u32::try_from(number).ok().and_then(|line| remarks.standing.get(&line));
    let here = here.map(|agents| viewer.timeline.agents_in_short(agents)).unwrap_or_default();
    let digits = viewer.source.len().to_string().len();
    let sign = |wanted, unicode, ascii| if has(wanted) { theme.glyph(unicode, ascii) } else { " " };
    let mut spans = vec![
        Span::styled(format!("{number:>digits$} "), theme.style(Ink::Faint)),
        Span::styled(format!("{} ", fit(&here, remarks.who, theme)), theme.style(Ink::Blocked)),
        Span::styled(sign(Mark::Executed, "●", "*"), theme.style(Ink::Goes)),
        Span::styled(sign(Mark::At, "▸", ">"), theme.style(Ink::Heading)),
        Span::styled(sign(Mark::Wrong, "✗", "!"), theme.style(Ink::Bad)),
    ];
    let text = viewer.source.get(number - 1).copied().unwrap_or_default();
    match viewer.shifted.unwrap_or_else(|| shift_to(text, marks, room)) {
        0 => spans.extend(pieces(viewer, text, marks, 0, room)),
        shift => {
            spans.push(Span::styled(theme.glyph("…", "~"), theme.style(Ink::Faint)));
            spans.extend(pieces(viewer, text, marks, shift, room.saturating_sub(1)));
        }
    }
    Line::from(spans)
}

/// A line cut at the borders of its marks and of the panel. Columns of marks count characters.
fn pieces(
    viewer: &Viewer<'_>,
    text: &str,
    marks: &[(Location, Mark)],
    shift: usize,
    room: usize,
) -> Vec<Span<'static>> {
    let mut spans: Vec<Span<'static>> = Vec::new();
    let mut column = 0;
    for (position, c) in (1..).zip(text.chars()) {
        let width = width(c);
        if column >= shift + room {
            break;
        }
        let visible = column >= shift && column + width <= shift + room;
        column += width;
        if !visible || width == 0 {
            continue;
        }
        let style = style(viewer, marks, position);
        match spans.last_mut().filter(|last| last.style == style) {
            Some(last) => last.content.to_mut().push_str(&shown(c)),
            None => spans.push(Span::styled(shown(c), style)),
        }
    }
    spans
}

/// How the character at a position, from 1, is marked.
fn style(viewer: &Viewer<'_>, marks: &[(Location, Mark)], position: u32) -> Style {
    let covers = |place: &Location| position >= place.column && position - place.column < place.length.max(1);
    let mut style = Style::new();
    for (_, mark) in marks.iter().filter(|(place, _)| covers(place)) {
        style = match mark {
            Mark::Executed => style.patch(viewer.theme.style(Ink::Executed)),
            Mark::At => style.add_modifier(Modifier::REVERSED),
            Mark::Wrong => style.patch(viewer.theme.style(Ink::Bad)),
        };
    }
    style
}

/// What is said of a place, below its line.
fn label_line(viewer: &Viewer<'_>, label: &PlaceLabel, width: u16) -> Line<'static> {
    let theme = viewer.theme;
    let mut page = Page::new(width, theme);
    let indent = " ".repeat(viewer.source.len().to_string().len() + 1);
    page.line(&[(Ink::Bad, &format!("{indent}{} {}", theme.glyph("└", "\\"), label.text))]);
    page.lines.remove(0)
}

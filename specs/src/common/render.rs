//! Shows diagnostics to people, in the manner of rustc.

use annotate_snippets::{Annotation, AnnotationKind, Element, Level, Origin, Renderer, Snippet};

use crate::common::diagnostic::{Diagnostic, Severity};
use crate::common::span::{LineIndex, Span};

/// Lines longer than this are cut around the place shown before the renderer, which cuts shorter ones by
/// itself, would look at all of them.
const LONG_LINE: u32 = 10_000;
/// Bytes shown before and behind a place in a long line.
const WINDOW: u32 = 60;
/// Places that are further apart than this many lines are shown one by one.
const DISTANT_LINES: u32 = 500;

/// Renders `diagnostics` about `source`, which the user knows as `name`, one after the other, each ended by
/// an empty line.
///
/// For a text that is not UTF-8, `source` is the result of [`String::from_utf8_lossy`].
///
/// ```
/// let diagnostics = barcheck_specs::bar::parse("target ptx\n").1;
/// let text = barcheck_specs::render(&diagnostics, "ring.bar", "target ptx\n", false);
/// assert!(text.contains("--> ring.bar:1:11"));
/// ```
#[must_use]
pub fn render(diagnostics: &[Diagnostic], name: &str, source: &str, colour: bool) -> String {
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    let lines = LineIndex::new(source);
    let mut text = String::new();
    for diagnostic in diagnostics {
        text.push_str(&render_one(diagnostic, name, &lines, &renderer));
        text.push_str("\n\n");
    }
    text
}

/// A place with its remark, on its way to the renderer.
struct Mark<'d> {
    span: Span,
    kind: AnnotationKind,
    message: &'d str,
}

fn render_one(diagnostic: &Diagnostic, name: &str, lines: &LineIndex<'_>, renderer: &Renderer) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let mut marks = vec![Mark {
        span: on_boundaries(diagnostic.primary.span, lines.source()),
        kind: AnnotationKind::Primary,
        message: &diagnostic.primary.message,
    }];
    marks.extend(diagnostic.secondary.iter().map(|label| Mark {
        span: on_boundaries(label.span, lines.source()),
        kind: AnnotationKind::Context,
        message: &label.message,
    }));
    let mut group = level
        .primary_title(diagnostic.message.as_str())
        .id(diagnostic.code)
        .elements(snippets(&marks, name, lines));
    for note in &diagnostic.notes {
        group = group.element(Level::NOTE.message(note.as_str()));
    }
    for help in &diagnostic.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    renderer.render(&[group])
}

fn snippets<'a>(marks: &[Mark<'a>], name: &'a str, lines: &LineIndex<'a>) -> Vec<Element<'a>> {
    let line = |mark: &Mark<'_>| lines.position(mark.span.start).0;
    let is_long = |mark: &Mark<'_>| {
        let last = lines.position(mark.span.end).0;
        (line(mark)..=last).any(|line| lines.line_span(line).end - lines.line_span(line).start > LONG_LINE)
    };
    if marks.iter().any(is_long) {
        return marks.iter().flat_map(|mark| window(mark, name, lines)).collect();
    }
    groups(marks, line).iter().map(|marks| together(marks, name, lines).into()).collect()
}

/// Places that are shown together, those of the first one's lines first.
fn groups<'m, 'a>(marks: &'m [Mark<'a>], line: impl Fn(&Mark<'_>) -> u32) -> Vec<Vec<&'m Mark<'a>>> {
    let mut sorted: Vec<&Mark<'_>> = marks.iter().collect();
    sorted.sort_by_key(|mark| line(mark));
    let mut groups: Vec<Vec<&Mark<'_>>> = Vec::new();
    for mark in sorted {
        match groups.last_mut() {
            Some(group) if group.last().is_some_and(|last| line(mark) - line(last) <= DISTANT_LINES) => {
                group.push(mark);
            }
            _ => groups.push(vec![mark]),
        }
    }
    let is_first = |mark: &&Mark<'_>| mark.kind == AnnotationKind::Primary;
    groups.sort_by_key(|group| !group.iter().any(is_first));
    groups
}

/// Places in lines that are not far apart.
fn together<'a>(marks: &[&Mark<'a>], name: &'a str, lines: &LineIndex<'a>) -> Snippet<'a, Annotation<'a>> {
    let first = marks.iter().map(|m| lines.position(m.span.start).0).min().unwrap_or(1);
    let last = marks.iter().map(|m| lines.position(m.span.end).0).max().unwrap_or(1);
    // Between them the lines are left out by the renderer.
    let base = lines.line_span(first).start;
    let end = lines.line_span(last).end;
    Snippet::source(Span::new(base, end).text(lines.source()))
        .line_start(first as usize)
        .path(name)
        .annotations(marks.iter().map(|mark| annotation(mark, base)))
}

/// One place by itself, with no more than a part of its line.
fn window<'a>(mark: &Mark<'a>, name: &'a str, lines: &LineIndex<'a>) -> Vec<Element<'a>> {
    let (line, column) = lines.position(mark.span.start);
    let whole = lines.line_span(line);
    let from = whole.start.max(mark.span.start.saturating_sub(WINDOW));
    let to = whole.end.min(mark.span.start + WINDOW).max(from);
    let shown = on_boundaries(Span::new(from, to), lines.source());
    let marked =
        Span::new(mark.span.start.clamp(shown.start, shown.end), mark.span.end.clamp(shown.start, shown.end));
    let mark = Mark { span: marked, ..*mark };
    let origin = Origin::path(name).line(line as usize).char_column(column as usize);
    let snippet = Snippet::source(shown.text(lines.source()))
        .line_start(line as usize)
        .annotation(annotation(&mark, shown.start));
    vec![origin.into(), snippet.into()]
}

fn annotation<'a>(mark: &Mark<'a>, base: u32) -> Annotation<'a> {
    // What is shown begins behind a byte order mark.
    let from = |at: u32| at.saturating_sub(base) as usize;
    let range = from(mark.span.start)..from(mark.span.end);
    let annotation = mark.kind.span(range);
    if mark.message.is_empty() { annotation } else { annotation.label(mark.message) }
}

/// `span` widened to whole characters of `source`.
fn on_boundaries(span: Span, source: &str) -> Span {
    let length = crate::common::span::offset(source.len());
    let (mut start, mut end) = (span.start.min(length), span.end.min(length));
    while !source.is_char_boundary(start as usize) {
        start -= 1;
    }
    while !source.is_char_boundary(end as usize) {
        end += 1;
    }
    Span::new(start, end.max(start))
}

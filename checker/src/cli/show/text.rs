//! Text from a trace, made fit for cells of a terminal.

use super::theme::{Ink, Theme};
use barcheck_counterexamples::{harmless, narrow};
use ratatui::text::{Line, Span};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns of a text that are shown at most where it is not the protocol's source.
const MOST: usize = 2_000;

/// Harmless text of cells that are as wide as they look: what takes no cell of its own is left out, since
/// terminals do not agree on where it goes.
pub(super) fn clean(text: &str) -> String {
    let start: String = text.chars().take(MOST).collect();
    harmless(&start).chars().filter(|c| c.width().unwrap_or(0) > 0).collect()
}

/// Clean text cut to a width.
pub(super) fn cut(text: &str, width: usize, theme: Theme) -> String {
    let text = clean(text);
    if text.width() <= width {
        return text;
    }
    let dots = theme.glyph("…", "~");
    let mut room = width.saturating_sub(dots.width());
    let fits = |c: &char| {
        let width = c.width().unwrap_or(0);
        let fits = width <= room;
        room = room.saturating_sub(if fits { width } else { room });
        fits
    };
    let mut kept: String = text.chars().take_while(fits).collect();
    if width > 0 {
        kept.push_str(dots);
    }
    kept
}

/// The clean name of an object cut to a width, so that it does not look like that of its neighbour.
pub(super) fn object(name: &str, width: usize, theme: Theme) -> String {
    cut(&narrow(&clean(name), width, theme.glyph("…", "~")), width, theme)
}

/// Clean text filled up with spaces, or cut, to a width.
pub(super) fn fit(text: &str, width: usize, theme: Theme) -> String {
    let text = cut(text, width, theme);
    let missing = width.saturating_sub(text.width());
    text + &" ".repeat(missing)
}

/// Lines of panels under construction.
pub(super) struct Page {
    width: usize,
    theme: Theme,
    /// What there is so far.
    pub(super) lines: Vec<Line<'static>>,
}

impl Page {
    /// An empty page of a width.
    pub(super) fn new(width: u16, theme: Theme) -> Self {
        Self { width: usize::from(width).max(8), theme, lines: Vec::new() }
    }

    /// Its columns.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// An empty line, unless there is one or nothing stands above it.
    pub(super) fn gap(&mut self) {
        if self.lines.last().is_some_and(|line| line.width() > 0) {
            self.lines.push(Line::default());
        }
    }

    /// A heading.
    pub(super) fn heading(&mut self, text: &str) {
        self.gap();
        self.text(Ink::Heading, "", text);
    }

    /// Text broken into lines; the first begins with a sign, the others are indented as far.
    pub(super) fn text(&mut self, ink: Ink, sign: &str, text: &str) {
        self.put(ink, ink, sign, text);
    }

    /// The same with the sign in another ink.
    pub(super) fn put(&mut self, sign_ink: Ink, ink: Ink, sign: &str, text: &str) {
        let indent = sign.width();
        let options = textwrap::Options::new(self.width.saturating_sub(indent).max(4));
        for (index, part) in textwrap::wrap(&clean(text), options).into_iter().enumerate() {
            let start = if index == 0 { sign.to_owned() } else { " ".repeat(indent) };
            let start = Span::styled(start, self.theme.style(sign_ink));
            self.lines.push(Line::from(vec![start, Span::styled(part.into_owned(), self.theme.style(ink))]));
        }
    }

    /// A fact: what, and what there is to say of it.
    pub(super) fn fact(&mut self, what: &str, said: &str) {
        let what = cut(what, self.width / 2, self.theme);
        self.put(Ink::Faint, Ink::Plain, &format!("  {what}  "), said);
    }

    /// A line of pieces, cut at the edge.
    pub(super) fn line(&mut self, pieces: &[(Ink, &str)]) {
        let mut room = self.width;
        let mut spans = Vec::new();
        for (ink, text) in pieces {
            let text = cut(text, room, self.theme);
            room -= text.width().min(room);
            spans.push(Span::styled(text, self.theme.style(*ink)));
        }
        self.lines.push(Line::from(spans));
    }
}

//! Colours, signs and widths.

use anstyle::{AnsiColor, Style as Ansi};
use unicode_width::UnicodeWidthStr;

use super::style::Style;

/// What a piece of text is, as far as its colour is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ink {
    /// As it comes.
    Plain,
    /// A heading.
    Heading,
    /// Of less weight.
    Faint,
    /// Somebody blocks.
    Blocked,
    /// Somebody goes on.
    Goes,
    /// A violation.
    Bad,
    /// A barrier.
    Barrier,
}

impl Ink {
    fn ansi(self) -> Ansi {
        let coloured = |colour: AnsiColor| Ansi::new().fg_color(Some(colour.into()));
        match self {
            Self::Plain => Ansi::new(),
            Self::Heading => Ansi::new().bold(),
            Self::Faint => Ansi::new().dimmed(),
            Self::Blocked => coloured(AnsiColor::Yellow),
            Self::Goes => coloured(AnsiColor::Green),
            Self::Bad => coloured(AnsiColor::Red).bold(),
            Self::Barrier => coloured(AnsiColor::Cyan),
        }
    }
}

/// What stands in an agent's column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    /// It makes the step and goes on.
    Acts,
    /// It makes the step and blocks.
    Blocks,
    /// The step releases it.
    Released,
    /// It makes the step and exits.
    Exits,
    /// It makes the step and the path ends there.
    Fails,
    /// It is blocked.
    Waiting,
    /// It could make a step.
    Idle,
    /// It has exited.
    Gone,
}

impl Style {
    pub(super) fn paint(&self, ink: Ink, text: &str) -> String {
        if !self.colour || ink == Ink::Plain || text.is_empty() {
            return text.to_owned();
        }
        let style = ink.ansi();
        format!("{style}{text}{style:#}")
    }

    pub(super) fn sign(&self, sign: Sign) -> (&'static str, Ink) {
        let (unicode, ascii, ink) = match sign {
            Sign::Acts => ("●", "*", Ink::Goes),
            Sign::Blocks => ("■", "#", Ink::Blocked),
            Sign::Released => ("▶", ">", Ink::Goes),
            Sign::Exits => ("×", "x", Ink::Plain),
            Sign::Fails => ("✗", "!", Ink::Bad),
            Sign::Waiting => ("│", "|", Ink::Blocked),
            Sign::Idle => ("·", ".", Ink::Faint),
            Sign::Gone => (" ", " ", Ink::Plain),
        };
        (if self.unicode { unicode } else { ascii }, ink)
    }

    /// A line across, with a word in it.
    pub(super) fn rule(&self, text: &str) -> String {
        let dash = if self.unicode { "─" } else { "-" };
        let left = dash.repeat(2);
        let rest = self.width.min(72).saturating_sub(text.width() + 4);
        format!("{left} {text} {}", dash.repeat(rest.max(2)))
    }
}

/// Text filled up with spaces on the right.
pub(super) fn pad(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

/// Text filled up with spaces on the left.
pub(super) fn pad_left(text: &str, width: usize) -> String {
    format!("{}{text}", " ".repeat(width.saturating_sub(text.width())))
}

/// Text cut to a width.
pub(super) fn cut(text: &str, width: usize, unicode: bool) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let dots = if unicode { "…" } else { "..." };
    let mut kept = String::new();
    for letter in text.chars() {
        if format!("{kept}{letter}").width() + dots.width() > width {
            break;
        }
        kept.push(letter);
    }
    kept + dots
}

/// Text broken into lines at spaces.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && line.width() + 1 + word.width() > width {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

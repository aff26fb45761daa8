//! Standard output and standard error: colours, and readers that go away.

use super::args::ColorWhen;
use super::names::shown;
use super::writing;
use anstyle::{AnsiColor, Style};
pub(crate) use barcheck::numbers::{bytes, counted, grouped};
use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

/// What the exit status says. The order is that of importance: the greatest over all files is the status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Status {
    /// Everything is fine.
    #[default]
    Success,
    /// Something could not be decided.
    Inconclusive,
    /// Wrong usage, unreadable or malformed input, or an evaluation error.
    Trouble,
    /// What was asked for does not hold: a violation, a trace that departs, a file that is not formatted.
    Failure,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        Self::from(match status {
            Status::Success => 0,
            Status::Failure => 1,
            Status::Trouble => 2,
            Status::Inconclusive => 3,
        })
    }
}

/// Whether text is coloured, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Palette {
    colour: bool,
}

impl Palette {
    /// The palette for a stream that is a terminal or not.
    pub(crate) fn new(when: ColorWhen, terminal: bool) -> Self {
        // NO_COLOR counts when it is set and not empty: https://no-color.org
        let refused = || std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = || std::env::var_os("TERM").is_some_and(|value| value == "dumb");
        let colour = match when {
            ColorWhen::Always => true,
            ColorWhen::Never => false,
            ColorWhen::Auto => terminal && !refused() && !dumb(),
        };
        Self { colour }
    }

    /// Whether text is coloured.
    pub(crate) fn colour(self) -> bool {
        self.colour
    }

    fn paint(self, style: Style, text: impl Display) -> String {
        if self.colour { format!("{style}{text}{style:#}") } else { text.to_string() }
    }

    /// For what went well.
    pub(crate) fn good(self, text: impl Display) -> String {
        self.paint(AnsiColor::Green.on_default().bold(), text)
    }

    /// For errors.
    pub(crate) fn bad(self, text: impl Display) -> String {
        self.paint(AnsiColor::BrightRed.on_default().bold(), text)
    }

    /// For what needs attention.
    pub(crate) fn unsure(self, text: impl Display) -> String {
        self.paint(AnsiColor::Yellow.on_default().bold(), text)
    }

    /// For headings.
    pub(crate) fn strong(self, text: impl Display) -> String {
        self.paint(Style::new().bold(), text)
    }

    /// For what matters less.
    pub(crate) fn faint(self, text: impl Display) -> String {
        self.paint(Style::new().dimmed(), text)
    }
}

/// How text for people is laid out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    /// Its colours.
    pub(crate) palette: Palette,
    /// The columns that it may take.
    pub(crate) width: usize,
    /// The lines that a screen shows.
    pub(crate) height: usize,
    /// With signs beyond ASCII.
    pub(crate) unicode: bool,
    /// With every step of a counterexample, and a column for every agent.
    pub(crate) unfold: bool,
}

impl Look {
    /// For standard output.
    pub(crate) fn terminal(palette: Palette) -> Self {
        Self { palette, width: width(), height: height(), unicode: unicode(), unfold: false }
    }

    /// For a file, which looks the same wherever it is written.
    pub(crate) fn file() -> Self {
        Self {
            palette: Palette::new(ColorWhen::Never, false),
            width: USUAL_WIDTH,
            height: USUAL_HEIGHT,
            unicode: true,
            unfold: false,
        }
    }
}

/// The colours of both streams.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Colours {
    /// Of standard output.
    pub(crate) out: Palette,
    /// Of standard error.
    pub(crate) err: Palette,
}

impl Colours {
    /// What the user wants for both streams.
    pub(crate) fn new(when: ColorWhen) -> Self {
        Self {
            out: Palette::new(when, io::stdout().is_terminal()),
            err: Palette::new(when, io::stderr().is_terminal()),
        }
    }
}

/// Columns of text that goes to no terminal.
const USUAL_WIDTH: usize = 100;

/// The columns that text may take.
fn width() -> usize {
    let of = terminal_size::terminal_size_of(io::stdout());
    of.map_or(USUAL_WIDTH, |(width, _)| usize::from(width.0))
}

/// Lines of a screen where there is no terminal.
const USUAL_HEIGHT: usize = 24;

/// The lines that a screen shows.
fn height() -> usize {
    let of = terminal_size::terminal_size_of(io::stdout());
    of.map_or(USUAL_HEIGHT, |(_, height)| usize::from(height.0))
}

/// Whether the locale has signs beyond ASCII.
fn unicode() -> bool {
    let set = |name| std::env::var(name).ok().filter(|value: &String| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
    locale.is_some_and(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}

/// Writes a text to standard output at once. The error is that of a stream that cannot be written to.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Writes a text to a file, and says so; `what` is what it is. The folder is created if it is missing.
pub(crate) fn save(what: &str, text: &str, path: &Path, colours: Colours) -> io::Result<Status> {
    if let Err(error) = writing::make_folder(path).and_then(|()| writing::write(path, text)) {
        complain(&error_line(colours.err, format_args!("cannot write {}: {error}", shown(path))));
        return Ok(Status::Trouble);
    }
    let said = format!("{what} written to");
    print(&format!("{} {}\n", colours.out.faint(&said), shown(path)))?;
    Ok(Status::Success)
}

/// Writes a text to standard error. When that fails there is nobody left to tell.
pub(crate) fn complain(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// An error in the manner of cargo, ended by a line break.
pub(crate) fn error_line(palette: Palette, message: impl Display) -> String {
    format!("{}: {message}\n", palette.bad("error"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_violation_outweighs_trouble_outweighs_doubt() {
        assert!(Status::Failure > Status::Trouble);
        assert!(Status::Trouble > Status::Inconclusive);
        assert!(Status::Inconclusive > Status::Success);
    }
}

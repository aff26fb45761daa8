//! The viewer on a screen that is only memory.

mod hostile;
mod keyboard;
mod pace;
mod pictures;
mod screens;

use super::draw::draw;
use super::state::Viewer;
use super::theme::Theme;
use crate::cli::pages;
use barcheck::{Options, Source, decide};
use barcheck_counterexamples::{Timeline, Trace};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// The trace of the first finding of a protocol.
fn trace_of(name: &str, source: &str) -> Trace {
    let decision = decide(&Source::new(name, source.as_bytes()), &Options::default());
    decision.findings.into_iter().next().expect("there is a finding").trace
}

/// The trace of a protocol of the library.
fn library(path: &str) -> Trace {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../specs/protocols/");
    let source = std::fs::read_to_string(format!("{root}{path}")).expect("the library has it");
    trace_of(path, &source)
}

/// A viewer with colours and signs beyond ASCII.
fn viewer(trace: &Trace) -> Viewer<'_> {
    let theme = Theme { colour: true, unicode: true };
    Viewer::new(Timeline::of(trace), pages::notes(trace, None), theme)
}

/// What the screen shows.
fn screen(viewer: &mut Viewer<'_>, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("memory can be drawn on");
    terminal.draw(|frame| draw(frame, viewer)).expect("memory can be drawn on");
    terminal.backend().to_string()
}

/// Types keys: letters stand for themselves.
fn press(viewer: &mut Viewer<'_>, keys: &[KeyCode]) {
    for key in keys {
        viewer.key(KeyEvent::new(*key, KeyModifiers::NONE));
    }
}

//! Diagnostics and names of files as the terminal shows them.

use super::input;
use super::output::Palette;
use barcheck::Decision;
use barcheck_specs::Diagnostic;
use std::path::Path;

/// A file's name.
pub(super) fn shown(file: &str) -> String {
    input::display_name(Path::new(file))
}

/// A diagnostic at its place in the text, as rustc shows one.
pub(super) fn rendered(report: &Decision, diagnostic: &Diagnostic, palette: Palette) -> String {
    let diagnostics = std::slice::from_ref(diagnostic);
    let mut text = barcheck_specs::render(diagnostics, &shown(&report.name), &report.text, palette.colour());
    text.truncate(text.trim_end_matches('\n').len());
    text.push('\n');
    text
}

//! What a verdict takes for true, and other notes: behind it, those of one kind together.

use super::decided::Decided;
use super::input;
use super::output::Palette;
use barcheck_specs::{Diagnostic, LineIndex, Severity};
use std::fmt::Write;
use std::path::Path;

/// Lines that are listed of one kind.
const LISTED: usize = 8;

/// The notes of a file, one line for each kind; empty if it is to be quiet.
pub(crate) fn notes(decided: &Decided, quiet: bool, palette: Palette) -> String {
    if quiet || decided.is_as_expected() {
        return String::new();
    }
    let lines = LineIndex::new(&decided.text);
    let mut kinds: Vec<(&Diagnostic, Vec<u32>)> = Vec::new();
    for note in decided.diagnostics.iter().filter(|said| is_note(said)) {
        let line = note.place(&lines).line;
        match kinds.iter_mut().find(|(known, _)| (known.code, &known.message) == (note.code, &note.message)) {
            Some((_, places)) => places.push(line),
            None => kinds.push((note, vec![line])),
        }
    }
    let mut text = String::new();
    for (note, mut places) in kinds {
        places.sort_unstable();
        // The name of the note says that it is assumed.
        let said = note.message.strip_prefix("assumed: ").unwrap_or(&note.message);
        let help = note.help.iter().map(|help| format!("; {help}")).collect::<String>();
        let name = input::display_name(Path::new(&decided.name));
        let at = palette.faint(format_args!("({name}, {})", counted(&places)));
        let _ = writeln!(text, "{}: {said} {at}{help}", palette.strong(note.code));
    }
    text
}

pub(crate) fn is_note(diagnostic: &Diagnostic) -> bool {
    diagnostic.severity == Severity::Note
}

/// `line 12`, `17 places: lines 12, 40, ...`.
fn counted(lines: &[u32]) -> String {
    let mut distinct = lines.to_vec();
    distinct.dedup();
    let listed: Vec<String> = distinct.iter().take(LISTED).map(u32::to_string).collect();
    let more = if distinct.len() > LISTED { ", ..." } else { "" };
    match (lines, distinct.as_slice()) {
        ([line], _) => format!("line {line}"),
        (all, [line]) => format!("{} places: line {line}", all.len()),
        (all, _) => format!("{} places: lines {}{more}", all.len(), listed.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_and_the_first_of_them_listed() {
        assert_eq!(counted(&[12]), "line 12");
        assert_eq!(counted(&[12, 12]), "2 places: line 12");
        assert_eq!(counted(&[12, 40]), "2 places: lines 12, 40");
        assert_eq!(counted(&[1, 2, 3, 4, 5, 6, 7, 8, 9]), "9 places: lines 1, 2, 3, 4, 5, 6, 7, 8, ...");
    }
}

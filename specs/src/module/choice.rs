//! Which entry of a module is meant.

use crate::common::contents::LoadOptions;
use crate::common::diagnostic::Diagnostic;
use crate::common::span::Span;

use super::entry::Entry;
use super::launch::ENTRY;
use super::naming::in_short;

/// Entries whose names are listed in a message.
const LISTED: usize = 8;

/// The entry that is meant, by its position.
pub(super) fn choose(entries: &[Entry], options: &LoadOptions) -> Result<usize, Vec<Diagnostic>> {
    let none = |message: String| Diagnostic::error("no-entry", message, Span::default());
    if entries.is_empty() {
        let error = none("there is no entry in this module: nothing is launched".to_owned());
        return Err(vec![error.note("an entry is a kernel with its code")]);
    }
    if let Some(index) = options.defines.get(ENTRY) {
        let found = usize::try_from(*index).ok().filter(|index| *index < entries.len());
        let message = format!("there is no entry number {index}: there are {}", entries.len());
        return found.ok_or_else(|| vec![none(message)]);
    }
    let with: Vec<&Entry> = entries.iter().filter(|entry| entry.synchronises).collect();
    let all: Vec<&Entry> = entries.iter().collect();
    match (with.as_slice(), all.as_slice()) {
        ([one], _) | ([], [one, ..]) => Ok(one.index),
        (several, _) => {
            let named = several.iter().take(LISTED);
            let names: Vec<String> = named.map(|entry| in_short(&entry.name, entry.index)).collect();
            let span = several.get(1).map_or(Span::default(), |entry| entry.span);
            let message = format!("{} entries of this module have barriers", several.len());
            let error = Diagnostic::error("several-entries", message, span)
                .note(format!("they are: {}", names.join(", ")))
                .help("choose one by --entry");
            Err(vec![error])
        }
    }
}

//! Places in one file.

use super::log::{ArtifactLocation, Location, Message, PhysicalLocation, Region};
use crate::cli::location;
use barcheck_model::program::Place;
use barcheck_specs::{LineIndex, Span};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

/// What relative references start from: the folder that holds the source, which is known where they are read.
const BASE: &str = "%SRCROOT%";

/// A file, and the lines of its text.
pub(super) struct File<'s> {
    reference: ArtifactLocation,
    lines: LineIndex<'s>,
    /// Characters of the lines asked for so far: a line may be long, and asked for often.
    lengths: RefCell<BTreeMap<u32, u32>>,
}

impl<'s> File<'s> {
    /// The file that stands at `index` in the list of files.
    pub(super) fn new(path: &Path, source: &'s str, index: usize) -> Self {
        let location = location::Location::of(path);
        let uri_base_id = location.is_relative().then_some(BASE);
        Self {
            reference: ArtifactLocation { uri: location.uri(), uri_base_id, index },
            lines: LineIndex::new(source),
            lengths: RefCell::default(),
        }
    }

    /// The file itself.
    pub(super) fn reference(&self) -> ArtifactLocation {
        self.reference.clone()
    }

    /// The place of these bytes of its text.
    pub(super) fn place(&self, span: Span) -> Place {
        self.lines.place(span)
    }

    /// A place in it, or the whole of it.
    pub(super) fn location(&self, place: Option<Place>, message: Option<Message>) -> Location {
        let region = place.and_then(|place| self.region(place));
        let physical_location = PhysicalLocation { artifact_location: self.reference(), region };
        Location { id: None, physical_location, message }
    }

    /// What a place covers of its first line: at least a character, and nothing beyond the end.
    fn region(&self, place: Place) -> Option<Region> {
        if place.line == 0 {
            return None;
        }
        let start_column = place.column.max(1);
        let end_of_line = self.length(place.line).saturating_add(1);
        let end_column = start_column.saturating_add(place.length.max(1));
        let end_column = end_column.min(end_of_line).max(start_column);
        Some(Region { start_line: place.line, start_column, end_column })
    }

    fn length(&self, line: u32) -> u32 {
        let count = || {
            let text = self.lines.line_span(line).text(self.lines.source());
            u32::try_from(text.trim_end_matches(['\r', '\n']).chars().count()).unwrap_or(u32::MAX)
        };
        *self.lengths.borrow_mut().entry(line).or_insert_with(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_ends_with_its_line() {
        let file = File::new(Path::new("f.bar"), "ö ab\ncd", 0);
        let columns = |line, column, length| {
            file.region(Place { line, column, length }).map(|region| (region.start_column, region.end_column))
        };
        assert_eq!(columns(1, 3, 2), Some((3, 5)));
        assert_eq!(columns(1, 3, 9), Some((3, 5)));
        assert_eq!(columns(2, 1, 0), Some((1, 2)));
        assert_eq!(columns(2, 3, 1), Some((3, 3)));
        assert_eq!(columns(0, 0, 0), None);
    }
}

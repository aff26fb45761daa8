//! Positions in a source text: byte spans, and lines and columns for people.

use barcheck_model::program::Place;

/// A half-open range of bytes in a source text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The span of the bytes `start..end`.
    #[must_use]
    pub const fn new(start: u32, end: u32) -> Self {
        Self { start, end }
    }

    /// From the start of this span to the end of `other`.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self { start: self.start, end: other.end.max(self.start) }
    }

    /// The empty span just behind this one.
    #[must_use]
    pub fn after(self) -> Self {
        Self { start: self.end, end: self.end }
    }

    /// The text that this span covers, empty if it is no part of `source`.
    #[must_use]
    pub fn text(self, source: &str) -> &str {
        source.get(self.start as usize..self.end as usize).unwrap_or_default()
    }
}

/// Bytes between two checkpoints of [`LineIndex`].
const STRIDE: usize = 1024;

/// Finds lines and columns in a text, in time that does not depend on the length of its lines.
///
/// ```
/// use barcheck_specs::{LineIndex, Span};
/// let lines = LineIndex::new("cta 64;\n/* é */ warp 0 {}\n");
/// let place = lines.place(Span::new(17, 23));
/// assert_eq!((place.line, place.column, place.length), (2, 9, 6));
/// ```
#[derive(Clone, Debug)]
pub struct LineIndex<'s> {
    source: &'s str,
    /// The offset at which each line starts.
    lines: Vec<u32>,
    /// Characters before each multiple of [`STRIDE`].
    checkpoints: Vec<u32>,
}

impl<'s> LineIndex<'s> {
    /// The index of `source`. A byte-order mark at its start is not counted as a column.
    #[must_use]
    pub fn new(source: &'s str) -> Self {
        let mut lines = vec![0];
        let mut checkpoints = Vec::with_capacity(source.len() / STRIDE + 1);
        let mut characters = 0;
        for (chunk_index, chunk) in source.as_bytes().chunks(STRIDE).enumerate() {
            checkpoints.push(characters);
            characters += count_characters(chunk);
            let newlines = chunk.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
            lines.extend(newlines.map(|(index, _)| offset(chunk_index * STRIDE + index + 1)));
        }
        if source.starts_with('\u{feff}') {
            lines[0] = offset('\u{feff}'.len_utf8());
        }
        Self { source, lines, checkpoints }
    }

    /// The text that the index belongs to.
    #[must_use]
    pub fn source(&self) -> &'s str {
        self.source
    }

    /// Line and column, both from 1, of the byte at `position`; the column counts Unicode scalar values.
    #[must_use]
    pub fn position(&self, position: u32) -> (u32, u32) {
        let position = position.min(offset(self.source.len()));
        let line = self.lines.partition_point(|start| *start <= position).max(1);
        let start = self.lines[line - 1];
        let column = self.characters_before(position).saturating_sub(self.characters_before(start));
        (offset(line), column + 1)
    }

    /// The place of `span`, up to the end of the line in which it starts, trailing white space left out.
    #[must_use]
    pub fn place(&self, span: Span) -> Place {
        let (line, column) = self.position(span.start);
        let end = self.line_span(line).end.min(span.end).max(span.start);
        let text = Span::new(span.start, end).text(self.source).trim_end();
        Place { line, column, length: count_characters(text.as_bytes()) }
    }

    /// The bytes of line `line` (from 1), without its line ending.
    #[must_use]
    pub fn line_span(&self, line: u32) -> Span {
        let index = (line.max(1) as usize - 1).min(self.lines.len() - 1);
        let start = self.lines[index];
        let end = match self.lines.get(index + 1) {
            Some(next) => next - 1,
            None => offset(self.source.len()),
        };
        let text = Span::new(start, end).text(self.source);
        let carriage_return = u32::from(text.ends_with('\r'));
        Span::new(start, end - carriage_return)
    }

    /// The bytes of a place in the text; of one that it does not have, none.
    #[must_use]
    pub fn span(&self, place: Place) -> Span {
        let line = self.line_span(place.line);
        let text = line.text(self.source);
        let byte = |character: u32| {
            let at = text.char_indices().nth(character as usize).map_or(text.len(), |(at, _)| at);
            line.start + offset(at)
        };
        let start = place.column.saturating_sub(1);
        Span::new(byte(start), byte(start.saturating_add(place.length.max(1))))
    }

    fn characters_before(&self, position: u32) -> u32 {
        let position = position as usize;
        let chunk = (position / STRIDE).min(self.checkpoints.len().saturating_sub(1));
        let before = self.checkpoints.get(chunk).copied().unwrap_or(0);
        before + count_characters(&self.source.as_bytes()[chunk * STRIDE..position])
    }
}

/// An offset in a text whose length [`crate::common::limits::SOURCE_BYTES`] bounds.
pub(crate) fn offset(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}

/// The number of Unicode scalar values that start in `bytes`.
fn count_characters(bytes: &[u8]) -> u32 {
    offset(bytes.iter().filter(|byte| **byte & 0xc0 != 0x80).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, span: (u32, u32), expected: (u32, u32, u32)) {
        let place = LineIndex::new(source).place(Span::new(span.0, span.1));
        assert_eq!((place.line, place.column, place.length), expected);
    }

    #[test]
    fn places_count_characters() {
        check("abc", (1, 2), (1, 2, 1));
        check("é\nñb", (3, 5), (2, 1, 1));
        check("é\nñb", (5, 6), (2, 2, 1));
    }

    #[test]
    fn places_end_with_their_line() {
        check("ab \r\ncd", (0, 7), (1, 1, 2));
        check("ab", (2, 2), (1, 3, 0));
        check("", (0, 0), (1, 1, 0));
        check("ab\n", (3, 3), (2, 1, 0));
    }

    #[test]
    fn places_become_spans_again() {
        let lines = LineIndex::new("é\nñ = bar\n");
        let place = Place { line: 2, column: 5, length: 3 };
        assert_eq!(lines.span(place).text(lines.source()), "bar");
        let beyond = Place { line: 9, column: 50, length: 3 };
        assert_eq!(lines.span(beyond).text(lines.source()), "");
    }

    #[test]
    fn a_byte_order_mark_is_no_column() {
        check("\u{feff}ab", (3, 4), (1, 1, 1));
        check("\u{feff}ab", (0, 3), (1, 1, 1));
    }

    #[test]
    fn long_lines_agree_with_counting() {
        let source = format!("{}é{}", "x".repeat(1023), "y".repeat(2000));
        for (position, (index, _)) in source.char_indices().enumerate() {
            let (line, column) = LineIndex::new(&source).position(offset(index));
            assert_eq!((line, column), (1, offset(position + 1)));
        }
    }
}

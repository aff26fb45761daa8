//! Keeps trailing comments aligned that were aligned in the source.

use crate::common::span::LineIndex;

/// A `//` comment behind a statement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trailing {
    /// Where it begins in the output, one space behind what stands before it.
    pub(super) output: usize,
    /// Where it begins in the source.
    pub(super) source: u32,
}

/// Moves the comments of every group to the column of its outermost. A group is a run of trailing comments
/// with the same column in the source. What this yields has the same groups, or larger ones of equal column,
/// so that it stays as it is when it is formatted again.
pub(super) fn align(output: &str, source: &str, comments: &[Trailing]) -> String {
    let lines = LineIndex::new(source);
    let source_columns: Vec<u32> = comments.iter().map(|comment| lines.position(comment.source).1).collect();
    let mut columns: Vec<usize> = comments.iter().map(|c| column(output, c.output)).collect();
    let mut start = 0;
    while start < comments.len() {
        let same = source_columns[start..].iter().take_while(|c| **c == source_columns[start]);
        let end = start + same.count();
        let widest = columns[start..end].iter().copied().max().unwrap_or(0);
        for column in &mut columns[start..end] {
            *column = widest - *column;
        }
        start = end;
    }
    let mut aligned = String::with_capacity(output.len());
    let mut copied = 0;
    for (comment, padding) in comments.iter().zip(columns) {
        aligned.push_str(&output[copied..comment.output]);
        aligned.extend(std::iter::repeat_n(' ', padding));
        copied = comment.output;
    }
    aligned.push_str(&output[copied..]);
    aligned
}

/// The number of characters before `position` on its line.
fn column(text: &str, position: usize) -> usize {
    let before = &text[..position];
    let line = before.rfind('\n').map_or(0, |newline| newline + 1);
    before[line..].chars().count()
}

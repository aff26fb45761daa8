//! Locations: `loc("file.py":12:3)` behind an operation, or an alias of one.

use std::collections::HashMap;
use std::ops::Range;

use crate::common::contents::Origin;
use crate::common::span::LineIndex;

use super::lexer::{Kind, Token};
use super::syntax::Operation;

/// Aliases that stand for one another, and locations inside one another.
const DEPTH: u32 = 16;

/// A file and a line.
type Place = (String, u32);

/// The words of a module, and for what names at the top stand: ranges of the words.
pub(super) struct Locations<'a, 's> {
    pub(super) source: &'s str,
    pub(super) tokens: &'a [Token],
    pub(super) aliases: HashMap<&'s str, Range<usize>>,
}

impl Locations<'_, '_> {
    /// Where the operations of a kernel come from, in the order of its lines.
    pub(super) fn of(&self, kernel: &Operation<'_>, lines: &LineIndex<'_>) -> Vec<Origin> {
        let mut found = Vec::new();
        self.collect(kernel, lines, &mut found);
        found.sort_by_key(|origin: &Origin| origin.from);
        found
    }

    fn collect(&self, operation: &Operation<'_>, lines: &LineIndex<'_>, found: &mut Vec<Origin>) {
        if let Some(words) = self.behind(operation)
            && let Some((place, inlined_at)) = self.place(words, DEPTH)
        {
            let from = lines.place(operation.span).line;
            found.push(Origin { from, file: place.0, line: place.1, inlined_at });
        }
        for inner in operation.regions.iter().flatten().flat_map(|block| &block.operations) {
            self.collect(inner, lines, found);
        }
    }

    fn text(&self, word: Token) -> &str {
        word.span.text(self.source)
    }

    /// What stands in `loc(…)` at the end of an operation.
    fn behind<'o>(&self, operation: &'o Operation<'_>) -> Option<&'o [Token]> {
        let words = operation.words.as_slice();
        let is_location = |at: &usize| {
            let is_open = words.get(at + 1).is_some_and(|next| next.is(b'('));
            is_open && words[*at].kind == Kind::Word && self.text(words[*at]) == "loc"
        };
        let at = (0..words.len()).rev().find(is_location)?;
        words.get(at + 2..)
    }

    /// The place that words name first, and where it was inlined.
    fn place(&self, words: &[Token], depth: u32) -> Option<(Place, Option<Place>)> {
        let depth = depth.checked_sub(1)?;
        if words.first().is_some_and(|first| self.text(*first) == "callsite") {
            let at = self.splits(words)?;
            let (place, inner) = self.place(&words[2..at], depth)?;
            let around = self.place(&words[at + 1..], depth).map(|(place, around)| around.unwrap_or(place));
            return Some((place, around.or(inner)));
        }
        for (at, word) in words.iter().enumerate() {
            let is_file = word.kind == Kind::Text && words.get(at + 1).is_some_and(|next| next.is(b':'));
            if is_file {
                let line = words.get(at + 2).and_then(|line| self.text(*line).parse().ok())?;
                return Some(((self.text(*word).trim_matches('"').to_owned(), line), None));
            }
            if word.kind == Kind::Alias {
                let range = self.aliases.get(self.text(*word))?.clone();
                let inside = self.tokens.get(range)?;
                // `loc(` stands before it.
                return self.place(inside.get(2..)?, depth);
            }
            if self.text(*word) == "callsite" {
                return self.place(&words[at..], depth);
            }
        }
        None
    }

    /// The `at` of `callsite(A at B)`.
    fn splits(&self, words: &[Token]) -> Option<usize> {
        let mut depth = 0_usize;
        for (at, word) in words.iter().enumerate() {
            match word.kind {
                Kind::Sign(b'(' | b'[') => depth += 1,
                Kind::Sign(b')' | b']') => depth = depth.checked_sub(1)?,
                Kind::Word if depth == 1 && self.text(*word) == "at" => return Some(at),
                _ => {}
            }
        }
        None
    }
}

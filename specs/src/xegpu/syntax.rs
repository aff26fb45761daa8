//! The syntax tree of MLIR, as far as it has to be known: operations, regions, blocks. What stands between
//! the name of an operation and its end stays words.

use crate::common::span::Span;

use super::lexer::{Kind, Token};

/// Operations in their order, with what leads to them.
#[derive(Debug, Default)]
pub(super) struct Block<'s> {
    /// `^name`; of the first block of a region it may be left out.
    pub(super) label: Option<&'s str>,
    pub(super) params: Vec<&'s str>,
    pub(super) operations: Vec<Operation<'s>>,
}

/// Blocks.
pub(super) type Region<'s> = Vec<Block<'s>>;

/// An operation.
#[derive(Debug)]
pub(super) struct Operation<'s> {
    /// With its dialect, without quotes.
    pub(super) name: &'s str,
    /// It is written in the form that all operations have: `"a.b"(%x) ({…}) : …`.
    pub(super) is_generic: bool,
    /// Its results: a name, and how many.
    pub(super) results: Vec<(&'s str, usize)>,
    /// What stands between its name and its end, regions left out.
    pub(super) words: Vec<Token>,
    pub(super) regions: Vec<Region<'s>>,
    /// From its results to the end, or to its first region.
    pub(super) span: Span,
}

impl<'s> Operation<'s> {
    /// The values that it is given, in their order.
    pub(super) fn values(&self, source: &'s str) -> Vec<&'s str> {
        self.words.iter().filter(|word| word.kind == Kind::Value).map(|word| word.span.text(source)).collect()
    }

    pub(super) fn text(&self, source: &'s str, at: usize) -> &'s str {
        self.words.get(at).map_or("", |word| word.span.text(source))
    }

    /// Where a bare word stands among the words.
    pub(super) fn find(&self, source: &'s str, word: &str) -> Option<usize> {
        (0..self.words.len()).find(|at| self.words[*at].kind == Kind::Word && self.text(source, *at) == word)
    }

    /// The words of an attribute's value: what follows `name =`.
    pub(super) fn attribute(&self, source: &'s str, name: &str) -> Option<&[Token]> {
        let at = (0..self.words.len()).find(|at| {
            let text = self.text(source, *at);
            let is_name =
                text == name || text.strip_prefix('"').and_then(|t| t.strip_suffix('"')) == Some(name);
            is_name && self.words.get(at + 1).is_some_and(|next| next.is(b'='))
        })?;
        self.words.get(at + 2..)
    }

    /// The number that an attribute is.
    pub(super) fn number(&self, source: &'s str, name: &str) -> Option<i64> {
        let first = self.attribute(source, name)?.first()?;
        integer(first.span.text(source))
    }

    /// The bare word or the text that an attribute is.
    pub(super) fn word(&self, source: &'s str, name: &str) -> Option<&'s str> {
        let words = self.attribute(source, name)?;
        let first = words.first()?;
        // `#xegpu.memory_kind<slm>` is about what stands in brackets.
        let is_wrapped = first.kind == Kind::Alias && words.get(1).is_some_and(|next| next.is(b'<'));
        let word = if is_wrapped { words.get(2)? } else { first };
        Some(word.span.text(source).trim_matches('"'))
    }

    /// Whether an attribute is there that has no value.
    pub(super) fn has(&self, source: &'s str, name: &str) -> bool {
        self.words.iter().any(|word| word.span.text(source) == name)
    }

    /// The names of types behind the last colon at the top, in their order.
    pub(super) fn types(&self, source: &'s str) -> Vec<&'s str> {
        let mut depth = 0_usize;
        let mut from = None;
        for (at, word) in self.words.iter().enumerate() {
            match word.kind {
                Kind::Sign(b'(' | b'[' | b'{' | b'<') => depth += 1,
                Kind::Sign(b')' | b']' | b'}' | b'>') => depth = depth.saturating_sub(1),
                Kind::Sign(b':') if depth == 0 => from = Some(at + 1),
                _ => {}
            }
        }
        let words = from.and_then(|from| self.words.get(from..)).unwrap_or_default();
        let is_type = |word: &&Token| matches!(word.kind, Kind::Word | Kind::Alias);
        words.iter().filter(is_type).map(|word| word.span.text(source)).filter(|word| *word != "to").collect()
    }
}

/// A decimal or hexadecimal integer.
pub(super) fn integer(word: &str) -> Option<i64> {
    match word.strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(digits, 16).ok(),
        None => word.parse().ok(),
    }
}

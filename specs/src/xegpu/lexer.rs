//! The words of MLIR.

use crate::common::span::{Span, offset};

/// What kind of word it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `%value`, perhaps with `#number`.
    Value,
    /// `@symbol`
    Symbol,
    /// `^block`
    Block,
    /// `!type` or `#attribute`
    Alias,
    /// A bare word, perhaps with dots.
    Word,
    Number,
    /// In quotes.
    Text,
    /// `->`
    Arrow,
    /// Anything else, by its first byte.
    Sign(u8),
}

/// A word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) span: Span,
    /// It is the first of its line.
    pub(super) begins_line: bool,
}

impl Token {
    pub(super) fn is(&self, sign: u8) -> bool {
        self.kind == Kind::Sign(sign)
    }
}

/// All words of a text; comments are left out.
pub(super) fn tokens(source: &str) -> Vec<Token> {
    let bytes = source.as_bytes();
    let mut tokens = Vec::new();
    let mut at = if source.starts_with('\u{feff}') { 3 } else { 0 };
    let mut begins_line = true;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\n' => {
                begins_line = true;
                at += 1;
            }
            byte if byte.is_ascii_whitespace() => at += 1,
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                let rest = &bytes[at..];
                at += rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
            }
            _ => {
                let (kind, end) = token(bytes, at);
                let span = Span::new(offset(at), offset(end));
                tokens.push(Token { kind, span, begins_line });
                begins_line = false;
                at = end;
            }
        }
    }
    tokens
}

fn is_part(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$' | b'-') || !byte.is_ascii()
}

/// A word and where it ends.
fn token(bytes: &[u8], at: usize) -> (Kind, usize) {
    let run = |from: usize, part: fn(&u8) -> bool| {
        bytes[from..].iter().position(|byte| !part(byte)).map_or(bytes.len(), |length| from + length)
    };
    let plain: fn(&u8) -> bool = |byte| is_part(byte) && *byte != b'-';
    match bytes[at] {
        b'%' => {
            let end = run(at + 1, is_part);
            let has_number =
                bytes.get(end) == Some(&b'#') && bytes.get(end + 1).is_some_and(u8::is_ascii_digit);
            let end = if has_number { run(end + 1, u8::is_ascii_digit) } else { end };
            (Kind::Value, end)
        }
        b'@' if bytes.get(at + 1) == Some(&b'"') => (Kind::Symbol, string(bytes, at + 1)),
        b'@' => (Kind::Symbol, run(at + 1, is_part)),
        b'^' => (Kind::Block, run(at + 1, plain)),
        b'!' | b'#' if bytes.get(at + 1).is_some_and(|next| next.is_ascii_alphabetic() || *next == b'_') => {
            (Kind::Alias, run(at + 1, plain))
        }
        b'"' => (Kind::Text, string(bytes, at)),
        b'-' if bytes.get(at + 1) == Some(&b'>') => (Kind::Arrow, at + 2),
        b'-' if bytes.get(at + 1).is_some_and(u8::is_ascii_digit) => (Kind::Number, number(bytes, at + 1)),
        b'<' | b'>' if bytes.get(at + 1) == Some(&b'=') => (Kind::Sign(b'='), at + 2),
        byte if byte.is_ascii_digit() => (Kind::Number, number(bytes, at)),
        byte if byte.is_ascii_alphabetic() || byte == b'_' => (Kind::Word, run(at, plain)),
        byte if byte.is_ascii() => (Kind::Sign(byte), at + 1),
        _ => (Kind::Sign(b'?'), run(at, |byte| !byte.is_ascii())),
    }
}

/// Where a number ends: `4`, `0x1F`, `1.5e-3`. What follows as in `4x8` is another word.
fn number(bytes: &[u8], at: usize) -> usize {
    let digits = |mut at: usize, is: fn(&u8) -> bool| {
        while bytes.get(at).is_some_and(is) {
            at += 1;
        }
        at
    };
    if bytes[at] == b'0'
        && bytes.get(at + 1) == Some(&b'x')
        && bytes.get(at + 2).is_some_and(u8::is_ascii_hexdigit)
    {
        let end = digits(at + 2, u8::is_ascii_hexdigit);
        // A shape that begins with 0 is no number of another base.
        if !bytes.get(end).is_some_and(|next| next.is_ascii_alphanumeric()) {
            return end;
        }
    }
    let mut end = digits(at, u8::is_ascii_digit);
    if bytes.get(end) == Some(&b'.') {
        end = digits(end + 1, u8::is_ascii_digit);
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            if bytes.get(end + 1 + sign).is_some_and(u8::is_ascii_digit) {
                end = digits(end + 1 + sign, u8::is_ascii_digit);
            }
        }
    }
    end
}

fn string(bytes: &[u8], at: usize) -> usize {
    let mut end = at + 1;
    while let Some(byte) = bytes.get(end) {
        match byte {
            b'\\' => end += 1,
            b'"' => return end + 1,
            // A string ends with its line at the latest.
            b'\n' => return end,
            _ => {}
        }
        end += 1;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(source: &str) -> Vec<&str> {
        tokens(source).iter().map(|token| token.span.text(source)).collect()
    }

    #[test]
    fn words_have_dots_and_values_have_numbers() {
        assert_eq!(
            words("%a#1 = scf.for %i = %c0_1 to ^bb2 -> !x.y<4x8xf16> // no\n\"a.b\"(@k::@\"q r\")"),
            [
                "%a#1", "=", "scf.for", "%i", "=", "%c0_1", "to", "^bb2", "->", "!x.y", "<", "4", "x8xf16",
                ">", "\"a.b\"", "(", "@k", ":", ":", "@\"q r\"", ")"
            ]
        );
        assert_eq!(words("-1 1.5e-3 0x1F 0x8 d0-1"), ["-1", "1.5e-3", "0x1F", "0x8", "d0", "-1"]);
    }

    #[test]
    fn nothing_that_is_open_goes_beyond_the_text() {
        for source in ["\"abc", "%", "@\"", "\"a\\", "^", "é", "-", "0x", "1."] {
            assert!(words(source).concat().len() <= source.len(), "{source}");
        }
    }
}

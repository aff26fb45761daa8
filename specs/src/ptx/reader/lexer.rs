//! Words and signs of PTX, one at a time.

use crate::common::span::{Span, offset};

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// An opcode, a directive with its dot, a register, a symbol, a number.
    Word,
    /// A string, with its quotes.
    Text,
    /// A sign of one character.
    Sign(u8),
    /// Nothing is left.
    End,
}

/// A token.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) span: Span,
    /// It is the first of its line.
    pub(super) first: bool,
}

/// Reads tokens from the start of a text to its end, with one token of look-ahead.
pub(super) struct Lexer<'s> {
    pub(super) source: &'s str,
    at: usize,
    ahead: Option<Token>,
    /// The end of the last token taken, semicolons left out.
    last: u32,
}

impl<'s> Lexer<'s> {
    pub(super) fn new(source: &'s str) -> Self {
        let at = if source.starts_with('\u{feff}') { 3 } else { 0 };
        Self { source, at, ahead: None, last: 0 }
    }

    pub(super) fn peek(&mut self) -> Token {
        if let Some(token) = self.ahead {
            return token;
        }
        let token = self.read();
        self.ahead = Some(token);
        token
    }

    pub(super) fn next(&mut self) -> Token {
        let token = self.peek();
        self.ahead = None;
        if token.kind != Kind::Sign(b';') {
            self.last = token.span.end;
        }
        token
    }

    /// The end of what has been taken, a semicolon left out.
    pub(super) fn last_end(&self) -> u32 {
        self.last
    }

    /// The text of a token.
    pub(super) fn text(&self, token: Token) -> &'s str {
        token.span.text(self.source)
    }

    /// Whether the next token is this sign; then it is taken.
    pub(super) fn take(&mut self, sign: u8) -> bool {
        let found = self.peek().kind == Kind::Sign(sign);
        if found {
            self.next();
        }
        found
    }

    fn read(&mut self) -> Token {
        let bytes = self.source.as_bytes();
        let first = self.skip(bytes);
        let start = self.at;
        let kind = match bytes.get(start) {
            None => Kind::End,
            Some(byte) if is_of_word(*byte) => {
                self.word(bytes);
                Kind::Word
            }
            Some(b'"') => {
                self.string(bytes);
                Kind::Text
            }
            Some(byte) => {
                // A character of several bytes is one sign.
                let length = self.source.get(start..).and_then(|rest| rest.chars().next());
                self.at += length.map_or(1, char::len_utf8);
                Kind::Sign(*byte)
            }
        };
        Token { kind, span: Span::new(offset(start), offset(self.at)), first }
    }

    /// White space and comments. Whether a line has begun.
    fn skip(&mut self, bytes: &[u8]) -> bool {
        let mut first = self.at == 0;
        loop {
            match (bytes.get(self.at), bytes.get(self.at + 1)) {
                (Some(b'\n'), _) => {
                    first = true;
                    self.at += 1;
                }
                (Some(byte), _) if byte.is_ascii_whitespace() || *byte == 0x0b => self.at += 1,
                (Some(b'/'), Some(b'/')) => {
                    let rest = &bytes[self.at..];
                    self.at += rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
                }
                (Some(b'/'), Some(b'*')) => {
                    let rest = &bytes[self.at + 2..];
                    let end = rest.windows(2).position(|pair| pair == b"*/").map_or(rest.len(), |at| at + 2);
                    self.at += 2 + end;
                }
                _ => return first,
            }
        }
    }

    /// A word goes on over `::`, as in `.shared::cta`.
    fn word(&mut self, bytes: &[u8]) {
        loop {
            match (bytes.get(self.at), bytes.get(self.at + 1), bytes.get(self.at + 2)) {
                (Some(byte), ..) if is_of_word(*byte) => self.at += 1,
                (Some(b':'), Some(b':'), Some(byte)) if is_of_word(*byte) => self.at += 2,
                _ => return,
            }
        }
    }

    fn string(&mut self, bytes: &[u8]) {
        self.at += 1;
        while let Some(byte) = bytes.get(self.at) {
            if *byte == b'\n' {
                return;
            }
            self.at += if *byte == b'\\' { 2 } else { 1 };
            if *byte == b'"' {
                break;
            }
        }
        self.at = self.at.min(bytes.len());
        while !self.source.is_char_boundary(self.at) {
            self.at += 1;
        }
    }
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'%' | b'.')
}

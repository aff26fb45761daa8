//! Cuts a text into tokens and comments.

use super::syntax_error::SyntaxError;
use super::token::{Comment, Token, TokenKind};
use crate::common::diagnostic::Sink;
use crate::common::span::{Span, offset};

/// A text in pieces. The last token is [`TokenKind::End`].
#[derive(Debug, Default)]
pub(crate) struct Lexed {
    pub(crate) tokens: Vec<Token>,
    pub(crate) comments: Vec<Comment>,
}

/// Cuts `source`, whose length is within [`crate::common::limits::SOURCE_BYTES`]; what is no token goes to
/// `errors`.
pub(crate) fn lex(source: &str, errors: &mut Sink) -> Lexed {
    let mut lexer = Lexer { source, position: 0, lexed: Lexed::default(), errors };
    if source.starts_with('\u{feff}') {
        lexer.position = '\u{feff}'.len_utf8();
    }
    while lexer.step() {}
    lexer.lexed
}

struct Lexer<'s, 'e> {
    source: &'s str,
    position: usize,
    lexed: Lexed,
    errors: &'e mut Sink,
}

impl Lexer<'_, '_> {
    /// Reads one token, comment or stretch of white space; false at the end.
    fn step(&mut self) -> bool {
        let start = self.position;
        let Some(byte) = self.peek(0) else {
            self.push(TokenKind::End, start);
            return false;
        };
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => self.position += 1,
            b'/' if self.peek(1) == Some(b'/') => self.line_comment(),
            b'/' if self.peek(1) == Some(b'*') => self.block_comment(),
            b'"' => self.string(),
            b'0'..=b'9' => {
                self.skip_word();
                self.push(TokenKind::Number, start);
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                self.skip_word();
                self.push(TokenKind::Word, start);
            }
            _ => self.punctuation(),
        }
        true
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.source.as_bytes().get(self.position + ahead).copied()
    }

    fn push(&mut self, kind: TokenKind, start: usize) {
        let span = self.span_from(start);
        self.lexed.tokens.push(Token { kind, span });
    }

    fn span_from(&self, start: usize) -> Span {
        Span::new(offset(start), offset(self.position))
    }

    fn skip_word(&mut self) {
        while self.peek(0).is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            self.position += 1;
        }
    }

    fn line_comment(&mut self) {
        let start = self.position;
        let rest = &self.source[start..];
        let line = rest.split('\n').next().unwrap_or(rest);
        let comment = line.trim_end();
        self.position = start + comment.len();
        let span = self.span_from(start);
        self.lexed.comments.push(Comment { span, line: true });
        self.position = start + line.len();
    }

    fn block_comment(&mut self) {
        let start = self.position;
        match self.source[start + 2..].find("*/") {
            Some(length) => {
                self.position = start + 2 + length + 2;
                let span = self.span_from(start);
                self.lexed.comments.push(Comment { span, line: false });
            }
            None => {
                self.position = start + 2;
                let error = SyntaxError::UnclosedComment { span: self.span_from(start) };
                self.position = self.source.len();
                self.error(&error);
            }
        }
    }

    fn string(&mut self) {
        let start = self.position;
        let rest = &self.source[start + 1..];
        match rest.find(['"', '\n']) {
            Some(length) if rest.as_bytes()[length] == b'"' => {
                self.position = start + 1 + length + 1;
            }
            end => {
                // The attribute that it belongs to probably ends here.
                let line = &rest[..end.unwrap_or(rest.len())];
                let line = line.split([',', '}', ';']).next().unwrap_or(line);
                self.position = start + 1 + line.trim_end().len();
                let span = self.span_from(start);
                self.error(&SyntaxError::UnclosedString { span });
            }
        }
        self.push(TokenKind::String, start);
    }

    fn punctuation(&mut self) {
        use TokenKind as T;
        let start = self.position;
        let two = (self.peek(0).unwrap_or(0), self.peek(1).unwrap_or(0));
        let (kind, length) = match two {
            (b'.', b'.') if self.peek(2) == Some(b'=') => (T::DotDotEqual, 3),
            (b'.', b'.') => (T::DotDot, 2),
            (b'=', b'=') => (T::EqualEqual, 2),
            (b'!', b'=') => (T::NotEqual, 2),
            (b'<', b'=') => (T::LessEqual, 2),
            (b'>', b'=') => (T::GreaterEqual, 2),
            (b'<', b'<') => (T::ShiftLeft, 2),
            (b'>', b'>') => (T::ShiftRight, 2),
            (b'&', b'&') => (T::AndAnd, 2),
            (b'|', b'|') => (T::OrOr, 2),
            (b';', _) => (T::Semicolon, 1),
            (b',', _) => (T::Comma, 1),
            (b'.', _) => (T::Dot, 1),
            (b':', _) => (T::Colon, 1),
            (b'{', _) => (T::OpenBrace, 1),
            (b'}', _) => (T::CloseBrace, 1),
            (b'(', _) => (T::OpenParenthesis, 1),
            (b')', _) => (T::CloseParenthesis, 1),
            (b'[', _) => (T::OpenBracket, 1),
            (b']', _) => (T::CloseBracket, 1),
            (b'?', _) => (T::Question, 1),
            (b'@', _) => (T::At, 1),
            (b'=', _) => (T::Equal, 1),
            (b'!', _) => (T::Not, 1),
            (b'<', _) => (T::Less, 1),
            (b'>', _) => (T::Greater, 1),
            (b'&', _) => (T::And, 1),
            (b'|', _) => (T::Or, 1),
            (b'^', _) => (T::Xor, 1),
            (b'+', _) => (T::Plus, 1),
            (b'-', _) => (T::Minus, 1),
            (b'*', _) => (T::Star, 1),
            (b'/', _) => (T::Slash, 1),
            (b'%', _) => (T::Percent, 1),
            _ => return self.unknown(),
        };
        self.position += length;
        self.push(kind, start);
    }

    /// Skips characters that begin no token, all that follow one another as one error.
    fn unknown(&mut self) {
        let start = self.position;
        let rest = &self.source[start..];
        let known = |c: char| c.is_ascii() && (c.is_ascii_graphic() || c.is_ascii_whitespace());
        let unknown = |c: char| !known(c) || matches!(c, '#' | '$' | '\'' | '\\' | '`' | '~');
        let length = rest.find(|c| !unknown(c)).unwrap_or(rest.len());
        // Form feed is ASCII white space, though none that a protocol may hold.
        self.position += length.max(rest.chars().next().map_or(1, char::len_utf8));
        let first = rest.chars().next().unwrap_or_default();
        let span = self.span_from(start);
        self.error(&SyntaxError::UnknownCharacter { character: first, span });
        if first == '#' {
            // A comment or a directive of another language: nothing on the line is meant for this one.
            let rest = &self.source[self.position..];
            self.position += rest.find('\n').unwrap_or(rest.len());
        }
    }

    fn error(&mut self, error: &SyntaxError) {
        self.errors.push(error.span(), || error.diagnostic());
    }
}

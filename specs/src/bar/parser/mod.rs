//! From tokens to the syntax tree, by recursive descent. After an error the parser goes on with the next
//! statement or declaration, so that one run finds several.

mod expressions;
mod instructions;
mod items;
mod statements;

use barcheck_model::program::Target;

use super::ast::{File, Name};
use super::lexer::Lexed;
use super::notation::Notation;
use super::syntax_error::SyntaxError;
use super::system;
use super::token::{Token, TokenKind};
use super::words;
use crate::common::diagnostic::Sink;
use crate::common::limits;
use crate::common::span::Span;
use std::collections::BTreeSet;

/// An error has been reported; what was being read has no tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reported;

pub(super) type Parsed<T> = Result<T, Reported>;

/// What a token turned out to be; all that the formatter needs to know of the grammar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Class {
    /// A name, number or operator between operands.
    #[default]
    Plain,
    /// A keyword.
    Keyword,
    /// Part of a mnemonic.
    Mnemonic,
    /// An operator before its operand: nothing stands between the two.
    Prefix,
    /// An operand without the comma before it that could stand there.
    ImpliedComma,
    /// A brace of a block.
    Block,
    /// An operator that joins words without spaces.
    Joint,
    /// Part of a hint, which is kept as it is.
    Verbatim,
}

/// What parsing yields.
pub(crate) struct Output {
    pub(crate) file: File,
    /// For each token, what it is.
    pub(crate) classes: Vec<Class>,
}

/// Parses `lexed`, the pieces of `source`.
pub(crate) fn parse(source: &str, lexed: &Lexed, errors: &mut Sink) -> Output {
    let mut parser = Parser {
        source,
        tokens: &lexed.tokens,
        position: 0,
        notation: system::notation(Target::ALL[0]),
        errors,
        depth: 0,
        stopped: false,
        role: Span::default(),
        leave_role: false,
        suspect: None,
        classes: vec![Class::Plain; lexed.tokens.len()],
        shared: shared_blocks(source, &lexed.tokens),
    };
    let file = parser.file();
    Output { file, classes: parser.classes }
}

struct Parser<'s, 'e> {
    source: &'s str,
    /// Ends with [`TokenKind::End`], which is never passed.
    tokens: &'s [Token],
    position: usize,
    /// That of the target declared; nothing that depends on it is read before.
    notation: &'static Notation,
    errors: &'e mut Sink,
    /// Blocks and parentheses around the current token.
    depth: u32,
    /// Nothing more is to be read or reported.
    stopped: bool,
    /// The opening brace of the role being read.
    role: Span,
    /// A new role began where a statement should: all open blocks end here.
    leave_role: bool,
    /// The first block whose closing brace is less indented than its beginning: if one is never closed, it is
    /// most often this one. With that brace.
    suspect: Option<(Span, Span)>,
    classes: Vec<Class>,
    /// The names of shared blocks: they may be used before they are declared.
    shared: BTreeSet<&'s str>,
}

/// The names that follow the word `block`.
fn shared_blocks<'s>(source: &'s str, tokens: &[Token]) -> BTreeSet<&'s str> {
    let declared = |three: &[Token]| match three {
        [word, name, open]
            if word.kind == TokenKind::Word
                && name.kind == TokenKind::Word
                && open.kind == TokenKind::OpenParenthesis
                && word.span.text(source).eq_ignore_ascii_case("block") =>
        {
            Some(name.span.text(source))
        }
        _ => None,
    };
    tokens.windows(3).filter_map(declared).collect()
}

impl<'s> Parser<'s, '_> {
    fn current(&self) -> Token {
        self.ahead(0)
    }

    /// The token `distance` tokens on, at most the last.
    fn ahead(&self, distance: usize) -> Token {
        let last = self.tokens.len() - 1;
        self.tokens[(self.position + distance).min(last)]
    }

    fn at(&self, kind: TokenKind) -> bool {
        self.current().kind == kind
    }

    /// Passes the current token.
    fn advance(&mut self) -> Token {
        let token = self.current();
        if token.kind != TokenKind::End {
            self.position += 1;
        }
        token
    }

    /// Passes the current token and notes what it is.
    fn advance_as(&mut self, class: Class) -> Token {
        self.classes[self.position] = class;
        self.advance()
    }

    /// Passes the current token if it is a `kind`.
    fn eat(&mut self, kind: TokenKind) -> bool {
        let found = self.at(kind);
        if found {
            self.advance();
        }
        found
    }

    /// The bytes of the token before the current one.
    fn previous(&self) -> Span {
        match self.position.checked_sub(1) {
            Some(index) => self.tokens[index].span,
            None => Span::new(0, 0),
        }
    }

    /// From `start` to the end of the token before the current one.
    fn span_from(&self, start: Span) -> Span {
        start.to(self.previous())
    }

    fn text(&self, span: Span) -> &'s str {
        span.text(self.source)
    }

    /// The text of `span`, as much of it as a message shows.
    fn short_text(&self, span: Span) -> String {
        self.text(span).chars().take(40).collect()
    }

    /// The current token's text if it is a word, else nothing.
    fn word(&self) -> &'s str {
        let token = self.current();
        if token.kind == TokenKind::Word { self.text(token.span) } else { "" }
    }

    fn at_keyword(&self, keyword: &str) -> bool {
        self.word().eq_ignore_ascii_case(keyword)
    }

    /// Passes the current token if it is `keyword`.
    fn eat_keyword(&mut self, keyword: &str) -> bool {
        let found = self.at_keyword(keyword);
        if found {
            self.advance_as(Class::Keyword);
        }
        found
    }

    fn report<T>(&mut self, error: &SyntaxError) -> Parsed<T> {
        if !self.stopped {
            self.errors.push(error.span(), || error.diagnostic());
        }
        Err(Reported)
    }

    /// Reports an error after which nothing sensible can be read.
    fn stop<T>(&mut self, error: &SyntaxError) -> Parsed<T> {
        let result = self.report(error);
        self.stopped = true;
        self.position = self.tokens.len() - 1;
        result
    }

    fn expected<T>(&mut self, expected: impl Into<String>) -> Parsed<T> {
        self.expected_with(expected, None)
    }

    fn expected_with<T>(&mut self, expected: impl Into<String>, help: Option<String>) -> Parsed<T> {
        let token = self.current();
        let (found, span) = match token.kind {
            TokenKind::Word | TokenKind::Number | TokenKind::String => {
                (format!("`{}`", self.short_text(token.span)), token.span)
            }
            kind => (kind.describe().to_owned(), token.span),
        };
        self.report(&SyntaxError::Expected { expected: expected.into(), found, span, help })
    }

    fn expect(&mut self, kind: TokenKind) -> Parsed<Token> {
        if self.at(kind) { Ok(self.advance()) } else { self.expected(kind.describe()) }
    }

    fn expect_keyword(&mut self, keyword: &str) -> Parsed<()> {
        if self.eat_keyword(keyword) { Ok(()) } else { self.expected(format!("`{keyword}`")) }
    }

    /// A semicolon. At the end of a line or block a missing one is reported and taken for granted.
    fn expect_semicolon(&mut self) -> Parsed<()> {
        if self.eat(TokenKind::Semicolon) {
            return Ok(());
        }
        let previous = self.previous();
        let token = self.current();
        let between = Span::new(previous.end, token.span.start);
        let ends_line =
            matches!(token.kind, TokenKind::CloseBrace | TokenKind::End) || self.text(between).contains('\n');
        if ends_line {
            let span = previous.after();
            let _ = self.report::<()>(&SyntaxError::MissingSemicolon { span });
            return Ok(());
        }
        let help = match token.kind {
            _ if self.is_handle() => {
                "`%` directly before a letter begins a handle: write `a % b` for the remainder"
            }
            TokenKind::Question => "there is no `a ? b : c`: write `let x = c; if a { x = b; }`",
            _ => return self.expected("`;`"),
        };
        self.expected_with("`;`", Some(help.to_owned()))
    }

    /// A name that is no keyword.
    fn name(&mut self, what: &str) -> Parsed<Name> {
        let word = self.word();
        if word.is_empty() {
            return self.expected(what);
        }
        let span = self.current().span;
        if words::is_reserved(word) {
            return self.report(&SyntaxError::ReservedWord { word: word.to_owned(), span });
        }
        self.advance();
        Ok(Name { text: word.into(), span })
    }

    /// Whether a handle begins at the current token: `%` directly before a letter, where there are handles.
    fn is_handle(&self) -> bool {
        let (percent, word) = (self.current(), self.ahead(1));
        self.notation.handles_from.is_some()
            && percent.kind == TokenKind::Percent
            && word.kind == TokenKind::Word
            && percent.span.end == word.span.start
            && !self.text(word.span).starts_with('_')
    }

    /// A handle, which [`Self::is_handle`] has seen.
    fn handle(&mut self) -> Name {
        let percent = self.advance_as(Class::Prefix);
        let span = percent.span.to(self.advance().span);
        Name { text: self.text(span).into(), span }
    }

    /// One level deeper; the caller leaves it with `self.depth -= 1`.
    fn enter(&mut self) -> Parsed<()> {
        if self.depth >= limits::NESTING {
            let span = self.current().span;
            return self.stop(&SyntaxError::TooDeep { span });
        }
        self.depth += 1;
        Ok(())
    }

    /// Skips to behind the next semicolon or block, or to the brace that closes the current one.
    fn recover(&mut self) {
        loop {
            match self.current().kind {
                TokenKind::End | TokenKind::CloseBrace => return,
                TokenKind::Semicolon => {
                    self.advance();
                    return;
                }
                TokenKind::OpenBrace => {
                    self.skip_braces();
                    self.eat(TokenKind::Semicolon);
                    return;
                }
                _ => {
                    self.advance();
                }
            }
        }
    }

    /// Skips from an opening brace to behind the one that closes it; false if none does.
    fn skip_braces(&mut self) -> bool {
        let mut open = 0_usize;
        loop {
            match self.current().kind {
                TokenKind::End => return false,
                TokenKind::OpenBrace => open += 1,
                TokenKind::CloseBrace => open -= 1,
                _ => {}
            }
            self.advance();
            if open == 0 {
                return true;
            }
        }
    }

    /// The position of the parenthesis that closes the one at the current token, within the same block, and
    /// within the same statement unless it may hold `semicolons`.
    fn closing_parenthesis(&self, semicolons: bool) -> Option<usize> {
        let mut open = 0_usize;
        for (index, token) in self.tokens.iter().enumerate().skip(self.position) {
            match token.kind {
                TokenKind::OpenParenthesis => open += 1,
                TokenKind::CloseParenthesis => open -= 1,
                TokenKind::Semicolon if !semicolons => return None,
                TokenKind::OpenBrace | TokenKind::CloseBrace | TokenKind::End => return None,
                _ => {}
            }
            if open == 0 {
                return Some(index);
            }
        }
        None
    }
}

//! Prints a `.bar` file in its canonical form.
//!
//! The printer walks the tokens, not the tree, so that nothing of the text is lost: comments stay where they
//! are, and the grammar is needed only to tell keywords, mnemonics, prefix operators and braces of blocks,
//! which the parser noted as [`Class`]es.

mod align;

use std::iter::Peekable;

use barcheck_model::program::Target;

use crate::bar::lexer::Lexed;
use crate::bar::mnemonics;
use crate::bar::parser::Class;
use crate::bar::token::{Comment, Token, TokenKind};
use crate::common::span::Span;
use align::Trailing;

/// Spaces for each level of blocks.
const INDENT: usize = 4;

/// Prints `lexed`, which was parsed from `source` without errors.
pub(crate) fn print(source: &str, lexed: &Lexed, classes: &[Class], target: Target) -> String {
    let mut printer = Printer {
        source,
        tokens: &lexed.tokens,
        classes,
        target,
        comments: lexed.comments.iter().peekable(),
        layouts: layouts(source, lexed, classes),
        output: String::with_capacity(source.len()),
        open: Vec::new(),
        pending: Gap::Nothing,
        in_statement: false,
        last: Span::default(),
        trailing: Vec::new(),
    };
    printer.print();
    align::align(&printer.output, source, &printer.trailing)
}

/// Statements that may share the line of their block.
const ONE_LINE: usize = 3;

/// How a block is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    /// `{}`
    Empty,
    /// On the line of its head, as in the source: it holds few statements and no comment.
    OneLine,
    /// Its statements on lines of their own.
    Lines,
}

/// What comes before the next token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gap {
    /// Nothing, or a space if the tokens ask for one.
    Nothing,
    /// A space.
    Space,
    /// A new line.
    Line,
    /// A new line which must not be preceded by an empty one: a block begins.
    FirstLine,
}

struct Printer<'s> {
    source: &'s str,
    tokens: &'s [Token],
    classes: &'s [Class],
    target: Target,
    comments: Peekable<std::slice::Iter<'s, Comment>>,
    /// For each brace of a block, how the block is laid out; for other tokens without meaning.
    layouts: Vec<Layout>,
    output: String,
    /// The layouts of the open blocks.
    open: Vec<Layout>,
    pending: Gap,
    /// A statement has begun: a new line within it is indented once more.
    in_statement: bool,
    /// The last token or comment printed.
    last: Span,
    trailing: Vec<Trailing>,
}

/// The layout of every block, at both of its braces.
fn layouts(source: &str, lexed: &Lexed, classes: &[Class]) -> Vec<Layout> {
    let mut layouts = vec![Layout::Lines; lexed.tokens.len()];
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut semicolons = 0;
    for (index, token) in lexed.tokens.iter().enumerate() {
        match (token.kind, classes[index]) {
            (TokenKind::Semicolon, Class::Plain) => semicolons += 1,
            (TokenKind::OpenBrace, Class::Block) => open.push((index, semicolons)),
            (TokenKind::CloseBrace, Class::Block) => {
                let Some((start, before)) = open.pop() else {
                    continue;
                };
                let inside = Span::new(lexed.tokens[start].span.end, token.span.start);
                let first = lexed.comments.partition_point(|c| c.span.start < inside.start);
                let has_comment = lexed.comments.get(first).is_some_and(|c| c.span.start < inside.end);
                let layout = if has_comment {
                    Layout::Lines
                } else if index == start + 1 {
                    Layout::Empty
                } else if semicolons - before <= ONE_LINE && !has_newline(source, lexed, start, index) {
                    Layout::OneLine
                } else {
                    Layout::Lines
                };
                (layouts[start], layouts[index]) = (layout, layout);
            }
            _ => {}
        }
    }
    layouts
}

/// Whether the source has a new line between the tokens `start` and `end`. Few statements are between them,
/// and the depth of blocks is bounded, so that nested blocks do not make this quadratic.
fn has_newline(source: &str, lexed: &Lexed, start: usize, end: usize) -> bool {
    Span::new(lexed.tokens[start].span.end, lexed.tokens[end].span.start).text(source).contains('\n')
}

impl<'s> Printer<'s> {
    fn print(&mut self) {
        let mut index = 0;
        while index < self.tokens.len() {
            let token = self.tokens[index];
            self.comments_before(token.span.start);
            if token.kind == TokenKind::End {
                break;
            }
            index = self.token(index);
        }
        if !self.output.is_empty() && !self.output.ends_with('\n') {
            self.output.push('\n');
        }
    }

    /// Prints the token at `index`, of a mnemonic all; returns the index of the next.
    fn token(&mut self, index: usize) -> usize {
        let token = self.tokens[index];
        let class = self.classes[index];
        if token.kind == TokenKind::CloseBrace && class == Class::Block {
            self.close_block(self.layouts[index]);
        } else if class == Class::ImpliedComma {
            self.output.push(',');
            self.pending = self.pending.max_space();
        } else if self.pending == Gap::Nothing && self.space_before(index) {
            self.pending = Gap::Space;
        }
        let joins = matches!(token.kind, TokenKind::Semicolon | TokenKind::Comma);
        if joins && class == Class::Plain && self.pending == Gap::Space {
            // The space is a comment's, after which none is needed.
            self.pending = Gap::Nothing;
        }
        let is_else = self.text(token.span).eq_ignore_ascii_case("else");
        if class == Class::Keyword && is_else && self.output.ends_with('}') && !self.else_alone(index) {
            self.pending = Gap::Space;
        }
        self.gap(token.span);
        let next = self.write(index);
        self.last = self.tokens[next - 1].span;
        self.in_statement = true;
        match (token.kind, class) {
            (TokenKind::Semicolon, Class::Plain) => self.end_statement(),
            (TokenKind::OpenBrace, Class::Block) => self.open_block(self.layouts[index]),
            (TokenKind::CloseBrace, Class::Block) => self.end_statement(),
            _ => {}
        }
        next
    }

    /// Whether the `else` at `index` begins a line, as it may behind a block of one line.
    fn else_alone(&self, index: usize) -> bool {
        let between = Span::new(self.last.end, self.tokens[index].span.start);
        index > 0 && self.layouts[index - 1] == Layout::OneLine && self.text(between).contains('\n')
    }

    /// After a semicolon or a block: a new line, or a space on a line that the block around it shares.
    fn end_statement(&mut self) {
        self.in_statement = false;
        self.pending = if self.on_one_line() { Gap::Space } else { Gap::Line };
    }

    /// Whether a block around the next token has a single line.
    fn on_one_line(&self) -> bool {
        self.open.contains(&Layout::OneLine)
    }

    fn open_block(&mut self, layout: Layout) {
        self.in_statement = false;
        self.open.push(layout);
        self.pending = match layout {
            Layout::Empty => Gap::Nothing,
            Layout::OneLine => Gap::Space,
            Layout::Lines => Gap::FirstLine,
        };
    }

    fn close_block(&mut self, layout: Layout) {
        self.in_statement = false;
        self.open.pop();
        self.pending = match layout {
            Layout::Empty => Gap::Nothing,
            Layout::OneLine => Gap::Space,
            Layout::Lines => Gap::FirstLine,
        };
    }

    /// Prints the comments that stand before `position`.
    fn comments_before(&mut self, position: u32) {
        while let Some(comment) = self.comments.next_if(|c| c.span.start < position) {
            let between = Span::new(self.last.end, comment.span.start).text(self.source);
            let trails = !self.output.is_empty() && !self.output.ends_with('\n') && !between.contains('\n');
            let after = if trails {
                self.output.push(' ');
                if comment.line {
                    let (output, source) = (self.output.len(), comment.span.start);
                    self.trailing.push(Trailing { output, source });
                }
                self.pending
            } else {
                // Between two tokens of a statement the comment had a line of its own; it keeps it.
                if !matches!(self.pending, Gap::Line | Gap::FirstLine) {
                    self.pending = Gap::FirstLine;
                }
                self.gap(comment.span);
                Gap::Space
            };
            for (number, line) in self.text(comment.span).lines().enumerate() {
                if number > 0 {
                    self.output.push('\n');
                }
                self.output.push_str(line);
            }
            self.last = comment.span;
            self.pending = self.after_comment(comment, after);
        }
    }

    /// What follows a comment: a new line if it needs or had one, else what was to come before it.
    fn after_comment(&self, comment: &Comment, before: Gap) -> Gap {
        let rest = &self.source[comment.span.end as usize..];
        let blank = rest.trim_start_matches([' ', '\t', '\r']);
        if comment.line || blank.starts_with('\n') {
            return if before == Gap::FirstLine { Gap::FirstLine } else { Gap::Line };
        }
        if before == Gap::Nothing { Gap::Space } else { before }
    }

    /// Prints what separates the next piece, at `next`, from the last one.
    fn gap(&mut self, next: Span) {
        match self.pending {
            Gap::Nothing => {}
            _ if self.output.is_empty() => {}
            Gap::Space => self.output.push(' '),
            Gap::Line | Gap::FirstLine => {
                let between = Span::new(self.last.end, next.start).text(self.source);
                let lines = between.bytes().filter(|byte| *byte == b'\n').count();
                self.output.push('\n');
                if self.pending == Gap::Line && lines > 1 && !self.in_statement {
                    self.output.push('\n');
                }
                let depth = self.open.len() + usize::from(self.in_statement);
                self.output.extend(std::iter::repeat_n(' ', depth * INDENT));
            }
        }
        self.pending = Gap::Nothing;
    }

    /// Whether a space stands between the token at `index` and the one before it, on the same line.
    fn space_before(&self, index: usize) -> bool {
        use TokenKind as T;
        let Some(before) = index.checked_sub(1) else {
            return false;
        };
        let (left, right) = (self.tokens[before], self.tokens[index]);
        if self.classes[before] == Class::Verbatim || self.classes[index] == Class::Verbatim {
            return left.span.end < right.span.start;
        }
        let glued = self.classes[before] == Class::Prefix
            || matches!(left.kind, T::OpenParenthesis | T::OpenBracket | T::Dot | T::DotDot | T::DotDotEqual)
            || matches!(
                right.kind,
                T::Semicolon
                    | T::Comma
                    | T::CloseParenthesis
                    | T::OpenBracket
                    | T::CloseBracket
                    | T::Dot
                    | T::DotDot
                    | T::DotDotEqual
            )
            || (left.kind == T::OpenBrace && self.classes[before] != Class::Block)
            || (right.kind == T::CloseBrace && self.classes[index] != Class::Block);
        let joint = |index: usize| self.classes[index] == Class::Joint;
        !glued && !joint(before) && !joint(index)
    }

    /// Writes the token at `index` and returns the index of the next one to write.
    fn write(&mut self, index: usize) -> usize {
        let text = self.text(self.tokens[index].span);
        match self.classes[index] {
            Class::Keyword => self.output.push_str(&text.to_ascii_lowercase()),
            Class::Mnemonic => return self.mnemonic(index),
            _ => self.output.push_str(text),
        }
        index + 1
    }

    /// Writes a mnemonic as its specification spells it, unless a comment splits it.
    fn mnemonic(&mut self, index: usize) -> usize {
        let parts = &self.classes[index..];
        let length = parts.iter().take_while(|class| **class == Class::Mnemonic).count();
        let end = index + length;
        let span = self.tokens[index].span.to(self.tokens[end - 1].span);
        let joined: String = self.tokens[index..end].iter().map(|token| self.text(token.span)).collect();
        let split = self.comments.peek().is_some_and(|comment| comment.span.start < span.end);
        match mnemonics::find_in(self.target, &joined) {
            Some(known) if !split => {
                self.output.push_str(&known.text);
                end
            }
            _ => {
                let text = self.text(self.tokens[index].span);
                self.output.push_str(text);
                index + 1
            }
        }
    }

    fn text(&self, span: Span) -> &'s str {
        span.text(self.source)
    }
}

impl Gap {
    /// At least a space.
    fn max_space(self) -> Self {
        if self == Self::Nothing { Self::Space } else { self }
    }
}

//! Statements.

use barcheck_model::program::AccessKind;

use super::{Class, Parsed, Parser};
use crate::bar::ast::{Block, Else, Statement, StatementKind};
use crate::bar::foreign_syntax;
use crate::bar::mnemonics;
use crate::bar::syntax_error::SyntaxError;
use crate::bar::token::TokenKind;
use crate::bar::words;
use crate::common::span::Span;
use crate::common::suggest::closest;

impl Parser<'_, '_> {
    /// A block, whose head begins with the token at `head`.
    pub(super) fn block(&mut self, head: Span) -> Parsed<Block> {
        self.enter()?;
        if !self.at(TokenKind::OpenBrace) {
            return self.no_block(head);
        }
        let open = self.advance_as(Class::Block).span;
        let mut statements = Vec::new();
        while !self.at(TokenKind::CloseBrace) {
            if self.at(TokenKind::End) {
                let end = self.previous().after();
                let suspect = self.suspect;
                return self.stop(&SyntaxError::UnclosedBlock { open, end, suspect });
            }
            let depth = self.depth;
            match self.statement() {
                Ok(statement) => statements.push(statement),
                Err(reported) if self.leave_role => return Err(reported),
                Err(_) => {
                    self.depth = depth;
                    self.recover();
                }
            }
        }
        let close = self.advance_as(Class::Block).span;
        let indent = |at| line(self.source, at).map(|(_, indent)| indent);
        if self.suspect.is_none() && indent(close) < indent(open) {
            self.suspect = Some((open, close));
        }
        self.depth -= 1;
        Ok(Block { statements, close })
    }

    /// Something else than a block. A statement is taken for one, so that an `else` behind it is understood.
    fn no_block(&mut self, head: Span) -> Parsed<Block> {
        if !self.begins_statement() {
            let help = self.help_for_block().map(str::to_owned);
            return self.expected_with("`{`", help);
        }
        let span = self.current().span;
        let head = self.text(self.span_from(head));
        let rest = &self.source[span.start as usize..];
        let statement = rest.split_inclusive([';', '\n']).next().unwrap_or(rest);
        let short = head.len() + statement.len() <= 70 && !head.contains('\n') && statement.ends_with(';');
        let example = if short {
            format!("{head} {{ {statement} }}")
        } else {
            let keyword = head.split(|c: char| !c.is_alphanumeric()).next().unwrap_or(head);
            format!("{keyword} … {{ … }}")
        };
        let _ = self.report::<()>(&SyntaxError::NoBraces { example, span });
        let statement = self.statement()?;
        self.depth -= 1;
        Ok(Block { statements: vec![statement], close: self.previous() })
    }

    /// Whether what stands here can only be a statement.
    fn begins_statement(&self) -> bool {
        let word = self.word();
        match self.current().kind {
            TokenKind::At => true,
            TokenKind::Word if self.at_keyword("else") => false,
            TokenKind::Word => {
                matches!(self.ahead(1).kind, TokenKind::Dot | TokenKind::Equal)
                    || words::STATEMENTS.iter().any(|statement| self.at_keyword(statement))
                    || mnemonics::find(word).next().is_some()
                    || foreign_syntax::statement(word, self.notation.target).is_some()
            }
            _ => false,
        }
    }

    /// Helps where a block should begin.
    fn help_for_block(&self) -> Option<&'static str> {
        let before = self.text(self.previous());
        Some(match self.current().kind {
            TokenKind::Equal => "comparison is `==`; `=` assigns, in a statement of its own",
            TokenKind::Colon => "a block stands in braces, without `:`",
            TokenKind::Semicolon => "for an empty block write `{}`",
            _ if before.eq_ignore_ascii_case("not") => "write `!` for `not`",
            TokenKind::Word => match self.word().to_ascii_lowercase().as_str() {
                "then" | "do" => "the block follows the condition: `if … { … }`",
                "and" => "write `&&` for `and`",
                "or" => "write `||` for `or`",
                _ => return None,
            },
            _ => return None,
        })
    }

    fn statement(&mut self) -> Parsed<Statement> {
        let start = self.current().span;
        if let Some(operator) = self.doubled_sign(0)
            && self.ahead(2).kind == TokenKind::Word
        {
            let (name, span) = (self.short_text(self.ahead(2).span), start);
            return self.report(&SyntaxError::Increment { name, operator, span });
        }
        let kind = match self.current().kind {
            TokenKind::Word => return self.statement_of_word(),
            TokenKind::At => self.guarded()?,
            TokenKind::Percent if self.is_handle() => self.handle_assignment()?,
            TokenKind::Semicolon => {
                let help = Some("remove this `;`".to_owned());
                return self.expected_with("a statement", help);
            }
            _ => return self.expected("a statement"),
        };
        self.finish(kind, start)
    }

    /// Ends a statement without blocks.
    fn finish(&mut self, kind: StatementKind, start: Span) -> Parsed<Statement> {
        let span = self.span_from(start);
        self.expect_semicolon()?;
        Ok(Statement { kind, span })
    }

    fn statement_of_word(&mut self) -> Parsed<Statement> {
        let start = self.current().span;
        let word = self.word();
        // A keyword cannot be a name, yet `loop = 1` deserves to hear that.
        if self.ahead(1).kind == TokenKind::Equal && !self.at_keyword("let") {
            let name = self.name("a name")?;
            self.advance();
            let kind = StatementKind::Assign(name, self.value()?);
            return self.finish(kind, start);
        }
        let kind = match word.to_ascii_lowercase().as_str() {
            "for" => return self.for_loop(),
            "loop" => {
                let head = self.advance_as(Class::Keyword).span;
                let kind = StatementKind::Loop(self.block(start)?);
                return Ok(Statement { kind, span: head });
            }
            "while" => {
                self.advance_as(Class::Keyword);
                let condition = self.condition()?;
                let span = self.span_from(start);
                let kind = StatementKind::While(condition, self.block(start)?);
                return Ok(Statement { kind, span });
            }
            "if" => return self.if_statement(),
            "let" => {
                self.advance_as(Class::Keyword);
                let name = self.name("a name")?;
                if !self.eat(TokenKind::Equal) {
                    return self.expected_with("`=`", self.help_for_let());
                }
                StatementKind::Let(name, self.value()?)
            }
            "read" => self.access(AccessKind::Read)?,
            "write" => self.access(AccessKind::Write)?,
            "atomic" => self.access(AccessKind::Atomic)?,
            "break" => self.keyword_alone(StatementKind::Break),
            "continue" => self.keyword_alone(StatementKind::Continue),
            "exit" => self.keyword_alone(StatementKind::Exit),
            "assert" => {
                self.advance_as(Class::Keyword);
                StatementKind::Assert(self.expr()?)
            }
            _ => self.instruction_or_unknown()?,
        };
        self.finish(kind, start)
    }

    fn keyword_alone(&mut self, kind: StatementKind) -> StatementKind {
        self.advance_as(Class::Keyword);
        kind
    }

    fn for_loop(&mut self) -> Parsed<Statement> {
        let start = self.advance_as(Class::Keyword).span;
        if self.at(TokenKind::OpenParenthesis) {
            let span = self.current().span;
            self.position = self.closing_parenthesis(true).unwrap_or(self.position);
            return self.report(&SyntaxError::ForOfC { span });
        }
        let variable = self.name("the loop's variable")?;
        self.expect_keyword("in")?;
        let from = self.expr()?;
        let Some(to) = self.range_end()? else {
            let help = "a range is `from..to`, half-open: `for i in 0..4 { … }`";
            return self.expected_with("`..`", Some(help.to_owned()));
        };
        let span = self.span_from(start);
        self.no_step()?;
        let body = self.block(start)?;
        Ok(Statement { kind: StatementKind::For { variable, from, to, body }, span })
    }

    fn if_statement(&mut self) -> Parsed<Statement> {
        let start = self.advance_as(Class::Keyword).span;
        let condition = self.condition()?;
        let span = self.span_from(start);
        let then = self.block(start)?;
        let head = self.current().span;
        let otherwise = if !self.eat_keyword("else") {
            None
        } else if self.at_keyword("if") {
            self.enter()?;
            let nested = self.if_statement()?;
            self.depth -= 1;
            Some(Else::If(Box::new(nested)))
        } else {
            Some(Else::Block(self.block(head)?))
        };
        Ok(Statement { kind: StatementKind::If { condition, then, otherwise }, span })
    }

    /// Reports `step 2` and `by 2` behind a range, and passes them.
    fn no_step(&mut self) -> Parsed<()> {
        let span = self.current().span;
        if self.at_keyword("step") || self.at_keyword("by") {
            self.advance();
            let _ = self.report::<()>(&SyntaxError::Step { span });
            self.expr()?;
        } else if self.at(TokenKind::Dot) {
            return self.report(&SyntaxError::Step { span });
        }
        Ok(())
    }

    /// Helps where `let x` is not followed by its value.
    fn help_for_let(&self) -> Option<String> {
        let help = match self.current().kind {
            TokenKind::Semicolon => "a local begins with a value: `let x = 0;`",
            TokenKind::Colon => "all locals are integers: `let x = 0;`, without a type",
            TokenKind::Word if self.text(self.previous()).eq_ignore_ascii_case("mut") => {
                "every local can be assigned: `let x = 0;`, without `mut`"
            }
            _ => return None,
        };
        Some(help.to_owned())
    }

    /// The sign of `++` or `--`, if one stands `distance` tokens on.
    fn doubled_sign(&self, distance: usize) -> Option<&'static str> {
        let (first, second) = (self.ahead(distance), self.ahead(distance + 1));
        let operator = match first.kind {
            TokenKind::Plus => "+",
            TokenKind::Minus => "-",
            _ => return None,
        };
        (first.kind == second.kind && first.span.end == second.span.start).then_some(operator)
    }

    fn access(&mut self, kind: AccessKind) -> Parsed<StatementKind> {
        self.advance_as(Class::Keyword);
        let array = self.name("the name of a location")?;
        let index = if self.eat(TokenKind::OpenBracket) {
            let index = self.expr()?;
            self.expect(TokenKind::CloseBracket)?;
            self.one_index(&array)?;
            Some(index)
        } else {
            None
        };
        let cta = self.in_cta()?;
        Ok(StatementKind::Access { kind, array, index, cta })
    }

    /// `fill(i % 4, 0)`
    fn use_of_block(&mut self) -> Parsed<StatementKind> {
        let name = self.name("the name of a block")?;
        self.advance_as(Class::Joint);
        let mut arguments = Vec::new();
        while !self.at(TokenKind::CloseParenthesis) {
            arguments.push(self.expr()?);
            if self.at(TokenKind::OpenBracket) {
                let help = "what is handed to a block is a number, or the name of an object or location by \
                            itself; hand over its index as a number beside it, and write `full[s]` in the block";
                return self.expected_with(TokenKind::CloseParenthesis.describe(), Some(help.to_owned()));
            }
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.expect(TokenKind::CloseParenthesis)?;
        Ok(StatementKind::Use(name, arguments))
    }

    /// `advance stage, parity, 4`
    fn advance_stage(&mut self) -> Parsed<StatementKind> {
        self.advance_as(Class::Keyword);
        let stage = self.name("the local that holds the stage")?;
        self.expect(TokenKind::Comma)?;
        let parity = self.name("the local that holds the parity")?;
        self.expect(TokenKind::Comma)?;
        let stages = self.expr()?;
        Ok(StatementKind::Advance { stage, parity, stages })
    }

    /// A statement that begins with a word that is no keyword of statements.
    fn instruction_or_unknown(&mut self) -> Parsed<StatementKind> {
        let word = self.word();
        let next = self.ahead(1).kind;
        if self.shared.contains(word) && next == TokenKind::OpenParenthesis {
            return self.use_of_block();
        }
        if self.at_keyword(words::ADVANCE) && next == TokenKind::Word {
            return self.advance_stage();
        }
        if next == TokenKind::Dot || mnemonics::find(word).next().is_some() {
            return Ok(StatementKind::Instruction(None, self.instruction()?));
        }
        let span = self.current().span;
        if words::unit_noun(word).is_some() && next != TokenKind::Equal {
            // What follows it belongs to the block that is still open, unless a brace is missing before it.
            let nested = match (line(self.source, span), line(self.source, self.role)) {
                (Some(inner), Some(outer)) => inner.0 == outer.0 || inner.1 > outer.1,
                _ => true,
            };
            self.leave_role = !nested;
            let (open, target) = (self.role, self.notation.target);
            return self.report(&SyntaxError::RoleInsideBlock { span, open, nested, target });
        }
        if words::declarations(self.notation).any(|d| d.eq_ignore_ascii_case(word)) {
            let word = word.to_owned();
            return self.report(&SyntaxError::DeclarationInsideBlock { word, span });
        }
        if self.at_keyword("else") {
            return self.report(&SyntaxError::StrayElse { span });
        }
        if let Some(operator) = self.doubled_sign(1) {
            let name = self.short_text(span);
            return self.report(&SyntaxError::Increment { name, operator, span });
        }
        if let Some(operator) = compound(next).filter(|_| self.ahead(2).kind == TokenKind::Equal) {
            let name = word.to_owned();
            return self.report(&SyntaxError::CompoundAssignment { name, operator, span });
        }
        let candidates = words::STATEMENTS.into_iter().chain(mnemonics::of_target(self.notation.target));
        let hint = foreign_syntax::statement(word, self.notation.target);
        // Functions have such names, too.
        let hint = hint.filter(|_| !(foreign_syntax::is_access(word) && self.is_call()));
        let suggestion = closest(word, candidates);
        let declares = (next == TokenKind::Word && self.ahead(2).kind == TokenKind::Equal)
            .then(|| self.short_text(self.ahead(1).span));
        let hint = hint.or_else(|| self.is_call().then_some(foreign_syntax::hint::CALL));
        let hint = hint.or_else(|| (next == TokenKind::OpenBracket).then_some(foreign_syntax::hint::ACCESS));
        let word = self.short_text(span);
        self.report(&SyntaxError::UnknownStatement { word, hint, suggestion, declares, span })
    }
}

impl Parser<'_, '_> {
    /// Whether a word, its parentheses and a semicolon are what stands here.
    fn is_call(&self) -> bool {
        let rest = &self.source[self.current().span.end as usize..];
        let statement = rest.split(['\n', ';']).next().unwrap_or_default();
        statement.starts_with('(') && statement.ends_with(')') && rest[statement.len()..].starts_with(';')
    }
}

/// Where the line begins on which something stands, and how far it is indented; nothing for lines longer than
/// any that people write.
fn line(source: &str, at: Span) -> Option<(usize, usize)> {
    const LONG: usize = 1000;
    let at = at.start as usize;
    let window = &source.as_bytes()[at.saturating_sub(LONG)..at];
    let begin = match window.iter().rposition(|byte| *byte == b'\n') {
        Some(end) => at - window.len() + end + 1,
        None if at <= LONG => 0,
        None => return None,
    };
    let before = &source.as_bytes()[begin..at];
    let indent = before.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    Some((begin, indent))
}

/// The operator of `i += 1` and its like.
fn compound(kind: TokenKind) -> Option<&'static str> {
    Some(match kind {
        TokenKind::Plus => "+",
        TokenKind::Minus => "-",
        TokenKind::Star => "*",
        TokenKind::Slash => "/",
        TokenKind::Percent => "%",
        TokenKind::And => "&",
        TokenKind::Or => "|",
        TokenKind::Xor => "^",
        TokenKind::ShiftLeft => "<<",
        TokenKind::ShiftRight => ">>",
        _ => return None,
    })
}

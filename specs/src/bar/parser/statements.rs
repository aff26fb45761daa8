//! Statements.

use barcheck_model::program::AccessKind;

use super::{Class, Parsed, Parser};
use crate::bar::ast::{Block, Else, Statement, StatementKind};
use crate::bar::opcode;
use crate::bar::syntax_error::SyntaxError;
use crate::bar::token::TokenKind;
use crate::bar::words;
use crate::suggest::closest;

impl Parser<'_, '_> {
    pub(super) fn block(&mut self) -> Parsed<Block> {
        self.enter()?;
        if !self.at(TokenKind::OpenBrace) {
            let help = "comparison is `==`; `=` assigns, in a statement of its own";
            let help = self.at(TokenKind::Equal).then(|| help.to_owned());
            return self.expected_with("`{`", help);
        }
        let open = self.advance_as(Class::Block).span;
        let mut statements = Vec::new();
        while !self.at(TokenKind::CloseBrace) {
            if self.at(TokenKind::End) {
                let end = self.previous().after();
                return self.stop(&SyntaxError::UnclosedBlock { open, end });
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
        self.depth -= 1;
        Ok(Block { statements, close })
    }

    fn statement(&mut self) -> Parsed<Statement> {
        let start = self.current().span;
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
    fn finish(&mut self, kind: StatementKind, start: crate::Span) -> Parsed<Statement> {
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
                let kind = StatementKind::Loop(self.block()?);
                return Ok(Statement { kind, span: head });
            }
            "while" => {
                self.advance_as(Class::Keyword);
                let condition = self.condition()?;
                let span = self.span_from(start);
                let kind = StatementKind::While(condition, self.block()?);
                return Ok(Statement { kind, span });
            }
            "if" => return self.if_statement(),
            "let" => {
                self.advance_as(Class::Keyword);
                let name = self.name("a name")?;
                self.expect(TokenKind::Equal)?;
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
        let variable = self.name("the loop's variable")?;
        self.expect_keyword("in")?;
        let from = self.expr()?;
        self.expect(TokenKind::DotDot)?;
        let to = self.expr()?;
        let span = self.span_from(start);
        let body = self.block()?;
        Ok(Statement { kind: StatementKind::For { variable, from, to, body }, span })
    }

    fn if_statement(&mut self) -> Parsed<Statement> {
        let start = self.advance_as(Class::Keyword).span;
        let condition = self.condition()?;
        let span = self.span_from(start);
        let then = self.block()?;
        let otherwise = if !self.eat_keyword("else") {
            None
        } else if self.at_keyword("if") {
            self.enter()?;
            let nested = self.if_statement()?;
            self.depth -= 1;
            Some(Else::If(Box::new(nested)))
        } else {
            Some(Else::Block(self.block()?))
        };
        Ok(Statement { kind: StatementKind::If { condition, then, otherwise }, span })
    }

    fn access(&mut self, kind: AccessKind) -> Parsed<StatementKind> {
        self.advance_as(Class::Keyword);
        let array = self.name("the name of a location")?;
        let index = if self.eat(TokenKind::OpenBracket) {
            let index = self.expr()?;
            self.expect(TokenKind::CloseBracket)?;
            Some(index)
        } else {
            None
        };
        Ok(StatementKind::Access { kind, array, index })
    }

    /// A statement that begins with a word that is no keyword of statements.
    fn instruction_or_unknown(&mut self) -> Parsed<StatementKind> {
        let word = self.word();
        let next = self.ahead(1).kind;
        if next == TokenKind::Dot || opcode::find(word).next().is_some() {
            return Ok(StatementKind::Instruction(None, self.instruction()?));
        }
        let span = self.current().span;
        if words::unit_noun(word).is_some() && next != TokenKind::Equal {
            self.leave_role = true;
            return self.report(&SyntaxError::RoleInsideBlock { span, open: self.role });
        }
        if words::declarations(self.target).any(|d| d.eq_ignore_ascii_case(word)) {
            let word = word.to_owned();
            return self.report(&SyntaxError::DeclarationInsideBlock { word, span });
        }
        if let Some(operator) = compound(next).filter(|_| self.ahead(2).kind == TokenKind::Equal) {
            let name = word.to_owned();
            return self.report(&SyntaxError::CompoundAssignment { name, operator, span });
        }
        if next == TokenKind::Percent && self.ahead(2).kind == TokenKind::Equal {
            let name = word.to_owned();
            let operator = "%";
            return self.report(&SyntaxError::CompoundAssignment { name, operator, span });
        }
        let candidates = words::STATEMENTS.into_iter().chain(opcode::of_target(self.target));
        let suggestion = words::habit(word, self.target).or_else(|| closest(word, candidates));
        let word = word.chars().take(40).collect();
        let declares = (next == TokenKind::Word && self.ahead(2).kind == TokenKind::Equal)
            .then(|| self.text(self.ahead(1).span).chars().take(40).collect());
        self.report(&SyntaxError::UnknownStatement { word, suggestion, declares, span })
    }
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
        _ => return None,
    })
}

//! Instructions: a mnemonic and operands, the same way in every target.

use barcheck_model::program::Target;

use super::{Class, Parsed, Parser};
use crate::bar::ast::{
    Attribute, Expr, ExprKind, Guard, Instruction, Name, Operand, OperandKind, StatementKind,
};
use crate::bar::foreign_syntax;
use crate::bar::mnemonics;
use crate::bar::opcode::{Form, Opcode};
use crate::bar::syntax_error::SyntaxError;
use crate::bar::token::TokenKind;
use crate::bar::words;
use crate::common::span::Span;
use crate::common::suggest::closest;

impl Parser<'_, '_> {
    /// `@p` or `@!p` and an instruction.
    pub(super) fn guarded(&mut self) -> Parsed<StatementKind> {
        let at = self.current().span;
        if !self.notation.target.has_lanes() {
            return self.report(&SyntaxError::GuardElsewhere { target: self.notation.target, span: at });
        }
        self.advance_as(Class::Prefix);
        let negated = self.at(TokenKind::Not);
        if negated {
            self.advance_as(Class::Prefix);
        }
        if self.at(TokenKind::Percent) {
            let (span, text) = self.foreign_name(self.current());
            return self.report(&SyntaxError::NoName { text, target: self.notation.target, span });
        }
        let name = self.name("the name of a predicate")?;
        let span = self.span_from(at);
        let is_statement = words::STATEMENTS.iter().any(|s| self.at_keyword(s));
        if !self.at(TokenKind::Word) || is_statement {
            let not = if negated { "!" } else { "" };
            let help = format!("write `if {not}{} {{ … }}`", name.text);
            return self.expected_with("an instruction", is_statement.then_some(help));
        }
        let instruction = self.instruction()?;
        Ok(StatementKind::Instruction(Some(Guard { negated, name, span }), instruction))
    }

    /// `%h = …`.
    pub(super) fn handle_assignment(&mut self) -> Parsed<StatementKind> {
        let from = self.notation.handles_from.unwrap_or_default();
        let handle = self.handle();
        self.expect(TokenKind::Equal)?;
        if !self.at(TokenKind::Word) {
            return self.expected(format!("`{from}`"));
        }
        let mut instruction = self.instruction()?;
        if instruction.opcode.form() != Form::YieldsHandle {
            let mnemonic = self.text(instruction.mnemonic).to_owned();
            let (span, instruction) = (handle.span, instruction.mnemonic);
            return self.report(&SyntaxError::NoResult { mnemonic, from, span, instruction });
        }
        instruction.span = handle.span.to(instruction.span);
        instruction.result = Some(handle);
        Ok(StatementKind::Instruction(None, instruction))
    }

    /// An instruction, from its first word on.
    pub(super) fn instruction(&mut self) -> Parsed<Instruction> {
        let (opcode, mnemonic) = self.mnemonic()?;
        self.no_call(mnemonic)?;
        let operands = self.operands(opcode)?;
        Ok(Instruction { opcode, mnemonic, result: None, operands, span: self.span_from(mnemonic) })
    }

    fn mnemonic(&mut self) -> Parsed<(Opcode, Span)> {
        let start = self.advance_as(Class::Mnemonic).span;
        let mut text = self.text(start).to_owned();
        while let Some(joint) = self.joint() {
            for _ in 0..joint.len() {
                self.advance_as(Class::Mnemonic);
            }
            let part = self.advance_as(Class::Mnemonic);
            text.push_str(joint);
            text.push_str(self.text(part.span));
        }
        let span = self.span_from(start);
        if self.at(TokenKind::Dot) {
            return self.expected("an operand or `;`");
        }
        if let Some(found) = mnemonics::find_qualified(self.notation.target, &text) {
            return Ok((found.opcode, span));
        }
        let owners: Vec<Target> = mnemonics::find(&text).map(|m| m.opcode.target()).collect();
        let suggestion = closest(&text, mnemonics::of_target(self.notation.target));
        let hint = foreign_syntax::statement(&text, self.notation.target);
        let text = text.chars().take(60).collect();
        let target = self.notation.target;
        self.report(&SyntaxError::UnknownInstruction { text, target, owners, hint, suggestion, span })
    }

    /// What stands between two words of a mnemonic, if another word follows: a dot or two colons.
    fn joint(&self) -> Option<&'static str> {
        let kinds = [self.current().kind, self.ahead(1).kind, self.ahead(2).kind];
        match kinds {
            // `.2d` begins with a digit.
            [TokenKind::Dot, TokenKind::Word | TokenKind::Number, _] => Some("."),
            [TokenKind::Colon, TokenKind::Colon, TokenKind::Word | TokenKind::Number] => Some("::"),
            _ => None,
        }
    }

    /// Reports `bar.sync(1, 64)`. One operand in parentheses is an expression.
    fn no_call(&mut self, mnemonic: Span) -> Parsed<()> {
        if !self.at(TokenKind::OpenParenthesis) {
            return Ok(());
        }
        let first = self.position;
        let Some(end) = self.closing_parenthesis(false) else {
            return Ok(());
        };
        let is_of_list = |kind| matches!(kind, TokenKind::Comma | TokenKind::OpenBracket);
        let is_list = self.tokens[first..end].iter().any(|token| is_of_list(token.kind));
        if !is_list && end > first + 1 {
            return Ok(());
        }
        let (open, close) = (self.tokens[first].span, self.tokens[end].span);
        let within = self.text(Span::new(open.end, close.start)).trim();
        let operands =
            if within.is_empty() || within.len() > 60 || within.contains('\n') { "…" } else { within };
        let example = format!("{} {operands};", self.text(mnemonic));
        self.report(&SyntaxError::CallOfInstruction { example, span: open.to(close) })
    }

    fn operands(&mut self, opcode: Opcode) -> Parsed<Vec<Operand>> {
        let mut operands: Vec<Operand> = Vec::new();
        if matches!(self.current().kind, TokenKind::Semicolon | TokenKind::CloseBrace) {
            return Ok(operands);
        }
        if opcode.form() == Form::Hint {
            self.hint()?;
            return Ok(operands);
        }
        loop {
            operands.push(self.operand(opcode)?);
            if self.eat(TokenKind::Comma) {
                continue;
            }
            if !self.comma_left_out(&operands) {
                return self.end_of_operands(operands);
            }
            self.classes[self.position] = Class::ImpliedComma;
        }
    }

    /// Whether another operand follows without a comma: both are single words, and the
    /// next one does not begin a line, where a semicolon is missing rather than a comma.
    fn comma_left_out(&self, operands: &[Operand]) -> bool {
        let simple = operands.last().is_some_and(|operand| match &operand.kind {
            OperandKind::Expr(expr) => is_simple(expr),
            _ => false,
        });
        let next = self.current();
        let between = Span::new(self.previous().end, next.span.start);
        self.notation.commas_optional
            && simple
            && matches!(next.kind, TokenKind::Word | TokenKind::Number)
            && !self.text(between).contains('\n')
    }

    /// Helps where operands end with something that is neither a comma nor a semicolon.
    fn end_of_operands(&mut self, operands: Vec<Operand>) -> Parsed<Vec<Operand>> {
        let next = self.current();
        let between = Span::new(self.previous().end, next.span.start);
        let same_line = !self.text(between).contains('\n');
        let help = match next.kind {
            TokenKind::Word | TokenKind::Number if same_line => "operands are separated by commas",
            TokenKind::Colon => "types are left out here",
            _ => return Ok(operands),
        };
        self.expected_with("`,` or `;`", Some(help.to_owned()))
    }

    fn operand(&mut self, opcode: Opcode) -> Parsed<Operand> {
        let start = self.current().span;
        let kind = self.operand_kind(opcode)?;
        let cta = if opcode.form() == Form::Places { self.in_cta()? } else { None };
        Ok(Operand { kind, cta, span: self.span_from(start) })
    }

    /// `@ cta 1`, if it stands here: the CTA of what stands before it.
    pub(super) fn in_cta(&mut self) -> Parsed<Option<Expr>> {
        if !self.notation.cluster || !self.eat(TokenKind::At) {
            return Ok(None);
        }
        self.expect_keyword("cta")?;
        self.expr().map(Some)
    }

    fn operand_kind(&mut self, opcode: Opcode) -> Parsed<OperandKind> {
        Ok(match self.current().kind {
            TokenKind::Question => {
                self.advance();
                OperandKind::Choice { negated: false }
            }
            TokenKind::Not if self.ahead(1).kind == TokenKind::Question => {
                self.advance_as(Class::Prefix);
                self.advance();
                OperandKind::Choice { negated: true }
            }
            TokenKind::OpenBracket if opcode.form() == Form::Places => {
                self.advance();
                let kind = self.operand_kind(opcode)?;
                self.expect(TokenKind::CloseBracket)?;
                kind
            }
            TokenKind::Word
                if opcode.form() == Form::Places && self.ahead(1).kind == TokenKind::OpenBracket =>
            {
                let name = self.name("the name of an object or location")?;
                self.advance();
                let index = self.expr()?;
                self.expect(TokenKind::CloseBracket)?;
                OperandKind::Element(name, index)
            }
            TokenKind::Percent if self.is_handle() => OperandKind::Handle(self.handle()),
            TokenKind::OpenBrace if opcode.form() == Form::Attributes => {
                let open = self.position;
                let attributes = self.attributes();
                if attributes.is_err() && !self.stopped {
                    // Their closing brace must not be taken for the block's.
                    self.position = open;
                    self.skip_braces();
                }
                OperandKind::Attributes(attributes?)
            }
            _ => {
                let first = self.position;
                let expr = self.expr()?;
                if opcode.form() == Form::JoinedWords {
                    self.join_words(first);
                }
                OperandKind::Expr(expr)
            }
        })
    }

    /// Notes the `|` between words, from the token `first` on.
    fn join_words(&mut self, first: usize) {
        for index in first..self.position {
            if self.tokens[index].kind == TokenKind::Or {
                self.classes[index] = Class::Joint;
            }
        }
    }

    /// `{name = "value", …}`; quotes may be left out.
    fn attributes(&mut self) -> Parsed<Vec<Attribute>> {
        self.advance();
        let mut attributes = Vec::new();
        while !self.at(TokenKind::CloseBrace) {
            let name = self.attribute_word()?;
            self.expect(TokenKind::Equal)?;
            let value = if self.at(TokenKind::String) {
                let span = self.advance().span;
                let text = self.text(span);
                let text = text.strip_prefix('"').unwrap_or(text);
                let text = text.strip_suffix('"').unwrap_or(text);
                Name { text: text.into(), span }
            } else {
                self.attribute_word()?
            };
            attributes.push(Attribute { name, value });
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.expect(TokenKind::CloseBrace)?;
        Ok(attributes)
    }

    fn attribute_word(&mut self) -> Parsed<Name> {
        if !self.at(TokenKind::Word) {
            return self.expected("an attribute: `name = \"value\"`");
        }
        let span = self.advance().span;
        Ok(Name { text: self.text(span).into(), span })
    }

    /// What a hint carries: anything in balanced braces.
    fn hint(&mut self) -> Parsed<()> {
        let open = self.current().span;
        if !self.at(TokenKind::OpenBrace) {
            return self.expected("`{`");
        }
        let first = self.position;
        if self.skip_braces() {
            self.classes[first..self.position].fill(Class::Verbatim);
            return Ok(());
        }
        let end = self.previous().after();
        self.stop(&SyntaxError::UnclosedBlock { open, end, suspect: None })
    }
}

/// Whether `expr` is a single word or number.
fn is_simple(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Int(_) | ExprKind::Name(_) | ExprKind::Index(_))
}

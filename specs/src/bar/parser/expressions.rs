//! Expressions, conditions and values.

use barcheck_model::program::{BinaryOp, UnaryOp};

use super::{Class, Parsed, Parser};
use crate::bar::ast::{Condition, Expr, ExprKind, Value};
use crate::bar::mnemonics;
use crate::bar::syntax_error::SyntaxError;
use crate::bar::token::{Token, TokenKind};
use crate::bar::words;
use crate::common::limits;
use crate::common::span::Span;

/// The precedence of the comparisons, which do not associate.
const COMPARISON: u8 = 3;

/// The operator that a token stands for between operands, with its precedence, Rust's.
fn binary_operator(kind: TokenKind) -> Option<(BinaryOp, u8)> {
    use TokenKind as T;
    Some(match kind {
        T::OrOr => (BinaryOp::LogicalOr, 1),
        T::AndAnd => (BinaryOp::LogicalAnd, 2),
        T::EqualEqual => (BinaryOp::Eq, COMPARISON),
        T::NotEqual => (BinaryOp::Ne, COMPARISON),
        T::Less => (BinaryOp::Lt, COMPARISON),
        T::LessEqual => (BinaryOp::Le, COMPARISON),
        T::Greater => (BinaryOp::Gt, COMPARISON),
        T::GreaterEqual => (BinaryOp::Ge, COMPARISON),
        T::Or => (BinaryOp::Or, 4),
        T::Xor => (BinaryOp::Xor, 5),
        T::And => (BinaryOp::And, 6),
        T::ShiftLeft => (BinaryOp::Shl, 7),
        T::ShiftRight => (BinaryOp::Shr, 7),
        T::Plus => (BinaryOp::Add, 8),
        T::Minus => (BinaryOp::Sub, 8),
        T::Star => (BinaryOp::Mul, 9),
        T::Slash => (BinaryOp::Div, 9),
        T::Percent => (BinaryOp::Rem, 9),
        _ => return None,
    })
}

/// An expression and the height of its tree, which [`limits::NESTING`] bounds.
struct Measured {
    expr: Expr,
    height: u32,
}

impl Parser<'_, '_> {
    pub(super) fn expr(&mut self) -> Parsed<Expr> {
        Ok(self.binary(0)?.expr)
    }

    /// Operators of at least the precedence `least`, and their operands.
    fn binary(&mut self, least: u8) -> Parsed<Measured> {
        let mut left = self.unary()?;
        loop {
            let operator = self.current();
            let Some((op, precedence)) = binary_operator(operator.kind) else {
                break;
            };
            if precedence < least || self.is_handle() {
                break;
            }
            self.advance();
            let right = self.binary(precedence + 1)?;
            let span = left.expr.span.to(right.expr.span);
            let height = left.height.max(right.height) + 1;
            let kind = ExprKind::Binary(op, Box::new(left.expr), Box::new(right.expr));
            left = self.measured(Expr { kind, span }, height)?;
            let next = self.current();
            if precedence == COMPARISON && binary_operator(next.kind).is_some_and(|(_, p)| p == COMPARISON) {
                let error = SyntaxError::ComparisonChain { first: operator.span, second: next.span };
                return self.report(&error);
            }
        }
        Ok(left)
    }

    fn measured(&mut self, expr: Expr, height: u32) -> Parsed<Measured> {
        if height > limits::NESTING {
            let span = expr.span;
            return self.stop(&SyntaxError::TooDeep { span });
        }
        Ok(Measured { expr, height })
    }

    /// Operators before their operand.
    fn unary(&mut self) -> Parsed<Measured> {
        let mut operators: Vec<(UnaryOp, Token)> = Vec::new();
        loop {
            let op = match self.current().kind {
                TokenKind::Minus => UnaryOp::Neg,
                TokenKind::Not => UnaryOp::Not,
                _ => break,
            };
            if operators.len() >= limits::NESTING as usize {
                let span = self.current().span;
                return self.stop(&SyntaxError::TooDeep { span });
            }
            let token = self.advance_as(Class::Prefix);
            operators.push((op, token));
        }
        let negative = operators.last().is_some_and(|(op, _)| *op == UnaryOp::Neg);
        let mut operand = match self.current().kind {
            TokenKind::Number if negative => {
                let minus = operators.pop().map_or(self.current(), |(_, token)| token);
                self.number(Some(minus))?
            }
            _ => self.primary()?,
        };
        while let Some((op, token)) = operators.pop() {
            let span = token.span.to(operand.expr.span);
            let kind = ExprKind::Unary(op, Box::new(operand.expr));
            operand = self.measured(Expr { kind, span }, operand.height + 1)?;
        }
        Ok(operand)
    }

    fn primary(&mut self) -> Parsed<Measured> {
        let token = self.current();
        let leaf = |kind| Measured { expr: Expr { kind, span: token.span }, height: 1 };
        match token.kind {
            TokenKind::Number => self.number(None),
            TokenKind::OpenParenthesis => self.parenthesized(),
            TokenKind::Word => {
                let word = self.word();
                if let Some(index) = words::index_word(word) {
                    let plain = self.notation.index_keeps_case;
                    self.advance_as(if plain { Class::Plain } else { Class::Keyword });
                    return Ok(leaf(ExprKind::Index(index)));
                }
                if self.eat_keyword("true") {
                    return Ok(leaf(ExprKind::Int(1)));
                }
                if self.eat_keyword("false") {
                    return Ok(leaf(ExprKind::Int(0)));
                }
                if self.at_keyword("any") {
                    let help = "`any` stands directly behind `=`: `let x = any 0..4;`";
                    return self.expected_with("an expression", Some(help.to_owned()));
                }
                let name = self.name("an expression")?;
                match self.current().kind {
                    TokenKind::Dot if self.ahead(1).kind == TokenKind::Word => self.no_name(token),
                    TokenKind::OpenParenthesis => self.call(token),
                    _ => Ok(leaf(ExprKind::Name(name.text))),
                }
            }
            TokenKind::Percent if self.ahead(1).kind == TokenKind::Word && !self.is_handle() => {
                self.no_name(token)
            }
            TokenKind::Question => {
                let help = "`?` is a condition or a predicate by itself; an arbitrary number is \
                            `let x = any 0..4;`";
                self.expected_with("an expression", Some(help.to_owned()))
            }
            _ => self.expected("an expression"),
        }
    }

    /// Reports `threadIdx.x`, `%tid.x` and their like, which begin with `first`, and takes them for a number.
    fn no_name(&mut self, first: Token) -> Parsed<Measured> {
        let (span, text) = self.foreign_name(first);
        let _ = self.report::<()>(&SyntaxError::NoName { text, target: self.notation.target, span });
        Ok(Measured { expr: Expr { kind: ExprKind::Int(0), span }, height: 1 })
    }

    /// Passes the rest of a name with `%` and dots that begins with `first`.
    pub(super) fn foreign_name(&mut self, first: Token) -> (Span, String) {
        while matches!(self.current().kind, TokenKind::Percent | TokenKind::Dot)
            && self.ahead(1).kind == TokenKind::Word
        {
            self.advance();
            self.advance();
        }
        let span = self.span_from(first.span);
        (span, self.short_text(span))
    }

    /// Reports a call of the function `name`, and takes it for a number.
    fn call(&mut self, name: Token) -> Parsed<Measured> {
        let Some(close) = self.closing_parenthesis(false) else {
            return self.expected("an operator");
        };
        self.position = close + 1;
        let (text, span) = (self.short_text(name.span), self.span_from(name.span));
        let _ = self.report::<()>(&SyntaxError::Call { name: text, target: self.notation.target, span });
        Ok(Measured { expr: Expr { kind: ExprKind::Int(0), span }, height: 1 })
    }

    fn parenthesized(&mut self) -> Parsed<Measured> {
        self.enter()?;
        let open = self.advance();
        let inner = self.binary(0)?;
        if self.at(TokenKind::DotDot) {
            let help = "a range stands without parentheses: `for i in 0..4 { … }`; loops step by 1";
            return self.expected_with("`)`", Some(help.to_owned()));
        }
        if self.at(TokenKind::Equal) {
            let help = "comparison is `==`; `=` assigns, in a statement of its own";
            return self.expected_with("`)`", Some(help.to_owned()));
        }
        self.expect(TokenKind::CloseParenthesis)?;
        self.depth -= 1;
        let span = self.span_from(open.span);
        let kind = ExprKind::Parenthesized(Box::new(inner.expr));
        self.measured(Expr { kind, span }, inner.height + 1)
    }

    /// A number, negative if `minus` stands before it.
    fn number(&mut self, minus: Option<Token>) -> Parsed<Measured> {
        let token = self.advance();
        let text = self.text(token.span);
        let hexadecimal = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
        let (digits, radix) = match hexadecimal {
            Some(digits) => (digits, 16),
            None => (text, 10),
        };
        if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
            return self.report(&SyntaxError::MalformedNumber { span: token.span });
        }
        let value = i128::from_str_radix(digits, radix).ok();
        let signed = value.and_then(|value| i64::try_from(if minus.is_some() { -value } else { value }).ok());
        let Some(value) = signed else {
            return self.report(&SyntaxError::NumberTooLarge { span: token.span });
        };
        let span = minus.map_or(token.span, |minus| minus.span.to(token.span));
        Ok(Measured { expr: Expr { kind: ExprKind::Int(value), span }, height: 1 })
    }

    /// Whether an instruction begins some tokens on, where some yield a number.
    fn at_instruction(&self, distance: usize) -> bool {
        let [word, dot] = [0, 1].map(|next| self.ahead(distance + next));
        if self.notation.objects.is_none() || (word.kind, dot.kind) != (TokenKind::Word, TokenKind::Dot) {
            return false;
        }
        let word = self.text(word.span);
        let mut mnemonics = mnemonics::of_target(self.notation.target);
        mnemonics.any(|mnemonic| mnemonic.split('.').next().is_some_and(|m| m.eq_ignore_ascii_case(word)))
    }

    /// What stands behind `if` and `while`.
    pub(super) fn condition(&mut self) -> Parsed<Condition> {
        if self.eat(TokenKind::Question) {
            return Ok(Condition::Private);
        }
        let negated = self.at(TokenKind::Not);
        if self.at_instruction(usize::from(negated)) {
            if negated {
                self.advance_as(Class::Prefix);
            }
            let instruction = Box::new(self.instruction()?);
            return Ok(Condition::Answer { negated, instruction });
        }
        let uniform = self.current().span;
        if !self.eat_keyword("uniform") {
            return Ok(Condition::Value(self.expr()?));
        }
        let name = match self.current().kind {
            TokenKind::Word => Some(self.name("`?`")?),
            _ => None,
        };
        let question = self.current().span;
        if !self.eat(TokenKind::Question) {
            let help = "a decision that all agents share is `uniform ?` or `uniform name ?`";
            return self.expected_with("`?`", Some(help.to_owned()));
        }
        Ok(Condition::Uniform { name, span: uniform.to(question) })
    }

    /// What stands behind `=`.
    pub(super) fn value(&mut self) -> Parsed<Value> {
        if self.at_keyword("uniform") {
            return self.uniform_value();
        }
        if self.at_instruction(0) {
            return Ok(Value::Result(Box::new(self.instruction()?)));
        }
        if !self.eat_keyword("any") {
            return Ok(Value::Expr(self.expr()?));
        }
        let (from, to) = self.range()?;
        Ok(Value::Any(from, to))
    }

    /// `uniform any 1..9` or `uniform name any 1..9`
    fn uniform_value(&mut self) -> Parsed<Value> {
        let uniform = self.advance_as(Class::Keyword).span;
        let named = self.at(TokenKind::Word) && !self.at_keyword("any");
        let name = if named { Some(self.name("`any`")?) } else { None };
        if !self.eat_keyword("any") {
            let help = "a number that all agents share is `uniform any 1..9` or `uniform name any 1..9`; a \
                        decision stands in a condition";
            return self.expected_with("`any`", Some(help.to_owned()));
        }
        let (from, to) = self.range()?;
        Ok(Value::Uniform { name, from, to, span: self.span_from(uniform) })
    }

    /// `1..9` or `1..=8`
    fn range(&mut self) -> Parsed<(Expr, Expr)> {
        let from = self.expr()?;
        match self.range_end()? {
            Some(to) => Ok((from, to)),
            None => self.expected("`..`"),
        }
    }

    /// What stands behind `..`, or one more than what stands behind `..=`; nothing if there is no range.
    pub(super) fn range_end(&mut self) -> Parsed<Option<Expr>> {
        if self.eat(TokenKind::DotDot) {
            return Ok(Some(self.expr()?));
        }
        if !self.eat(TokenKind::DotDotEqual) {
            return Ok(None);
        }
        let last = self.expr()?;
        let span = last.span;
        let one = Expr { kind: ExprKind::Int(1), span };
        Ok(Some(Expr { kind: ExprKind::Binary(BinaryOp::Add, Box::new(last), Box::new(one)), span }))
    }
}

//! Affine maps: `affine_map<(d0)[s0] -> (d0 * 8 + s0)>`.

use std::collections::HashMap;

use crate::common::limits;
use crate::common::span::Span;
use crate::kernel::code::{Argument, Function, Operation as Op};
use crate::xegpu::lexer::{Kind, Token};
use crate::xegpu::syntax::{Operation, integer};

use super::state::{LONG, Lowerer, copy};

/// A map that is being read.
struct Map<'t, 's> {
    source: &'s str,
    words: &'t [Token],
    at: usize,
    names: HashMap<&'s str, Argument>,
    depth: u32,
    span: Span,
}

impl<'t, 's> Map<'t, 's> {
    fn text(&self) -> &'s str {
        self.words.get(self.at).map_or("", |word| word.span.text(self.source))
    }

    fn takes(&mut self, text: &str) -> bool {
        let found = self.text() == text;
        self.at += usize::from(found);
        found
    }

    /// `(d0, d1)` or `[s0]`: names for what is given.
    fn names(&mut self, close: &str, given: &mut std::slice::Iter<'_, Argument>) -> Option<()> {
        while !self.takes(close) {
            let word = self.words.get(self.at)?;
            if word.kind == Kind::Word {
                self.names.insert(self.text(), *given.next()?);
            }
            self.at += 1;
        }
        Some(())
    }
}

impl<'s> Lowerer<'_, 's> {
    /// `affine.apply #map(%a)[%b]`
    pub(super) fn apply(&mut self, operation: &Operation<'s>) -> Option<()> {
        let given = self.leaves(operation);
        let words: Vec<Token> = match operation.words.iter().find(|word| word.kind == Kind::Alias) {
            Some(alias) => self.tree.alias(alias.span.text(self.source))?.to_vec(),
            None => operation.words.clone(),
        };
        let at = words.iter().position(|word| word.span.text(self.source) == "affine_map")?;
        let value = self.map(&words[at + 1..], &given, operation.span)?;
        self.put(operation, copy(LONG), &[value]);
        Some(())
    }

    /// The only result of a map: `<(d0)[s0] -> (d0 + s0)>`.
    pub(super) fn map(&mut self, words: &[Token], given: &[Argument], span: Span) -> Option<Argument> {
        let mut map = Map { source: self.source, words, at: 0, names: HashMap::new(), depth: 0, span };
        let mut given = given.iter();
        map.takes("<").then_some(())?;
        map.takes("(").then_some(())?;
        map.names(")", &mut given)?;
        if map.takes("[") {
            map.names("]", &mut given)?;
        }
        (map.takes("->") && map.takes("(")).then_some(())?;
        let value = self.sum(&mut map)?;
        map.takes(")").then_some(value)
    }

    fn sum(&mut self, map: &mut Map<'_, 's>) -> Option<Argument> {
        map.depth += 1;
        (map.depth < limits::NESTING).then_some(())?;
        let of = |operation| Function::Integer(operation, LONG);
        let mut value = self.product(map)?;
        loop {
            // What is negative directly behind another number is added.
            let is_negative = map.text().starts_with('-') && map.text().len() > 1;
            let operation = if map.takes("+") || is_negative {
                Op::Add
            } else if map.takes("-") {
                Op::Subtract
            } else {
                map.depth -= 1;
                return Some(value);
            };
            let other = self.product(map)?;
            value = self.intermediate(map.span, of(operation), &[value, other]);
        }
    }

    fn product(&mut self, map: &mut Map<'_, 's>) -> Option<Argument> {
        let mut value = self.factor(map)?;
        loop {
            let word = map.text();
            if !matches!(word, "*" | "floordiv" | "ceildiv" | "mod") {
                return Some(value);
            }
            map.at += 1;
            let other = self.factor(map)?;
            let span = map.span;
            value = match word {
                "*" => self.intermediate(span, Function::Integer(Op::Multiply, LONG), &[value, other]),
                "mod" => self.modulo((value, other), span),
                word => self.quotient((value, other), LONG, word == "ceildiv", span),
            };
        }
    }

    fn factor(&mut self, map: &mut Map<'_, 's>) -> Option<Argument> {
        if map.takes("(") {
            let value = self.sum(map)?;
            return map.takes(")").then_some(value);
        }
        if map.takes("-") {
            map.depth += 1;
            (map.depth < limits::NESTING).then_some(())?;
            let value = self.factor(map)?;
            return Some(self.intermediate(map.span, Function::Integer(Op::Negate, LONG), &[value]));
        }
        let word = map.text();
        map.at += 1;
        match integer(word) {
            Some(number) => Some(Argument::Number(number as u64)),
            None => map.names.get(word).copied(),
        }
    }
}

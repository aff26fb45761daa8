//! Operands.

use crate::ptx::syntax::{Base, Operand};

use super::lexer::Kind;
use super::number::number;
use super::scopes::Scopes;
use super::state::Reader;

/// The most groups inside one another: a list of parameters with vectors in it has two.
const GROUPS: usize = 8;

/// Whether a name ends as that of a vector's element does.
fn is_element(name: &str) -> bool {
    let mut end = name.bytes().rev();
    end.next().is_some_and(|letter| b"xyzwrgba".contains(&letter)) && end.next() == Some(b'.')
}

impl<'s> Reader<'s, '_> {
    /// The operands up to the semicolon, which is taken; `None` where they cannot be read: everything up to
    /// the semicolon is skipped then.
    pub(super) fn operands(
        &mut self,
        scopes: &mut Scopes<'s>,
        (to_labels, is_call): (bool, bool),
    ) -> Option<Vec<Operand>> {
        let mut groups: Vec<Vec<Operand>> = vec![Vec::new()];
        loop {
            let token = self.lexer.peek();
            let operand = match token.kind {
                Kind::Sign(b';') => {
                    self.lexer.next();
                    let operands = groups.pop()?;
                    return groups.is_empty().then_some(operands);
                }
                Kind::Sign(b'(') if !is_call && self.is_constant_ahead() => {
                    match self.operand(scopes, to_labels) {
                        Some(operand) => operand,
                        None => {
                            self.skip_statement();
                            return None;
                        }
                    }
                }
                Kind::Sign(b'{' | b'(') if groups.len() < GROUPS => {
                    self.lexer.next();
                    groups.push(Vec::new());
                    continue;
                }
                Kind::Sign(b'}' | b')') if groups.len() > 1 => {
                    self.lexer.next();
                    Operand::Group(groups.pop()?)
                }
                Kind::Sign(b',') => {
                    self.lexer.next();
                    continue;
                }
                _ => match self.operand(scopes, to_labels) {
                    Some(operand) => operand,
                    None => {
                        self.skip_statement();
                        return None;
                    }
                },
            };
            groups.last_mut()?.push(operand);
        }
    }

    /// Goes on behind the next semicolon, or stops before a brace that ends a block.
    fn skip_statement(&mut self) {
        let mut depth = 0_u32;
        loop {
            match self.lexer.peek().kind {
                Kind::Sign(b';') if depth == 0 => {
                    self.lexer.next();
                    return;
                }
                Kind::Sign(b'}') if depth == 0 => return,
                Kind::Sign(b'}') => depth -= 1,
                Kind::Sign(b'{') => depth += 1,
                Kind::End => return,
                _ => {}
            }
            self.lexer.next();
        }
    }

    fn operand(&mut self, scopes: &mut Scopes<'s>, to_labels: bool) -> Option<Operand> {
        let token = self.lexer.next();
        let text = self.text(token);
        match token.kind {
            Kind::Sign(b'[') => self.address(scopes),
            Kind::Sign(b'!') => {
                let token = self.lexer.next();
                let register = scopes.register(self.text(token))?;
                Some(Operand::Register(register, true))
            }
            Kind::Sign(b'-') if self.is_real_ahead() => Some(Operand::Name(self.lexer.next().span)),
            Kind::Sign(b'-' | b'~' | b'(') => self.constant(token).map(Operand::Number),
            Kind::Word if to_labels => Some(Operand::Label(scopes.use_label(text, token.span))),
            Kind::Word => {
                let one = if text == "_" { None } else { scopes.register(text) };
                if self.lexer.take(b'|') {
                    let token = self.lexer.next();
                    return Some(Operand::Pair(one, scopes.register(self.text(token))));
                }
                if let Some(register) = one {
                    return Some(Operand::Register(register, false));
                }
                if text == "_" {
                    return Some(Operand::Sink);
                }
                if self.lexer.take(b'+') {
                    // A symbol and an offset, as `mov` takes them.
                    self.lexer.next();
                    return Some(Operand::Other);
                }
                if is_element(text) && scopes.register(&text[..text.len() - 2]).is_some() {
                    return Some(Operand::Other);
                }
                match number(text) {
                    Some(_) => self.constant(token).map(Operand::Number),
                    None => Some(Operand::Name(token.span)),
                }
            }
            _ => None,
        }
    }

    /// Whether what follows a minus is a number, but none that is followed: `-1.5`, `-0f3F800000`.
    fn is_real_ahead(&mut self) -> bool {
        let token = self.lexer.peek();
        token.kind == Kind::Word && number(self.text(token)).is_none()
    }

    /// What follows `[`.
    fn address(&mut self, scopes: &mut Scopes<'s>) -> Option<Operand> {
        let token = self.lexer.next();
        let text = self.text(token);
        let (base, mut offset) = match (token.kind, number(text)) {
            (Kind::Word, Some(number)) => (Base::Number, number as i64),
            (Kind::Word, None) => match scopes.register(text) {
                Some(register) => (Base::Register(register), 0),
                None => (Base::Name(token.span), 0),
            },
            _ => return None,
        };
        if self.lexer.take(b'+') || self.lexer.peek().kind == Kind::Sign(b'-') {
            let token = self.lexer.next();
            offset = offset.wrapping_add(self.constant(token)? as i64);
        }
        if self.lexer.take(b']') {
            return Some(Operand::Address(base, offset));
        }
        // Coordinates of tensors and the like.
        let mut depth = 1_u32;
        while depth > 0 {
            match self.lexer.next().kind {
                Kind::Sign(b'[') => depth += 1,
                Kind::Sign(b']') => depth -= 1,
                Kind::Sign(b';') | Kind::End => return None,
                _ => {}
            }
        }
        Some(Operand::Within(base, offset))
    }
}

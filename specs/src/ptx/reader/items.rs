//! What stands outside the bodies of functions.

use crate::common::span::Span;
use crate::module::{Extent, Kind as Of};
use crate::ptx::error::PtxError;
use crate::ptx::syntax::{Function, Param};

use super::lexer::Kind;
use super::number::number;
use super::scopes::Scopes;
use super::state::Reader;

/// Directives that begin something else at the level of the module.
const BEGIN: [&str; 11] = [
    ".entry", ".func", ".visible", ".extern", ".weak", ".common", ".global", ".const", ".shared", ".file",
    ".section",
];

/// What a directive without a semicolon goes on with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Line {
    /// Words that are no directives.
    Words,
    /// Numbers, names of files, and what says where something was inlined.
    Place,
}

impl<'s> Reader<'s, '_> {
    pub(super) fn begins(&mut self) -> bool {
        let token = self.lexer.peek();
        let begins = self.text(token) == ".version";
        if !begins {
            self.report(&PtxError::NoVersion(token.span));
        }
        begins
    }

    /// Reads a directive of the module; false at the end, or where nothing more can be made of the text.
    pub(super) fn item(&mut self) -> bool {
        let token = self.lexer.next();
        match (token.kind, self.text(token)) {
            (Kind::End, _) => return false,
            (_, ".file") => self.file(),
            (_, ".version" | ".target" | ".address_size") => while self.goes_on(Line::Words) {},
            (_, ".loc") => while self.goes_on(Line::Place) {},
            (_, ".entry") => return self.function(true),
            (_, ".func") => return self.function(false),
            // Linking directives stand before what they concern.
            (_, ".extern") => {
                let next = self.lexer.peek();
                return self.text(next) != ".shared" || self.dynamic(token.span);
            }
            (_, ".visible" | ".weak" | ".common") => {}
            (_, ".section") => return self.section(),
            (_, ".shared") => return self.shared(token.span),
            (Kind::Word, word) if word.starts_with('.') => return self.declaration(token.span),
            (Kind::Sign(b';'), _) => {}
            _ => {
                self.report(&PtxError::Expected("a directive", token.span));
                return false;
            }
        }
        true
    }

    /// Goes on to the next line.
    pub(super) fn rest_of_line(&mut self) {
        loop {
            let token = self.lexer.peek();
            if token.first || token.kind == Kind::End {
                return;
            }
            self.lexer.next();
        }
    }

    /// Reads on to the next token of a directive without a semicolon, if there is one: what follows on its
    /// line may be something else already.
    pub(super) fn goes_on(&mut self, line: Line) -> bool {
        let token = self.lexer.peek();
        let text = self.text(token);
        let is_number = text.starts_with(|c: char| c.is_ascii_digit());
        let goes_on = !token.first
            && match token.kind {
                Kind::Sign(b',' | b'+' | b'-') | Kind::Text => true,
                Kind::Word if is_number || matches!(text, "function_name" | "inlined_at") => true,
                Kind::Word => line == Line::Words && !text.starts_with('.'),
                _ => false,
            };
        if goes_on {
            self.lexer.next();
            if text == "function_name" {
                self.lexer.next();
            }
        }
        goes_on
    }

    /// `.file 1 "name"`
    pub(super) fn file(&mut self) {
        let number = self.lexer.peek();
        let Ok(number) = self.text(number).parse() else { return self.rest_of_line() };
        self.lexer.next();
        let name = self.lexer.peek();
        if name.kind == Kind::Text {
            let name = self.text(name).trim_matches('"').to_owned();
            self.module.files.insert(number, name);
            self.lexer.next();
        }
        while self.goes_on(Line::Place) {}
    }

    /// `.section .debug_info { … }`
    pub(super) fn section(&mut self) -> bool {
        let open = loop {
            let token = self.lexer.next();
            match token.kind {
                Kind::Sign(b'{') => break token,
                Kind::End => {
                    self.report(&PtxError::Expected("`{`", token.span));
                    return false;
                }
                _ => {}
            }
        };
        loop {
            match self.lexer.next().kind {
                Kind::Sign(b'}') => return true,
                Kind::End => {
                    self.report(&PtxError::Unclosed("this section", open.span));
                    return false;
                }
                _ => {}
            }
        }
    }

    /// A declaration of the module up to its semicolon, with the braces of its values.
    pub(super) fn declaration(&mut self, start: Span) -> bool {
        let mut depth = 0_u32;
        loop {
            let token = self.lexer.next();
            match token.kind {
                Kind::Sign(b'{') => depth += 1,
                Kind::Sign(b'}') => depth = depth.saturating_sub(1),
                Kind::Sign(b';') if depth == 0 => return true,
                Kind::End => {
                    self.report(&PtxError::Unclosed("this declaration", start));
                    return false;
                }
                _ => {}
            }
        }
    }

    /// `.shared .align 16 .b8 name[256];`, whose length is kept.
    pub(super) fn shared(&mut self, start: Span) -> bool {
        let (mut name, mut of_one, mut times) = (None, None, Some(1_u64));
        let (mut in_brackets, mut number, mut is_vector) = (false, None, false);
        loop {
            let token = self.lexer.next();
            let text = self.text(token);
            match token.kind {
                Kind::Sign(b'[') => (in_brackets, number) = (true, None),
                Kind::Sign(b']') => {
                    in_brackets = false;
                    times = times.zip(number).and_then(|(times, more)| times.checked_mul(more));
                }
                Kind::Sign(end @ (b',' | b';')) => {
                    let bytes = times
                        .zip(of_one.filter(|_| !is_vector))
                        .and_then(|(times, of_one)| times.checked_mul(of_one));
                    if let Some(name) = name.take() {
                        let known = self.module.lengths.entry(name).or_insert(bytes);
                        *known = known.filter(|_| *known == bytes);
                    }
                    times = Some(1);
                    if end == b';' {
                        return true;
                    }
                }
                Kind::Word if in_brackets => number = text.parse().ok(),
                // `.v4 .f32`: how long vectors are is not looked at.
                Kind::Word if text.starts_with(".v") => is_vector = true,
                Kind::Word if text.starts_with('.') => of_one = bytes_of(text).or(of_one),
                Kind::Word if !text.starts_with(|c: char| c.is_ascii_digit()) => name = Some(text.to_owned()),
                Kind::End => {
                    self.report(&PtxError::Unclosed("this declaration", start));
                    return false;
                }
                _ => {}
            }
        }
    }

    /// `.extern .shared .align 16 .b8 name[];`
    fn dynamic(&mut self, start: Span) -> bool {
        let (mut name, mut open) = (None, false);
        loop {
            let token = self.lexer.next();
            match token.kind {
                Kind::Word => name = Some(self.text(token)),
                Kind::Sign(b'[') => open = true,
                Kind::Sign(b']') if open => {
                    self.module.dynamic.extend(name.map(str::to_owned));
                    return self.declaration(start);
                }
                Kind::Sign(b';') => return true,
                Kind::End => {
                    self.report(&PtxError::Unclosed("this declaration", start));
                    return false;
                }
                _ => {}
            }
            open &= token.kind == Kind::Sign(b'[');
        }
    }

    /// What follows `.entry` or `.func`.
    fn function(&mut self, is_entry: bool) -> bool {
        let mut function = Function { is_entry, ..Function::default() };
        let mut scopes = Scopes::default();
        if !is_entry && self.lexer.peek().kind == Kind::Sign(b'(') {
            let Some(returns) = self.params(&mut scopes) else { return false };
            function.returns = returns;
        }
        let name = self.lexer.next();
        if name.kind != Kind::Word {
            self.report(&PtxError::Expected("the name of a function", name.span));
            return false;
        }
        (function.name, function.span) = (self.text(name).to_owned(), name.span);
        if self.lexer.peek().kind == Kind::Sign(b'(') {
            let Some(params) = self.params(&mut scopes) else { return false };
            function.params = params;
        }
        loop {
            // Old compilers left the semicolon out behind what is only declared.
            let token = self.lexer.peek();
            if BEGIN.contains(&self.text(token)) {
                break;
            }
            self.lexer.next();
            match (token.kind, self.text(token)) {
                (Kind::Sign(b'{'), _) => {
                    let body = self.body(token.span, scopes);
                    let complete = body.is_some();
                    function.body = body;
                    self.module.functions.push(function);
                    return complete;
                }
                (Kind::Sign(b';'), _) => break,
                (_, ".reqntid") => function.required = Some(self.extent(token.span)),
                (_, ".reqnctapercluster") => function.cluster = Some(self.extent(token.span)),
                (_, ".explicitcluster") => function.explicit_cluster = Some(token.span),
                (_, ".maxntid") => function.most = Some(self.extent(token.span)),
                (_, ".maxnreg") => function.registers = Some(self.extent(token.span).size[0]),
                (_, ".minnctapersm") => function.beside = Some(self.extent(token.span).size[0]),
                (Kind::End, _) => {
                    self.report(&PtxError::Expected("the body of this function", function.span));
                    return false;
                }
                // Other performance directives do not concern barriers.
                _ => {}
            }
        }
        self.module.functions.push(function);
        true
    }

    /// `128, 1, 1`; what is left out is 1.
    fn extent(&mut self, directive: Span) -> Extent {
        let mut size = [1; 3];
        let mut span = directive;
        for (index, length) in size.iter_mut().enumerate() {
            if index > 0 && !self.lexer.take(b',') {
                break;
            }
            let token = self.lexer.peek();
            let Some(number) = number(self.text(token)) else { break };
            *length = u32::try_from(number).unwrap_or(u32::MAX);
            span = directive.to(token.span);
            self.lexer.next();
        }
        Extent { size, span }
    }

    /// `(.param .u32 a, .param .align 8 .b8 b[16])`; `None` where the text ends.
    fn params(&mut self, scopes: &mut Scopes<'s>) -> Option<Vec<Param>> {
        let open = self.lexer.next();
        let mut params = Vec::new();
        let mut name: Option<&'s str> = None;
        let (mut is_register, mut kind, mut in_brackets) = (false, Of::Integer, false);
        loop {
            let token = self.lexer.next();
            match (token.kind, self.text(token)) {
                (Kind::Sign(b',' | b')'), _) => {
                    if let Some(name) = name.take() {
                        let register = is_register.then(|| scopes.declare(name, 64));
                        params.push(Param { name: name.to_owned(), register, kind });
                    }
                    (is_register, kind) = (false, Of::Integer);
                    if token.kind == Kind::Sign(b')') {
                        return Some(params);
                    }
                }
                (Kind::Sign(sign @ (b'[' | b']')), _) => in_brackets = sign == b'[',
                (_, ".reg") => is_register = true,
                (_, ".ptr") => kind = Of::Address,
                (_, ".f16" | ".f16x2" | ".bf16" | ".bf16x2" | ".f32" | ".f64") => kind = Of::Real,
                (Kind::Word, word) => {
                    let is_name = !in_brackets && number(word).is_none() && !word.starts_with('.');
                    name = if is_name { Some(word) } else { name };
                }
                (Kind::End, _) => {
                    self.report(&PtxError::Unclosed("this list of parameters", open.span));
                    return None;
                }
                _ => {}
            }
        }
    }
}

/// The bytes of a variable of a type; `None` of what is none, and of vectors.
fn bytes_of(ty: &str) -> Option<u64> {
    let bits = ty.get(2..)?.parse::<u64>().ok()?;
    [".b", ".u", ".s", ".f"].iter().any(|begin| ty.starts_with(begin)).then_some(bits / 8)
}

//! The statements of a body: declarations, labels, instructions.

use crate::common::limits;
use crate::common::span::Span;
use crate::ptx::error::PtxError;
use crate::ptx::syntax::{Body, Instruction, LineMark};

use super::items::Line;
use super::lexer::{Kind, Token};
use super::number::number;
use super::scopes::Scopes;
use super::state::Reader;

impl<'s> Reader<'s, '_> {
    /// A body behind its opening brace; `None` where the text ends or makes no sense.
    pub(super) fn body(&mut self, open: Span, mut scopes: Scopes<'s>) -> Option<Body> {
        let mut body = Body::default();
        let outside = scopes.depth();
        scopes.enter();
        loop {
            let token = self.lexer.next();
            match (token.kind, self.text(token)) {
                (Kind::Sign(b'{'), _) if scopes.depth() as u32 >= limits::NESTING => {
                    self.report(&PtxError::TooDeep(token.span));
                    return None;
                }
                (Kind::Sign(b'{'), _) => scopes.enter(),
                (Kind::Sign(b'}'), _) => {
                    scopes.leave();
                    if scopes.depth() == outside {
                        body.close = token.span;
                        break;
                    }
                }
                (Kind::Sign(b';'), _) => {}
                (Kind::End, _) => {
                    self.report(&PtxError::Unclosed("this function", open));
                    return None;
                }
                (Kind::Word, text) if text.starts_with('.') => {
                    self.directive(text, token.span, &mut scopes, &mut body);
                }
                (Kind::Word, text) if self.lexer.peek().kind == Kind::Sign(b':') => {
                    self.lexer.next();
                    self.label(text, &mut scopes, &mut body);
                }
                _ => self.instruction(token, &mut scopes, &mut body),
            }
        }
        let (labels, wrong) = scopes.resolve();
        wrong.iter().for_each(|error| self.report(error));
        body.labels = labels;
        body.registers = scopes.names();
        body.bits = scopes.bits();
        Some(body)
    }

    fn label(&mut self, name: &'s str, scopes: &mut Scopes<'s>, body: &mut Body) {
        let is_table = self.lexer.peek();
        if self.text(is_table) == ".branchtargets" {
            self.lexer.next();
            let mut targets = Vec::new();
            loop {
                let token = self.lexer.next();
                match token.kind {
                    Kind::Word => targets.push(scopes.use_label(self.text(token), token.span)),
                    Kind::Sign(b',') => {}
                    _ => break,
                }
            }
            body.tables.insert(name.to_owned(), targets);
            return;
        }
        scopes.label(name, body.instructions.len() as u32);
    }

    fn directive(&mut self, text: &'s str, span: Span, scopes: &mut Scopes<'s>, body: &mut Body) {
        match text {
            ".loc" => self.line(body),
            ".file" => self.file(),
            ".reg" => self.registers(scopes),
            ".section" => {
                self.section();
            }
            ".shared" => {
                self.shared(span);
            }
            // Variables, pragmas, prototypes, tables.
            _ => {
                self.declaration(span);
            }
        }
    }

    /// `.loc 1 20 5, function_name $L__info, inlined_at 1 7 3`
    fn line(&mut self, body: &mut Body) {
        let mut numbers = [0_u32; 2];
        for number in &mut numbers {
            let token = self.lexer.peek();
            if token.first {
                return;
            }
            *number = self.text(token).parse().unwrap_or(0);
            self.lexer.next();
        }
        let [file, line] = numbers;
        let place = (file, line);
        // Where that was inlined is what was said of it last.
        let inlined_at = self.inlined_at().map(|at| self.outermost.get(&at).copied().unwrap_or(at));
        self.outermost.insert(place, inlined_at.unwrap_or(place));
        body.lines.push(LineMark { from: body.instructions.len() as u32, file, line, inlined_at });
        while self.goes_on(Line::Place) {}
    }

    /// `5, function_name $L__info, inlined_at 1 7 3`: what follows file and line.
    fn inlined_at(&mut self) -> Option<(u32, u32)> {
        loop {
            let token = self.lexer.peek();
            if !self.goes_on(Line::Place) {
                return None;
            }
            if self.text(token) == "inlined_at" {
                break;
            }
        }
        let mut number = || -> Option<u32> {
            let token = self.lexer.peek();
            let number = self.text(token).parse().ok().filter(|_| !token.first)?;
            self.lexer.next();
            Some(number)
        };
        Some((number()?, number()?))
    }

    /// `.reg .b32 %r<40>, %x;`
    fn registers(&mut self, scopes: &mut Scopes<'s>) {
        let mut bits = 64;
        loop {
            let token = self.lexer.next();
            let text = self.text(token);
            match token.kind {
                Kind::Word if text.starts_with('.') => bits = bits_of(text),
                Kind::Word if self.lexer.take(b'<') => {
                    let count = self.lexer.next();
                    let count = number(self.text(count)).unwrap_or(0);
                    scopes.declare_range(text, u32::try_from(count).unwrap_or(u32::MAX), bits);
                    self.lexer.take(b'>');
                }
                Kind::Word => {
                    scopes.declare(text, bits);
                }
                Kind::Sign(b',') => {}
                _ => return,
            }
        }
    }

    /// An instruction that begins with this token.
    fn instruction(&mut self, first: Token, scopes: &mut Scopes<'s>, body: &mut Body) {
        let mut guard = None;
        let mut opcode = first;
        if first.kind == Kind::Sign(b'@') {
            let negated = self.lexer.take(b'!');
            let name = self.lexer.next();
            match scopes.register(self.text(name)) {
                Some(register) => guard = Some((register, negated)),
                None => self.report(&PtxError::Expected("a predicate that was declared", name.span)),
            }
            opcode = self.lexer.next();
        }
        if opcode.kind != Kind::Word {
            self.report(&PtxError::Expected("an instruction", opcode.span));
            if opcode.kind != Kind::Sign(b'}') {
                self.rest_of_line();
            }
            return;
        }
        let word = self.text(opcode);
        let to_labels = word == "bra" || word.starts_with("bra.");
        let is_call = word == "call" || word.starts_with("call.");
        let read = self.operands(scopes, (to_labels, is_call));
        let end = self.lexer.last_end();
        let span = Span::new(first.span.start, end.max(opcode.span.end));
        if read.is_none() {
            self.report(&PtxError::Expected("operands and `;`", span));
        }
        let operands = read.unwrap_or_default();
        body.instructions.push(Instruction { opcode: opcode.span, span, guard, operands });
    }
}

/// The bits of registers of a type; as many as there can be where that is not said.
fn bits_of(ty: &str) -> u8 {
    match ty {
        ".pred" => 1,
        ".b8" | ".u8" | ".s8" => 8,
        ".b16" | ".u16" | ".s16" => 16,
        ".b32" | ".u32" | ".s32" => 32,
        _ => 64,
    }
}

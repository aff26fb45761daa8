//! From words to operations. Each operation has a form of its own; here it is only found out where it ends
//! and which regions it has.

use crate::common::diagnostic::Sink;
use crate::common::limits;
use crate::common::span::Span;

use super::error::MlirError;
use super::lexer::{Kind, Token};
use super::syntax::{Block, Operation, Region};

/// Operations that are written without their dialect.
const BARE: [&str; 8] = ["module", "func", "return", "call", "br", "cond_br", "constant", "call_indirect"];

pub(super) struct Parser<'s, 't, 'e> {
    pub(super) source: &'s str,
    pub(super) tokens: &'t [Token],
    pub(super) at: usize,
    pub(super) errors: &'e mut Sink,
    /// Regions around.
    pub(super) depth: u32,
    /// What `#name` stands for at the top: the words behind `=`.
    pub(super) aliases: Vec<(&'s str, std::ops::Range<usize>)>,
}

impl<'s> Parser<'s, '_, '_> {
    fn peek(&self, ahead: usize) -> Option<Token> {
        self.tokens.get(self.at + ahead).copied()
    }

    fn text(&self, token: Token) -> &'s str {
        token.span.text(self.source)
    }

    fn error(&mut self, error: &MlirError, span: Span) {
        self.errors.push(span, || error.diagnostic());
        // Nothing is made of what follows.
        self.at = self.tokens.len();
    }

    fn end(&self) -> Span {
        self.tokens.last().map_or(Span::default(), |last| last.span)
    }

    /// The operations of the whole text.
    pub(super) fn module(&mut self) -> Region<'s> {
        let mut block = Block::default();
        while let Some(first) = self.peek(0) {
            if first.kind == Kind::Alias && self.peek(1).is_some_and(|next| next.is(b'=')) {
                self.alias();
            } else if first.is(b'{') && self.peek(1).is_some_and(|next| next.is(b'-')) {
                self.brackets(&mut Vec::new());
            } else if self.begins(0) {
                block.operations.extend(self.operation());
            } else {
                let is_first = block.operations.is_empty() && self.aliases.is_empty();
                let expected = MlirError::Expected("an operation", first.span);
                self.error(&if is_first { MlirError::NotMlir(first.span) } else { expected }, first.span);
            }
        }
        vec![block]
    }

    /// `#map = affine_map<…>` or `!t = …`, up to the end of what it stands for.
    fn alias(&mut self) {
        let Some(name) = self.peek(0) else { return };
        self.at += 2;
        let from = self.at;
        while let Some(next) = self.peek(0) {
            if self.at > from && next.begins_line {
                break;
            }
            if is_open(next) { self.brackets(&mut Vec::new()) } else { self.at += 1 }
        }
        self.aliases.push((self.text(name), from..self.at));
    }

    /// Whether an operation begins with the word that comes after so many.
    fn begins(&self, ahead: usize) -> bool {
        let Some(token) = self.peek(ahead) else { return false };
        let text = self.text(token);
        match token.kind {
            Kind::Value => self.ends_results(ahead),
            Kind::Text => text.contains('.') && self.peek(ahead + 1).is_some_and(|next| next.is(b'(')),
            Kind::Word => text.contains('.') || token.begins_line && BARE.contains(&text),
            _ => false,
        }
    }

    /// Whether results stand there: `%a:2, %b =`.
    fn ends_results(&self, ahead: usize) -> bool {
        let mut at = ahead;
        while self.peek(at).is_some_and(|token| token.kind == Kind::Value) {
            at += 1;
            if self.peek(at).is_some_and(|token| token.is(b':')) {
                if self.peek(at + 1).is_none_or(|count| count.kind != Kind::Number) {
                    return false;
                }
                at += 2;
            }
            match self.peek(at) {
                Some(next) if next.is(b'=') => return true,
                Some(next) if next.is(b',') => at += 1,
                _ => return false,
            }
        }
        false
    }

    fn operation(&mut self) -> Option<Operation<'s>> {
        let first = self.peek(0)?;
        let mut results = Vec::new();
        while let Some(token) = self.peek(0).filter(|token| token.kind == Kind::Value) {
            let name = self.text(token);
            self.at += 1;
            let mut count = 1;
            if self.peek(0).is_some_and(|token| token.is(b':')) {
                count = self.peek(1).and_then(|count| self.text(count).parse().ok()).unwrap_or(1);
                self.at += 2;
            }
            results.push((name, usize::min(count, 1024)));
            // The comma or the equals sign.
            self.at += 1;
        }
        let Some(name) = self.peek(0).filter(|name| matches!(name.kind, Kind::Word | Kind::Text)) else {
            let span = self.peek(0).map_or(self.end(), |next| next.span);
            self.error(&MlirError::Expected("the name of an operation", span), span);
            return None;
        };
        self.at += 1;
        let is_generic = name.kind == Kind::Text;
        let mut operation = Operation {
            name: self.text(name).trim_matches('"'),
            is_generic,
            results,
            words: Vec::new(),
            regions: Vec::new(),
            span: first.span.to(name.span),
        };
        let begun = self.at;
        let mut is_whole = true;
        while let Some(next) = self.peek(0) {
            // `%i =` right behind `scf.for` is its own.
            let is_own = self.at == begun && next.kind == Kind::Value && operation.name.ends_with(".for");
            let is_label = next.kind == Kind::Block && next.begins_line;
            if next.is(b'}') || is_label || !is_own && self.begins(0) || self.is_alias(next) {
                break;
            }
            let is_list = next.is(b'(') && self.peek(1).is_some_and(|inside| inside.is(b'{'));
            if is_list && is_generic {
                self.at += 1;
                self.region_list(&mut operation);
                is_whole = false;
            } else if next.is(b'{') && !self.is_dictionary(&operation) {
                operation.regions.extend(self.region());
                is_whole = false;
            } else {
                if is_open(next) {
                    self.brackets(&mut operation.words);
                } else {
                    operation.words.push(next);
                    self.at += 1;
                }
                if let Some(last) = operation.words.last().filter(|_| is_whole) {
                    operation.span = operation.span.to(last.span);
                }
            }
        }
        Some(operation)
    }

    /// Whether something is named at the top.
    fn is_alias(&self, token: Token) -> bool {
        let is_named = token.kind == Kind::Alias && self.peek(1).is_some_and(|next| next.is(b'='));
        self.depth == 0 && token.begins_line && is_named
    }

    /// `({…}, {…})`, the first parenthesis left out.
    fn region_list(&mut self, operation: &mut Operation<'s>) {
        while let Some(next) = self.peek(0) {
            if next.is(b'{') {
                operation.regions.extend(self.region());
            } else if next.is(b',') {
                self.at += 1;
            } else if next.is(b')') {
                self.at += 1;
                return;
            } else {
                return self.error(&MlirError::Expected("a region", next.span), next.span);
            }
        }
        let span = operation.span;
        self.error(&MlirError::Unclosed(span), span);
    }

    /// Whether a brace opens attributes and no region.
    fn is_dictionary(&self, operation: &Operation<'s>) -> bool {
        let is_told = operation.words.last().is_some_and(|last| self.text(*last) == "attributes");
        let (Some(first), second) = (self.peek(1), self.peek(2)) else { return false };
        let is_name = matches!(first.kind, Kind::Word | Kind::Text);
        let is_next = |sign: u8| second.is_some_and(|second| second.is(sign));
        if is_told || is_name && is_next(b'=') {
            return true;
        }
        let is_dotted = self.text(first).contains('.');
        is_name && (is_next(b',') || is_next(b'}')) && !(is_dotted && first.begins_line)
    }

    /// `{ ^block(%x: t): … }`
    fn region(&mut self) -> Option<Region<'s>> {
        let open = self.peek(0)?;
        self.at += 1;
        self.depth += 1;
        if self.depth > limits::NESTING {
            self.error(&MlirError::TooDeep(open.span), open.span);
            return None;
        }
        let mut region = vec![Block::default()];
        loop {
            let Some(next) = self.peek(0) else {
                if self.errors.is_empty() {
                    self.error(&MlirError::Unclosed(open.span), open.span);
                }
                return None;
            };
            if next.is(b'}') {
                self.at += 1;
                break;
            }
            if next.kind == Kind::Block {
                let block = self.label();
                // The first block may have a name, or none.
                match region.last_mut() {
                    Some(last) if last.label.is_none() && last.operations.is_empty() => *last = block,
                    _ => region.push(block),
                }
            } else if self.begins(0) {
                let operation = self.operation();
                if let Some(block) = region.last_mut() {
                    block.operations.extend(operation);
                }
            } else {
                self.error(&MlirError::Expected("an operation", next.span), next.span);
                return None;
            }
        }
        self.depth -= 1;
        Some(region)
    }

    /// `^name(%x: t, %y: t):`
    fn label(&mut self) -> Block<'s> {
        let label = self.peek(0).map(|token| self.text(token));
        self.at += 1;
        let mut params = Vec::new();
        if self.peek(0).is_some_and(|next| next.is(b'(')) {
            let mut words = Vec::new();
            self.brackets(&mut words);
            params =
                words.iter().filter(|word| word.kind == Kind::Value).map(|word| self.text(*word)).collect();
        }
        match self.peek(0) {
            Some(next) if next.is(b':') => self.at += 1,
            next => {
                let span = next.map_or(self.end(), |next| next.span);
                self.error(&MlirError::Expected("`:` behind the name of a block", span), span);
            }
        }
        Block { label, params, operations: Vec::new() }
    }

    /// What stands in brackets, with all that is inside.
    fn brackets(&mut self, words: &mut Vec<Token>) {
        let mut open: Vec<(u8, Span)> = Vec::new();
        while let Some(next) = self.peek(0) {
            words.push(next);
            self.at += 1;
            match next.kind {
                Kind::Sign(sign @ (b'(' | b'[' | b'{' | b'<')) => open.push((sign, next.span)),
                Kind::Sign(sign @ (b')' | b']' | b'}' | b'>')) => {
                    let fits = open.pop().is_some_and(|(opened, _)| closes(opened) == sign);
                    if !fits {
                        return self.error(
                            &MlirError::Expected("what was opened to be closed", next.span),
                            next.span,
                        );
                    }
                    if open.is_empty() {
                        return;
                    }
                }
                _ => {}
            }
        }
        let span = open.last().map_or(self.end(), |(_, span)| *span);
        self.error(&MlirError::Unclosed(span), span);
    }
}

fn is_open(token: Token) -> bool {
    matches!(token.kind, Kind::Sign(b'(' | b'[' | b'{' | b'<'))
}

fn closes(open: u8) -> u8 {
    match open {
        b'(' => b')',
        b'[' => b']',
        b'{' => b'}',
        _ => b'>',
    }
}

#[cfg(test)]
mod tests {
    use super::super::lexer::tokens;
    use super::*;

    fn parse<'s>(source: &'s str, tokens: &[Token]) -> Result<Region<'s>, &'static str> {
        let mut errors = Sink::default();
        let mut parser = Parser { source, tokens, at: 0, errors: &mut errors, depth: 0, aliases: Vec::new() };
        let region = parser.module();
        if errors.is_empty() { Ok(region) } else { Err(errors.finish()[0].code) }
    }

    /// Operations and their regions in short.
    fn shape(region: &Region<'_>) -> String {
        let mut text = String::new();
        for operation in region.iter().flat_map(|block| &block.operations) {
            text.push_str(operation.name);
            for region in &operation.regions {
                text.push_str(&format!("{{{}}}", shape(region)));
            }
            text.push(' ');
        }
        text
    }

    #[track_caller]
    fn check(source: &str, expected: &str) {
        let found = tokens(source);
        assert_eq!(shape(&parse(source, &found).expect("it is well formed")), expected);
    }

    #[test]
    fn operations_end_where_the_next_one_begins() {
        check(
            "func.func @f() {\n  a.b %x :\n    i32\n  a.c {k = 1 : i8}\n  return\n}\n",
            "func.func{a.b a.c return } ",
        );
        // Even on one line: nothing is lost.
        check("func.func @f() { a.b %x : i32 gpu.barrier %y = a.c }", "func.func{a.b gpu.barrier a.c } ");
        check("#map = affine_map<() -> (0)>\nmodule attributes {a.b} { }", "module{} ");
    }

    #[test]
    fn braces_open_regions_or_attributes() {
        check(
            "x.y {\n  %a:2 = scf.for %i = %l to %u step %s iter_args(%p = %q) -> (i32) {\n    gpu.barrier\n  } \
             {step = 1 : index}\n}",
            "x.y{scf.for{gpu.barrier } } ",
        );
        check("scf.if %c {\n gpu.barrier\n} else {\n a.b\n}\n", "scf.if{gpu.barrier }{a.b } ");
        check(
            "\"scf.if\"(%c) <{a = 1}> ({\n \"a.b\"() : () -> ()\n}, {\n}) {k} : (i1) -> ()\n",
            "scf.if{a.b }{} ",
        );
    }

    #[test]
    fn blocks_have_names_and_parameters() {
        let source = "x.y {\n cf.br ^b(%a : i32)\n^b(%p: i32):\n a.b ^b, ^c\n^c:\n a.c\n}";
        let found = tokens(source);
        let region = parse(source, &found).expect("it is well formed");
        let blocks = &region[0].operations[0].regions[0];
        let labels: Vec<_> = blocks.iter().map(|block| (block.label, block.params.len())).collect();
        assert_eq!(labels, [(None, 0), (Some("^b"), 1), (Some("^c"), 0)]);
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (source, code) in [
            ("x.y {\n a.b\n", "unclosed"),
            ("x.y (", "unclosed"),
            ("x.y (]", "syntax"),
            ("x.y {\n ]\n}", "syntax"),
            ("hello", "not-mlir"),
            ("%a = ", "syntax"),
        ] {
            let found = tokens(source);
            assert_eq!(parse(source, &found).err(), Some(code), "{source}");
        }
        let deep = "x.y {\n".repeat(500);
        let found = tokens(&deep);
        assert_eq!(parse(&deep, &found).err(), Some("too-deep"));
    }
}

//! Modules as text: the assembly of the SPIR-V tools, and the numbered lines of the LLVM translator.

use std::collections::HashMap;

use crate::common::diagnostic::Sink;
use crate::common::span::{Span, offset};

use super::error::SpirvError;
use super::opcodes::by_name;
use super::syntax::{Instruction, Listing, Operand, Widths};

/// The first number of a module in numbered lines: the magic word, in decimal.
pub(super) const NUMBERED: &str = "119734787";

/// A word of the text.
#[derive(Clone, Copy)]
struct Token<'s> {
    text: &'s str,
    span: Span,
}

/// The words of a text; comments are left out.
#[derive(Clone)]
struct Tokens<'s> {
    source: &'s str,
    at: usize,
}

impl<'s> Iterator for Tokens<'s> {
    type Item = Token<'s>;

    fn next(&mut self) -> Option<Token<'s>> {
        let bytes = self.source.as_bytes();
        loop {
            while bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
                self.at += 1;
            }
            if bytes.get(self.at) != Some(&b';') {
                break;
            }
            let rest = &bytes[self.at..];
            self.at += rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        }
        let start = self.at;
        let is_string = *bytes.get(start)? == b'"';
        self.at += 1;
        while let Some(byte) = bytes.get(self.at) {
            match byte {
                b'\\' if is_string => self.at += 1,
                b'"' if is_string => {
                    self.at += 1;
                    break;
                }
                _ if is_string => {}
                byte if byte.is_ascii_whitespace() || matches!(byte, b';' | b'"') => break,
                _ => {}
            }
            self.at += 1;
        }
        self.at = self.at.min(bytes.len());
        let span = Span::new(offset(start), offset(self.at));
        Some(Token { text: span.text(self.source), span })
    }
}

fn tokens(source: &str) -> Tokens<'_> {
    Tokens { source, at: if source.starts_with('\u{feff}') { 3 } else { 0 } }
}

/// Whether a text begins as a module does.
pub(super) fn takes(source: &str) -> bool {
    let mut tokens = tokens(source);
    let Some(first) = tokens.next() else { return false };
    let second = tokens.next().map_or("", |token| token.text);
    first.text == NUMBERED || is_opcode(first.text) || first.text.starts_with('%') && second == "="
}

fn is_opcode(word: &str) -> bool {
    word.strip_prefix("Op").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
}

/// Reads a module.
pub(super) fn read(source: &str, errors: &mut Sink) -> Listing {
    let is_numbered = tokens(source).next().is_some_and(|first| first.text == NUMBERED);
    let mut reader = Reader { errors, ids: HashMap::new(), listing: Listing::default() };
    if is_numbered {
        reader.numbered(source);
    } else {
        reader.assembly(source);
    }
    reader.listing.text = source.to_owned();
    reader.listing
}

struct Reader<'s, 'e> {
    errors: &'e mut Sink,
    ids: HashMap<&'s str, u32>,
    listing: Listing,
}

impl<'s> Reader<'s, '_> {
    fn error(&mut self, error: SpirvError, span: Span) {
        self.errors.push(span, || error.diagnostic());
    }

    fn id(&mut self, name: &'s str) -> u32 {
        if let Some(id) = self.ids.get(name) {
            return *id;
        }
        self.listing.ids.push(name.to_owned());
        let id = offset(self.listing.ids.len());
        self.ids.insert(name, id);
        id
    }

    fn operand(&mut self, token: Token<'s>) -> Operand {
        match token.text.as_bytes() {
            [b'"', ..] => Operand::Text(self.string(token).into()),
            [b'%', ..] => {
                let id = self.id(&token.text[1..]);
                Operand::Number(u64::from(id))
            }
            _ => number(token.text).map_or_else(|| Operand::Word(token.text.into()), Operand::Number),
        }
    }

    fn string(&mut self, token: Token<'s>) -> String {
        let inner = &token.text[1..];
        let Some(inner) = inner.strip_suffix('"') else {
            self.error(SpirvError::Unclosed(token.span), token.span);
            return inner.to_owned();
        };
        let mut text = String::new();
        let mut characters = inner.chars();
        while let Some(c) = characters.next() {
            text.extend(if c == '\\' { characters.next() } else { Some(c) });
        }
        text
    }

    /// `%result = OpName %type operands`: an instruction goes on until the next one begins.
    fn assembly(&mut self, source: &'s str) {
        let mut tokens = tokens(source).peekable();
        while let Some(first) = tokens.next() {
            if self.errors.is_full() {
                return;
            }
            let mut result = None;
            let mut opcode = first;
            if let Some(name) = first.text.strip_prefix('%') {
                let (Some(equals), Some(word)) = (tokens.next(), tokens.next()) else {
                    return self
                        .error(SpirvError::Expected("`=` and an instruction", first.span), first.span);
                };
                if equals.text != "=" {
                    self.error(SpirvError::Expected("`=` behind the result", equals.span), equals.span);
                    return;
                }
                result = Some(self.id(name));
                opcode = word;
            }
            if !is_opcode(opcode.text) {
                let error = if self.listing.instructions.is_empty() && result.is_none() {
                    SpirvError::NotSpirv(opcode.span)
                } else {
                    SpirvError::Expected("an instruction", opcode.span)
                };
                return self.error(error, opcode.span);
            }
            let mut operands = Vec::new();
            let mut end = opcode.span;
            let mut ahead = tokens.clone();
            while let Some(token) = ahead.next() {
                let begins = token.text.starts_with('%') && ahead.peek().is_some_and(|next| next.text == "=");
                if begins || is_opcode(token.text) {
                    break;
                }
                operands.push(self.operand(token));
                end = token.span;
                tokens.next();
            }
            self.instruction(opcode, (result, operands), first.span.to(end));
        }
    }

    fn instruction(
        &mut self,
        opcode: Token<'s>,
        (result, mut operands): (Option<u32>, Vec<Operand>),
        span: Span,
    ) {
        let row = by_name(&opcode.text[2..]);
        let mut ty = 0;
        if let Some(row) = row {
            if row.has_result() != result.is_some() {
                let what = if row.has_result() { "`%id =` before it" } else { "no result of it" };
                self.error(SpirvError::Expected(what, opcode.span), opcode.span);
            }
            if row.has_type() {
                match operands.first() {
                    Some(Operand::Number(id)) => ty = u32::try_from(*id).unwrap_or(0),
                    _ => {
                        self.error(
                            SpirvError::Expected("the type of the result", span.after()),
                            span.after(),
                        );
                    }
                }
                operands.drain(..operands.len().min(1));
            }
            if operands.len() < row.least() {
                self.error(SpirvError::Expected("more operands", span.after()), span.after());
            }
        }
        let opcode = row.map(|row| row.number);
        let result = result.unwrap_or(0);
        self.listing.instructions.push(Instruction { opcode, ty, result, operands, span });
    }

    /// `count Name operands`, each on a line of its own: everything in the order of words.
    fn numbered(&mut self, source: &'s str) {
        let mut widths = Widths::default();
        let mut begun = false;
        let mut at = 0;
        for line in source.split_inclusive('\n') {
            let start = at;
            at += line.len();
            let mut words = Tokens { source: &source[..at], at: start };
            let Some(first) = words.next() else { continue };
            if first.text.starts_with('\u{feff}') || !begun {
                begun = true;
                continue;
            }
            if self.errors.is_full() {
                return;
            }
            let Some(name) = words.next().filter(|_| number(first.text).is_some()) else {
                self.error(
                    SpirvError::Expected("a number of words and an instruction", first.span),
                    first.span,
                );
                return;
            };
            let mut end = name.span;
            let mut operands = Vec::new();
            for token in words {
                operands.push(self.operand(token));
                end = token.span;
            }
            let row = by_name(name.text);
            let mut front = |has: bool| {
                let id = match operands.first() {
                    Some(Operand::Number(id)) if has => u32::try_from(*id).unwrap_or(0),
                    _ => return 0,
                };
                operands.remove(0);
                id
            };
            let ty = front(row.is_some_and(|row| row.has_type()));
            let result = front(row.is_some_and(|row| row.has_result()));
            let (opcode, span) = (row.map(|row| row.number), first.span.to(end));
            if row.is_some_and(|row| operands.len() < row.least() || row.has_result() && result == 0) {
                self.error(SpirvError::Expected("more operands", span.after()), span.after());
            }
            let mut instruction = Instruction { opcode, ty, result, operands, span };
            widths.join(&mut instruction);
            self.listing.instructions.push(instruction);
        }
    }
}

/// An integer, negative ones as their bits.
fn number(word: &str) -> Option<u64> {
    let (negative, digits) = match word.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, word),
    };
    let value = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16).ok()?,
        None if digits.bytes().all(|byte| byte.is_ascii_digit()) => digits.parse().ok()?,
        None => return None,
    };
    Some(if negative { value.wrapping_neg() } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(source: &str) -> Result<Listing, Vec<crate::common::diagnostic::Diagnostic>> {
        let mut errors = Sink::default();
        let listing = read(source, &mut errors);
        if errors.is_empty() { Ok(listing) } else { Err(errors.finish()) }
    }

    #[test]
    fn an_instruction_goes_on_until_the_next_one() {
        let listing =
            parse("; a\n%u = OpTypeInt 32\n 0 %c =\nOpConstant %u -1 OpReturn").expect("it is fine");
        assert_eq!(listing.instructions.len(), 3);
        let constant = &listing.instructions[1];
        assert_eq!((constant.ty, constant.result), (1, 2));
        assert_eq!(constant.operands, [Operand::Number(u64::MAX)]);
        assert_eq!(listing.id_name(2), "c");
    }

    #[test]
    fn numbered_lines_are_in_the_order_of_words() {
        let text = "119734787 65536 393230 15 0\n4 TypeInt 6 32 0\n4 Constant 6 7 2\n\n1 Return\n; end\n";
        let listing = parse(text).expect("it is fine");
        let constant = &listing.instructions[1];
        assert_eq!((constant.ty, constant.result, constant.number(0)), (6, 7, Some(2)));
        assert!(listing.instructions[2].is(super::super::opcodes::op::RETURN));
    }

    #[test]
    fn what_is_missing_is_said_with_its_place() {
        for (text, code) in [
            ("OpControlBarrier %1", "syntax"),
            ("OpName %1 \"abc", "unclosed"),
            ("%1 OpTypeVoid", "syntax"),
            ("OpTypeVoid", "syntax"),
            ("module {", "not-spirv"),
        ] {
            let errors = parse(text).expect_err(text);
            assert_eq!(errors[0].code, code, "{text}");
        }
    }

    #[test]
    fn an_unknown_instruction_is_kept() {
        let listing = parse("%1 = OpQuantumSwap %2 %3").expect("it is fine");
        assert_eq!((listing.instructions[0].opcode, listing.instructions[0].result), (None, 1));
    }
}

//! The functions of a listing, line by line.

use crate::common::diagnostic::Sink;
use crate::common::span::{Span, offset};
use crate::sass::error::SassError;
use crate::sass::opcodes::{self, Effect};
use crate::sass::operand::number;
use crate::sass::syntax::{About, Function, Listing};

use super::about::Attribute;
use super::line::Line;
use super::{mapping, statement};

/// The name of what has none.
const BARE: &str = "listing";

/// What lines mean where the reader is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Inside {
    /// Instructions.
    Code,
    /// A section without code.
    Data,
    Constants,
    Registers,
    /// A program that writes instructions.
    Program,
}

struct Reader<'s, 'e> {
    source: &'s str,
    errors: &'e mut Sink,
    listing: Listing<'s>,
    inside: Inside,
    chip: Option<u32>,
    /// Kernels that the listing says are launched.
    entries: Vec<&'s str>,
    /// Whom the attributes that are being read are about, and the last of them.
    info: Option<&'s str>,
    attribute: Option<Attribute>,
    /// Whom an attribute of the whole module is about, and what such ones have said of registers.
    of: Option<&'s str>,
    registers: Vec<(&'s str, u32)>,
    about: Vec<(&'s str, About)>,
    /// The line of the source that was named last, and whether the line before named one.
    line: Option<(&'s str, u32)>,
    names_line: bool,
}

pub(super) fn read<'s>(source: &'s str, errors: &mut Sink) -> Listing<'s> {
    let mut reader = Reader {
        source,
        errors,
        listing: Listing::default(),
        inside: Inside::Code,
        chip: None,
        entries: Vec::new(),
        info: None,
        attribute: None,
        of: None,
        registers: Vec::new(),
        about: Vec::new(),
        line: None,
        names_line: false,
    };
    let mut start = 0;
    let mut open = None;
    for text in source.split_inclusive('\n') {
        let line = Line::of(text.trim_end_matches(['\n', '\r']), open.is_some());
        open = match (line.is_open, open) {
            (true, None) => line.comments.last().map(|(at, _)| start + at),
            (true, before) => before,
            (false, _) => None,
        };
        reader.line(&text[..line.code.len()], &line, start);
        start += text.len();
    }
    if let Some(at) = open {
        let span = Span::new(offset(at), offset(at + 2));
        reader.errors.push(span, || SassError::Unclosed(span).diagnostic());
    }
    reader.finish()
}

impl<'s> Reader<'s, '_> {
    fn line(&mut self, text: &'s str, line: &Line, start: usize) {
        self.remarks(text, line, start);
        let code = line.code.trim();
        let at = start + line.code.len() - line.code.trim_start().len();
        let original = text.get(at - start..at - start + code.len()).unwrap_or_default();
        if code.is_empty() || code.starts_with('#') {
            return;
        }
        if let Some(tag) = original.strip_prefix('<').and_then(|rest| rest.split('>').next()) {
            return self.tag(tag, Span::new(offset(at), offset(at + code.len())));
        }
        match self.inside {
            Inside::Program => return,
            Inside::Constants => {
                if let (Some((name, place)), Some(function)) = (mapping::constant(code), self.last()) {
                    function.constants.insert(name, place);
                }
                return;
            }
            Inside::Registers => {
                if let Some(function) = self.last() {
                    let mut found = std::mem::take(&mut function.registers);
                    function.shares_registers |= !mapping::registers(code, &mut found);
                    function.registers = found;
                }
                return;
            }
            Inside::Code | Inside::Data => {}
        }
        if let Some(rest) = original.strip_prefix("Function :") {
            return self.function(rest.trim(), at);
        }
        if let Some(rest) = code.strip_prefix("code for sm_") {
            self.chip = number_of(rest);
            return;
        }
        match original.strip_suffix(':') {
            Some(label) if !label.contains(char::is_whitespace) && !label.is_empty() => {
                return self.label(label, at);
            }
            _ => {}
        }
        if code.starts_with('.') {
            return self.directive(original, at);
        }
        if self.inside == Inside::Code {
            self.statements(original, code, text, (at, start));
        }
    }

    /// What stands in comments: `# Kernel:`, lines of the source, attributes.
    fn remarks(&mut self, text: &'s str, line: &Line, start: usize) {
        let trimmed = text.trim_start();
        if let Some(rest) = trimmed.strip_prefix('#') {
            let rest = rest.trim();
            if let Some(name) = rest.strip_prefix("Kernel:") {
                let at = start + text.len() - text.trim_start().len();
                self.function(name.trim(), at);
            } else if let Some(arch) = rest.strip_prefix("Arch: sm_") {
                let chip = number_of(arch);
                self.chip = chip;
                if let Some(function) = self.last() {
                    function.chip = chip;
                }
            }
        }
        for (from, to) in &line.comments {
            let comment = &text[*from..*to];
            if let Some(rest) = comment.strip_prefix("//## File \"") {
                if let Some((file, rest)) = rest.split_once('"')
                    && !self.names_line
                {
                    let number = rest.trim_start_matches([',', ' ']).strip_prefix("line ");
                    self.line = number.and_then(number_of).map(|number| (file, number));
                }
                self.names_line = true;
                return;
            }
            if let Some((_, name)) = comment.split_once("nvinfo : EIATTR_") {
                self.end_attribute();
                let span = Span::new(offset(start + from), offset(start + to));
                let name = name.split([' ', '\t']).next().unwrap_or_default();
                self.attribute = Some(Attribute::new(&format!("EIATTR_{name}"), span));
            } else if comment.contains(".headerflags") {
                self.flags(comment);
            }
        }
        if !line.code.trim().is_empty() {
            self.names_line = false;
        }
    }

    /// `EF_CUDA_SM75`
    fn flags(&mut self, text: &str) {
        if let Some((_, rest)) = text.split_once("EF_CUDA_SM") {
            self.chip = number_of(rest).or(self.chip);
        }
    }

    fn tag(&mut self, tag: &'s str, span: Span) {
        self.inside = match tag {
            "CONSTANT_MAPPING" => Inside::Constants,
            "REGISTER_MAPPING" => Inside::Registers,
            "CODE" => Inside::Program,
            _ => Inside::Code,
        };
        if self.inside == Inside::Program {
            self.trouble(span, "a program that writes instructions");
        }
    }

    /// Something that stands in the place of instructions.
    fn trouble(&mut self, span: Span, what: &'static str) {
        let Some(mut statement) = statement::statement("NOP", "NOP", 0) else { return };
        (statement.span, statement.trouble) = (span, Some(what));
        self.current().statements.push(statement);
    }

    fn last(&mut self) -> Option<&mut Function<'s>> {
        self.listing.functions.last_mut()
    }

    /// The function that instructions belong to.
    fn current(&mut self) -> &mut Function<'s> {
        if self.listing.functions.is_empty() {
            let chip = self.chip;
            self.listing.functions.push(Function {
                name: BARE.to_owned(),
                is_bare: true,
                chip,
                ..Function::default()
            });
        }
        let last = self.listing.functions.len() - 1;
        &mut self.listing.functions[last]
    }

    fn function(&mut self, name: &'s str, at: usize) {
        self.inside = Inside::Code;
        let is_known = self.last().is_some_and(|last| last.name == name && last.statements.is_empty());
        if is_known {
            return;
        }
        let from = at + self.source[at..].find(name).unwrap_or(0);
        let span = Span::new(offset(from), offset(from + name.len()));
        let (name, chip) = (name.to_owned(), self.chip);
        self.listing.functions.push(Function { name, span, chip, ..Function::default() });
    }

    fn label(&mut self, label: &'s str, at: usize) {
        if let Some(name) = label.strip_prefix(".text.") {
            return self.function(name, at);
        }
        if self.inside == Inside::Code && !self.listing.functions.is_empty() {
            let function = self.current();
            let next = function.statements.len();
            function.labels.insert(label, next);
            function.named.entry(next).or_default().push(label);
        }
    }

    fn directive(&mut self, text: &'s str, at: usize) {
        let (word, rest) = text.split_once([' ', '\t']).unwrap_or((text, ""));
        let name = rest.trim().split([',', ' ', '\t']).next().unwrap_or_default().trim_matches('"');
        match word {
            ".section" => {
                self.end_attribute();
                self.info = name.strip_prefix(".nv.info.");
                match name.strip_prefix(".text.") {
                    Some(function) => self.function(function, at),
                    None => self.inside = Inside::Data,
                }
            }
            ".other" if rest.contains("STO_CUDA_ENTRY") => self.entries.push(name),
            ".target" | ".headerflags" => match rest.trim().strip_prefix("sm_") {
                Some(chip) => self.chip = number_of(chip),
                None => self.flags(rest),
            },
            _ => {
                if let Some(attribute) = &mut self.attribute {
                    attribute.add(text);
                    self.of =
                        rest.trim().strip_prefix("index@(").and_then(|of| of.strip_suffix(')')).or(self.of);
                }
            }
        }
    }

    fn end_attribute(&mut self) {
        let Some(attribute) = self.attribute.take() else { return };
        self.registers.extend(self.of.take().zip(attribute.registers()));
        let Some(info) = self.info else { return };
        if self.about.last().is_none_or(|(name, _)| *name != info) {
            self.about.push((info, About::default()));
        }
        if let Some((_, about)) = self.about.last_mut() {
            attribute.tell(about);
        }
    }

    /// The instructions of a line.
    fn statements(&mut self, original: &'s str, code: &str, text: &'s str, (at, start): (usize, usize)) {
        // Lines of dots, equal signs and headings of other parts of an object.
        // The second of two that are issued together may end with a brace.
        let is_second = !code.contains(';') && code.ends_with('}');
        if !code.contains(';') && !is_second {
            let is_code = code.starts_with(|c: char| c.is_ascii_uppercase() || "@{[-".contains(c))
                && !self.listing.functions.is_empty()
                && !code.starts_with("---");
            if is_code {
                let span = Span::new(offset(at), offset(at + code.len()));
                self.errors.push(span, || SassError::Expected(span).diagnostic());
            }
            return;
        }
        let (address, remark) = noted(text);
        let line = self.line.take();
        let mut from = 0;
        let end =
            |from: usize| if is_second { (from == 0).then_some(code.len()) } else { code[from..].find(';') };
        while let Some(length) = end(from) {
            let (part, blank) = (&original[from..from + length], &code[from..from + length]);
            if let Some(mut statement) = statement::statement(part, blank, at + from) {
                statement.remark = remark;
                // In the source of an assembler addresses are remarks.
                let is_source = blank.trim_start_matches(['{', ' ', '\t']).starts_with('[');
                statement.address = address.filter(|_| from == 0 && !is_source);
                self.push(statement, line.filter(|_| from == 0));
            }
            from += length + 1;
        }
        let rest = code.get(from..).unwrap_or_default().trim_matches([' ', '\t', '}']);
        // What maxas takes for a remark begins with `#`.
        if !rest.is_empty() && !rest.starts_with('#') {
            let span = Span::new(offset(at + from), offset(start + text.len()));
            self.errors.push(span, || SassError::Expected(span).diagnostic());
        }
    }

    fn push(&mut self, mut statement: crate::sass::syntax::Statement<'s>, line: Option<(&'s str, u32)>) {
        let function = self.current();
        let position = function.statements.len();
        let before = function.statements.last().and_then(|statement| statement.address);
        if let (Some(before), Some(address)) = (before, statement.address)
            && !matches!(address.wrapping_sub(before), 8 | 16)
        {
            statement.trouble = Some("instructions are missing before this one");
        }
        if let Some(address) = statement.address {
            function.addresses.insert(address, position);
        }
        if let Some((file, number)) = line {
            function.lines.push((position, file, number));
        }
        function.statements.push(statement);
    }

    fn finish(mut self) -> Listing<'s> {
        self.end_attribute();
        let mut listing = self.listing;
        listing.functions.retain(|function| !function.statements.is_empty());
        let (entries, says_so) = (self.entries, listing.functions.iter().any(|f| !f.is_bare));
        for function in &mut listing.functions {
            let has =
                |word: &str| function.statements.iter().any(|s| s.opcode.split('.').next() == Some(word));
            // What returns and never exits is called.
            let is_called = says_so && has("RET") && !has("EXIT");
            function.is_entry =
                if entries.is_empty() { !is_called } else { entries.contains(&function.name.as_str()) };
        }
        for (at, function) in listing.functions.iter_mut().enumerate() {
            listing.names.entry(function.name.clone()).or_insert(at);
            look_around(function);
        }
        for (name, about) in self.about {
            if let Some(at) = listing.names.get(name) {
                listing.functions[*at].about = about;
            }
        }
        for (name, registers) in self.registers {
            if let Some(at) = listing.names.get(name) {
                listing.functions[*at].about.registers = Some(registers);
            }
        }
        if listing.functions.is_empty() && self.errors.is_empty() {
            self.errors.push(Span::default(), || SassError::NoInstruction.diagnostic());
        }
        listing
    }
}

/// What is looked up where control flows.
fn look_around(function: &mut Function<'_>) {
    // Where calls come back to, and jumps by a register lead, is said by numbers that are moved.
    let moves = ["CALL", "CAL", "JCAL", "RET", "BRX", "BRXU", "JMX", "JMXU", "LEPC"];
    let root = |opcode: &str| moves.contains(&opcode.split('.').next().unwrap_or_default());
    let by_registers = function.statements.iter().any(|statement| root(statement.opcode));
    for at in 0..function.statements.len() {
        let statement = &function.statements[at];
        let root = statement.opcode.split('.').next().unwrap_or_default();
        function.has_stack |= ["SYNC", "BRK", "CONT"].contains(&root);
        let listed = statement.remark.strip_prefix("BRANCH_TARGETS").unwrap_or_default();
        let listed: Vec<usize> = listed.split(',').filter_map(|name| function.target(name)).collect();
        function.entered.extend(listed);
        let statement = &function.statements[at];
        let is_number = statement.operands.last().is_some_and(|last| number(last).is_some());
        let leads = root == "BSSY" || opcodes::effect(statement.opcode).is_none_or(|e| e == Effect::Flow);
        if is_number && !leads && !by_registers {
            continue;
        }
        let Some(to) = statement.operands.last().and_then(|last| function.target(last)) else { continue };
        if root == "BSSY"
            && let Some(register) = statement.operands.first()
        {
            function.meetings.insert((*register, to));
        }
        // More than needed: any number that is an address.
        function.entered.insert(to);
    }
}

fn number_of(text: &str) -> Option<u32> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    text[..digits].parse().ok()
}

/// The address before the first instruction of a line, and what a disassembler remarks in it.
fn noted(text: &str) -> (Option<u64>, &str) {
    let address =
        text.split_once("/*").and_then(|(_, rest)| rest.split_once("*/")).and_then(|(inside, _)| {
            let is_address = inside.len() >= 4 && inside.bytes().all(|byte| byte.is_ascii_hexdigit());
            is_address.then(|| u64::from_str_radix(inside, 16).ok())?
        });
    let remark = text.split_once("(*\"").and_then(|(_, rest)| rest.split_once("\"*)"));
    (address, remark.map_or("", |(inside, _)| inside))
}

//! Reads vISA as text, line by line.

use crate::common::diagnostic::Sink;
use crate::common::span::{Span, offset};

use super::error::VisaError;
use super::syntax::{Function, Holds, Kind, Module, Statement, Variable};

/// Whether bytes that nobody has named so are vISA as text.
pub(super) fn looks_like_one(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(1 << 16)]);
    let has = |start: &str| text.lines().any(|line| line.trim_start().starts_with(start));
    has(".kernel ") && (has(".decl ") || has(".kernel_attr ") || has(".version "))
}

struct Reader<'s, 'e> {
    errors: &'e mut Sink,
    module: Module<'s>,
    file: &'s str,
    line: Option<u32>,
}

pub(super) fn read<'s>(source: &'s str, errors: &mut Sink) -> Module<'s> {
    let mut reader = Reader { errors, module: Module::default(), file: "", line: None };
    let mut start = 0;
    let mut open: Option<usize> = None;
    for whole in source.split_inclusive('\n') {
        let mut text = whole.trim_end_matches(['\n', '\r']);
        let mut at = start;
        start += whole.len();
        if open.is_some() {
            let Some((_, rest)) = text.split_once("*/") else { continue };
            at += text.len() - rest.len();
            text = rest;
            open = None;
        }
        let code = match (text.find("//"), text.find("/*")) {
            (line, Some(from)) if line.is_none_or(|line| from < line) => {
                if text[from..].contains("*/") {
                    // What stands behind a remark on the same line is none of an instruction.
                    &text[..from]
                } else {
                    open = Some(at + from);
                    &text[..from]
                }
            }
            (Some(line), _) => &text[..line],
            (None, _) => text,
        };
        reader.line(code, at);
    }
    if let Some(at) = open {
        let span = Span::new(offset(at), offset(at + 2));
        reader.errors.push(span, || VisaError::Unclosed(span).diagnostic());
    }
    let mut module = reader.module;
    if !module.functions.iter().any(|function| function.is_entry) && reader.errors.is_empty() {
        reader.errors.push(Span::default(), || VisaError::NoKernel.diagnostic());
    }
    module.functions.iter_mut().for_each(|function| function.statements.shrink_to_fit());
    module
}

impl<'s> Reader<'s, '_> {
    fn line(&mut self, text: &'s str, start: usize) {
        let code = text.trim().trim_end_matches(';').trim_end();
        let at = start + text.len() - text.trim_start().len();
        if code.is_empty() {
            return;
        }
        let span = Span::new(offset(at), offset(at + code.len()));
        if let Some(label) = code.strip_suffix(':').filter(|label| super::operand::is_name(label)) {
            if let Some(function) = self.module.functions.last_mut() {
                let next = function.statements.len();
                function.labels.insert(label, next);
            }
            return;
        }
        if let Some(directive) = code.strip_prefix('.') {
            return self.directive(directive, span);
        }
        let line = self.line.take();
        let file = self.file;
        let Some(function) = self.module.functions.last_mut() else { return };
        let statement = statement(code, span);
        if let Some(line) = line {
            function.lines.push((function.statements.len(), file, line));
        }
        function.statements.push(statement);
    }

    fn directive(&mut self, text: &'s str, span: Span) {
        let (word, rest) = text.split_once([' ', '\t']).unwrap_or((text, ""));
        let rest = rest.trim();
        let first = rest.split([' ', '\t', ',']).next().unwrap_or_default();
        match word {
            "kernel" | "function" | "global_function" => {
                let name = rest.trim_matches('"').to_owned();
                let is_entry = word == "kernel";
                self.module.functions.push(Function { name, span, is_entry, ..Function::default() });
            }
            "decl" => {
                let variable = variable(rest);
                match (variable, self.module.functions.last_mut()) {
                    (Some(variable), Some(function)) if !first.is_empty() => {
                        function.variables.insert(first, variable);
                    }
                    _ => self.errors.push(span, || VisaError::Directive(span).diagnostic()),
                }
            }
            "input" => self.holds(first, Holds::Input),
            "implicit_LOCAL_ID" => self.holds(first, Holds::LocalId),
            "implicit_LOCAL_SIZE" => self.holds(first, Holds::LocalSize),
            "file" | "FILE" => self.file = rest.trim_matches('"'),
            "loc" | "LOC" => self.line = first.parse().ok(),
            _ => {}
        }
    }

    fn holds(&mut self, name: &'s str, holds: Holds) {
        let Some(function) = self.module.functions.last_mut() else { return };
        if let Some(variable) = function.variables.get_mut(name) {
            variable.holds = holds;
            if holds == Holds::Input {
                function.inputs.push(name);
            }
        }
    }
}

/// `V33 v_type=G type=d num_elts=8 align=GRF alias=<V32, 0>`
fn variable(text: &str) -> Option<Variable<'_>> {
    let value = |name: &str| {
        let (_, rest) = text.split_once(name)?;
        rest.split([' ', '\t']).next()
    };
    let kind = match value("v_type=")? {
        "G" => Kind::General,
        "P" => Kind::Predicate,
        _ => Kind::Other,
    };
    let elements = value("num_elts=").and_then(|number| number.parse().ok()).unwrap_or(1);
    let ty = value(" type=").unwrap_or("ud");
    let (bytes, is_integer) = match ty {
        "b" | "ub" => (1, true),
        "w" | "uw" => (2, true),
        "d" | "ud" => (4, true),
        "q" | "uq" => (8, true),
        "hf" | "bf" => (2, false),
        "f" => (4, false),
        _ => (8, false),
    };
    let alias = text.split_once("alias=<").and_then(|(_, rest)| {
        let (name, rest) = rest.split_once(',')?;
        let (from, _) = rest.split_once('>')?;
        Some((name.trim(), from.trim().parse().ok()?))
    });
    let signed = !ty.starts_with('u');
    Some(Variable { kind, bytes, elements, signed, is_integer, alias, holds: Holds::Nothing })
}

/// `(P1) cmp.lt (M1, 8) P2 V33(0,0)<0;1,0> 0x10:d`
fn statement(code: &str, span: Span) -> Statement<'_> {
    let (guard, rest) = match code.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
        Some((guard, rest)) => (Some(guard.trim()), rest.trim_start()),
        None => (None, code),
    };
    let (opcode, rest) = rest.split_once([' ', '\t', '(']).unwrap_or((rest, ""));
    let behind = &code[code.len() - rest.len()..];
    let opened = code[..code.len() - rest.len()].ends_with('(');
    let mut rest = behind.trim_start();
    let mut lanes = 1;
    let mask =
        if opened { rest.split_once(')') } else { rest.strip_prefix('(').and_then(|r| r.split_once(')')) };
    if let Some((mask, behind)) =
        mask.filter(|(mask, _)| mask.contains(',') && mask.trim_start().starts_with(['M', 'N']))
    {
        lanes = mask.rsplit(',').next().and_then(|number| number.trim().parse().ok()).unwrap_or(32);
        rest = behind.trim_start();
    }
    let operands =
        rest.split([' ', '\t']).map(|part| part.trim_end_matches(',')).filter(|part| !part.is_empty());
    Statement { span, guard, opcode, lanes, operands: operands.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instruction_has_guard_opcode_lanes_and_operands() {
        let read = statement("(!P1) add (M1_NM, 8) V40(0,0)<1> V36(0,0)<0;1,0> 0x1:d", Span::default());
        assert_eq!((read.guard, read.opcode, read.lanes), (Some("!P1"), "add", 8));
        assert_eq!(read.operands, ["V40(0,0)<1>", "V36(0,0)<0;1,0>", "0x1:d"]);
        let read = statement("nbarrier.signal 0x1:ub, 0x4:ub", Span::default());
        assert_eq!(
            (read.opcode, read.lanes, read.operands),
            ("nbarrier.signal", 1, vec!["0x1:ub", "0x4:ub"])
        );
    }

    #[test]
    fn a_variable_may_be_part_of_another() {
        let read =
            variable("V41 v_type=G type=ud num_elts=2 align=dword alias=<V40, 8>").expect("a variable");
        assert_eq!((read.bytes, read.elements, read.signed, read.alias), (4, 2, false, Some(("V40", 8))));
    }
}

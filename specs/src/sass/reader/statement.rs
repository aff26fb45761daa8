//! The parts of an instruction.

use crate::common::span::{Span, offset};
use crate::sass::syntax::Statement;

/// Splits an instruction. `text` is a slice of the source that begins at `start`, `code` the same with blanks
/// in the place of comments, without the semicolon. `None` if there is none.
pub(super) fn statement<'s>(text: &'s str, code: &str, start: usize) -> Option<Statement<'s>> {
    let mut from = code.len() - code.trim_start_matches([' ', '\t', '{', '}']).len();
    let end = code.trim_end_matches([' ', '\t', '{', '}', '\r']).len();
    from += control_code(&code[from..end.max(from)]);
    from += code[from..end.max(from)].len()
        - code[from..end.max(from)].trim_start_matches([' ', '\t', '{']).len();
    if from >= end {
        return None;
    }
    let span = Span::new(offset(start + from), offset(start + end));
    let mut at = from;
    let guard = code[at..end].strip_prefix('@').map(|rest| {
        let length = rest.find([' ', '\t']).unwrap_or(rest.len());
        let guard = &text[at + 1..at + 1 + length];
        at += 1 + length;
        guard
    });
    at += code[at..end].len() - code[at..end].trim_start().len();
    let length = code[at..end].find([' ', '\t']).unwrap_or(end - at);
    let opcode = &text[at..at + length];
    at += length;
    let operands = operands(&code[at..end]).into_iter().map(|(a, b)| &text[at + a..at + b]).collect();
    let statement = Statement { span, guard, opcode, operands, address: None, remark: "", trouble: None };
    Some(statement)
}

/// The bytes of a control code before an instruction, with the blanks behind it: `[B------:R-:W-:-:S03]` of
/// CuAssembler, `01:-:-:Y:5` of maxas.
pub(super) fn control_code(code: &str) -> usize {
    let length = match code.strip_prefix('[') {
        Some(rest) => rest.find(']').filter(|close| is_code(&rest[..*close])).map(|close| close + 2),
        None => {
            let word = code.split([' ', '\t']).next().unwrap_or_default();
            let is_field = |field: &str| {
                !field.is_empty()
                    && field.len() <= 2
                    && field.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-' || b == b'Y')
            };
            let is_code = word.split(':').count() == 5 && word.split(':').all(is_field);
            is_code.then_some(word.len())
        }
    };
    let length = length.unwrap_or(0);
    let rest = &code[length.min(code.len())..];
    if length == 0 { 0 } else { length + rest.len() - rest.trim_start().len() }
}

/// `R---:B------:R-:W-:-:S01`, the inside of a control code.
fn is_code(text: &str) -> bool {
    text.contains(':')
        && text.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b":-".contains(&b))
}

/// Where operands stand: separated by commas outside brackets and quotation marks.
fn operands(code: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut depth = 0_i32;
    let mut first = 0;
    let mut push = |from: usize, to: usize| {
        let text = &code[from..to];
        let before = text.len() - text.trim_start().len();
        let length = text.trim().len();
        if length > 0 {
            found.push((from + before, from + before + length));
        }
    };
    for (at, byte) in code.bytes().enumerate() {
        match byte {
            b'[' | b'(' | b'{' => depth += 1,
            b']' | b')' | b'}' => depth -= 1,
            b',' if depth <= 0 => {
                push(first, at);
                first = at + 1;
            }
            _ => {}
        }
    }
    push(first, code.len());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Statement<'_> {
        statement(text, text, 0).expect("an instruction")
    }

    #[test]
    fn an_instruction_has_guard_opcode_and_operands() {
        let read = read("  @!P0 LDG.E.128 R4, desc[UR4][R2.64+0x10] ");
        assert_eq!((read.guard, read.opcode), (Some("!P0"), "LDG.E.128"));
        assert_eq!(read.operands, ["R4", "desc[UR4][R2.64+0x10]"]);
    }

    #[test]
    fn control_codes_are_left_out() {
        assert_eq!(read("[B------:R-:W-:-:S03]  BAR.SYNC 0x0 ").opcode, "BAR.SYNC");
        assert_eq!(read("[R---:B------:R-:W-:-:S01] IADD R0, R0, R1 ").opcode, "IADD");
        assert_eq!(read("[----:B------:R-:W-:-:S05] MEMBAR.CTA ").opcode, "MEMBAR.CTA");
        assert_eq!(read("01:-:-:-:5      BAR.SYNC 0").opcode, "BAR.SYNC");
        assert_eq!(read("--:-:1:Y:1 @P0 S2R R0, SR_TID.X").guard, Some("P0"));
        assert_eq!(read("{ IADD R0, R0, R1").operands.len(), 3);
        assert_eq!(read("[B------:R-:W-:-:S00]   {   MOV R20, RZ").opcode, "MOV");
    }

    #[test]
    fn blanks_in_constants_do_not_matter() {
        assert_eq!(read("MOV R1, c [0x1] [0x100]").operands, ["R1", "c [0x1] [0x100]"]);
    }
}

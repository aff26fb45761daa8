//! One line of a listing: comments taken out, what stands in them kept where it says something.

/// A line without its comments.
#[derive(Debug, Default)]
pub(super) struct Line {
    /// The line with blanks in the place of comments: as long as the line itself.
    pub(super) code: String,
    /// Where comments stand: first byte and one past the last, in the line.
    pub(super) comments: Vec<(usize, usize)>,
    /// A comment goes on in the next line.
    pub(super) is_open: bool,
}

impl Line {
    /// Takes the comments out of a line; `is_open` says whether it begins in one.
    pub(super) fn of(text: &str, mut is_open: bool) -> Self {
        let bytes = text.as_bytes();
        let mut code = bytes.to_vec();
        let mut comments = Vec::new();
        let mut at = 0;
        let mut quoted = false;
        while at < bytes.len() {
            let rest = &text.as_bytes()[at..];
            let end = match rest {
                _ if is_open => {
                    let close = find(rest, b"*/");
                    is_open = close.is_none();
                    Some(close.map_or(bytes.len(), |close| at + close + 2))
                }
                [b'"', ..] => {
                    quoted = !quoted;
                    None
                }
                _ if quoted => None,
                [b'/', b'*', ..] => {
                    let close = find(&rest[2..], b"*/");
                    is_open = close.is_none();
                    Some(close.map_or(bytes.len(), |close| at + close + 4))
                }
                [b'/', b'/', ..] => Some(bytes.len()),
                [b'(', b'*', ..] => find(rest, b"*)").map(|close| at + close + 2),
                _ => None,
            };
            match end {
                Some(end) => {
                    code[at..end].fill(b' ');
                    comments.push((at, end));
                    at = end;
                }
                None => at += 1,
            }
        }
        // Comments begin and end at ASCII characters: what is left is text.
        let code = String::from_utf8(code).unwrap_or_default();
        Self { code, comments, is_open }
    }
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|part| part == what)
}

/// Whether a text that nobody has named so is a listing.
pub(in crate::sass) fn looks_like_one(text: &str) -> bool {
    let signs = ["code for sm_", "EF_CUDA_", "EIATTR_", "\n# Kernel:", "\n.section\t.text."];
    signs.iter().any(|sign| text.contains(sign)) || text.lines().any(has_address)
}

/// `/*0010*/ MOV R1, …`, after a control code or not.
fn has_address(line: &str) -> bool {
    let Some((before, rest)) = line.split_once("/*") else { return false };
    let Some((address, rest)) = rest.split_once("*/") else { return false };
    let is_address = address.len() >= 4 && address.bytes().all(|byte| byte.is_ascii_hexdigit());
    let opens = before.trim_start().is_empty() || before.trim_start().starts_with('[');
    let code = rest.trim_start();
    is_address && opens && code.starts_with(|c: char| c.is_ascii_uppercase() || "@{/".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_leave_blanks() {
        let line = Line::of("  /*0010*/  MOV R1, 0x1 ; /* 0xff */ // rest", false);
        assert_eq!(
            line.code.trim_end(),
            "              MOV R1, 0x1 ;".replace("              ", "            ")
        );
        assert_eq!(line.comments.len(), 3);
        assert!(!line.is_open);
    }

    #[test]
    fn a_comment_may_go_on() {
        let line = Line::of("EXIT ; /* and", false);
        assert!(line.is_open);
        let line = Line::of("so on */ NOP ;", true);
        assert_eq!((line.code.trim(), line.is_open), ("NOP ;", false));
    }

    #[test]
    fn a_remark_of_the_disassembler_is_a_comment() {
        let line = Line::of("BRX R2 -0x10 (*\"BRANCH_TARGETS .L_1\"*);", false);
        assert_eq!(line.code.replace(' ', ""), "BRXR2-0x10;");
    }

    #[test]
    fn an_address_before_an_opcode_is_a_sign() {
        assert!(has_address("        /*0010*/                   EXIT ;"));
        assert!(has_address("[B------:R-:W-:-:S03]  /*0010*/  @P0 EXIT ;"));
        assert!(!has_address("/* 0010 */ int x;"));
    }
}

//! The parts of a page that a reader of it does not miss, left out, since a page is sent around.

/// A script or a style without indentation, empty lines, and lines that are a comment only. It stays the same as long as no
/// text in it goes over several lines, which a test of this module sees to.
pub(super) fn lines(text: &str) -> String {
    let mut slim = String::with_capacity(text.len());
    let mut comment = false;
    for line in text.lines().map(str::trim) {
        comment |= line.starts_with("/*");
        if !comment && !line.is_empty() && !line.starts_with("//") {
            slim.push_str(line);
            slim.push('\n');
        }
        comment &= !line.ends_with("*/");
    }
    slim
}

/// A script without what [`lines`] leaves out, and without spaces around its punctuation. Signs keep theirs (`a + +b` is
/// not `a ++b`), and so do the texts between quotation marks; a line in which a text, a pattern or a comment may be of
/// another kind is left as it is.
pub(super) fn script(text: &str) -> String {
    let dense = |line: &str| {
        if line.contains(['\'', '`', '/', '\\']) {
            return line.to_owned();
        }
        let parts = line.split('"').enumerate();
        let parts = parts.map(|(at, part)| if at % 2 == 0 { unspaced(part) } else { part.to_owned() });
        parts.collect::<Vec<_>>().join("\"")
    };
    lines(text).lines().map(|line| dense(line) + "\n").collect()
}

/// Code without the spaces that stand beside punctuation.
fn unspaced(code: &str) -> String {
    let beside = |c: Option<char>| c.is_some_and(|c| "=<>&|?:,;*%(){}[]".contains(c));
    let mut dense = String::with_capacity(code.len());
    let mut rest = code.chars().peekable();
    while let Some(c) = rest.next() {
        if c != ' ' || !(beside(dense.chars().next_back()) || beside(rest.peek().copied())) {
            dense.push(c);
        }
    }
    dense
}

/// A style without what [`lines`] leaves out, and without spaces around its punctuation. No name in it contains any.
pub(super) fn style(text: &str) -> String {
    let spaced = [("{ ", "{"), (" {", "{"), (" }", "}"), (": ", ":"), ("; ", ";"), (", ", ","), (";}", "}")];
    spaced.iter().fold(lines(text), |slim, (from, to)| slim.replace(from, to))
}

/// Bytes as text that means nothing to HTML: 13 bits are two of the 91 visible characters but `<`, `>` and `&`, the upper
/// digit first. Base 64 would be larger by a twelfth. `bytesOf` in the page's script reads it.
pub(super) fn bytes(bytes: &[u8]) -> String {
    let digits: Vec<char> = ('!'..='~').filter(|digit| !"<>&".contains(*digit)).collect();
    let mut text = String::with_capacity(bytes.len() * 16 / 13 + 2);
    let mut write = |value: usize| text.extend([digits[value / digits.len()], digits[value % digits.len()]]);
    let (mut held, mut bits) = (0_usize, 0);
    for byte in bytes {
        held = held << 8 | usize::from(*byte);
        bits += 8;
        if bits >= 13 {
            bits -= 13;
            write(held >> bits);
            held &= (1 << bits) - 1;
        }
    }
    if bits > 0 {
        write(held << (13 - bits));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::html::{CORE, SCRIPT, STYLE};

    #[test]
    fn indentation_empty_lines_and_comments_are_left_out() {
        let text = "// a\n/** b */\nlet x = 1; // c\n\n  /*\n   * d\n   */\n  f();\n";
        assert_eq!(lines(text), "let x = 1; // c\nf();\n");
    }

    #[test]
    fn a_script_keeps_the_spaces_that_mean_something() {
        let text = "if (a === b && !c) {\n  const [d] = e ? f + +g : \"h = i\";\n  j = k / l; m = `n = ${o}`;\n  return p in q;\n}\n";
        let slim =
            "if(a===b&&!c){\nconst[d]=e?f + +g:\"h = i\";\nj = k / l; m = `n = ${o}`;\nreturn p in q;\n}\n";
        assert_eq!(script(text), slim);
        assert!(script("a = \" \\\" = b\";\n").contains("\" \\\" = b"));
        // What HTML or a script would take for a comment or an end.
        let page = script(SCRIPT);
        assert!(!page.contains("</") && !page.contains("<!--"));
        assert!(!page.lines().any(|line| line.starts_with("-->")));
    }

    #[test]
    fn a_style_keeps_the_spaces_that_mean_something() {
        let text =
            "/* a */\n@media screen {\n  a :hover, b > c { margin: 0 calc(1px + 2px); color: red; }\n}\n";
        assert_eq!(style(text), "@media screen{\na :hover,b > c{margin:0 calc(1px + 2px);color:red}\n}\n");
        for name in STYLE.split('"').skip(1).step_by(2) {
            assert!(!name.contains(['{', '}', ':', ';', ',']), "{name}");
        }
    }

    #[test]
    fn no_text_in_script_or_style_goes_over_several_lines() {
        for line in SCRIPT.lines().chain(STYLE.lines()).map(str::trim) {
            let ticks = line.replace("\"`\"", "").matches('`').count();
            assert!(ticks % 2 == 0 && !line.ends_with('\\'), "{line}");
            // Nor does anything come after a comment that a line begins with.
            let comment = line.starts_with("/*").then(|| line.find("*/")).flatten();
            assert!(comment.is_none_or(|end| end + 2 == line.len()), "{line}");
        }
    }

    #[test]
    fn bytes_are_written_thirteen_bits_at_a_time() {
        assert_eq!(bytes(&[]), "");
        assert_eq!(bytes(&[0, 0]), "!!!!");
        // 8191 is 90 * 91 + 1, and 7 * 1024 is 78 * 91 + 70.
        assert_eq!(bytes(&[0xff, 0xff]), "~\"rj");
        let core = bytes(CORE);
        assert!(core.len() <= CORE.len() * 16 / 13 + 2 && core.is_ascii());
        assert!(!core.contains(|c: char| c.is_whitespace() || c.is_control() || "<>&".contains(c)));
    }
}

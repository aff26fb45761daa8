//! Text from a trace, written so that it stays text.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::names::narrow;
use crate::render::harmless::misleads;

/// JSON that can stand within a `script` element: nothing in it can end the element or open a comment, no
/// reader of JavaScript takes it for the end of a line, and it reads from left to right. These characters
/// occur within strings only.
#[cfg(feature = "page")]
pub(crate) fn json(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '<' | '>' | '&') || misleads(c) {
            safe.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            safe.push(c);
        }
    }
    safe
}

/// Text that can stand within an element or an attribute of HTML or XML. Characters that would move others,
/// or that XML does not know, are named.
#[must_use]
pub fn html(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c if c != '\n' && is_named(c) => safe.push_str(&name(c)),
            _ => safe.push(c),
        }
    }
    safe
}

/// Text on one line of at most so many columns. Characters that would move others are named, and line breaks
/// and tabulators are spaces.
pub(crate) fn line(text: &str, columns: usize) -> String {
    let mut line = String::new();
    let mut used = 0;
    for c in text.trim().chars() {
        let piece = match c {
            '\n' | '\r' | '\t' => " ".to_owned(),
            c if is_named(c) => name(c),
            c => c.to_string(),
        };
        let width = piece.chars().map(|c| c.width().unwrap_or(0).max(1)).sum::<usize>();
        if used + width > columns {
            // The last one makes room for the dots.
            while line.width() + 1 > columns && line.pop().is_some() {}
            line.push('\u{2026}');
            break;
        }
        used += width;
        line.push_str(&piece);
    }
    line
}

/// The name of an object on one line, cut so that it does not look like that of its neighbour.
pub(crate) fn object(name: &str, columns: usize) -> String {
    line(&narrow(name, columns, "\u{2026}"), columns)
}

/// How a character is named that is not written.
fn name(c: char) -> String {
    format!("\u{27e8}U+{:04X}\u{27e9}", u32::from(c))
}

fn is_named(c: char) -> bool {
    misleads(c) || c.is_control() || matches!(c, '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "page")]
    #[test]
    fn json_ends_no_script_and_says_the_same() {
        let told = "</script><!--<script>&amp;\u{2028}\u{2029}\u{202e}\u{61c}\"\\";
        let written = serde_json::to_string(told).expect("text can be written");
        let safe = json(&written);
        assert!(safe.is_ascii() && !safe.contains(['<', '>', '&']), "{safe}");
        assert_eq!(serde_json::from_str::<String>(&safe).expect("still JSON"), told);
    }

    #[test]
    fn html_is_text() {
        assert_eq!(html("<b a='\"'>&"), "&lt;b a=&#39;&quot;&#39;&gt;&amp;");
        assert_eq!(html("a\u{202e}b\nc\u{1b}d\u{2028}"), "a⟨U+202E⟩b\nc⟨U+001B⟩d⟨U+2028⟩");
        assert_eq!(html("\u{0}\u{fffe}\u{ffff}"), "⟨U+0000⟩⟨U+FFFE⟩⟨U+FFFF⟩");
    }

    #[test]
    fn a_line_is_one_and_ends_in_time() {
        assert_eq!(line(" a\nb\tc ", 9), "a b c");
        assert_eq!(line("\u{202e}x", 99), "⟨U+202E⟩x");
        assert_eq!(line("abcdef", 6), "abcdef");
        assert_eq!(line("abcdefg", 6), "abcde…");
        assert_eq!(line("漢字漢字", 6), "漢字…");
        assert_eq!(line(&"e\u{301}".repeat(10_000), 10).width(), 6);
    }
}

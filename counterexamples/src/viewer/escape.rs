//! Text from a trace, written so that it stays text.

use crate::text::misleads;

/// JSON that can stand within a `script` element: nothing in it can end the element or open a comment, no reader of
/// JavaScript takes it for the end of a line, and it reads from left to right. These characters occur within strings
/// only.
pub(super) fn json(text: &str) -> String {
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

/// Text that can stand within an element or an attribute. Characters that would move others are named.
pub(super) fn html(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c if misleads(c) || (c.is_control() && c != '\n') => {
                safe.push_str(&format!("\u{27e8}U+{:04X}\u{27e9}", u32::from(c)));
            }
            _ => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

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
    }
}

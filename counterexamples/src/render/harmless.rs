//! Text from a trace that goes to a terminal.

/// Text that a terminal shows and does not obey, on one line and read from left to right. A tab or line break
/// becomes a space; other control characters, and those that turn the direction of text, are named:
/// `<U+202E>`. So is the first colon of a word that begins with two: a log on GitHub takes a line that begins
/// so for a command, and any word may come to stand at the beginning of a line.
#[must_use]
pub fn harmless(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            ':' if chars.peek() == Some(&':') && !safe.ends_with(|before: char| !before.is_whitespace()) => {
                safe.push_str("<U+003A>");
            }
            '\t' | '\n' | '\r' => safe.push(' '),
            c if c.is_control() || misleads(c) => safe.push_str(&format!("<U+{:04X}>", u32::from(c))),
            c => safe.push(c),
        }
    }
    safe
}

/// The formatting characters of Unicode that turn the direction of text, and its two further line ends.
#[must_use]
pub fn misleads(c: char) -> bool {
    matches!(
        c,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_obeys_nothing() {
        assert_eq!(harmless("a\tb\r\nc"), "a b  c");
        assert_eq!(harmless("\u{1b}[2J\u{7}\u{9b}31m\u{7f}"), "<U+001B>[2J<U+0007><U+009B>31m<U+007F>");
        assert_eq!(harmless("\u{202e}evil\u{2066}\u{2028}"), "<U+202E>evil<U+2066><U+2028>");
        assert_eq!(harmless("é 漢 👩"), "é 漢 👩");
    }

    #[test]
    fn no_word_begins_like_a_command() {
        assert_eq!(harmless("::error::a"), "<U+003A>:error::a");
        assert_eq!(harmless("a\n::error::b ::c"), "a <U+003A>:error::b <U+003A>:c");
        assert_eq!(harmless("shared::cta x: y"), "shared::cta x: y");
    }
}

//! Integers.

/// The bits of an integer as PTX writes them: decimal, `0x`, `0b` or octal, perhaps followed by `U`.
pub(super) fn number(word: &str) -> Option<u64> {
    let word = word.strip_suffix(['U', 'u']).unwrap_or(word);
    let digits = word.as_bytes();
    if !digits.first()?.is_ascii_digit() {
        return None;
    }
    match (digits[0], digits.get(1)) {
        (b'0', Some(b'x' | b'X')) => u64::from_str_radix(&word[2..], 16).ok(),
        (b'0', Some(b'b' | b'B')) => u64::from_str_radix(&word[2..], 2).ok(),
        (b'0', Some(b'0'..=b'7')) => u64::from_str_radix(&word[1..], 8).ok(),
        _ => word.parse().ok(),
    }
}

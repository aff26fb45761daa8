//! Numbers for people.

/// `1234567` as `1,234,567`.
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1` of a noun, or more of it: `1 state`, `2,345 states`.
#[must_use]
pub fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// A number of bytes for people.
#[must_use]
pub fn bytes(number: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match UNITS.into_iter().find(|(size, _)| number >= *size) {
        #[allow(clippy::cast_precision_loss, reason = "one decimal is shown")]
        Some((size, unit)) => format!("{:.1} {unit}", number as f64 / size as f64),
        None => format!("{number} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_for_people() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1000), "1,000");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(counted(1, "state"), "1 state");
        assert_eq!(counted(2000, "state"), "2,000 states");
        assert_eq!(bytes(512), "512 B");
        assert_eq!(bytes(3 << 20), "3.0 MiB");
    }
}

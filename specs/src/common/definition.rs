//! Values for `param`s from outside a protocol: `NAME=VALUE`.

/// Reads `NAME=VALUE`. The error is a message without a full stop.
///
/// ```
/// use barcheck_specs::definition;
///
/// assert_eq!(definition("ROUNDS=-0x10"), Ok(("ROUNDS".to_owned(), -16)));
/// assert!(definition("ROUNDS").is_err());
/// ```
///
/// # Errors
/// There is no `=`, what stands before it is no name, or what stands behind it no [`integer`].
pub fn definition(text: &str) -> Result<(String, i64), String> {
    let (name, value) = named(text)?;
    Ok((name.to_owned(), integer(value)?))
}

/// The name before the `=`, and what stands behind it.
///
/// # Errors
/// As [`definition`], whatever the value.
pub fn named(text: &str) -> Result<(&str, &str), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE, as in `-D ROUNDS=8`")?;
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !is_name {
        return Err(format!("`{name}` is not a name; names are letters, digits and `_`"));
    }
    Ok((name, value))
}

/// Reads a signed 64-bit integer, decimal or hexadecimal.
///
/// # Errors
/// It is none, or does not fit.
pub fn integer(text: &str) -> Result<i64, String> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (digits, radix) = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(rest) => (rest, 16),
        None => (digits, 10),
    };
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return Err(format!("`{text}` is not an integer; expected decimal or 0x hexadecimal"));
    }
    let out_of_range = || format!("`{text}` does not fit into a signed 64-bit integer");
    let size = i128::from_str_radix(digits, radix).map_err(|_| out_of_range())?;
    i64::try_from(if negative { -size } else { size }).map_err(|_| out_of_range())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_set_to_decimal_or_hexadecimal_integers() {
        let check = |text, name: &str, value| {
            assert_eq!(definition(text), Ok((name.to_owned(), value)), "{text}");
        };
        check("N=8", "N", 8);
        check("_a1=-3", "_a1", -3);
        check("N=0x1F", "N", 31);
        check("N=-0x10", "N", -16);
        check("N=-9223372036854775808", "N", i64::MIN);
        for bad in ["N", "=1", "1N=2", "N=", "N=x", "N=0x", "N=--1", "N=+1", "N=9223372036854775808", "N=1 "]
        {
            assert!(definition(bad).is_err(), "{bad}");
        }
    }
}

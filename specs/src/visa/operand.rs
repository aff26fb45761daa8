//! Operands: what their text says.

/// An operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operand<'s> {
    /// A whole number, and whether its type has a sign.
    Number(u64, bool),
    /// An element of a variable, or several from it on, a step apart.
    Region {
        name: &'s str,
        row: u32,
        column: u32,
        negated: bool,
        step: u32,
    },
    /// A variable as a whole.
    Name(&'s str),
    /// What an address points to.
    Indirect,
    Other,
}

impl<'s> Operand<'s> {
    pub(super) fn of(text: &'s str) -> Self {
        if let Some((number, signed)) = number(text) {
            return Self::Number(number, signed);
        }
        let (negated, rest) = match text.strip_prefix("(-)") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        if rest.starts_with("r[") {
            return Self::Indirect;
        }
        let Some((name, rest)) = rest.split_once('(').filter(|(name, _)| is_name(name)) else {
            return if is_name(rest) && !negated { Self::Name(rest) } else { Self::Other };
        };
        let Some((place, behind)) = rest.split_once(')') else { return Self::Other };
        let Some((row, column)) = place.split_once(',') else { return Self::Other };
        let (Ok(row), Ok(column)) = (row.trim().parse(), column.trim().parse()) else { return Self::Other };
        let step = behind.trim_start_matches('<').split(['>', ';', ',']).next().and_then(|s| s.parse().ok());
        Self::Region { name, row, column, negated, step: step.unwrap_or(1) }
    }
}

/// `0x10:ud`, `16`, `-1:w`: a whole number, with a type or without.
fn number(text: &str) -> Option<(u64, bool)> {
    let (digits, ty) = text.split_once(':').unwrap_or((text, "d"));
    if !["b", "ub", "w", "uw", "d", "ud", "q", "uq"].contains(&ty) {
        return None;
    }
    let (is_negative, digits) = match digits.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, digits),
    };
    let number = match digits.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok()?,
        None => digits.parse().ok()?,
    };
    Some((if is_negative { number.wrapping_neg() } else { number }, !ty.starts_with('u')))
}

/// Whether a text is the name of a variable or a label.
pub(super) fn is_name(text: &str) -> bool {
    let first = text.starts_with(|c: char| c.is_ascii_alphabetic() || "%_".contains(c));
    first && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"%_.$@?-".contains(&byte))
}

/// The names of variables that an operand holds, wherever they stand in it.
pub(super) fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || "%_".contains(c))).filter(|name| is_name(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_are_numbers_or_parts_of_variables() {
        assert_eq!(Operand::of("0x10:ud"), Operand::Number(16, false));
        assert_eq!(Operand::of("-1:w"), Operand::Number(u64::MAX, true));
        assert_eq!(Operand::of("4"), Operand::Number(4, true));
        let region = Operand::Region { name: "V33", row: 0, column: 2, negated: true, step: 0 };
        assert_eq!(Operand::of("(-)V33(0,2)<0;1,0>"), region);
        assert_eq!(Operand::of("V33"), Operand::Name("V33"));
        assert_eq!(Operand::of("r[A0(0),0]<1>:d"), Operand::Indirect);
        assert_eq!(Operand::of("1.5:f"), Operand::Other);
    }

    #[test]
    fn names_are_found_inside_operands() {
        let found: Vec<&str> = names("flat[V10+0x20]:a64").collect();
        assert_eq!(found, ["flat", "V10", "a64"]);
    }
}

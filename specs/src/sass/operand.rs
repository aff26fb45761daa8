//! Operands: what their text says.

/// The files of registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum File {
    /// `R0` to `R254`, for each lane.
    General,
    /// `UR0` and on, for the warp.
    Uniform,
    /// `P0` to `P6`, for each lane.
    Predicate,
    /// `UP0` to `UP6`, for the warp.
    UniformPredicate,
    /// A word on the stack of a lane.
    Local,
}

impl File {
    pub(super) fn is_predicate(self) -> bool {
        matches!(self, Self::Predicate | Self::UniformPredicate)
    }

    pub(super) fn letters(self) -> &'static str {
        match self {
            Self::General => "R",
            Self::Uniform => "UR",
            Self::Predicate => "P",
            Self::UniformPredicate => "UP",
            Self::Local => "L",
        }
    }
}

/// A register: `None` stands for the one that reads as zero, or as true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Register {
    pub(super) file: File,
    pub(super) number: Option<u32>,
}

/// What stands before an operand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sign {
    /// `-` before a number, `!` before a predicate.
    pub(super) negated: bool,
    /// `~`
    pub(super) inverted: bool,
    /// `|…|`
    pub(super) absolute: bool,
}

/// What an operand is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind<'s> {
    /// A register and what stands behind it: `R4.64`, `R2.H1_H1`, `R0.CC`.
    Register(Register, &'s str),
    /// A whole number, cut to 64 bits.
    Number(u64),
    /// `c[0x0][0x160]`, `c[0x2][R0+0x10]`: bank, register, offset.
    Constant(u32, Option<Register>, i64),
    /// What stands in brackets: the address.
    Address(&'s str),
    /// A name in `` `(…) ``, or a number or name that is a label where one is expected.
    Label(&'s str),
    Other(&'s str),
}

/// An operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Operand<'s> {
    pub(super) sign: Sign,
    pub(super) kind: Kind<'s>,
}

impl<'s> Operand<'s> {
    pub(super) fn of(text: &'s str) -> Self {
        let mut sign = Sign::default();
        let mut rest = text.trim();
        while let Some(first) = rest.chars().next() {
            match first {
                '-' | '!' => sign.negated = !sign.negated,
                '~' => sign.inverted = true,
                _ => break,
            }
            rest = rest[1..].trim_start();
        }
        if let Some((inside, behind)) = rest.strip_prefix('|').and_then(|rest| rest.split_once('|')) {
            let behind = behind.strip_prefix(".reuse").unwrap_or(behind);
            if behind.is_empty() {
                sign.absolute = true;
                rest = inside;
            }
        }
        let number = number(rest).map(|number| {
            let is_negative = std::mem::take(&mut sign.negated);
            Kind::Number(if is_negative { number.wrapping_neg() } else { number })
        });
        let kind = number
            .or_else(|| with_suffix(rest).map(|(register, suffix)| Kind::Register(register, suffix)))
            .or_else(|| constant(rest))
            .or_else(|| address(rest))
            .or_else(|| label(rest))
            .unwrap_or(Kind::Other(rest));
        Self { sign, kind }
    }

    /// The register, if it is nothing but one.
    pub(super) fn plain(&self) -> Option<Register> {
        match self.kind {
            Kind::Register(register, "") if self.sign == Sign::default() => Some(register),
            _ => None,
        }
    }

    /// The register that a result goes to, or into a part of it.
    pub(super) fn target(&self) -> Option<Register> {
        match self.kind {
            Kind::Register(register, _) if self.sign == Sign::default() => Some(register),
            _ => None,
        }
    }

    pub(super) fn is_plain_predicate(&self) -> bool {
        self.plain().is_some_and(|register| register.file.is_predicate())
    }
}

/// A register by its name.
pub(super) fn register(name: &str) -> Option<Register> {
    let upper = name.to_ascii_uppercase();
    let (file, rest) = if let Some(rest) = upper.strip_prefix("UR") {
        (File::Uniform, rest)
    } else if let Some(rest) = upper.strip_prefix("UP") {
        (File::UniformPredicate, rest)
    } else if let Some(rest) = upper.strip_prefix('R') {
        (File::General, rest)
    } else {
        (File::Predicate, upper.strip_prefix('P')?)
    };
    let most = if file.is_predicate() { 6 } else { 254 };
    let none = if file.is_predicate() { "T" } else { "Z" };
    if rest == none {
        return Some(Register { file, number: None });
    }
    let is_number = !rest.is_empty() && rest.len() <= 3 && rest.bytes().all(|byte| byte.is_ascii_digit());
    let number: u32 = rest.parse().ok().filter(|_| is_number)?;
    (number <= most).then_some(Register { file, number: Some(number) })
}

fn with_suffix(text: &str) -> Option<(Register, &str)> {
    let (name, suffix) = text.split_once('.').unwrap_or((text, ""));
    let suffix = suffix.strip_suffix("reuse").map_or(suffix, |rest| rest.trim_end_matches('.'));
    Some((register(name)?, suffix))
}

/// A whole number: decimal or with `0x`.
pub(super) fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit())),
    }
}

fn constant(text: &str) -> Option<Kind<'_>> {
    let rest = text.strip_prefix('c')?.trim_start().strip_prefix('[')?;
    let (bank, rest) = rest.split_once(']')?;
    let (place, behind) = rest.trim_start().strip_prefix('[')?.split_once(']')?;
    let bank = u32::try_from(number(bank.trim())?).ok()?;
    if !behind.is_empty() && behind != ".reuse" {
        return None;
    }
    let (mut base, mut offset) = (None, 0_i64);
    for (part, negative) in parts(place) {
        match (number(part), register(part)) {
            (Some(number), _) => {
                let number = i64::try_from(number).ok()?;
                offset = offset.wrapping_add(if negative { -number } else { number });
            }
            (None, Some(register)) if base.is_none() && !negative => base = Some(register),
            _ => return None,
        }
    }
    Some(Kind::Constant(bank, base, offset))
}

/// The parts of a sum, and whether each is taken off.
pub(super) fn parts(text: &str) -> Vec<(&str, bool)> {
    let mut found = Vec::new();
    for part in text.split('+') {
        for (at, piece) in part.split('-').enumerate() {
            if !piece.trim().is_empty() {
                found.push((piece.trim(), at > 0));
            }
        }
    }
    found
}

/// `[R2.64+0x10]`, `desc[UR4][R2.64]`: the last brackets.
fn address(text: &str) -> Option<Kind<'_>> {
    let inside = text.strip_suffix(']')?;
    let (before, place) = inside.rsplit_once('[')?;
    let is_plain = before.is_empty();
    let is_described = before.starts_with("desc[") || before.starts_with("gdesc[");
    match (is_plain, is_described) {
        (true, _) | (_, true) => Some(Kind::Address(place)),
        _ => Some(Kind::Address("?")),
    }
}

fn label(text: &str) -> Option<Kind<'_>> {
    let inside = text.strip_prefix("`(").and_then(|rest| rest.strip_suffix(')'));
    inside.map(Kind::Label)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn general(number: u32) -> Register {
        Register { file: File::General, number: Some(number) }
    }

    #[test]
    fn registers_have_their_names() {
        assert_eq!(register("R254"), Some(general(254)));
        assert_eq!(register("RZ").map(|register| register.number), Some(None));
        assert_eq!(register("UPT").map(|register| register.file), Some(File::UniformPredicate));
        assert_eq!(register("pt").map(|register| register.file), Some(File::Predicate));
        assert_eq!(
            (register("R255"), register("P7"), register("Rx"), register("PR")),
            (None, None, None, None)
        );
    }

    #[test]
    fn operands_have_signs_and_suffixes() {
        let operand = Operand::of("-R4.reuse");
        assert!(operand.sign.negated && operand.kind == Kind::Register(general(4), ""));
        assert_eq!(Operand::of("R4.H1_H1.reuse").kind, Kind::Register(general(4), "H1_H1"));
        assert_eq!(Operand::of("-0x1").kind, Kind::Number(u64::MAX));
        assert!(Operand::of("|R3|").sign.absolute);
        assert_eq!(Operand::of("5.9e-08").kind, Kind::Other("5.9e-08"));
    }

    #[test]
    fn constants_have_a_bank_and_a_place() {
        assert_eq!(Operand::of("c[0x0][0x160]").kind, Kind::Constant(0, None, 0x160));
        assert_eq!(Operand::of("c [0x1] [0x100]").kind, Kind::Constant(1, None, 0x100));
        assert_eq!(Operand::of("c[0x2][R0+-0x10]").kind, Kind::Constant(2, Some(general(0)), -16));
        assert!(matches!(Operand::of("cx[UR4][0x8]").kind, Kind::Address("?")));
    }

    #[test]
    fn addresses_are_what_the_last_brackets_hold() {
        assert_eq!(Operand::of("desc[UR4][R2.64+0x10]").kind, Kind::Address("R2.64+0x10"));
        assert_eq!(Operand::of("[R2]").kind, Kind::Address("R2"));
        assert_eq!(Operand::of("`(.L_x_3)").kind, Kind::Label(".L_x_3"));
    }
}

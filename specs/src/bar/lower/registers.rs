//! The names of the BCU's registers.

/// The kinds of registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Register {
    /// `R0` to `R254`.
    General,
    /// `RZ`, which reads as zero.
    Zero,
    /// `P0` to `P6`.
    Predicate,
    /// `PT`, which reads as true.
    True,
}

/// The register that `name` is, if it is one.
// clause: bcu.operand-registers
pub(super) fn register(name: &str) -> Option<Register> {
    match name {
        "RZ" => return Some(Register::Zero),
        "PT" => return Some(Register::True),
        _ => {}
    }
    let (kind, most) = match name.as_bytes().first()? {
        b'R' => (Register::General, 254),
        b'P' => (Register::Predicate, 6),
        _ => return None,
    };
    let digits = &name[1..];
    let canonical = digits == "0" || !digits.starts_with('0');
    let is_number = canonical && digits.bytes().all(|byte| byte.is_ascii_digit());
    let number: u32 = digits.parse().ok().filter(|_| is_number)?;
    (number <= most).then_some(kind)
}

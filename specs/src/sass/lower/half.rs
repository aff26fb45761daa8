//! Constants that compilers put into registers by floating-point instructions.

use crate::sass::operand::{Kind, Operand};

use super::state::Current;

/// `HFMA2 R0, -RZ, RZ, 0, 5.9604644775390625e-08`: nothing is multiplied, and two numbers of 16 bits are
/// added to it. `None` for others.
pub(super) fn constant(current: &Current<'_>, sources: &[Operand<'_>]) -> Option<u64> {
    let [a, b, high, low] = sources else { return None };
    let is_zero = |operand: &Operand<'_>| match operand.kind {
        Kind::Register(register, "") => register.number.is_none(),
        _ => false,
    };
    let is_plain = current.parts.iter().all(|part| *part == "MMA");
    let is_less_nothing = is_zero(a) && is_zero(b) && a.sign.negated != b.sign.negated;
    if !is_plain || !is_less_nothing {
        return None;
    }
    Some(u64::from(bits_of(high)?) << 16 | u64::from(bits_of(low)?))
}

fn bits_of(operand: &Operand<'_>) -> Option<u16> {
    let bits = match operand.kind {
        Kind::Number(0) => 0,
        Kind::Number(number) => half(f64::from(i32::try_from(number as i64).ok()?))?,
        Kind::Other(text) => half(text.parse().ok()?)?,
        _ => return None,
    };
    Some(bits | u16::from(operand.sign.negated && !matches!(operand.kind, Kind::Number(_))) << 15)
}

/// A number as binary16 has it (IEEE 754), if it has it exactly.
fn half(number: f64) -> Option<u16> {
    if !number.is_finite() {
        return None;
    }
    let sign = u16::from(number.is_sign_negative()) << 15;
    let size = number.abs();
    if size == 0.0 {
        return Some(sign);
    }
    // In units of the least number, 2^-24.
    let smallest = 2.0_f64.powi(-24);
    let units = size / smallest;
    if units < 1024.0 {
        return (units.fract() == 0.0).then_some(sign | units as u16);
    }
    let exponent = size.log2().floor() as i32;
    let fraction = (size / 2.0_f64.powi(exponent) - 1.0) * 1024.0;
    let biased = u16::try_from(exponent + 15).ok().filter(|biased| *biased < 31)?;
    (fraction.fract() == 0.0).then_some(sign | biased << 10 | fraction as u16)
}

#[cfg(test)]
mod tests {
    use super::half;

    #[test]
    fn numbers_that_are_held_exactly_have_bits() {
        assert_eq!(half(5.960_464_477_539_063e-8), Some(1));
        assert_eq!(half(5.364_418_029_785_156e-7), Some(9));
        assert_eq!((half(1.0), half(-2.0), half(65504.0)), (Some(0x3c00), Some(0xc000), Some(0x7bff)));
        assert_eq!((half(0.1), half(1e9), half(f64::NAN)), (None, None, None));
    }
}

//! What operations on known integers come to. Numbers are bits; those above the width of a type are 0.

use super::code::{Comparison, Operation, Type};

/// The lowest bits of a number.
pub(super) fn cut(number: u64, bits: u8) -> u64 {
    if bits >= 64 { number } else { number & ((1 << bits) - 1) }
}

/// A number of this width as a signed one.
pub(super) fn signed(number: u64, bits: u8) -> i64 {
    let unused = 64 - u32::from(bits.clamp(1, 64));
    ((number << unused) as i64) >> unused
}

/// The width of a result.
pub(super) fn width(operation: Operation, ty: Type) -> u8 {
    match operation {
        Operation::Compare(_) | Operation::LogicalNot => 1,
        Operation::MultiplyWide => ty.bits.saturating_mul(2),
        Operation::CountOnes | Operation::LeadingZeros => 32,
        _ => ty.bits,
    }
}

/// The result of an operation on numbers; `None` if it is undefined.
pub(super) fn apply(operation: Operation, ty: Type, numbers: &[u64]) -> Option<u64> {
    let at = |index: usize| numbers.get(index).copied();
    let (raw, bits) = (at(0)?, ty.bits);
    let a = cut(raw, bits);
    let second = || at(1).map(|number| cut(number, bits));
    let wide = |number: u64| if ty.signed { i128::from(signed(number, bits)) } else { i128::from(number) };
    let result = match operation {
        Operation::Convert(from) => {
            let number = cut(raw, from.bits);
            if from.signed { signed(number, from.bits) as u64 } else { number }
        }
        Operation::Not => !a,
        Operation::LogicalNot => u64::from(raw == 0),
        Operation::Negate => a.wrapping_neg(),
        Operation::Absolute => signed(a, bits).unsigned_abs(),
        Operation::Add => a.wrapping_add(second()?),
        Operation::Subtract => a.wrapping_sub(second()?),
        Operation::Multiply => a.wrapping_mul(second()?),
        Operation::MultiplyWide => (wide(a) * wide(second()?)) as u64,
        Operation::MultiplyHigh if ty.signed => ((wide(a) * wide(second()?)) >> bits) as u64,
        Operation::MultiplyHigh => ((u128::from(a) * u128::from(second()?)) >> bits) as u64,
        Operation::Divide | Operation::Remainder => {
            let divisor = wide(second()?);
            if divisor == 0 {
                return None;
            }
            let dividend = wide(a);
            (if operation == Operation::Divide { dividend / divisor } else { dividend % divisor }) as u64
        }
        Operation::Minimum => wide(a).min(wide(second()?)) as u64,
        Operation::Maximum => wide(a).max(wide(second()?)) as u64,
        Operation::And => a & second()?,
        Operation::Or => a | second()?,
        Operation::Xor => a ^ second()?,
        // Shifts by more than the width clear the number, or fill it with its sign.
        Operation::ShiftLeft => match cut(at(1)?, 32) {
            by if by < u64::from(bits) => a << by,
            _ => 0,
        },
        Operation::ShiftRight => {
            let by = cut(at(1)?, 32).min(127) as u32;
            (wide(a) >> by) as u64
        }
        Operation::Select => return Some(if at(2)? != 0 { a } else { second()? }),
        Operation::Compare(comparison) => {
            return Some(u64::from(compare(comparison, wide(a), wide(second()?))));
        }
        Operation::ExtractBits => extract(a, ty, cut(at(1)?, 8) as u32, cut(at(2)?, 8) as u32),
        Operation::CountOnes => u64::from(a.count_ones()),
        Operation::ReverseBits => a.reverse_bits() >> (64 - u32::from(bits)),
        Operation::LeadingZeros => u64::from(a.leading_zeros()) - (64 - u64::from(bits)),
    };
    Some(cut(result, width(operation, ty)))
}

fn compare(comparison: Comparison, a: i128, b: i128) -> bool {
    match comparison {
        Comparison::Equal => a == b,
        Comparison::NotEqual => a != b,
        Comparison::Less => a < b,
        Comparison::LessOrEqual => a <= b,
        Comparison::Greater => a > b,
        Comparison::GreaterOrEqual => a >= b,
    }
}

/// `bfe`: bits beyond the number are 0, or its sign (PTX ISA, 9.7.1.20).
fn extract(number: u64, ty: Type, from: u32, count: u32) -> u64 {
    let most = u32::from(ty.bits) - 1;
    let sign = if !ty.signed || count == 0 { 0 } else { number >> (from + count - 1).min(most) & 1 };
    let mut result = 0;
    for bit in 0..u32::from(ty.bits) {
        let value = if bit < count && from + bit <= most { number >> (from + bit) & 1 } else { sign };
        result |= value << bit;
    }
    result
}

/// The sign of so many bits, where a mask clears it beside low bits: `n & 0x7ffffffc` is `n & ~3` of what is
/// not negative.
pub(super) fn without_sign(mask: u64, bits: u8) -> u64 {
    let sign = 1 << (bits - 1);
    let clears = cut(!mask, bits);
    let low = clears & !sign;
    if clears & sign != 0 && low > 0 && (low + 1).is_power_of_two() { sign } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const U32: Type = Type { bits: 32, signed: false };
    const S32: Type = Type { bits: 32, signed: true };

    fn of(operation: Operation, ty: Type, numbers: &[i64]) -> Option<i64> {
        let numbers: Vec<u64> = numbers.iter().map(|number| *number as u64).collect();
        apply(operation, ty, &numbers).map(|number| signed(number, width(operation, ty)))
    }

    #[test]
    fn numbers_wrap_at_the_width_of_their_type() {
        assert_eq!(apply(Operation::Add, U32, &[0xffff_ffff, 1]), Some(0));
        assert_eq!(of(Operation::Subtract, S32, &[0, 1]), Some(-1));
        assert_eq!(apply(Operation::MultiplyWide, U32, &[1 << 31, 4]), Some(1 << 33));
        assert_eq!(of(Operation::MultiplyWide, S32, &[-2, 3]), Some(-6));
        let long = Type { bits: 64, signed: false };
        assert_eq!(apply(Operation::MultiplyHigh, long, &[u64::MAX, u64::MAX]), Some(u64::MAX - 1));
    }

    #[test]
    fn signs_matter_where_they_do() {
        assert_eq!(of(Operation::ShiftRight, S32, &[-8, 1]), Some(-4));
        assert_eq!(apply(Operation::ShiftRight, U32, &[0xffff_fff8, 1]), Some(0x7fff_fffc));
        assert_eq!(of(Operation::Divide, S32, &[-7, 2]), Some(-3));
        assert_eq!(of(Operation::Remainder, S32, &[-7, 2]), Some(-1));
        let less = Operation::Compare(Comparison::Less);
        assert_eq!(
            (apply(less, S32, &[0xffff_ffff, 0]), apply(less, U32, &[0xffff_ffff, 0])),
            (Some(1), Some(0))
        );
    }

    #[test]
    fn what_is_undefined_has_no_result() {
        assert_eq!(apply(Operation::Divide, U32, &[1, 0]), None);
        assert_eq!(apply(Operation::Remainder, S32, &[1, 0]), None);
    }

    #[test]
    fn shifts_beyond_the_width_clear() {
        assert_eq!(apply(Operation::ShiftLeft, U32, &[1, 32]), Some(0));
        assert_eq!(of(Operation::ShiftRight, S32, &[-1, 99]), Some(-1));
        assert_eq!(apply(Operation::ShiftRight, U32, &[0xffff_ffff, 40]), Some(0));
    }

    #[test]
    fn bits_are_turned_around_in_their_width() {
        assert_eq!(apply(Operation::ReverseBits, U32, &[1]), Some(1 << 31));
        assert_eq!(apply(Operation::ReverseBits, U32, &[0b1101 << 28]), Some(0b1011));
    }

    #[test]
    fn bits_are_extracted_with_their_sign() {
        assert_eq!(apply(Operation::ExtractBits, U32, &[0b1011_0000, 4, 4]), Some(0b1011));
        assert_eq!(of(Operation::ExtractBits, S32, &[0b1000, 3, 1]), Some(-1));
        assert_eq!(of(Operation::ExtractBits, S32, &[0b1000, 2, 1]), Some(0));
    }
}

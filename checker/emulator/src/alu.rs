//! Arithmetic of one lane.

use super::chance::hash;
use super::opcode::{Kind, Type};
use std::cmp::Ordering;

fn mask(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// The bits of a register that an operand of this type has.
pub fn cut(value: u64, of: Type) -> u64 {
    value & mask(of.bits)
}

fn signed(value: u64, of: Type) -> i64 {
    let unused = 64 - of.bits.min(64);
    ((value << unused) as i64) >> unused
}

/// A result as a register keeps it: wider registers see its sign.
pub fn kept(value: u64, of: Type) -> u64 {
    if of.kind == Kind::Signed { signed(value, of) as u64 } else { cut(value, of) }
}

fn float(value: u64, of: Type) -> f64 {
    if of.bits == 32 { f64::from(f32::from_bits(value as u32)) } else { f64::from_bits(value) }
}

fn of_float(value: f64, of: Type) -> u64 {
    if of.bits == 32 { u64::from((value as f32).to_bits()) } else { value.to_bits() }
}

/// `d = name(a, b, c, d)`, or nothing where it is not known.
pub fn compute(name: &str, of: Type, operands: &[u64]) -> Option<u64> {
    let at = |index: usize| operands.get(index).copied().unwrap_or(0);
    if of.kind == Kind::Float {
        return Some(floating(name, of, operands));
    }
    let (a, b, c) = (cut(at(0), of), cut(at(1), of), cut(at(2), of));
    let (x, y) = (signed(a, of), signed(b, of));
    let is_signed = of.kind == Kind::Signed;
    let least = |first: bool| if first { a } else { b };
    let is_less = if is_signed { x < y } else { a < b };
    Some(match name {
        "add" => a.wrapping_add(b),
        "sub" => a.wrapping_sub(b),
        "mul24" | "mad24" => {
            let part = Type { bits: 24, ..of };
            let product = |kept: &dyn Fn(u64) -> u64| kept(a).wrapping_mul(kept(b));
            let product =
                if is_signed { product(&|v| signed(v, part) as u64) } else { product(&|v| cut(v, part)) };
            product.wrapping_add(if name == "mad24" { c } else { 0 })
        }
        "div" if b == 0 => u64::MAX,
        "rem" if b == 0 => a,
        "div" if is_signed => x.wrapping_div(y) as u64,
        "div" => a / b,
        "rem" if is_signed => x.wrapping_rem(y) as u64,
        "rem" => a % b,
        "abs" => x.unsigned_abs(),
        "neg" => a.wrapping_neg(),
        "min" => least(is_less),
        "max" => least(!is_less),
        "and" => a & b,
        "or" => a | b,
        "xor" => a ^ b,
        "not" => !a,
        "cnot" => u64::from(a == 0),
        "sad" => c.wrapping_add(if is_signed { x.abs_diff(y) } else { a.abs_diff(b) }),
        "selp" => least(at(2) & 1 == 1),
        "slct" => least(at(2) as i32 >= 0),
        _ => return bitwise(name, of, operands),
    })
}

/// Operations on the bits.
fn bitwise(name: &str, of: Type, operands: &[u64]) -> Option<u64> {
    let at = |index: usize| operands.get(index).copied().unwrap_or(0);
    let (a, b) = (cut(at(0), of), cut(at(1), of));
    let short = |value: u64| u32::try_from(value & 0xffff_ffff).unwrap_or(0);
    Some(match name {
        "shl" => a.checked_shl(short(at(1))).unwrap_or(0),
        "shr" if of.kind == Kind::Signed => (signed(a, of) >> short(at(1)).min(63)) as u64,
        "shr" => a.checked_shr(short(at(1))).unwrap_or(0),
        "popc" => u64::from(a.count_ones()),
        "clz" => u64::from(a.leading_zeros() - (64 - of.bits)),
        "brev" => a.reverse_bits() >> (64 - of.bits),
        "bfind" => {
            let flips = of.kind == Kind::Signed && signed(a, of) < 0;
            let a = if flips { cut(!a, of) } else { a };
            a.checked_ilog2().map_or(0xffff_ffff, u64::from)
        }
        "bfe" => {
            let (from, length) = (short(at(1)) & 255, short(at(2)) & 255);
            let is_signed = of.kind == Kind::Signed;
            let value = if is_signed {
                signed(a, of) >> from.min(63)
            } else {
                a.checked_shr(from).unwrap_or(0) as i64
            };
            let part = Type { bits: length.clamp(1, of.bits), ..of };
            if length == 0 { 0 } else { kept(value as u64, part) }
        }
        "bfi" => {
            let (from, length) = (short(at(2)) & 255, short(at(3)) & 255);
            let hole = mask(length).checked_shl(from).unwrap_or(0);
            (b & !hole) | (a.checked_shl(from).unwrap_or(0) & hole)
        }
        "prmt" => {
            let bytes = (a | b << 32).to_le_bytes();
            let pick = |place: u64| {
                let selector = at(2) >> (4 * place);
                let byte = bytes[(selector & 7) as usize];
                let byte = if selector & 8 == 0 { byte } else { ((byte as i8) >> 7) as u8 };
                u64::from(byte) << (8 * place)
            };
            (0..4).map(pick).sum()
        }
        "lop3" => {
            let (c, table) = (cut(at(2), of), at(3));
            let bit = |place: u32| {
                let index = (a >> place & 1) << 2 | (b >> place & 1) << 1 | (c >> place & 1);
                (table >> index & 1) << place
            };
            (0..of.bits).map(bit).sum()
        }
        _ if name.starts_with("shf.") => {
            let amount = if name.ends_with("wrap") { short(at(2)) & 31 } else { short(at(2)).min(32) };
            let both = a | b << 32;
            if name.starts_with("shf.r") { both >> amount } else { both << amount >> 32 }
        }
        _ => return None,
    })
}

fn floating(name: &str, of: Type, operands: &[u64]) -> u64 {
    let at = |index: usize| operands.get(index).copied().unwrap_or(0);
    if name == "selp" || name == "slct" {
        let first = if name == "selp" { at(2) & 1 == 1 } else { at(2) as i32 >= 0 };
        return cut(if first { at(0) } else { at(1) }, of);
    }
    let (a, b, c) = (float(cut(at(0), of), of), float(cut(at(1), of), of), float(cut(at(2), of), of));
    of_float(
        match name {
            "add" => a + b,
            "sub" => a - b,
            "mul" => a * b,
            "div" => a / b,
            "fma" | "mad" => a * b + c,
            "abs" => a.abs(),
            "neg" => -a,
            "min" => a.min(b),
            "max" => a.max(b),
            _ => hash(&operands.iter().map(|value| cut(*value, of)).collect::<Vec<_>>()) as f64,
        },
        of,
    )
}

/// Products of integers.
pub fn product(half: char, of: Type, a: u64, b: u64) -> u64 {
    let wide = |value: u64| {
        if of.kind == Kind::Signed { i128::from(signed(value, of)) } else { cut(value, of).into() }
    };
    let product = wide(a).wrapping_mul(wide(b));
    if half == 'h' { (product >> of.bits) as u64 } else { product as u64 }
}

/// A conversion.
pub fn convert(value: u64, to: Type, from: Type, how: &str) -> u64 {
    let rounded = |value: f64| match () {
        () if how.contains("rni") => value.round_ties_even(),
        () if how.contains("rzi") => value.trunc(),
        () if how.contains("rmi") => value.floor(),
        () if how.contains("rpi") => value.ceil(),
        () => value,
    };
    let is_float = |of: Type| of.kind == Kind::Float;
    match (is_float(from), is_float(to)) {
        (true, true) => {
            let value = rounded(float(cut(value, from), from));
            of_float(if how.contains("sat") { value.clamp(0.0, 1.0) } else { value }, to)
        }
        (true, false) => {
            let value = rounded(float(cut(value, from), from));
            let part = if to.kind == Kind::Signed {
                let most = mask(to.bits - 1) as i64;
                (value as i64).clamp(-most - 1, most) as u64
            } else {
                (value as u64).min(mask(to.bits))
            };
            kept(part, to)
        }
        (false, true) if from.kind == Kind::Signed => of_float(signed(value, from) as f64, to),
        (false, true) => of_float(cut(value, from) as f64, to),
        (false, false) => {
            let value = kept(value, from);
            let value = if how.contains("sat") { saturated(value, to, from) } else { value };
            kept(value, to)
        }
    }
}

fn saturated(value: u64, to: Type, from: Type) -> u64 {
    let wide = if from.kind == Kind::Signed { i128::from(value as i64) } else { value.into() };
    let (least, most) = match to.kind {
        Kind::Signed => (-i128::from(mask(to.bits - 1)) - 1, i128::from(mask(to.bits - 1))),
        _ => (0, i128::from(mask(to.bits))),
    };
    wide.clamp(least, most) as u64
}

/// A comparison.
pub fn compare(by: &str, of: Type, a: u64, b: u64) -> Option<bool> {
    let (a, b) = (cut(a, of), cut(b, of));
    let ordering = match of.kind {
        Kind::Float => float(a, of).partial_cmp(&float(b, of)),
        Kind::Signed => Some(signed(a, of).cmp(&signed(b, of))),
        _ => Some(a.cmp(&b)),
    };
    let (unordered, by) = match by {
        "equ" | "neu" | "ltu" | "leu" | "gtu" | "geu" => (true, &by[..2]),
        "lo" => (false, "lt"),
        "ls" => (false, "le"),
        "hi" => (false, "gt"),
        "hs" => (false, "ge"),
        _ => (false, by),
    };
    let Some(ordering) = ordering else { return Some(unordered || by == "nan") };
    Some(match by {
        "eq" => ordering == Ordering::Equal,
        "ne" => ordering != Ordering::Equal,
        "lt" => ordering == Ordering::Less,
        "le" => ordering != Ordering::Greater,
        "gt" => ordering == Ordering::Greater,
        "ge" => ordering != Ordering::Less,
        "num" => true,
        "nan" => false,
        _ => return None,
    })
}

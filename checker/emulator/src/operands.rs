//! Operands by their text.

use super::kernel::{Operand, Special};
use super::statements::parts;

/// An operand. Names of registers and of variables are looked up.
pub fn operand(
    text: &str,
    register: &dyn Fn(&str) -> Option<usize>,
    symbol: &dyn Fn(&str) -> Option<u64>,
) -> Operand {
    let text = text.trim();
    let inner = |open: char, close: char| text.strip_prefix(open)?.strip_suffix(close);
    if text == "_" {
        return Operand::Sink;
    }
    if let Some(list) = inner('{', '}') {
        return Operand::Group(parts(list).iter().map(|part| operand(part, register, symbol)).collect());
    }
    if let Some(address) = inner('[', ']') {
        return bracketed(address, register, symbol);
    }
    if let Some((a, b)) = text.split_once('|') {
        return Operand::Pair(register(a.trim()), register(b.trim()));
    }
    if let Some(number) = number(text) {
        return Operand::Number(number);
    }
    let (name, is_negated) = text.strip_prefix('!').map_or((text, false), |name| (name.trim(), true));
    if let Some(index) = register(name) {
        return Operand::Register(index, is_negated);
    }
    if let Some(special) = special(text) {
        return Operand::Special(special);
    }
    match sum(text, register, symbol) {
        Some((None, offset)) => Operand::Number(offset),
        _ => Operand::Other(text.to_owned()),
    }
}

fn bracketed(
    text: &str,
    register: &dyn Fn(&str) -> Option<usize>,
    symbol: &dyn Fn(&str) -> Option<u64>,
) -> Operand {
    match sum(text, register, symbol) {
        Some((base, offset)) => Operand::Address(base, offset),
        None => Operand::Group(parts(text).iter().map(|part| operand(part, register, symbol)).collect()),
    }
}

/// A register, a variable or nothing, and a number.
fn sum(
    text: &str,
    register: &dyn Fn(&str) -> Option<usize>,
    symbol: &dyn Fn(&str) -> Option<u64>,
) -> Option<(Option<usize>, u64)> {
    let text: String = text.split_whitespace().collect();
    if let Some(number) = number(&text) {
        return Some((None, number));
    }
    let cut = text.char_indices().skip(1).find(|(_, c)| matches!(c, '+' | '-'));
    let (base, offset) = match cut {
        Some((at, _)) => (&text[..at], number(text[at..].trim_start_matches('+'))?),
        None => (text.as_str(), 0),
    };
    match (register(base), symbol(base)) {
        (Some(register), _) => Some((Some(register), offset)),
        (None, Some(address)) => Some((None, address.wrapping_add(offset))),
        (None, None) => None,
    }
}

/// A number as it is written, its bits.
pub fn number(text: &str) -> Option<u64> {
    if let Some(rest) = text.strip_prefix('-') {
        return Some(number(rest)?.wrapping_neg());
    }
    if text == "WARP_SZ" {
        return Some(32);
    }
    let of = |prefixes: [&str; 2], radix| {
        let digits = prefixes.iter().find_map(|prefix| text.strip_prefix(prefix))?;
        u64::from_str_radix(digits.trim_end_matches('U'), radix).ok()
    };
    if text.starts_with("0f") || text.starts_with("0F") || text.starts_with("0d") || text.starts_with("0D") {
        return u64::from_str_radix(&text[2..], 16).ok();
    }
    let by_radix = of(["0x", "0X"], 16).or_else(|| of(["0b", "0B"], 2));
    if by_radix.is_some() || !text.starts_with(|c: char| c.is_ascii_digit()) {
        return by_radix;
    }
    if text.contains('.') {
        return Some(f64::to_bits(text.parse().ok()?));
    }
    let digits = text.trim_end_matches('U');
    let is_octal = digits.len() > 1 && digits.starts_with('0');
    u64::from_str_radix(digits, if is_octal { 8 } else { 10 }).ok()
}

fn special(text: &str) -> Option<Special> {
    let name = text.strip_prefix('%')?;
    let (name, axis) = name.split_once('.').unwrap_or((name, "x"));
    let axis = ["x", "y", "z", "w"].iter().position(|letter| *letter == axis)?;
    Some(match name {
        "tid" => Special::Tid(axis),
        "ntid" => Special::Ntid(axis),
        "ctaid" | "clusterid" => Special::Ctaid(axis),
        "nctaid" | "nclusterid" => Special::Nctaid(axis),
        "laneid" => Special::Lane,
        "warpid" => Special::Warp,
        "nwarpid" => Special::Warps,
        "lanemask_lt" => Special::LanesBelow { with: false },
        "lanemask_le" => Special::LanesBelow { with: true },
        "lanemask_gt" => Special::LanesAbove { with: false },
        "lanemask_ge" => Special::LanesAbove { with: true },
        "lanemask_eq" => Special::LaneMask,
        "clock" | "clock64" | "globaltimer" | "clock_hi" | "globaltimer_lo" | "globaltimer_hi" => {
            Special::Clock
        }
        "cluster_ctarank" | "cluster_ctaid" => Special::ClusterRank,
        "cluster_nctarank" | "cluster_nctaid" => Special::One,
        "smid"
        | "nsmid"
        | "gridid"
        | "dynamic_smem_size"
        | "total_smem_size"
        | "is_explicit_cluster"
        | "reserved_smem_offset_begin" => Special::Chosen(name.len() as u64),
        _ => return None,
    })
}

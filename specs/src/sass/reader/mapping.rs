//! The names that maxas lets a listing give to registers and constants.

use std::collections::HashMap;

/// `blockDimX : c[0x0][0x08]`: the name, the bank, the offset.
pub(super) fn constant(code: &str) -> Option<(String, (u32, u32))> {
    let (name, place) = code.split_once(':')?;
    let rest = place.trim().strip_prefix('c')?.trim_start().strip_prefix('[')?;
    let (bank, rest) = rest.split_once(']')?;
    let (offset, _) = rest.trim_start().strip_prefix('[')?.split_once(']')?;
    let number = |text: &str| u32::from_str_radix(text.trim().strip_prefix("0x")?, 16).ok();
    Some((name.trim().to_owned(), (number(bank)?, number(offset)?)))
}

/// `0-10 : a, b, c`: names get the registers in their order. Whether that is all that it says: names of
/// vectors are not taken apart, and for names behind `~` registers are looked for.
pub(super) fn registers(code: &str, found: &mut HashMap<String, u32>) -> bool {
    let Some((numbers, names)) = code.split_once(':') else { return code.trim().is_empty() };
    let mut free = Vec::new();
    for part in numbers.split(',') {
        let Some((first, last)) = range(part.trim()) else { return false };
        free.extend(first..=last);
    }
    let mut free = free.into_iter();
    for name in names.split(',').map(str::trim) {
        let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        match free.next() {
            Some(register) if plain && !name.is_empty() => found.insert(name.to_owned(), register),
            _ => return false,
        };
    }
    true
}

fn range(text: &str) -> Option<(u32, u32)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
    (first <= last && last < 256).then_some((first, last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_get_registers_in_order() {
        let mut found = HashMap::new();
        assert!(registers("    6-20 : tid, bid", &mut found));
        assert!(!registers("20-27 ~ count, stop", &mut found));
        assert!(!registers("20-27 : x<0-3>", &mut found));
        assert_eq!(found.len(), 2);
        assert_eq!((found["tid"], found["bid"]), (6, 7));
    }

    #[test]
    fn names_stand_for_constants() {
        let found = constant("    blockDimX : c[0x0][0x08]");
        assert_eq!(found, Some(("blockDimX".to_owned(), (0, 8))));
        assert_eq!(constant("nothing"), None);
    }
}

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

/// Registers that a listing leaves to the assembler to choose are numbered from here on, so many apart: each
/// name has its own, and what an instruction writes behind it.
const CHOSEN: u32 = 1024;
const APART: u32 = 8;
/// Names of one vector.
const ELEMENTS: u32 = 256;

/// `0-10 : a, b<0-3>`: names get the registers in their order. Behind `~` and `=` each gets one of them that
/// holds nothing else meanwhile: one of its own. Whether this is understood.
pub(super) fn registers(code: &str, found: &mut HashMap<String, u32>) -> bool {
    let Some(at) = code.find([':', '~', '=']) else { return code.trim().is_empty() };
    let (numbers, names) = (&code[..at], &code[at + 1..]);
    let is_fixed = code.as_bytes()[at] == b':';
    let mut free = Vec::new();
    for part in numbers.split(',') {
        let Some((first, last)) = range(part.trim()) else { return false };
        free.extend(first..=last);
    }
    let mut free = free.into_iter();
    for name in names.split(',').map(str::trim) {
        let Some(elements) = elements(name) else { return false };
        let is_vector = elements.len() > 1 || name.contains('<');
        let mut first = None;
        for element in elements {
            let chosen = CHOSEN + APART * found.len() as u32;
            let Some(register) = (if is_fixed { free.next() } else { Some(chosen) }) else { return false };
            first = first.or(Some(register));
            found.insert(element, register);
        }
        // The vector as a whole is called by what is around its numbers.
        if let (true, Some(first), Some((before, rest))) = (is_vector, first, name.split_once('<')) {
            let behind = rest.split_once('>').map_or("", |(_, behind)| behind);
            let behind = behind.split_once('[').map_or(behind, |(behind, _)| behind);
            found.entry(format!("{before}{behind}")).or_insert(first);
        }
    }
    true
}

/// The names that one stands for: `c<00-01|32>y` for `c00y`, `c01y` and `c32y`. `[2]` behind it is a bank.
fn elements(name: &str) -> Option<Vec<String>> {
    let name = name.split_once('[').map_or(name, |(name, _)| name);
    let is_plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let Some((before, rest)) = name.split_once('<') else {
        return (is_plain(name) && !name.is_empty()).then(|| vec![name.to_owned()]);
    };
    let (numbers, behind) = rest.split_once('>')?;
    if !is_plain(before) || !is_plain(behind) || before.is_empty() {
        return None;
    }
    let mut elements = Vec::new();
    for part in numbers.split('|').map(str::trim) {
        let (first, last) = part.split_once('-').map_or((part, part), |(a, b)| (a.trim(), b.trim()));
        let digits = first.len();
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        if first > last || last - first >= ELEMENTS {
            return None;
        }
        elements.extend((first..=last).map(|number| format!("{before}{number:0digits$}{behind}")));
    }
    Some(elements)
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
        assert_eq!(found.len(), 2);
        assert_eq!((found["tid"], found["bid"]), (6, 7));
        assert!(!registers("20-27 : x<0-", &mut found));
        assert!(!registers("20-21 : x<0-3>", &mut HashMap::new()));
    }

    #[test]
    fn vectors_are_taken_apart() {
        let mut found = HashMap::new();
        assert!(registers(" 3, 2,11,10,19 : cx00y<00-02|32-33>", &mut found));
        assert!(registers(" 96-99 : loadX<0-1>, b<0-1>[2]", &mut found));
        assert_eq!((found["cx00y00"], found["cx00y02"], found["cx00y33"]), (3, 11, 19));
        assert_eq!((found["loadX1"], found["b0"], found["b"]), (97, 98, 98));
        assert_eq!((found["cx00y"], found["loadX"]), (3, 96));
    }

    #[test]
    fn names_whose_registers_are_chosen_have_their_own() {
        let mut found = HashMap::new();
        assert!(registers("20-27 ~ count, stop", &mut found));
        assert!(registers("0-63 = t<0-3>", &mut found));
        let mut numbers: Vec<u32> = ["count", "stop", "t0", "t3"].map(|name| found[name]).to_vec();
        numbers.dedup();
        assert!(numbers.len() == 4 && numbers.iter().all(|number| *number > 255));
    }

    #[test]
    fn names_stand_for_constants() {
        let found = constant("    blockDimX : c[0x0][0x08]");
        assert_eq!(found, Some(("blockDimX".to_owned(), (0, 8))));
        assert_eq!(constant("nothing"), None);
    }
}

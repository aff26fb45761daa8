//! Numbers that are known for each lane, as expressions of its index.

use std::collections::BTreeSet;

/// Different numbers that are told apart one by one.
const DISTINCT: usize = 64;
/// Ranges of lanes that are listed.
const RANGES: usize = 64;
/// Bits of a mask that protocols can shift.
const BITS: usize = 62;

/// The numbers of the first `live` lanes as an expression; `None` if it would be too long.
pub(super) fn text(live: usize, number: impl Fn(usize) -> i64) -> Option<String> {
    if let Some(text) = stepwise(live, &number) {
        return Some(text);
    }
    let distinct: BTreeSet<i64> = (0..live).map(&number).collect();
    if distinct.len() > DISTINCT {
        return None;
    }
    let mut parts = Vec::new();
    for value in distinct.iter().filter(|value| **value != 0) {
        let set = set(live, |lane| number(lane) == *value)?;
        parts.push(if *value == 1 { set } else { format!("{set} * {value}") });
    }
    Some(if parts.len() == 1 { parts[0].clone() } else { format!("({})", parts.join(" + ")) })
}

/// Numbers that grow by the same step from one block of lanes to the next, perhaps from the beginning again
/// after some blocks: `lane`, `lane / 8`, `lane % 8 * 4`.
fn stepwise(live: usize, number: &impl Fn(usize) -> i64) -> Option<String> {
    let first = number(0);
    let length = (1..live).find(|lane| number(*lane) != first)?;
    let step = number(length).wrapping_sub(first);
    let line = |block: usize| first.wrapping_add(step.wrapping_mul(block as i64));
    let period = (1..live.div_ceil(length)).find(|block| number(block * length) != line(*block));
    let block = |lane: usize| lane / length % period.unwrap_or(usize::MAX);
    // 0 and 1 in turn are a set.
    let is_bit = |number: i64| matches!(number, 0 | 1);
    let is_two = period == Some(2) || live.div_ceil(length) == 2;
    let is_set = is_two && is_bit(first) && is_bit(first.wrapping_add(step));
    if is_set || !(0..live).all(|lane| number(lane) == line(block(lane))) {
        return None;
    }
    let mut text = "lane".to_owned();
    if length > 1 {
        text = format!("{text} / {length}");
    }
    if let Some(period) = period {
        text = format!("{text} % {period}");
    }
    if step != 1 {
        text = format!("{text} * {step}");
    }
    Some(if first == 0 { format!("({text})") } else { format!("({text} + {first})") })
}

/// Whether the executing lane is one of these.
fn set(live: usize, holds: impl Fn(usize) -> bool) -> Option<String> {
    let inside: Vec<usize> = (0..live).filter(|lane| holds(*lane)).collect();
    let (first, last) = (inside.first().copied().unwrap_or(0), inside.last().copied().unwrap_or(0));
    if last - first + 1 == inside.len() {
        return Some(range(live, first, last));
    }
    if inside.len() + 1 == live {
        let other = (0..live).find(|lane| !holds(*lane)).unwrap_or(0);
        return Some(format!("(lane != {other})"));
    }
    if let Some(text) = periodic(live, &holds) {
        return Some(text);
    }
    if live <= BITS {
        let mask = inside.iter().fold(0_u64, |mask, lane| mask | 1 << lane);
        return Some(format!("({mask:#x} >> lane & 1)"));
    }
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for lane in inside {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == lane => *last = lane,
            _ => ranges.push((lane, lane)),
        }
    }
    let texts: Vec<String> = ranges.iter().map(|(first, last)| range(live, *first, *last)).collect();
    (texts.len() <= RANGES).then(|| format!("({})", texts.join(" || ")))
}

/// Blocks of lanes that repeat: every second one, the first of every eight.
fn periodic(live: usize, holds: &impl Fn(usize) -> bool) -> Option<String> {
    let length = (1..live).find(|lane| holds(*lane) != holds(0))?;
    // A block begins where what holds changes, so that the shortest is the first or a later one.
    for length in [length, 1] {
        let blocks = live.div_ceil(length);
        let holds_in = |block: usize| holds(block * length);
        if !(0..live).all(|lane| holds(lane) == holds_in(lane / length)) {
            continue;
        }
        let repeats = |period: &usize| (0..blocks).all(|block| holds_in(block) == holds_in(block % period));
        // Twice at least, or it says nothing.
        let Some(period) = (2..=(blocks / 2).min(BITS)).find(repeats) else { continue };
        let index = if length == 1 { "lane".to_owned() } else { format!("lane / {length}") };
        let inside: Vec<usize> = (0..period).filter(|block| holds_in(*block)).collect();
        let text = match inside.as_slice() {
            [one] => format!("({index} % {period} == {one})"),
            _ => {
                let mask = inside.iter().fold(0_u64, |mask, block| mask | 1 << block);
                format!("({mask:#x} >> {index} % {period} & 1)")
            }
        };
        return Some(text);
    }
    None
}

fn range(live: usize, first: usize, last: usize) -> String {
    match (first == 0, last + 1 == live) {
        _ if first == last => format!("(lane == {first})"),
        (true, _) => format!("(lane < {})", last + 1),
        (_, true) => format!("(lane >= {first})"),
        _ => format!("(lane >= {first} && lane <= {last})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(live: usize, number: impl Fn(usize) -> i64, expected: &str) {
        assert_eq!(text(live, number).as_deref(), Some(expected));
    }

    #[test]
    fn indices_in_several_directions_are_quotients_and_remainders() {
        check(1024, |lane| lane as i64, "(lane)");
        check(256, |lane| (lane % 16) as i64, "(lane % 16)");
        check(256, |lane| (lane / 16) as i64, "(lane / 16)");
        check(512, |lane| (lane / 16 % 8 * 4 + 3) as i64, "(lane / 16 % 8 * 4 + 3)");
    }

    #[test]
    fn sets_are_ranges_or_repeat() {
        check(256, |lane| i64::from(lane < 16), "(lane < 16)");
        check(256, |lane| i64::from(lane % 2 == 0), "(lane % 2 == 0)");
        check(256, |lane| i64::from(lane % 16 == 0), "(lane % 16 == 0)");
        check(256, |lane| i64::from(lane / 32 % 2 == 1), "(lane / 32 % 2 == 1)");
        check(256, |lane| i64::from(lane / 4 % 4 < 2), "(lane / 8 % 2 == 0)");
        check(32, |lane| i64::from([1, 5, 6].contains(&lane)), "(0x62 >> lane & 1)");
        check(
            128,
            |lane| i64::from([1, 5, 6].contains(&lane)),
            "(lane == 1 || (lane >= 5 && lane <= 6))".replace("(lane == 1 ", "((lane == 1) ").as_str(),
        );
    }

    #[test]
    fn what_would_be_too_long_is_not_written() {
        assert_eq!(text(1024, |lane| (lane * lane) as i64), None);
        assert_eq!(text(1024, |lane| i64::from((lane * lane * lane / 11) % 7 == 0)), None);
    }
}

//! Finds what was probably meant by a word that nobody knows.

use crate::common::diagnostic::WORDING;
use crate::common::limits;

/// The candidate closest to `word`, if one is close: at most a third of its letters differ, are missing, are
/// too many or are swapped with their neighbour. Case does not count. The first of equals wins.
pub fn closest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    if !WORDING || word.len() > limits::SUGGESTED_WORD {
        return None;
    }
    let lower = word.to_ascii_lowercase();
    let allowed = (lower.len() / 3).max(1);
    let mut best: Option<(usize, &str)> = None;
    // The name of an instruction without that of its family is no misspelling, and meant all the same.
    let mut whole = None;
    for candidate in candidates {
        let family = candidate.len().checked_sub(lower.len() + 1).filter(|_| lower.len() >= LEAST_OF_FAMILY);
        if family.is_some_and(|at| is_last_part(candidate, at, &lower)) {
            whole.get_or_insert(candidate);
        }
        if candidate.len().abs_diff(lower.len()) > allowed {
            continue;
        }
        let distance = distance(lower.as_bytes(), candidate.to_ascii_lowercase().as_bytes());
        // A word of one or two letters that shares none with the candidate is no misspelling of it.
        let close = distance <= allowed && distance < lower.len().max(candidate.len());
        if close && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate).or(whole)
}

/// Whether a candidate is a family's name, a dot at a place, and the word.
fn is_last_part(candidate: &str, at: usize, word: &str) -> bool {
    let last = candidate.get(at..).and_then(|last| last.strip_prefix('.'));
    last.is_some_and(|last| last.eq_ignore_ascii_case(word))
}

/// Letters of a name without its family, at least: of shorter ones there are too many.
const LEAST_OF_FAMILY: usize = 6;

/// The number of letters to insert, drop, replace or swap with their neighbour to get from `a` to `b`.
fn distance(a: &[u8], b: &[u8]) -> usize {
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let replaced = last[j] + usize::from(x != y);
            let mut cost = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                cost = cost.min(before_last[j - 1] + 1);
            }
            row.push(cost);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(word: &str, candidates: &[&str], expected: Option<&str>) {
        assert_eq!(closest(word, candidates.iter().copied()), expected);
    }

    #[test]
    fn finds_misspellings() {
        check("bar.arive", &["bar.sync", "bar.arrive"], Some("bar.arrive"));
        check("BAR.SNYC", &["bar.arrive", "bar.sync"], Some("bar.sync"));
        check("STAGE", &["ROUNDS", "STAGES"], Some("STAGES"));
        check("j", &["i"], None);
        check("producer", &["consumer"], None);
        check(&"x".repeat(1000), &["x"], None);
    }
}

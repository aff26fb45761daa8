//! How people name entries, and how entries are named to people.

use std::borrow::Cow;

use super::entry::Entry;

/// The most characters of a name that are read at a glance.
const LONGEST: usize = 60;

/// The entries that are meant: those of this name, the one at this position from 0, or those with this in
/// their names; all that have barriers, if nothing is said.
#[must_use]
pub fn meant<'e>(entries: &'e [Entry], said: Option<&str>) -> Vec<&'e Entry> {
    let Some(said) = said else {
        return entries.iter().filter(|entry| entry.synchronises).collect();
    };
    let exact: Vec<&Entry> = entries.iter().filter(|entry| entry.name == said).collect();
    if !exact.is_empty() {
        return exact;
    }
    match position(said) {
        // Mangled names are full of digits: nobody means a part of one.
        Some(position) => entries.iter().filter(|entry| entry.index == position).collect(),
        None => entries.iter().filter(|entry| entry.name.contains(said)).collect(),
    }
}

/// The position of an entry, if that is what is said.
#[must_use]
pub fn position(said: &str) -> Option<usize> {
    said.bytes().all(|byte| byte.is_ascii_digit()).then(|| said.parse().ok()).flatten()
}

/// A name for people, cut in its middle if it is long. Where it begins and where it ends tells more.
#[must_use]
pub fn cut(name: &str) -> Cow<'_, str> {
    if name.chars().nth(LONGEST).is_none() {
        return Cow::Borrowed(name);
    }
    let begin = name.chars().take(LONGEST / 2);
    let end: Vec<char> = name.chars().rev().take(LONGEST - LONGEST / 2 - 1).collect();
    Cow::Owned(begin.chain(['…']).chain(end.into_iter().rev()).collect())
}

/// The name of an entry for people. Names that were cut may be the same, so the position tells them apart.
#[must_use]
pub fn in_short(name: &str, index: usize) -> String {
    match cut(name) {
        Cow::Borrowed(whole) => whole.to_owned(),
        Cow::Owned(cut) => format!("{cut} (entry {index})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::span::Span;

    fn entries() -> Vec<Entry> {
        let named = ["ring90", "ring_90_twice", "2"].into_iter().enumerate();
        named
            .map(|(index, name)| Entry {
                name: name.to_owned(),
                index,
                synchronises: index > 0,
                params: Vec::new(),
                span: Span::default(),
            })
            .collect()
    }

    #[test]
    fn a_name_goes_before_a_position_and_a_position_before_a_part_of_a_name() {
        let all = entries();
        let of = |said| meant(&all, said).into_iter().map(|entry| entry.index).collect::<Vec<_>>();
        assert_eq!(of(None), [1, 2]);
        assert_eq!(of(Some("ring")), [0, 1]);
        assert_eq!(of(Some("ring90")), [0]);
        assert_eq!(of(Some("1")), [1]);
        assert_eq!(of(Some("2")), [2]);
        assert_eq!(of(Some("90")), [0; 0]);
        assert_eq!(of(Some("+1")), [0; 0]);
    }

    #[test]
    fn long_names_are_cut_in_the_middle() {
        let longest = "é".repeat(LONGEST);
        assert_eq!(in_short(&longest, 3), longest);
        let longer = format!("{}{}", "a".repeat(LONGEST), "z".repeat(LONGEST));
        let short = format!("{}…{}", "a".repeat(30), "z".repeat(29));
        assert_eq!((cut(&longer), short.chars().count()), (Cow::Borrowed(short.as_str()), LONGEST));
        assert_eq!(in_short(&longer, 3), format!("{short} (entry 3)"));
    }
}

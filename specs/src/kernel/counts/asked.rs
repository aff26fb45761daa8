//! Conditions on the variables that count.

use crate::kernel::code::Comparison;

/// A condition on variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    Compares(String, Comparison, i64),
    Text(String),
}

impl Asked {
    pub(super) fn not(self) -> Self {
        match self {
            Self::Compares(local, comparison, number) => Self::Compares(local, comparison.negated(), number),
            Self::Text(text) => Self::Text(format!("!({text})")),
        }
    }

    pub(super) fn text(&self) -> String {
        match self {
            Self::Compares(local, comparison, number) => format!("{local} {} {number}", comparison.text()),
            Self::Text(text) => text.clone(),
        }
    }

    pub(super) fn compares(&self) -> Option<(String, Comparison, i64)> {
        match self {
            Self::Compares(local, comparison, number) => Some((local.clone(), *comparison, *number)),
            Self::Text(_) => None,
        }
    }
}

pub(super) fn joined(parts: &[Asked], by: &str) -> Asked {
    let texts: Vec<String> = parts.iter().map(|part| format!("({})", part.text())).collect();
    Asked::Text(texts.join(&format!(" {by} ")))
}

/// A text in which a word stands for another.
pub(in crate::kernel) fn with_word_replaced(text: &str, word: &str, with: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut replaced = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(is_part) {
        let end = rest[start..].find(|c| !is_part(c)).map_or(rest.len(), |length| start + length);
        replaced.push_str(&rest[..start]);
        replaced.push_str(if &rest[start..end] == word { with } else { &rest[start..end] });
        rest = &rest[end..];
    }
    replaced.push_str(rest);
    replaced
}

//! Who announces bytes and who copies them, where that is not one and the same.
//!
//! All warps of a group run one code. Of a tensor's copies each of several warps may make one, at the same
//! instruction, while a single thread has announced the bytes of all: then so many copies land for each of
//! the warp that announces. Where these are made by no other rule than the instruction says, as its guard is
//! part of the protocol of each of the warps, a copy that is not made is missed there.

use std::collections::{BTreeMap, BTreeSet};

use super::document::Role;
use super::expression::unwrapped;
use super::tree::{Condition, Statement, Statements};
use crate::common::span::Span;

/// Conditions all of which hold, in words.
pub(super) type Gate = BTreeSet<String>;

/// What has to hold where variables that hold answers are not 0, and where they are.
pub(super) type Told = BTreeMap<String, [String; 2]>;

/// What has to hold where a condition does: its parts, in whatever order they stand. `None` if warps or lanes
/// decide it by themselves. Variables that hold answers stand for the questions.
pub(super) fn gate(condition: &Condition, told: &Told) -> Option<Gate> {
    let mut parts = Gate::new();
    match condition {
        Condition::Value { text, .. } => {
            conjuncts(text, &mut parts);
            let question = |part: String| match told.get(part.trim_start_matches('!')) {
                Some(answers) => answers[usize::from(part.starts_with('!'))].clone(),
                None => positive(&part),
            };
            parts = parts.into_iter().map(question).collect();
        }
        Condition::Uniform { decision, negated } => {
            parts.insert(format!("{} {negated}", decision.key));
        }
        Condition::OfWarp | Condition::OfLane => return None,
    }
    Some(parts)
}

/// The variable that an `if` gives the answer to its question, and what has to hold for either.
pub(super) fn answered(
    condition: &Condition,
    [then, otherwise]: [&[Statement]; 2],
) -> Option<(String, [String; 2])> {
    let set = |arm: &[Statement], number: i64| match arm {
        [Statement::Set { local, value, .. }] if value.number == Some(number) => Some(local.clone()),
        _ => None,
    };
    let local = set(then, 1).filter(|local| set(otherwise, 0).as_ref() == Some(local))?;
    let answers = match condition {
        Condition::Uniform { decision, negated } => {
            [*negated, !*negated].map(|negated| format!("{} {negated}", decision.key))
        }
        Condition::Value { text, .. } => [positive(text), positive(&format!("!({text})"))],
        Condition::OfWarp | Condition::OfLane => return None,
    };
    Some((local, answers))
}

/// A comparison of a variable with a number without negation: `n > 1` for `!(n <= 1)`. Others as they are.
fn positive(text: &str) -> String {
    let inside = text.strip_prefix("!(").and_then(|inside| inside.strip_suffix(')'));
    let words: Vec<&str> = inside.unwrap_or_default().split(' ').collect();
    let is_word = |word: &str| word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let operators = [["<=", ">"], ["<", ">="], ["==", "!="]];
    let negated = |operator: &str| {
        operators.iter().find_map(|[one, other]| match operator {
            _ if operator == *one => Some(*other),
            _ if operator == *other => Some(*one),
            _ => None,
        })
    };
    match words.as_slice() {
        [a, operator, b] if is_word(a) && is_word(b) => {
            negated(operator).map_or(text.to_owned(), |operator| format!("{a} {operator} {b}"))
        }
        _ => text.to_owned(),
    }
}

/// What is left of a gate where something is asked. More than the gate is not asked along with it.
pub(super) fn left(gate: &Gate, asked: Option<&Gate>) -> Gate {
    match asked {
        Some(asked) if asked.is_subset(gate) => gate.difference(asked).cloned().collect(),
        _ => gate.clone(),
    }
}

/// The parts of a conjunction.
fn conjuncts(text: &str, parts: &mut Gate) {
    let text = unwrapped(text.trim());
    let (mut depth, mut from, mut pieces) = (0_i32, 0, Vec::new());
    for (at, byte) in text.bytes().enumerate() {
        depth += i32::from(byte == b'(') - i32::from(byte == b')');
        if byte == b'&' && depth == 0 {
            pieces.push(&text[from..at]);
            from = at + 1;
        }
    }
    pieces.push(&text[from..]);
    pieces.retain(|piece| !piece.is_empty());
    // A part without parentheses may hold less tightly together than `&` does.
    let is_part = |piece: &&str| {
        let piece = piece.trim().trim_start_matches('!');
        piece.starts_with('(') && piece.ends_with(')')
            || piece.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    };
    match pieces.as_slice() {
        [_] => {
            parts.insert(text.to_owned());
        }
        several if several.iter().all(is_part) => several.iter().for_each(|piece| conjuncts(piece, parts)),
        _ => {
            parts.insert(text.to_owned());
        }
    }
}

/// For each program and each place of a copy in it, how many copies of warps that announce nothing of what it
/// announces come there for each of its own; `None` where that is no number.
pub(super) fn beside(programs: &[Statements], roles: &[Role]) -> Vec<BTreeMap<Span, Option<i64>>> {
    let mut places = Vec::new();
    for program in programs {
        let mut of = Places::default();
        of.list(program);
        places.push(of);
    }
    // How many warps of a group run a program, for each rank.
    let mut warps: BTreeMap<u32, BTreeMap<usize, i64>> = BTreeMap::new();
    for role in roles {
        let count: i64 = role.warps.iter().map(|(from, to)| i64::from(to - from)).sum();
        for (part, rank) in role.parts.iter().flat_map(|part| part.ranks.iter().map(move |rank| (part, rank)))
        {
            *warps.entry(*rank).or_default().entry(part.program).or_default() += count;
        }
    }
    let mut found: Vec<BTreeMap<Span, Option<i64>>> = vec![BTreeMap::new(); programs.len()];
    for of_rank in warps.values() {
        for (program, own) in of_rank {
            for span in places[*program].copies.iter().filter(|_| !places[*program].announced.is_empty()) {
                let others = of_rank.iter().filter(|(other, _)| {
                    let other = &places[**other];
                    other.copies.contains(span) && other.announced.is_disjoint(&places[*program].announced)
                });
                let others: i64 = others.map(|(_, count)| count).sum();
                let each = (others % own == 0).then_some(others / own);
                let known = found[*program].entry(*span).or_insert(each);
                if *known != each {
                    *known = None;
                }
            }
        }
    }
    found
}

/// Where a program announces, and where it copies.
#[derive(Default)]
struct Places {
    announced: BTreeSet<Span>,
    copies: BTreeSet<Span>,
}

impl Places {
    fn list(&mut self, statements: &[Statement]) {
        for statement in statements {
            match statement {
                Statement::Announce { span, .. } => {
                    self.announced.insert(*span);
                }
                Statement::Copy { span, .. } => {
                    self.copies.insert(*span);
                }
                Statement::If { then, otherwise, .. } => {
                    self.list(then);
                    self.list(otherwise);
                }
                Statement::Loop { body, .. } | Statement::For { body, .. } => self.list(body),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_negated_comparison_is_the_opposite_one() {
        assert_eq!(positive("!(n <= 1)"), "n > 1");
        assert_eq!(positive("!(n == m)"), "n != m");
        assert_eq!(positive("n <= 1"), "n <= 1");
    }

    #[test]
    fn what_is_more_than_one_comparison_stays_negated() {
        for text in ["!(n <= 1 && m)", "!(n)", "!(n + 1 <= m)", "!n"] {
            assert_eq!(positive(text), text);
        }
    }
}

//! Which variables statements read and assign.

use std::collections::{BTreeMap, BTreeSet};

use super::tree::{Condition, Counting, Statement};

/// The words of all expressions.
pub(super) fn reads(statements: &[Statement]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    collect(statements, &mut found);
    found
}

/// Adds the words of all expressions.
pub(super) fn collect(statements: &[Statement], found: &mut BTreeSet<String>) {
    for statement in statements {
        match statement {
            Statement::Barrier { text, .. } => words(text, found),
            Statement::Announce { object, .. } => words(object, found),
            Statement::Copy { object, mask, to, .. } => {
                words(object, found);
                mask.iter().for_each(|mask| words(mask, found));
                collect(to, found);
            }
            Statement::Set { local, value, .. } => {
                let mut read = BTreeSet::new();
                words(&value.text, &mut read);
                // A variable that only counts itself is read by nobody.
                read.remove(local);
                found.extend(read);
            }
            Statement::If { condition, then, otherwise, .. } => {
                if let Condition::Value { text, .. } = condition {
                    words(text, found);
                }
                collect(then, found);
                collect(otherwise, found);
            }
            Statement::Loop { body, .. } => collect(body, found),
            Statement::For { variable, body, .. } => {
                let mut inside = BTreeSet::new();
                collect(body, &mut inside);
                inside.remove(variable);
                found.extend(inside);
            }
            Statement::Access(access) => words(&access.text, found),
            Statement::Count(counted) => found.extend(counted.reads().cloned()),
            Statement::Break | Statement::Continue | Statement::Exit { .. } => {}
        }
    }
}

/// The words of an expression.
pub(super) fn words_of(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    words(text, &mut found);
    found
}

fn words(text: &str, found: &mut BTreeSet<String>) {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    found.extend(words.filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic())).map(str::to_owned));
}

/// The variables that statements assign, and those that they count with.
pub(super) fn written(statements: &[Statement], found: &mut BTreeSet<String>) {
    for statement in statements {
        match statement {
            Statement::Set { local, .. } => drop(found.insert(local.clone())),
            Statement::Count(counted) => found.extend(counted.variables().cloned()),
            Statement::If { then, otherwise, .. } => {
                written(then, found);
                written(otherwise, found);
            }
            Statement::Loop { body, .. } | Statement::For { body, .. } => written(body, found),
            _ => {}
        }
    }
}

/// Whether a statement, or one inside it, reads or assigns a variable.
pub(super) fn mentions(statement: &Statement, variable: &str) -> bool {
    let mut found = BTreeSet::new();
    collect(std::slice::from_ref(statement), &mut found);
    found.contains(variable) || assigns(statement, variable)
}

pub(super) fn assigns(statement: &Statement, variable: &str) -> bool {
    let inside = |statements: &[Statement]| statements.iter().any(|inner| assigns(inner, variable));
    match statement {
        Statement::Set { local, .. } => local == variable,
        Statement::Count(counted) => counted.assigns(variable),
        Statement::If { then, otherwise, .. } => inside(then) || inside(otherwise),
        Statement::Loop { body, .. } | Statement::For { body, .. } => inside(body),
        _ => false,
    }
}

/// How often each variable is read.
pub(super) fn occurrences(statements: &[Statement]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    let mut work: Vec<&Statement> = statements.iter().collect();
    while let Some(statement) = work.pop() {
        let mut found = BTreeSet::new();
        match statement {
            Statement::Barrier { text, .. } => words(text, &mut found),
            Statement::Announce { object, .. } => words(object, &mut found),
            Statement::Copy { object, mask, to, .. } => {
                words(object, &mut found);
                mask.iter().for_each(|mask| words(mask, &mut found));
                work.extend(to);
            }
            Statement::Set { value, .. } => words(&value.text, &mut found),
            Statement::If { condition, then, otherwise, .. } => {
                if let Condition::Value { text, .. } = condition {
                    words(text, &mut found);
                }
                work.extend(then.iter().chain(otherwise));
            }
            Statement::Loop { body, .. } | Statement::For { body, .. } => work.extend(body),
            Statement::Access(access) => words(&access.text, &mut found),
            Statement::Count(counted) => found.extend(counted.reads().cloned()),
            Statement::Break | Statement::Continue | Statement::Exit { .. } => {}
        }
        for word in found {
            *counts.entry(word).or_default() += 1;
        }
    }
    counts
}

/// The variables that statements assign, and those that count the iterations of loops inside.
pub(super) fn all_assigned(statements: &[Statement]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for statement in statements {
        match statement {
            Statement::Set { local, .. } => {
                found.insert(local.clone());
            }
            Statement::If { then, otherwise, .. } => {
                found.extend(all_assigned(then));
                found.extend(all_assigned(otherwise));
            }
            Statement::Loop { body, .. } => found.extend(all_assigned(body)),
            Statement::For { variable, body, .. } => {
                found.insert(variable.clone());
                found.extend(all_assigned(body));
            }
            _ => {}
        }
    }
    found
}

/// The variables that statements without loops change. Of a number that is counted, those that say how many
/// of its first thresholds are reached are set where it begins.
pub(super) fn changed(statements: &[Statement]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for statement in statements {
        match statement {
            Statement::Set { local, .. } => drop(found.insert(local.clone())),
            Statement::Count(counted) => {
                let begins = matches!(counted.counting, Counting::Begin { .. } | Counting::Choose);
                let changes = |local: &&String| begins || **local != counted.count;
                found.extend(counted.variables().filter(changes).cloned());
            }
            Statement::If { then, otherwise, .. } => {
                found.extend(changed(then));
                found.extend(changed(otherwise));
            }
            _ => {}
        }
    }
    found
}

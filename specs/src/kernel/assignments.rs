//! Variables that get their values at once, where paths meet.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::span::Span;

use super::tree::{Amount, Statement, Statements};

/// Assignments that happen at once, one after the other: a variable is read before it is assigned.
pub(super) fn in_order(mut assigned: BTreeMap<String, (Amount, BTreeSet<String>)>, span: Span) -> Statements {
    let mut statements = Vec::new();
    let mut kept = Vec::new();
    while !assigned.is_empty() {
        let is_free =
            |name: &String| !assigned.iter().any(|(other, (_, used))| other != name && used.contains(name));
        let free = assigned.keys().find(|name| is_free(name)).cloned();
        match free {
            Some(name) => {
                if let Some((value, _)) = assigned.remove(&name) {
                    statements.push(Statement::Set { local: name, value, span });
                }
            }
            None => {
                // A circle: one keeps its new value aside.
                let Some((name, (value, _))) = assigned.pop_first() else { break };
                let aside = format!("{name}_next");
                statements.push(Statement::Set {
                    local: aside.clone(),
                    value: Amount { step: None, ..value },
                    span,
                });
                kept.push((name, aside));
            }
        }
    }
    for (local, aside) in kept {
        let value = Amount { text: aside, number: None, step: None };
        statements.push(Statement::Set { local, value, span });
    }
    statements
}

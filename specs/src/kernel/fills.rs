//! Copies into memory of the group for which their thread waits, and their groups.

use super::code::{Action, Argument, Awaited, Synchronisation};
use super::tree::{Statement, Statements};

/// How such a copy begins in protocols; what is done to groups begins with it.
pub(super) const FILL: &str = "cp.async";

/// The copies of a thread become a group.
pub(crate) fn commit_group() -> Action {
    on_groups(".commit_group", Vec::new())
}

/// A thread waits until at most so many of its groups are pending, or for all its copies.
pub(crate) fn wait_group(newest: Option<Argument>) -> Action {
    match newest {
        Some(newest) => on_groups(".wait_group {}", vec![(newest, "number of groups")]),
        None => on_groups(".wait_all", Vec::new()),
    }
}

fn on_groups(what: &str, operands: Vec<(Argument, &'static str)>) -> Action {
    let statement = format!("{FILL}{what}");
    Action::Synchronise(Synchronisation { statement, operands, awaited: Awaited::Nobody })
}

fn is_on_groups(text: &str) -> bool {
    let what = text.strip_prefix(FILL);
    what.is_some_and(|what| what.starts_with(".commit_group") || what.starts_with(".wait_"))
}

/// Whether such copies are left in a program.
pub(super) fn has_fills(statements: &[Statement]) -> bool {
    statements.iter().any(|statement| match statement {
        Statement::Access(access) => access.text.starts_with(FILL),
        Statement::If { then, otherwise, .. } => has_fills(then) || has_fills(otherwise),
        Statement::Loop { body, .. } | Statement::For { body, .. } => has_fills(body),
        _ => false,
    })
}

/// A program without what is done to groups.
pub(super) fn without_groups(statements: Statements) -> Statements {
    let kept = |statement: Statement| match statement {
        Statement::Barrier { text, .. } if is_on_groups(&text) => None,
        Statement::If { condition, then, otherwise, span } => {
            let was_empty = then.is_empty() && otherwise.is_empty();
            let (then, otherwise) = (without_groups(then), without_groups(otherwise));
            let is_empty = then.is_empty() && otherwise.is_empty() && !was_empty;
            (!is_empty).then_some(Statement::If { condition, then, otherwise, span })
        }
        Statement::Loop { body, header, span } => {
            Some(Statement::Loop { body: without_groups(body), header, span })
        }
        Statement::For { variable, from, to, body, span } => {
            Some(Statement::For { variable, from, to, body: without_groups(body), span })
        }
        other => Some(other),
    };
    statements.into_iter().filter_map(kept).collect()
}

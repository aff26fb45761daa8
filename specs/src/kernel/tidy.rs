//! Makes a residual program one that a person reads with pleasure: without what nobody notices, with loops
//! that count as loops that count.

use std::collections::{BTreeMap, BTreeSet};

use super::count::{counted, iterate};
use super::mentions::{assigns, changed, collect, mentions, occurrences, reads, words_of, written};
use super::steps::of_object;
use super::tree::{Condition, Statement, Statements, breaks, continues, ends, exits, synchronises};

/// Passes over a program: each may make room for the next.
const PASSES: usize = 12;
/// The same program, tidied.
pub(super) fn tidy(mut statements: Statements) -> Statements {
    for _ in 0..PASSES {
        let before = statements.clone();
        leave_by_break(&mut statements);
        rest_of_lanes(&mut statements);
        statements = list(statements);
        let read = reads(&statements);
        statements = without_unread(statements, &read);
        let read = occurrences(&statements);
        statements = without_idle_loops(statements, &read);
        statements = without_last_loops(statements, BTreeSet::new());
        if statements == before {
            break;
        }
    }
    name_counters(&mut statements, 0);
    // The end of a block is an exit.
    if matches!(statements.last(), Some(Statement::Exit { .. })) && statements.len() > 1 {
        statements.pop();
    }
    statements
}

/// Names what only counts iterations by how deep it is inside loops.
fn name_counters(statements: &mut Statements, depth: usize) {
    for statement in statements {
        match statement {
            Statement::If { then, otherwise, .. } => {
                name_counters(then, depth);
                name_counters(otherwise, depth);
            }
            Statement::Loop { body, .. } => name_counters(body, depth),
            Statement::For { variable, body, .. } => {
                if !body.iter().any(|inside| mentions(inside, variable)) {
                    *variable =
                        ["i", "j", "k"].get(depth).map_or_else(|| format!("i{depth}"), |i| (*i).to_owned());
                }
                name_counters(body, depth + 1);
            }
            _ => {}
        }
    }
}

/// The end of the kernel is reached behind its last loop just as well.
fn leave_by_break(statements: &mut Statements) {
    if matches!(statements.as_slice(), [.., Statement::Loop { .. }, Statement::Exit { .. }]) {
        statements.pop();
    }
    match statements.last_mut() {
        Some(Statement::Loop { body, .. }) if !body.is_empty() => exits_to_breaks(body),
        Some(Statement::If { then, otherwise, .. }) => {
            leave_by_break(then);
            leave_by_break(otherwise);
        }
        _ => {}
    }
}

/// What is left at the end of the kernel for some lanes, `if lane >= 1 { exit; } …`, is done by these
/// alone: `if lane == 0 { … }`. Where they come to barriers it matters that the others are gone.
fn rest_of_lanes(statements: &mut Statements) {
    let ends_others = |statement: &Statement| match statement {
        Statement::If { condition, then, otherwise, .. } => {
            condition.parts() && otherwise.is_empty() && matches!(then[..], [Statement::Exit { .. }])
        }
        _ => false,
    };
    if let Some(at) = statements.iter().position(ends_others)
        && !meets(&statements[at + 1..])
        && let Some(Statement::If { condition, then, .. }) = statements.get_mut(at)
        && let Some(negated) = condition.clone().negated()
    {
        *condition = negated;
        then.clear();
        let mut rest = statements.split_off(at + 1);
        rest.pop_if(|last| matches!(last, Statement::Exit { .. }));
        if let Some(Statement::If { then, .. }) = statements.last_mut() {
            *then = rest;
        }
    }
    if let Some(Statement::If { then, otherwise, .. }) = statements.last_mut() {
        rest_of_lanes(then);
        rest_of_lanes(otherwise);
    }
}

/// Whether lanes come to barriers here for which it matters who else is there: to others than mbarriers.
fn meets(statements: &[Statement]) -> bool {
    statements.iter().any(|statement| match statement {
        Statement::Barrier { text, .. } => !of_object(text),
        Statement::If { then, otherwise, .. } => meets(then) || meets(otherwise),
        Statement::Loop { body, .. } | Statement::For { body, .. } => meets(body),
        _ => false,
    })
}

fn exits_to_breaks(body: &mut Statements) {
    for statement in body {
        match statement {
            Statement::Exit { .. } => *statement = Statement::Break,
            Statement::If { then, otherwise, .. } => {
                exits_to_breaks(then);
                exits_to_breaks(otherwise);
            }
            _ => {}
        }
    }
}

/// Without loops that only compute what nobody else reads: they are taken to end.
fn without_idle_loops(statements: Statements, read: &BTreeMap<String, usize>) -> Statements {
    let mut kept = Vec::with_capacity(statements.len());
    for statement in statements {
        match statement {
            Statement::Loop { body, header, span } => {
                let inside = occurrences(&body);
                let is_read = |local: &String| read.get(local) != inside.get(local);
                if breaks(&body) && is_idle(&body) && !changed(&body).iter().any(is_read) {
                    continue;
                }
                kept.push(Statement::Loop { body: without_idle_loops(body, read), header, span });
            }
            Statement::If { condition, then, otherwise, span } => {
                let then = without_idle_loops(then, read);
                let otherwise = without_idle_loops(otherwise, read);
                kept.push(Statement::If { condition, then, otherwise, span });
            }
            Statement::For { variable, from, to, body, span } => {
                let body = without_idle_loops(body, read);
                kept.push(Statement::For { variable, from, to, body, span });
            }
            other => kept.push(other),
        }
    }
    kept
}

/// Without loops behind which nobody asks for what they compute or count, outside of other loops.
fn without_last_loops(statements: Statements, mut later: BTreeSet<String>) -> Statements {
    let mut kept = Vec::with_capacity(statements.len());
    for statement in statements.into_iter().rev() {
        let statement = match statement {
            Statement::Loop { body, header, span } => {
                let mut inside = BTreeSet::new();
                written(&body, &mut inside);
                if breaks(&body) && is_idle(&body) && inside.is_disjoint(&later) {
                    continue;
                }
                Statement::Loop { body, header, span }
            }
            Statement::If { condition, then, otherwise, span } => {
                let then = without_last_loops(then, later.clone());
                let otherwise = without_last_loops(otherwise, later.clone());
                Statement::If { condition, then, otherwise, span }
            }
            other => other,
        };
        collect(std::slice::from_ref(&statement), &mut later);
        written(std::slice::from_ref(&statement), &mut later);
        kept.push(statement);
    }
    kept.reverse();
    kept
}

/// Whether a loop's body only computes, counts, decides and leaves the loop.
fn is_idle(statements: &[Statement]) -> bool {
    statements.iter().all(|statement| match statement {
        Statement::Set { .. } | Statement::Count(_) | Statement::Break | Statement::Continue => true,
        Statement::If { then, otherwise, .. } => is_idle(then) && is_idle(otherwise),
        _ => false,
    })
}

fn list(statements: Statements) -> Statements {
    let mut tidied: Statements = Vec::with_capacity(statements.len());
    for statement in statements {
        match statement {
            Statement::If { condition, then, otherwise, span } => {
                branch((condition, list(then), list(otherwise)), span, &mut tidied);
            }
            Statement::Loop { body, span, .. } => {
                let body = loop_body(list(body));
                repeated(body, span, &mut tidied);
            }
            Statement::For { variable, from, to, body, span } => {
                let body = list(body);
                if !body.is_empty() {
                    tidied.push(Statement::For { variable, from, to, body, span });
                }
            }
            other => tidied.push(other),
        }
        // Nothing is reached behind an end.
        if ends(&tidied) {
            break;
        }
    }
    tidied
}

/// Adds an `if`, in its simplest form.
fn branch(
    (condition, then, otherwise): (Condition, Statements, Statements),
    span: crate::common::span::Span,
    tidied: &mut Statements,
) {
    if then.is_empty() && otherwise.is_empty() {
        return;
    }
    // The lanes of a warp take both arms one after the other, even if these are alike.
    let splits = condition.parts();
    if then == otherwise && !splits {
        tidied.extend(then);
        return;
    }
    // Who asks the same again gets the same answer.
    if let Some(Statement::If { condition: before, then: first, otherwise: second, .. }) = tidied.last_mut()
        && *before == condition
        && is_asked_again(before, first, second)
    {
        first.extend(then);
        second.extend(otherwise);
        return;
    }
    let turn = then.is_empty() || ends(&otherwise) && !ends(&then);
    let negated = if turn { condition.clone().negated() } else { None };
    let (condition, then, otherwise) = match negated {
        Some(negated) => (negated, otherwise, then),
        None => (condition, then, otherwise),
    };
    // Lanes that wait behind the `if` would not come to the barriers that those inside wait at.
    if ends(&then) && !(splits && synchronises(&then)) {
        tidied.push(Statement::If { condition, then, otherwise: Vec::new(), span });
        tidied.extend(otherwise);
    } else {
        tidied.push(Statement::If { condition, then, otherwise, span });
    }
}

/// Whether a condition has the same outcome behind its own arms, which both come to their ends.
fn is_asked_again(condition: &Condition, then: &[Statement], otherwise: &[Statement]) -> bool {
    let words = match condition {
        Condition::Value { text, .. } => words_of(text),
        // The same decision at the same iteration.
        Condition::Uniform { .. } => BTreeSet::new(),
        Condition::OfWarp | Condition::OfLane => return false,
    };
    let mut all = then.iter().chain(otherwise);
    !ends(then)
        && !ends(otherwise)
        && !all.any(|inside| leaves(inside) || words.iter().any(|word| assigns(inside, word)))
}

/// Whether control may go elsewhere than behind a statement.
fn leaves(statement: &Statement) -> bool {
    let inside = std::slice::from_ref(statement);
    exits(inside) || breaks(inside) || continues(inside)
}

/// A loop's body without `continue` where the body ends anyway.
fn loop_body(mut body: Statements) -> Statements {
    // `if c { …; continue; } break;` is `if !c { break; } …`.
    if let [.., Statement::If { then, otherwise, .. }, Statement::Break] = body.as_slice()
        && otherwise.is_empty()
        && matches!(then.last(), Some(Statement::Continue))
    {
        body.pop();
        if let Some(Statement::If { condition, mut then, span, .. }) = body.pop() {
            match condition.clone().negated() {
                Some(condition) => {
                    then.pop();
                    let leave = vec![Statement::Break];
                    body.push(Statement::If { condition, then: leave, otherwise: Vec::new(), span });
                    body.extend(then);
                }
                None => {
                    body.push(Statement::If { condition, then, otherwise: Vec::new(), span });
                    body.push(Statement::Break);
                }
            }
        }
    }
    without_tail(body)
}

fn without_tail(mut body: Statements) -> Statements {
    match body.pop() {
        None | Some(Statement::Continue) => {}
        Some(Statement::If { condition, then, otherwise, span }) => {
            let (then, otherwise) = (without_tail(then), without_tail(otherwise));
            body.push(Statement::If { condition, then, otherwise, span });
        }
        Some(other) => body.push(other),
    }
    body
}

/// Adds a loop, in its simplest form.
fn repeated(body: Statements, span: crate::common::span::Span, tidied: &mut Statements) {
    // A loop in which nothing happens is taken to end; one without an end is kept.
    if breaks(&body) && body.iter().all(only_leaves) {
        return;
    }
    if let [inside @ .., Statement::Break] = body.as_slice()
        && !breaks(inside)
        && !continues(inside)
    {
        tidied.extend(inside.iter().cloned());
        return;
    }
    match counted(&body, tidied) {
        Some(count) => tidied.extend(iterate(count, span)),
        None => tidied.push(Statement::Loop { body, header: 0, span }),
    }
}

/// Whether all that a statement does is to leave the loop.
fn only_leaves(statement: &Statement) -> bool {
    match statement {
        Statement::Break | Statement::Continue => true,
        Statement::If { then, otherwise, .. } => {
            then.iter().all(only_leaves) && otherwise.iter().all(only_leaves)
        }
        _ => false,
    }
}

fn without_unread(statements: Statements, read: &BTreeSet<String>) -> Statements {
    let mut kept = Vec::with_capacity(statements.len());
    for statement in statements {
        match statement {
            Statement::Set { local, .. } if !read.contains(&local) => {}
            Statement::Count(counted) if !counted.is_read(read) => {}
            Statement::If { condition, then, otherwise, span } => {
                let then = without_unread(then, read);
                let otherwise = without_unread(otherwise, read);
                kept.push(Statement::If { condition, then, otherwise, span });
            }
            Statement::Loop { body, header, span } => {
                kept.push(Statement::Loop { body: without_unread(body, read), header, span });
            }
            Statement::For { variable, from, to, body, span } => {
                kept.push(Statement::For { variable, from, to, body: without_unread(body, read), span });
            }
            other => kept.push(other),
        }
    }
    kept
}

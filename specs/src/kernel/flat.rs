//! Programs in which accesses stand in the place of branches and loops that only decide about them.

use std::collections::BTreeSet;

use super::mentions::{all_assigned, changed, occurrences, words_of};
use super::tree::{Accessed, Condition, Statement, Statements, breaks};
use crate::common::span::Span;

/// What need not be done.
pub(super) fn perhaps(then: Statements) -> Statement {
    let span = match then.first() {
        Some(Statement::Access(access)) => access.span,
        _ => Span::default(),
    };
    Statement::If { condition: Condition::OfWarp, then, otherwise: Vec::new(), span }
}

/// The same program without branches and loops that only decide about accesses: which lanes access what is
/// known of each access.
pub(super) fn flat(statements: Statements) -> Statements {
    let all = occurrences(&statements);
    let of_lanes = of_lanes(&statements);
    list(statements, &of_lanes, &|body| {
        let inside = occurrences(body);
        changed(body).iter().all(|local| all.get(local) == inside.get(local))
    })
}

/// The same program without accesses that a warp has made just before in the same places, with nothing
/// done in between but accesses.
pub(super) fn without_repeated(statements: Statements) -> Statements {
    let (mut kept, mut made) = (Vec::with_capacity(statements.len()), BTreeSet::new());
    for statement in statements {
        if let Some(text) = only_accesses(&statement) {
            if made.insert(text) {
                kept.push(statement);
            }
            continue;
        }
        made.clear();
        kept.push(match statement {
            Statement::If { condition, then, otherwise, span } => {
                let (then, otherwise) = (without_repeated(then), without_repeated(otherwise));
                Statement::If { condition, then, otherwise, span }
            }
            Statement::Loop { body, header, span } => {
                Statement::Loop { body: without_repeated(body), header, span }
            }
            Statement::For { variable, from, to, body, span } => {
                Statement::For { variable, from, to, body: without_repeated(body), span }
            }
            other => other,
        });
    }
    kept
}

/// What a statement says that does nothing but access locations, or assert something of these.
fn only_accesses(statement: &Statement) -> Option<String> {
    let all = |statements: &[Statement]| statements.iter().map(only_accesses).collect::<Option<Vec<_>>>();
    match statement {
        Statement::Access(access) if !access.touch.is_of_group() => Some(access.text.clone()),
        Statement::If { condition, then, otherwise, .. } => {
            let asked = match condition {
                Condition::Value { text, .. } => text,
                Condition::OfWarp => "?",
                Condition::OfLane | Condition::Uniform { .. } => return None,
            };
            let (then, otherwise) = (all(then)?.join(";"), all(otherwise)?.join(";"));
            Some(format!("if {asked} {{{then}}} else {{{otherwise}}}"))
        }
        _ => None,
    }
}

/// What need not be the same for the lanes of a warp.
fn of_lanes(statements: &[Statement]) -> BTreeSet<String> {
    let mut found = BTreeSet::from(["lane".to_owned()]);
    loop {
        let before = found.len();
        let mut work: Vec<&Statement> = statements.iter().collect();
        while let Some(statement) = work.pop() {
            match statement {
                Statement::Set { local, value, .. } if !words_of(&value.text).is_disjoint(&found) => {
                    found.insert(local.clone());
                }
                Statement::If { then, otherwise, .. } => work.extend(then.iter().chain(otherwise)),
                Statement::Loop { body, .. } | Statement::For { body, .. } => work.extend(body),
                _ => {}
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

fn list(
    statements: Statements,
    of_lanes: &BTreeSet<String>,
    is_own: &impl Fn(&[Statement]) -> bool,
) -> Statements {
    let mut flat = Vec::with_capacity(statements.len());
    for statement in statements {
        match statement {
            Statement::If { condition, then, otherwise, span } => {
                let (then, otherwise) = (list(then, of_lanes, is_own), list(otherwise, of_lanes, is_own));
                let decides = (are_accesses(&then) && are_accesses(&otherwise))
                    && !(then.is_empty() && otherwise.is_empty());
                match (&condition, decides) {
                    // In `bytes` it is known which lanes come to them.
                    (_, true) if all_know(&then, span) && all_know(&otherwise, span) => {
                        flat.extend([then, otherwise].concat());
                    }
                    // But each lane waits for its own copies.
                    (Condition::Value { text, .. }, true)
                        if is_of_lanes(text) && !has_copy(&then) && !has_copy(&otherwise) =>
                    {
                        flat.extend([then, otherwise].concat());
                    }
                    (Condition::OfLane | Condition::OfWarp, true) => {
                        flat.extend([then, otherwise].concat().into_iter().map(made_doubtful));
                    }
                    // By lane and by what changes with the rounds of a loop.
                    (Condition::Value { text, .. }, _)
                        if !is_of_lanes(text) && !words_of(text).is_disjoint(of_lanes) =>
                    {
                        let (then, otherwise) = (doubtful(then, span), doubtful(otherwise, span));
                        flat.push(Statement::If { condition, then, otherwise, span });
                    }
                    _ => flat.push(Statement::If { condition, then, otherwise, span }),
                }
            }
            Statement::Loop { body, header, span } => {
                let body = list(body, of_lanes, is_own);
                // What stands behind a loop without an end is not come to.
                if breaks(&body)
                    && has_access(&body)
                    && is_only_about(&body, &all_assigned(&body))
                    && is_own(&body)
                {
                    gather(body, &mut Vec::new(), &mut flat);
                } else {
                    flat.push(Statement::Loop { body, header, span });
                }
            }
            Statement::For { variable, from, to, body, span } => {
                let body = list(body, of_lanes, is_own);
                if has_access(&body) && is_only_about(&body, &all_assigned(&body)) && is_own(&body) {
                    gather(body, &mut doubts(from >= to), &mut flat);
                } else {
                    flat.push(Statement::For { variable, from, to, body, span });
                }
            }
            other => flat.push(other),
        }
    }
    flat
}

/// Statements under a branch, those accesses in doubt of which it is not known that the branch brings all
/// of their lanes there or none.
fn doubtful(statements: Statements, branch: Span) -> Statements {
    let is_exact = |access: &Accessed| access.exact.contains(&branch) || access.known.contains(&branch);
    let one = |statement: Statement| match statement {
        Statement::Access(access) if access.text.is_empty() && !is_exact(&access) => {
            perhaps(vec![Statement::Access(access)])
        }
        Statement::If { condition: Condition::OfWarp, .. } => statement,
        Statement::If { condition, then, otherwise, span } => {
            let (then, otherwise) = (doubtful(then, branch), doubtful(otherwise, branch));
            Statement::If { condition, then, otherwise, span }
        }
        Statement::Loop { body, header, span } => {
            Statement::Loop { body: doubtful(body, branch), header, span }
        }
        Statement::For { variable, from, to, body, span } => {
            Statement::For { variable, from, to, body: doubtful(body, branch), span }
        }
        other => other,
    };
    statements.into_iter().map(one).collect()
}

/// Whether these are accesses, and what need not be accessed.
fn are_accesses(statements: &[Statement]) -> bool {
    statements.iter().all(|statement| match statement {
        Statement::Access(access) => access.text.is_empty(),
        Statement::If { condition: Condition::OfWarp, then, otherwise, .. } => {
            otherwise.is_empty() && then.iter().all(|inside| matches!(inside, Statement::Access(_)))
        }
        _ => false,
    })
}

fn made_doubtful(statement: Statement) -> Statement {
    match statement {
        Statement::Access(_) => perhaps(vec![statement]),
        other => other,
    }
}

fn has_copy(statements: &[Statement]) -> bool {
    statements.iter().any(|statement| match statement {
        Statement::Access(access) => access.touch.is_of_group(),
        Statement::If { then, otherwise, .. } => has_copy(then) || has_copy(otherwise),
        _ => false,
    })
}

fn has_access(statements: &[Statement]) -> bool {
    statements.iter().any(|statement| match statement {
        Statement::Access(_) => true,
        Statement::If { then, otherwise, .. } => has_access(then) || has_access(otherwise),
        Statement::Loop { body, .. } | Statement::For { body, .. } => has_access(body),
        _ => false,
    })
}

/// Whether the body of a loop that changes some variables only accesses memory, computes, and leaves the
/// loop.
fn is_only_about(statements: &[Statement], own: &BTreeSet<String>) -> bool {
    statements.iter().all(|statement| match statement {
        Statement::Access(_) | Statement::Set { .. } | Statement::Break | Statement::Continue => true,
        // Which address it is: not another one in each round.
        Statement::If { condition: Condition::Value { text, decided, .. }, then, otherwise, .. }
            if !decided.is_private && has_access(then) =>
        {
            let is_same = decided.decisions.is_empty() && words_of(text).is_disjoint(own);
            is_same && are_accesses(then) && otherwise.is_empty()
        }
        Statement::If { then, otherwise, .. } => is_only_about(then, own) && is_only_about(otherwise, own),
        Statement::Loop { body, .. } | Statement::For { body, .. } => is_only_about(body, own),
        _ => false,
    })
}

/// The accesses of a loop. What stands under a condition need not be done, nor what stands behind a place
/// where the loop may be left, unless it is known how these branches go.
fn gather(statements: Statements, doubts: &mut Vec<Span>, flat: &mut Statements) {
    for statement in statements {
        match statement {
            Statement::Access(_) if !doubts.iter().all(|span| knows(&statement, *span)) => {
                flat.push(made_doubtful(statement));
            }
            Statement::Access(_) => flat.push(statement),
            Statement::If { condition: Condition::Value { text, compares, decided }, then, span, .. }
                if !decided.is_private && has_access(&then) =>
            {
                let doubtful = |inside: Statement| {
                    let is_sure = doubts.iter().all(|span| knows(&inside, *span));
                    if is_sure { inside } else { made_doubtful(inside) }
                };
                let then = then.into_iter().map(doubtful).collect();
                let condition = Condition::Value { text, compares, decided };
                flat.push(Statement::If { condition, then, otherwise: Vec::new(), span });
            }
            Statement::If { then, otherwise, span, .. } => {
                let leaves = leaves(&then) || leaves(&otherwise);
                let before = doubts.len();
                doubts.push(span);
                gather(then, doubts, flat);
                doubts.truncate(before + 1);
                gather(otherwise, doubts, flat);
                doubts.truncate(before + usize::from(leaves));
            }
            Statement::Loop { body, .. } => gather(body, &mut doubts.clone(), flat),
            Statement::For { from, to, body, .. } => {
                let more = [doubts.clone(), self::doubts(from >= to)].concat();
                gather(body, &mut more.clone(), flat);
            }
            Statement::Break | Statement::Continue => doubts.push(Span::default()),
            _ => {}
        }
    }
}

/// A doubt that nothing takes away, if there is one.
fn doubts(is_doubtful: bool) -> Vec<Span> {
    is_doubtful.then(Span::default).into_iter().collect()
}

/// Whether it is known of all accesses how a branch goes.
fn all_know(statements: &[Statement], branch: Span) -> bool {
    statements.iter().all(|statement| knows(statement, branch))
}

fn knows(statement: &Statement, branch: Span) -> bool {
    match statement {
        Statement::Access(access) => access.known.contains(&branch),
        Statement::If { then, otherwise, .. } => all_know(then, branch) && all_know(otherwise, branch),
        _ => false,
    }
}

fn leaves(statements: &[Statement]) -> bool {
    statements.iter().any(|statement| match statement {
        Statement::Break | Statement::Continue | Statement::Exit { .. } => true,
        Statement::If { then, otherwise, .. } => leaves(then) || leaves(otherwise),
        _ => false,
    })
}

/// Whether a condition asks nothing but which lane it is.
fn is_of_lanes(text: &str) -> bool {
    words_of(text).iter().eq(BTreeSet::from(["lane".to_owned()]).iter())
}

//! Makes a residual program one that a person reads with pleasure: without what nobody notices, with loops
//! that count as loops that count.

use std::collections::{BTreeMap, BTreeSet};

use super::code::Comparison;
use super::tree::{Condition, Statement, Statements, breaks, ends};

/// Passes over a program: each may make room for the next.
const PASSES: usize = 12;
/// Iterations up to which a loop that counts is run to see how often.
const ITERATIONS: i64 = 1 << 22;

/// The same program, tidied.
pub(super) fn tidy(mut statements: Statements) -> Statements {
    for _ in 0..PASSES {
        let before = statements.clone();
        leave_by_break(&mut statements);
        statements = list(statements);
        let read = reads(&statements);
        statements = without_unread(statements, &read);
        let read = occurrences(&statements);
        statements = without_idle_loops(statements, &read);
        if statements == before {
            break;
        }
    }
    // The end of a block is an exit.
    if matches!(statements.last(), Some(Statement::Exit { .. })) && statements.len() > 1 {
        statements.pop();
    }
    statements
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

/// How often each variable is read.
fn occurrences(statements: &[Statement]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    let mut work: Vec<&Statement> = statements.iter().collect();
    while let Some(statement) = work.pop() {
        let mut found = BTreeSet::new();
        match statement {
            Statement::Barrier { text, .. } => words(text, &mut found),
            Statement::Set { value, .. } => words(&value.text, &mut found),
            Statement::If { condition, then, otherwise, .. } => {
                if let Condition::Value { text, .. } = condition {
                    words(text, &mut found);
                }
                work.extend(then.iter().chain(otherwise));
            }
            Statement::Loop { body, .. } | Statement::For { body, .. } => work.extend(body),
            Statement::Break | Statement::Continue | Statement::Exit { .. } => {}
        }
        for word in found {
            *counts.entry(word).or_default() += 1;
        }
    }
    counts
}

/// Without loops that only compute what nobody else reads: they are taken to end.
fn without_idle_loops(statements: Statements, read: &BTreeMap<String, usize>) -> Statements {
    let mut kept = Vec::with_capacity(statements.len());
    for statement in statements {
        match statement {
            Statement::Loop { body, span } => {
                let inside = occurrences(&body);
                let is_read = |local: &String| read.get(local) != inside.get(local);
                if breaks(&body) && is_idle(&body) && !assigned(&body).iter().any(is_read) {
                    continue;
                }
                kept.push(Statement::Loop { body: without_idle_loops(body, read), span });
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

/// Whether a loop's body only computes, decides and leaves the loop.
fn is_idle(statements: &[Statement]) -> bool {
    statements.iter().all(|statement| match statement {
        Statement::Set { .. } | Statement::Break | Statement::Continue => true,
        Statement::If { then, otherwise, .. } => is_idle(then) && is_idle(otherwise),
        _ => false,
    })
}

fn assigned(statements: &[Statement]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for statement in statements {
        match statement {
            Statement::Set { local, .. } => {
                found.insert(local.clone());
            }
            Statement::If { then, otherwise, .. } => {
                found.extend(assigned(then));
                found.extend(assigned(otherwise));
            }
            _ => {}
        }
    }
    found
}

fn list(statements: Statements) -> Statements {
    let mut tidied: Statements = Vec::with_capacity(statements.len());
    for statement in statements {
        match statement {
            Statement::If { condition, then, otherwise, span } => {
                branch((condition, list(then), list(otherwise)), span, &mut tidied);
            }
            Statement::Loop { body, span } => {
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
    let splits = match &condition {
        Condition::OfLane => true,
        Condition::Value { decided, .. } => decided.is_private,
        _ => false,
    };
    if then == otherwise && !splits {
        tidied.extend(then);
        return;
    }
    let turn = then.is_empty() || ends(&otherwise) && !ends(&then);
    let negated = if turn { condition.clone().negated() } else { None };
    let (condition, then, otherwise) = match negated {
        Some(negated) => (negated, otherwise, then),
        None => (condition, then, otherwise),
    };
    if ends(&then) {
        tidied.push(Statement::If { condition, then, otherwise: Vec::new(), span });
        tidied.extend(otherwise);
    } else {
        tidied.push(Statement::If { condition, then, otherwise, span });
    }
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
        Some((count, rest)) => tidied.extend(iterate(count, rest, span)),
        None => tidied.push(Statement::Loop { body, span }),
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

fn continues(body: &[Statement]) -> bool {
    body.iter().any(|statement| match statement {
        Statement::Continue => true,
        Statement::If { then, otherwise, .. } => continues(then) || continues(otherwise),
        _ => false,
    })
}

/// A variable that counts iterations.
struct Count {
    variable: String,
    from: i64,
    step: i64,
    iterations: i64,
}

/// What counts the iterations of a loop, and its body without that.
fn counted(body: &[Statement], before: &[Statement]) -> Option<(Count, Statements)> {
    let leaves = |statement: &Statement| match statement {
        Statement::If {
            condition: Condition::Value { compares: Some(compares), .. },
            then,
            otherwise,
            ..
        } if **then == [Statement::Break] && otherwise.is_empty() => Some(compares.clone()),
        _ => None,
    };
    let step = |statement: &Statement, variable: &str| match statement {
        Statement::Set { local, value, .. } if local == variable => value.step,
        _ => None,
    };
    // Asked at the end of each iteration, or at its beginning.
    let (asked_first, (variable, comparison, number), rest, by) = match body {
        [inside @ .., last] if leaves(last).is_some() => {
            let asked = leaves(last)?;
            let by = inside.iter().find_map(|statement| step(statement, &asked.0))?;
            let at = inside.iter().position(|statement| step(statement, &asked.0).is_some())?;
            // Whoever reads the variable behind its step reads another number.
            if inside[at + 1..].iter().any(|statement| mentions(statement, &asked.0)) {
                return None;
            }
            let mut rest = inside.to_vec();
            rest.remove(at);
            (false, asked, rest, by)
        }
        [first, second, inside @ ..]
            if leaves(second).is_some_and(|asked| step(first, &asked.0).is_some()) =>
        {
            // Stepped before it is asked: the last time, nothing follows.
            let (variable, comparison, number) = leaves(second)?;
            let by = step(first, &variable)?;
            if inside.iter().any(|statement| mentions(statement, &variable)) {
                return None;
            }
            let count = counted_from(before, &variable, by, false, (comparison, number))?;
            let count = Count { iterations: count.iterations - 1, ..count };
            let rest = inside.to_vec();
            return (!breaks(&rest) && !continues(&rest)).then_some((count, rest));
        }
        [first, inside @ .., last] if leaves(first).is_some() => {
            let asked = leaves(first)?;
            let by = step(last, &asked.0)?;
            (true, asked, inside.to_vec(), by)
        }
        _ => return None,
    };
    let sets = rest.iter().any(|statement| assigns(statement, &variable));
    if sets || breaks(&rest) || continues(&rest) {
        return None;
    }
    let count = counted_from(before, &variable, by, asked_first, (comparison, number))?;
    Some((count, rest))
}

/// How often a loop runs whose variable is set before it.
fn counted_from(
    before: &[Statement],
    variable: &str,
    step: i64,
    asked_first: bool,
    (comparison, number): (Comparison, i64),
) -> Option<Count> {
    let from = before.iter().rev().map_while(|statement| match statement {
        Statement::Set { local, value, .. } => Some((local == variable).then_some(value.number)),
        _ => None,
    });
    let from = from.flatten().next()??;
    let iterations = iterations(from, step, asked_first, comparison, number)?;
    Some(Count { variable: variable.to_owned(), from, step, iterations })
}

/// How often a loop runs that counts so: numbers wrap at 32 bits.
fn iterations(from: i64, step: i64, asked_first: bool, leaves: Comparison, number: i64) -> Option<i64> {
    let holds = |a: i64| match leaves {
        Comparison::Equal => a == number,
        Comparison::NotEqual => a != number,
        Comparison::Less => a < number,
        Comparison::LessOrEqual => a <= number,
        Comparison::Greater => a > number,
        Comparison::GreaterOrEqual => a >= number,
    };
    let mut at = from;
    for done in 0..ITERATIONS {
        if asked_first && holds(at) {
            return Some(done);
        }
        at = at.checked_add(step).filter(|at| i32::try_from(*at).is_ok())?;
        if !asked_first && holds(at) {
            return Some(done + 1);
        }
    }
    None
}

fn iterate(count: Count, body: Statements, span: crate::common::span::Span) -> Statements {
    let Count { variable, from, step, iterations } = count;
    let used = body.iter().any(|statement| mentions(statement, &variable));
    let after = from + step * iterations;
    let last = Statement::Set {
        local: variable.clone(),
        value: super::tree::Amount { text: after.to_string(), number: Some(after), step: None },
        span,
    };
    let mut statements = match (iterations, used, step) {
        (0, ..) => Vec::new(),
        (1, false, _) => body,
        (_, false, _) => {
            vec![Statement::For { variable: format!("{variable}_"), from: 0, to: iterations, body, span }]
        }
        (_, true, 1) => vec![Statement::For { variable, from, to: from + iterations, body, span }],
        (_, true, _) => {
            // Another step than 1: the variable is counted beside the iterations.
            let text = format!("{variable} + {step}");
            let value =
                super::tree::Amount { text: text.replace("+ -", "- "), number: None, step: Some(step) };
            let mut body = body;
            body.push(Statement::Set { local: variable.clone(), value, span });
            vec![Statement::For { variable: format!("{variable}_"), from: 0, to: iterations, body, span }]
        }
    };
    statements.push(last);
    statements
}

/// The words of all expressions.
fn reads(statements: &[Statement]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    collect(statements, &mut found);
    found
}

fn collect(statements: &[Statement], found: &mut BTreeSet<String>) {
    for statement in statements {
        match statement {
            Statement::Barrier { text, .. } => words(text, found),
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
            Statement::Break | Statement::Continue | Statement::Exit { .. } => {}
        }
    }
}

fn words(text: &str, found: &mut BTreeSet<String>) {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    found.extend(words.filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic())).map(str::to_owned));
}

/// Whether a statement, or one inside it, reads or assigns a variable.
fn mentions(statement: &Statement, variable: &str) -> bool {
    let mut found = BTreeSet::new();
    collect(std::slice::from_ref(statement), &mut found);
    found.contains(variable) || assigns(statement, variable)
}

fn assigns(statement: &Statement, variable: &str) -> bool {
    let inside = |statements: &[Statement]| statements.iter().any(|inner| assigns(inner, variable));
    match statement {
        Statement::Set { local, .. } => local == variable,
        Statement::If { then, otherwise, .. } => inside(then) || inside(otherwise),
        Statement::Loop { body, .. } | Statement::For { body, .. } => inside(body),
        _ => false,
    }
}

fn without_unread(statements: Statements, read: &BTreeSet<String>) -> Statements {
    let mut kept = Vec::with_capacity(statements.len());
    for statement in statements {
        match statement {
            Statement::Set { local, .. } if !read.contains(&local) => {}
            Statement::If { condition, then, otherwise, span } => {
                let then = without_unread(then, read);
                let otherwise = without_unread(otherwise, read);
                kept.push(Statement::If { condition, then, otherwise, span });
            }
            Statement::Loop { body, span } => {
                kept.push(Statement::Loop { body: without_unread(body, read), span });
            }
            Statement::For { variable, from, to, body, span } => {
                kept.push(Statement::For { variable, from, to, body: without_unread(body, read), span });
            }
            other => kept.push(other),
        }
    }
    kept
}

//! Loops that count.

use super::code::Comparison;
use super::mentions::{assigns, mentions};
use super::tree::{Amount, Condition, Statement, Statements, breaks, continues};
use crate::common::span::Span;

/// Iterations up to which a loop that counts is run to see how often.
const ITERATIONS: i64 = 1 << 22;

/// A loop that is left once a variable has counted far enough: `before` runs as often as it is asked,
/// `behind` once less.
#[derive(Debug)]
pub(super) struct Count {
    variable: String,
    from: i64,
    step: i64,
    /// How often it is asked whether to leave.
    times: i64,
    /// What the variable holds behind the loop.
    after: i64,
    /// What stands before the question, and behind it, without the counting.
    before: Statements,
    behind: Statements,
    /// Somebody reads the variable.
    is_read: bool,
}

/// The comparison by which a statement leaves the loop.
fn leaves(statement: &Statement) -> Option<&(String, Comparison, i64)> {
    match statement {
        Statement::If {
            condition: Condition::Value { compares: Some(compares), .. },
            then,
            otherwise,
            ..
        } if **then == [Statement::Break] && otherwise.is_empty() => Some(compares),
        _ => None,
    }
}

/// A loop that counts, by its body and what stands before it.
pub(super) fn counted(body: &[Statement], outside: &[Statement]) -> Option<Count> {
    let at = body.iter().position(|statement| leaves(statement).is_some())?;
    let (variable, comparison, number) = leaves(&body[at])?;
    let (mut before, mut behind) = (body[..at].to_vec(), body[at + 1..].to_vec());
    let step_of = |statement: &Statement| match statement {
        Statement::Set { local, value, .. } if local == variable => value.step,
        _ => None,
    };
    let in_before = before.iter().position(|statement| step_of(statement).is_some());
    let list = if in_before.is_some() { &mut before } else { &mut behind };
    let place = list.iter().position(|statement| step_of(statement).is_some())?;
    let step = step_of(&list.remove(place))?;
    let late = list[place..].iter().any(|statement| mentions(statement, variable));
    let all = || before.iter().chain(&behind);
    if [&before, &behind].into_iter().any(|list| breaks(list) || continues(list))
        || all().any(|statement| assigns(statement, variable))
    {
        return None;
    }
    let is_read = all().any(|statement| mentions(statement, variable));
    // Who reads the variable has to read it before it is counted up, in a loop with one part.
    let is_simple = if in_before.is_some() { behind.is_empty() } else { before.is_empty() };
    if is_read && (late || !is_simple) {
        return None;
    }
    let from = outside.iter().rev().map_while(|statement| match statement {
        Statement::Set { local, value, .. } => Some((local == variable).then_some(value.number)),
        _ => None,
    });
    let from = from.flatten().next()??;
    let (times, after) = if in_before.is_some() {
        let times = iterations(from, step, false, *comparison, *number)?;
        (times, from + step * times)
    } else {
        let times = iterations(from, step, true, *comparison, *number)?;
        (times + 1, from + step * times)
    };
    Some(Count { variable: variable.clone(), from, step, times, after, before, behind, is_read })
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

/// The loop as one that counts.
pub(super) fn iterate(count: Count, span: Span) -> Statements {
    let Count { variable, from, step, times, after, before, behind, is_read } = count;
    let number = |number: i64| Amount { text: number.to_string(), number: Some(number), step: None };
    let last = Statement::Set { local: variable.clone(), value: number(after), span };
    let (body, count, rest) = match (before.is_empty(), behind.is_empty()) {
        (_, true) => (before, times, Vec::new()),
        (true, _) => (behind, times - 1, Vec::new()),
        _ => ([before.as_slice(), &behind].concat(), times - 1, before),
    };
    let repeated = |variable: String, from: i64, body: Statements| {
        vec![Statement::For { variable, from, to: from + count, body, span }]
    };
    let beside = format!("{variable}_");
    let mut statements = match (count, is_read, step) {
        (0, ..) => Vec::new(),
        (1, false, _) => body,
        (_, false, _) => repeated(beside, 0, body),
        (_, true, 1) => repeated(variable, from, body),
        (_, true, _) => {
            // Another step than 1: the variable is counted beside the iterations.
            let text = format!("{variable} + {step}").replace("+ -", "- ");
            let value = Amount { text, number: None, step: Some(step) };
            let mut body = body;
            body.push(Statement::Set { local: variable, value, span });
            repeated(beside, 0, body)
        }
    };
    statements.extend(rest);
    statements.push(last);
    statements
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::tree::Decided;

    const SPAN: Span = Span::new(0, 0);

    fn set(number: Option<i64>, step: Option<i64>) -> Statement {
        let value = Amount { text: "x".to_owned(), number, step };
        Statement::Set { local: "n".to_owned(), value, span: SPAN }
    }

    fn bar(text: &str) -> Statement {
        Statement::Barrier { text: text.to_owned(), span: SPAN }
    }

    fn leave(comparison: Comparison, number: i64) -> Statement {
        let compares = Some(("n".to_owned(), comparison, number));
        let condition = Condition::Value { text: "n".to_owned(), compares, decided: Decided::default() };
        Statement::If { condition, then: vec![Statement::Break], otherwise: Vec::new(), span: SPAN }
    }

    /// How often each barrier is passed.
    fn passes(statements: &[Statement], times: i64, found: &mut Vec<(String, i64)>) {
        for statement in statements {
            match statement {
                Statement::Barrier { text, .. } => found.push((text.clone(), times)),
                Statement::For { from, to, body, .. } => passes(body, times * (to - from), found),
                _ => {}
            }
        }
    }

    fn check(body: &[Statement], expected: &[(&str, i64)]) {
        let count = counted(body, &[set(Some(0), None)]).expect("it counts");
        let mut found = Vec::new();
        passes(&iterate(count, SPAN), 1, &mut found);
        let expected: Vec<(String, i64)> =
            expected.iter().map(|(name, times)| ((*name).to_owned(), *times)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_loop_may_ask_at_its_end_its_beginning_or_between() {
        let (step, leave) = (set(None, Some(1)), leave(Comparison::GreaterOrEqual, 8));
        check(&[bar("a"), step.clone(), leave.clone()], &[("a", 8)]);
        check(&[leave.clone(), bar("a"), step.clone()], &[("a", 8)]);
        check(&[step.clone(), leave.clone(), bar("a")], &[("a", 7)]);
        check(&[bar("a"), step.clone(), leave.clone(), bar("b")], &[("a", 7), ("b", 7), ("a", 1)]);
        check(&[bar("a"), leave, bar("b"), step], &[("a", 8), ("b", 8), ("a", 1)]);
    }

    #[test]
    fn a_loop_that_is_never_left_or_not_by_counting_is_none_that_counts() {
        let step = set(None, Some(2));
        let begin = [set(Some(0), None)];
        assert!(counted(&[bar("a"), step.clone(), leave(Comparison::Equal, 7)], &begin).is_none());
        assert!(counted(&[bar("a"), step.clone(), leave(Comparison::Equal, 8)], &[]).is_none());
        let twice = [bar("a"), step.clone(), step.clone(), leave(Comparison::Equal, 8)];
        assert!(counted(&twice, &begin).is_none());
        let left = [bar("a"), step, leave(Comparison::Equal, 8), Statement::Break];
        assert!(counted(&left, &begin).is_none());
    }

    #[test]
    fn who_reads_the_variable_behind_its_step_keeps_the_loop() {
        let begin = [set(Some(0), None)];
        let (step, leave) = (set(None, Some(1)), leave(Comparison::Equal, 8));
        assert!(counted(&[bar("bar n"), step.clone(), leave.clone()], &begin).is_some());
        assert!(counted(&[step, bar("bar n"), leave], &begin).is_none());
    }
}

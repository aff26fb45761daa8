//! Decisions that are asked again: within an iteration they have the answer that they had before.
//!
//! A condition is computed once in an iteration of the loops around it, and compilers branch on it wherever
//! they need to: equal words are equal values there. So the first answer is kept in a variable, and who asks
//! again looks at that. What is told through shared memory is called by what was waited for, and two phases
//! may be called alike: of that each answer is asked for.

use std::collections::{BTreeMap, BTreeSet};

use super::code::Comparison;
use super::mentions::all_assigned;
use super::tree::{Amount, Condition, Decided, Statement, Statements, ends};
use super::uniform::varying;
use crate::common::span::Span;

/// Keeps the answers that programs ask for again.
pub(super) fn keep(programs: &mut [Statements]) {
    let mut keys = BTreeSet::new();
    programs.iter().for_each(|program| varying(program, &mut keys));
    keys.retain(|key| !key.contains("shared["));
    for program in programs {
        let mut answers = Answers { keys: &keys, taken: all_assigned(program), kept: BTreeMap::new() };
        answers.look(program, &mut BTreeSet::new());
        if !answers.kept.is_empty() {
            answers.set(program);
        }
    }
}

/// What is kept in one program.
struct Answers<'k> {
    keys: &'k BTreeSet<String>,
    /// The names of variables.
    taken: BTreeSet<String>,
    /// Variables by the decisions whose answers they hold: 1 or 0.
    kept: BTreeMap<String, String>,
}

impl Answers<'_> {
    /// Puts variables in the places of decisions that have been made in this iteration on every way there.
    fn look(&mut self, statements: &mut Statements, made: &mut BTreeSet<String>) {
        for statement in statements {
            match statement {
                Statement::If { condition, then, otherwise, .. } => {
                    if let Condition::Uniform { decision, .. } = &*condition
                        && self.keys.contains(&decision.key)
                        && !made.insert(decision.key.clone())
                    {
                        *condition = self.known(condition.clone());
                    }
                    let mut other = made.clone();
                    self.look(then, made);
                    self.look(otherwise, &mut other);
                    match (ends(then), ends(otherwise)) {
                        (true, _) => *made = other,
                        (false, true) => {}
                        (false, false) => made.retain(|key| other.contains(key)),
                    }
                }
                Statement::Loop { body, .. } | Statement::For { body, .. } => {
                    self.look(body, &mut BTreeSet::new());
                    // There is an answer for each iteration.
                    let mut anew = BTreeSet::new();
                    varying(body, &mut anew);
                    made.retain(|key| !anew.contains(key));
                }
                _ => {}
            }
        }
    }

    /// A decision that has been made, as a question to its variable.
    fn known(&mut self, condition: Condition) -> Condition {
        let Condition::Uniform { decision, negated } = condition else { return condition };
        let local = match self.kept.get(&decision.key) {
            Some(local) => local.clone(),
            None => {
                let mut names = (0..).map(|number| format!("answer{number}"));
                let local = names.find(|name| !self.taken.contains(name)).unwrap_or_default();
                self.taken.insert(local.clone());
                self.kept.insert(decision.key.clone(), local.clone());
                local
            }
        };
        let wanted = i64::from(!negated);
        let decided = Decided {
            stands_for: Some((decision.key, negated)),
            assumes: decision.assumes,
            ..Decided::default()
        };
        let text = format!("{local} == {wanted}");
        Condition::Value { text, compares: Some((local, Comparison::Equal, wanted)), decided }
    }

    /// Sets the variables where the decisions are made.
    fn set(&self, statements: &mut Statements) {
        for statement in statements {
            match statement {
                Statement::If { condition, then, otherwise, span } => {
                    self.set(then);
                    self.set(otherwise);
                    let Condition::Uniform { decision, negated } = condition else { continue };
                    if let Some(local) = self.kept.get(&decision.key) {
                        then.insert(0, answer(local, i64::from(!*negated), *span));
                        otherwise.insert(0, answer(local, i64::from(*negated), *span));
                    }
                }
                Statement::Loop { body, .. } | Statement::For { body, .. } => self.set(body),
                _ => {}
            }
        }
    }
}

fn answer(local: &str, number: i64, span: Span) -> Statement {
    let value = Amount { text: number.to_string(), number: Some(number), step: None };
    Statement::Set { local: local.to_owned(), value, span }
}

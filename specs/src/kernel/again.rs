//! Decisions that are asked again: within an iteration they have the answer that they had before.
//!
//! A condition is computed once in an iteration of the loops around it, and compilers branch on it wherever
//! they need to: equal words are equal values there. So the first answer is kept in a variable, and who asks
//! again looks at that. What is told through shared memory is called by what was waited for, and two phases
//! may be called alike. Of that an answer is kept for the term that was asked: in a node that is only come
//! to through the one that asked before, it is what it was there. For if what it is made of had got another
//! value in between, that node would have been come to without passing the first since; unless the first has
//! to be passed before, which is looked at.

use std::collections::{BTreeMap, BTreeSet};

use super::code::Comparison;
use super::dominators::dominates;
use super::mentions::all_assigned;
use super::tree::{Amount, Asked, Condition, Decided, Decision, Statement, Statements, ends};
use super::uniform::varying;
use crate::common::span::Span;

/// How the keys of what is told through shared memory name it.
const SHARED: &str = "shared[";

/// Keeps the answers that programs ask for again.
pub(super) fn keep(programs: &mut [Statements]) {
    let mut keys = BTreeSet::new();
    programs.iter().for_each(|program| varying(program, &mut keys));
    keys.retain(|key| !key.contains(SHARED));
    for program in programs {
        Answers::of(program, &Equal::Words(&keys)).keep(program);
    }
}

/// Keeps the answers to what is told through shared memory. The dominators of the nodes are given.
pub(super) fn keep_told(program: &mut Statements, dominator: &[Option<usize>]) {
    Answers::of(program, &Equal::Terms(dominator)).keep(program);
    forget(program);
}

/// What equal decisions are.
enum Equal<'e> {
    /// Those of these keys.
    Words(&'e BTreeSet<String>),
    /// Those that ask for the same term where it is the same.
    Terms(&'e [Option<usize>]),
}

/// A decision that has been made: what it is called, and where.
type Made = (String, Option<Asked>);

impl Equal<'_> {
    /// What a decision is called.
    fn name(&self, decision: &Decision) -> Option<Made> {
        match self {
            Self::Words(keys) => keys.contains(&decision.key).then(|| (decision.key.clone(), None)),
            Self::Terms(_) => {
                let asked = decision.asked.clone().filter(|_| decision.key.contains(SHARED))?;
                Some((format!("{} {}", asked.term, decision.key), Some(asked)))
            }
        }
    }

    /// Whether a decision has the answer of one that has been made.
    fn holds(&self, (name, asked): &Made, (of, before): &Made) -> bool {
        let Self::Terms(dominator) = self else { return name == of };
        let (Some(asked), Some(before)) = (asked, before) else { return false };
        let comes_after = |node: &usize| *node != before.node && dominates(dominator, before.node, *node);
        name == of
            && dominates(dominator, before.node, asked.node)
            && before.node != asked.node
            && !asked.made.iter().any(comes_after)
    }

    /// The names of all that is decided in statements.
    fn names(&self, statements: &[Statement], found: &mut BTreeSet<String>) {
        for statement in statements {
            match statement {
                Statement::If { condition, then, otherwise, .. } => {
                    if let Condition::Uniform { decision, .. } = condition {
                        found.extend(self.name(decision).map(|(name, _)| name));
                    }
                    self.names(then, found);
                    self.names(otherwise, found);
                }
                Statement::Loop { body, .. } | Statement::For { body, .. } => self.names(body, found),
                _ => {}
            }
        }
    }
}

/// What is kept in one program.
struct Answers<'k> {
    equal: &'k Equal<'k>,
    /// The names of variables.
    taken: BTreeSet<String>,
    /// Variables by the decisions whose answers they hold: 1 or 0.
    kept: BTreeMap<String, String>,
}

impl<'k> Answers<'k> {
    fn of(program: &Statements, equal: &'k Equal<'k>) -> Self {
        Self { equal, taken: all_assigned(program), kept: BTreeMap::new() }
    }

    fn keep(mut self, program: &mut Statements) {
        self.look(program, &mut Vec::new());
        if !self.kept.is_empty() {
            self.set(program);
        }
    }

    /// Puts variables in the places of decisions that have been made in this iteration on every way there.
    fn look(&mut self, statements: &mut Statements, made: &mut Vec<Made>) {
        for statement in statements {
            match statement {
                Statement::If { condition, then, otherwise, .. } => {
                    if let Condition::Uniform { decision, .. } = &*condition
                        && let Some(name) = self.equal.name(decision)
                    {
                        if made.iter().any(|before| self.equal.holds(&name, before)) {
                            *condition = self.known(condition.clone(), &name.0);
                        } else {
                            made.push(name);
                        }
                    }
                    let mut other = made.clone();
                    self.look(then, made);
                    self.look(otherwise, &mut other);
                    match (ends(then), ends(otherwise)) {
                        (true, _) => *made = other,
                        (false, true) => {}
                        (false, false) => made.retain(|name| other.contains(name)),
                    }
                }
                Statement::Loop { body, .. } | Statement::For { body, .. } => {
                    self.look(body, &mut Vec::new());
                    // There is an answer for each iteration.
                    let mut anew = BTreeSet::new();
                    self.equal.names(body, &mut anew);
                    made.retain(|(name, _)| !anew.contains(name));
                }
                _ => {}
            }
        }
    }

    /// A decision that has been made, as a question to its variable.
    fn known(&mut self, condition: Condition, name: &str) -> Condition {
        let Condition::Uniform { decision, negated } = condition else { return condition };
        let local = match self.kept.get(name) {
            Some(local) => local.clone(),
            None => {
                let mut names = (0..).map(|number| format!("answer{number}"));
                let local = names.find(|name| !self.taken.contains(name)).unwrap_or_default();
                self.taken.insert(local.clone());
                self.kept.insert(name.to_owned(), local.clone());
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
                    let name = self.equal.name(decision);
                    if let Some(local) = name.and_then(|(name, _)| self.kept.get(&name)) {
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

/// Forgets which terms are asked, so that programs that are alike are equal.
fn forget(statements: &mut Statements) {
    for statement in statements {
        match statement {
            Statement::If { condition, then, otherwise, .. } => {
                match condition {
                    Condition::Uniform { decision, .. } => decision.asked = None,
                    Condition::Value { decided, .. } => {
                        decided.decisions.iter_mut().for_each(|decision| decision.asked = None);
                    }
                    Condition::OfWarp | Condition::OfLane => {}
                }
                forget(then);
                forget(otherwise);
            }
            Statement::Loop { body, .. } | Statement::For { body, .. } => forget(body),
            _ => {}
        }
    }
}

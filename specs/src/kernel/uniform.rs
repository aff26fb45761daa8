//! Decisions that all agents share, and when they may be shared.
//!
//! The k-th time that a sequence is asked, its answer is the same for every agent. For a decision that
//! changes from iteration to iteration that is right only if the k-th time is the same iteration for all of
//! them. So a sequence is shared only by roles that reach it by the same loops and the same decisions, which
//! themselves are shared: by induction over the iterations they then ask for the same thing. Others get
//! sequences of their own, and where what leads to a decision is private, each warp decides for itself.

use std::collections::{BTreeMap, BTreeSet};

use super::counts::with_word_replaced;
use super::mentions::{all_assigned, words_of};
use super::tree::{Condition, Counted, Counting, Decided, Statement, Statements, ends};

/// Makes every sequence one that may be shared.
pub(super) fn separate(roles: &mut [Statements]) {
    let mut keys = BTreeSet::new();
    for role in roles.iter() {
        varying(role, &mut keys);
    }
    for key in keys {
        let mut classes: BTreeMap<String, String> = BTreeMap::new();
        for role in roles.iter_mut() {
            let mut shape = Shape::of(&key, role);
            shape.list(role, false);
            let Shape { text, sites, is_private, inside, .. } = shape;
            if sites == 0 {
                continue;
            }
            // Who asks once asks for the first answer, whatever leads there.
            if sites == 1 && !inside {
                continue;
            }
            if is_private {
                replace(role, &key, &mut |_| Condition::OfWarp);
                recount(role, &key, &mut |counted| counted.is_private = true);
                continue;
            }
            let next = classes.len();
            let name = classes
                .entry(text)
                .or_insert_with(|| if next == 0 { key.clone() } else { format!("{key} #{}", next + 1) });
            if *name != key {
                let renamed = name.clone();
                let name = name.clone();
                replace(role, &key, &mut |condition| match condition {
                    Condition::Uniform { mut decision, negated } => {
                        decision.key.clone_from(&name);
                        Condition::Uniform { decision, negated }
                    }
                    other => other,
                });
                let name = renamed.clone();
                recount(role, &key, &mut |counted| counted.key.clone_from(&name));
            }
        }
    }
}

/// The keys of decisions that are made anew each time.
pub(super) fn varying(statements: &[Statement], keys: &mut BTreeSet<String>) {
    for statement in statements {
        match statement {
            Statement::If { condition, then, otherwise, .. } => {
                if let Condition::Uniform { decision, .. } = condition
                    && decision.varies
                {
                    keys.insert(decision.key.clone());
                }
                varying(then, keys);
                varying(otherwise, keys);
            }
            Statement::Count(counted) if counted.varies => {
                keys.insert(counted.key.clone());
            }
            Statement::Loop { body, .. } | Statement::For { body, .. } => varying(body, keys),
            _ => {}
        }
    }
}

/// What leads to the places where a sequence is asked, in words.
struct Shape<'k> {
    key: &'k str,
    /// The variables of the role that lead there, and what these are computed from; those that have been met
    /// in their order, by which they are called here.
    variables: BTreeSet<String>,
    met: Vec<String>,
    text: String,
    sites: usize,
    is_private: bool,
    /// A place is inside a loop.
    inside: bool,
}

impl<'k> Shape<'k> {
    fn of(key: &'k str, role: &[Statement]) -> Self {
        let (variables, met, text) = (BTreeSet::new(), Vec::new(), String::new());
        let mut shape = Self { key, variables, met, text, sites: 0, is_private: false, inside: false };
        let assigned = all_assigned(role);
        loop {
            let mut words = BTreeSet::new();
            shape.leading(role, false, &mut words);
            let before = shape.variables.len();
            shape.variables.extend(words.into_iter().filter(|word| assigned.contains(word)));
            if shape.variables.len() == before {
                return shape;
            }
        }
    }

    /// The words of conditions that matter, and of what variables that matter are set to.
    fn leading(&self, statements: &[Statement], in_loop: bool, words: &mut BTreeSet<String>) {
        for statement in statements {
            match statement {
                Statement::If { condition, then, otherwise, .. }
                    if self.matters(then, in_loop) || self.matters(otherwise, in_loop) =>
                {
                    if let Condition::Value { text, decided: Decided { stands_for: None, .. }, .. } =
                        condition
                    {
                        words.extend(words_of(text));
                    }
                    self.leading(then, in_loop, words);
                    self.leading(otherwise, in_loop, words);
                }
                Statement::Loop { body, .. } | Statement::For { body, .. } if self.matters(body, false) => {
                    self.leading(body, true, words);
                }
                Statement::Set { local, value, .. } if self.variables.contains(local) => {
                    words.extend(words_of(&value.text));
                }
                _ => {}
            }
        }
    }

    /// Whether the sequence is asked in these statements, or what leads there is computed or decided.
    fn matters(&self, statements: &[Statement], in_loop: bool) -> bool {
        self.asks(statements) || self.sets(statements) || in_loop && Self::turns(statements)
    }

    /// Whether a variable that matters is set in these statements.
    fn sets(&self, statements: &[Statement]) -> bool {
        statements.iter().any(|statement| match statement {
            Statement::Set { local, .. } => self.variables.contains(local),
            Statement::If { then, otherwise, .. } => self.sets(then) || self.sets(otherwise),
            Statement::Loop { body, .. } | Statement::For { body, .. } => self.sets(body),
            _ => false,
        })
    }

    /// An expression in which variables are called by the order in which they have been met, so that it is
    /// the same in each role that computes the same.
    fn spoken(&mut self, text: &str) -> String {
        let mut spoken = text.to_owned();
        for word in words_of(text) {
            if self.variables.contains(&word) {
                let known = self.met.iter().position(|met| *met == word);
                let number = known.unwrap_or(self.met.len());
                if known.is_none() {
                    self.met.push(word.clone());
                }
                spoken = with_word_replaced(&spoken, &word, &format!("${number}"));
            }
        }
        spoken
    }

    /// Whether the sequence is asked in these statements.
    fn asks(&self, statements: &[Statement]) -> bool {
        statements.iter().any(|statement| match statement {
            Statement::If { condition, then, otherwise, .. } => {
                matches!(condition, Condition::Uniform { decision, .. } if decision.key == self.key)
                    || self.asks(then)
                    || self.asks(otherwise)
            }
            Statement::Count(counted) => self.begins(counted),
            Statement::Loop { body, .. } | Statement::For { body, .. } => self.asks(body),
            _ => false,
        })
    }

    /// Whether this is where the number begins that is counted.
    fn begins(&self, counted: &Counted) -> bool {
        counted.key == self.key && matches!(counted.counting, Counting::Begin { .. })
    }

    /// Whether these statements decide about further iterations of the loop around them.
    fn turns(statements: &[Statement]) -> bool {
        statements.iter().any(|statement| match statement {
            Statement::Break | Statement::Continue => true,
            Statement::If { then, otherwise, .. } => Self::turns(then) || Self::turns(otherwise),
            _ => false,
        })
    }

    fn list(&mut self, statements: &[Statement], in_loop: bool) {
        for (at, statement) in statements.iter().enumerate() {
            match statement {
                Statement::If { condition, then, otherwise, .. } => {
                    let rest = &statements[at + 1..];
                    if self.branch(condition, [then, otherwise], rest, in_loop) {
                        return;
                    }
                }
                Statement::Set { local, value, .. } if self.variables.contains(local) => {
                    self.is_private |= words_of(&value.text).contains("lane");
                    let (local, value) = (self.spoken(local), self.spoken(&value.text));
                    self.text.push_str(&format!("{local}={value};"));
                }
                Statement::Loop { body, .. } if self.matters(body, false) => {
                    self.text.push_str("loop{");
                    self.list(body, true);
                    self.text.push('}');
                }
                Statement::For { from, to, body, .. } if self.matters(body, false) => {
                    self.text.push_str(&format!("for {}{{", to - from));
                    self.list(body, true);
                    self.text.push('}');
                }
                Statement::Count(counted) if self.begins(counted) => {
                    self.sites += 1;
                    self.inside |= in_loop;
                    self.text.push('n');
                }
                Statement::Break if in_loop => self.text.push('b'),
                Statement::Continue if in_loop => self.text.push('c'),
                _ => {}
            }
        }
    }

    /// A branch and, where one of its arms ends, what follows the other: it makes no difference whether that
    /// stands in the other arm or behind. Whether that was listed as well.
    fn branch(
        &mut self,
        condition: &Condition,
        arms: [&[Statement]; 2],
        rest: &[Statement],
        in_loop: bool,
    ) -> bool {
        let follows = match arms.map(ends) {
            [true, false] => Some(1),
            [false, true] => Some(0),
            _ => None,
        };
        let matters = |shape: &Self, list: &[Statement]| shape.matters(list, in_loop);
        let takes_rest = follows.is_some() && matters(self, rest);
        let mine = matches!(condition, Condition::Uniform { decision, .. } if decision.key == self.key);
        let matter = arms.map(|arm| matters(self, arm));
        if !mine && only_lanes(condition) && matter == [false, false] {
            // Some lanes end here: the others ask.
            return false;
        }
        if !mine && !takes_rest && only_lanes(condition) {
            // The other lanes do not ask at all.
            let alone = match matter {
                [true, false] => Some(arms[0]),
                [false, true] => Some(arms[1]),
                _ => None,
            };
            if let Some(arm) = alone.filter(|arm| !(in_loop && Self::turns(arm))) {
                self.list(arm, in_loop);
                return false;
            }
        }
        if mine {
            self.sites += 1;
            self.inside |= in_loop;
        }
        if !mine && !takes_rest && matter == [false, false] {
            return false;
        }
        self.condition(condition);
        let swaps = match condition {
            Condition::Uniform { negated, .. } => *negated,
            Condition::Value { decided, .. } => {
                decided.stands_for.as_ref().is_some_and(|(_, negated)| *negated)
            }
            Condition::OfWarp | Condition::OfLane => false,
        };
        for index in if swaps { [1, 0] } else { [0, 1] } {
            self.text.push('{');
            self.list(arms[index], in_loop);
            if takes_rest && follows == Some(index) {
                self.list(rest, in_loop);
            }
            self.text.push('}');
        }
        takes_rest
    }

    fn condition(&mut self, condition: &Condition) {
        match condition {
            Condition::Uniform { decision, .. } => self.text.push_str(&format!("if {:?}", decision.key)),
            // Equal decisions have equal outcomes, however they are counted.
            Condition::Value { decided: Decided { stands_for: Some((key, _)), .. }, .. } => {
                self.text.push_str(&format!("if {key:?}"));
            }
            Condition::Value { text, decided, .. } => {
                self.is_private |= decided.is_private;
                let text = self.spoken(text);
                self.text.push_str(&format!("if {text}"));
            }
            Condition::OfWarp | Condition::OfLane => self.is_private = true,
        }
    }
}

/// Whether a condition is about the lane and nothing else.
fn only_lanes(condition: &Condition) -> bool {
    match condition {
        Condition::Value { text, decided, .. } => {
            decided.decisions.is_empty() && words_of(text).iter().all(|word| word == "lane")
        }
        _ => false,
    }
}

/// Changes how a number is counted.
fn recount(statements: &mut Statements, key: &str, with: &mut impl FnMut(&mut Counted)) {
    for statement in statements {
        match statement {
            Statement::Count(counted) if counted.key == key => with(counted),
            Statement::If { then, otherwise, .. } => {
                recount(then, key, with);
                recount(otherwise, key, with);
            }
            Statement::Loop { body, .. } | Statement::For { body, .. } => recount(body, key, with),
            _ => {}
        }
    }
}

/// Puts other conditions in the places where a sequence is asked.
fn replace(statements: &mut Statements, key: &str, with: &mut impl FnMut(Condition) -> Condition) {
    for statement in statements {
        match statement {
            Statement::If { condition, then, otherwise, .. } => {
                if matches!(condition, Condition::Uniform { decision, .. } if decision.key == key) {
                    let old = std::mem::replace(condition, Condition::OfWarp);
                    *condition = with(old);
                }
                replace(then, key, with);
                replace(otherwise, key, with);
            }
            Statement::Loop { body, .. } | Statement::For { body, .. } => replace(body, key, with),
            _ => {}
        }
    }
}

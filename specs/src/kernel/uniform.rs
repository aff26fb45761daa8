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
use super::tree::{Condition, Counted, Counting, Decided, Statement, Statements, ends, exits, is_whole};

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
            shape.list(role, Place { in_loop: false, last: true, once: true });
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
                recount(role, &key, &mut |counted| {
                    // Which one a number is that never changes is decided once, whatever leads to where it is
                    // counted.
                    if !matches!(counted.counting, Counting::Choose) {
                        counted.key.clone_from(&renamed);
                    }
                });
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

/// Where statements stand.
#[derive(Clone, Copy)]
struct Place {
    in_loop: bool,
    /// They are the last of an iteration, or of the role.
    last: bool,
    /// They are passed once, as they are in no loop, and nothing asks behind them.
    once: bool,
}

impl Place {
    /// The statements of a loop.
    const OF_ITERATION: Self = Self { in_loop: true, last: true, once: false };
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
            shape.leading(role, (false, true), &mut words);
            let before = shape.variables.len();
            shape.variables.extend(words.into_iter().filter(|word| assigned.contains(word)));
            if shape.variables.len() == before {
                return shape;
            }
        }
    }

    /// The words of conditions that matter, and of what variables that matter are set to. The statements are
    /// in a loop or not, and are passed once or not.
    fn leading(&self, statements: &[Statement], (in_loop, once): (bool, bool), words: &mut BTreeSet<String>) {
        for (at, statement) in statements.iter().enumerate() {
            let rest = &statements[at + 1..];
            match statement {
                Statement::If { condition, then, otherwise, .. }
                    if self.matters(then, in_loop) || self.matters(otherwise, in_loop) =>
                {
                    let is_only_way = once && self.only_way(condition, [then, otherwise], rest).is_some();
                    if let Condition::Value { text, decided: Decided { stands_for: None, .. }, .. } =
                        condition
                        && !is_only_way
                    {
                        words.extend(words_of(text));
                    }
                    let place = (in_loop, once && !self.asks(rest));
                    self.leading(then, place, words);
                    self.leading(otherwise, place, words);
                }
                Statement::Loop { body, .. } | Statement::For { body, .. } if self.matters(body, false) => {
                    self.leading(body, (true, false), words);
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
                self.is_mine(condition) || self.asks(then) || self.asks(otherwise)
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

    fn list(&mut self, statements: &[Statement], place: Place) {
        for (at, statement) in statements.iter().enumerate() {
            match statement {
                Statement::If { condition, then, otherwise, .. } => {
                    let rest = &statements[at + 1..];
                    if self.branch(condition, [then, otherwise], rest, place) {
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
                    self.list(body, Place::OF_ITERATION);
                    self.text.push('}');
                }
                Statement::For { from, to, body, .. } if self.matters(body, false) => {
                    self.text.push_str(&format!("for {}{{", to - from));
                    self.list(body, Place::OF_ITERATION);
                    self.text.push('}');
                }
                Statement::Count(counted) if self.begins(counted) => {
                    self.sites += 1;
                    self.inside |= place.in_loop;
                    self.text.push('n');
                }
                Statement::Break if place.in_loop => self.text.push('b'),
                // Whoever comes to the end of an iteration goes on as well.
                Statement::Continue if place.in_loop && !place.last => self.text.push('c'),
                Statement::Exit { .. } if place.in_loop || !(place.last || place.once) => self.text.push('e'),
                _ => {}
            }
        }
    }

    /// The arm of a branch that all take who ask, if the branch is passed once and nothing asks behind what
    /// follows it. Who takes the other arm never asks, or asks no more, so that it makes no difference for
    /// whom that is so.
    fn only_way(&self, condition: &Condition, arms: [&[Statement]; 2], rest: &[Statement]) -> Option<usize> {
        if self.is_mine(condition) {
            return None;
        }
        match (arms.map(|arm| self.asks(arm)), self.asks(rest), arms.map(ends)) {
            ([true, false], false, _) | ([_, false], true, [false, true]) => Some(0),
            ([false, true], false, _) | ([false, _], true, [true, false]) => Some(1),
            _ => None,
        }
    }

    /// Whether a condition asks for the sequence.
    fn is_mine(&self, condition: &Condition) -> bool {
        matches!(condition, Condition::Uniform { decision, .. } if decision.key == self.key)
    }

    /// A branch and, where one of its arms ends, what follows the other: it makes no difference whether that
    /// stands in the other arm or behind. Whether that was listed as well.
    fn branch(
        &mut self,
        condition: &Condition,
        arms: [&[Statement]; 2],
        rest: &[Statement],
        place: Place,
    ) -> bool {
        let Place { in_loop, last, once } = place;
        let once_here = once && !self.asks(rest);
        if once && let Some(arm) = self.only_way(condition, arms, rest) {
            self.list(arms[arm], Place { in_loop, last: false, once: once_here });
            return false;
        }
        let follows = match arms.map(ends) {
            [true, false] => Some(1),
            [false, true] => Some(0),
            _ => None,
        };
        let matters = |shape: &Self, list: &[Statement]| shape.matters(list, in_loop);
        let takes_rest = follows.is_some() && matters(self, rest);
        let last = last && (takes_rest || !matters(self, rest) && !exits(rest));
        let inner = Place { in_loop, last, once: once_here };
        let mine = self.is_mine(condition);
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
                self.list(arm, inner);
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
        let swaps = self.condition(condition);
        for index in if swaps { [1, 0] } else { [0, 1] } {
            self.text.push('{');
            // What follows an arm that goes on is part of it.
            let goes_on = takes_rest && follows == Some(index);
            self.list(arms[index], Place { last: last && !goes_on, ..inner });
            if goes_on {
                self.list(rest, place);
            }
            self.text.push('}');
        }
        takes_rest
    }

    /// Writes the question down, the same for a condition and its opposite; whether it is the opposite that
    /// was written.
    fn condition(&mut self, condition: &Condition) -> bool {
        match condition {
            Condition::Uniform { decision, negated } => {
                self.text.push_str(&format!("if {:?}", decision.key));
                *negated
            }
            // Equal decisions have equal outcomes, however they are counted.
            Condition::Value { decided: Decided { stands_for: Some((key, negated)), .. }, .. } => {
                self.text.push_str(&format!("if {key:?}"));
                *negated
            }
            Condition::Value { text, decided, .. } => {
                self.is_private |= decided.is_private;
                let (text, opposite) = in_one_polarity(text);
                let text = self.spoken(&text);
                self.text.push_str(&format!("if {text}"));
                opposite
            }
            Condition::OfWarp | Condition::OfLane => {
                self.is_private = true;
                false
            }
        }
    }
}

/// A comparison of two operands by `==`, `<` or `<=`, and whether that is the opposite of what it says.
/// Anything else stays as it is.
fn in_one_polarity(text: &str) -> (String, bool) {
    if let Some(inner) = text.strip_prefix("!(").and_then(|rest| rest.strip_suffix(')'))
        && is_whole(inner)
    {
        let (text, opposite) = in_one_polarity(inner);
        return (text, !opposite);
    }
    for (sign, other) in [(" != ", " == "), (" >= ", " < "), (" > ", " <= ")] {
        for (at, _) in text.match_indices(sign) {
            let (left, right) = (&text[..at], &text[at + sign.len()..]);
            if is_operand(left) && is_operand(right) {
                return (format!("{left}{other}{right}"), true);
            }
        }
    }
    (text.to_owned(), false)
}

/// Whether this is a word or a number, or stands in parentheses as a whole.
fn is_operand(text: &str) -> bool {
    let is_word =
        |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    is_word(text) || text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).is_some_and(is_whole)
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

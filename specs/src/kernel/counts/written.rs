//! How numbers are counted, as statements.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::asked::Asked;
use crate::kernel::code::Comparison;
use crate::kernel::tree::{
    Amount, Condition, Counted, Counting, Decided, Decision, Residue, Statement, Statements,
};

/// How the keys of decisions begin which of the numbers that it may be an unknown one is.
const NUMBER: &str = "number of ";
/// How the keys of decisions begin whether a number reaches further than what is asked in the beginning.
const MORE: &str = "more of ";

/// What goes together with a decision in every way although it is about the same number: which of those it
/// is that it may be, and how far it reaches. By the names that decisions have, of their keys.
pub(in crate::kernel) fn beside(names: &HashMap<String, String>) -> BTreeMap<String, BTreeSet<String>> {
    let numbers = names.iter().filter_map(|(key, name)| Some((key.strip_prefix(NUMBER)?, name)));
    let reaches = |number: &str| {
        let keys = [number.to_owned(), format!("{MORE}{number}")];
        keys.iter().filter_map(|key| names.get(key).cloned()).collect()
    };
    numbers.map(|(number, name)| (name.clone(), reaches(number))).collect()
}

/// Writes out how numbers are counted.
pub(in crate::kernel) fn expand(statements: &mut Statements) {
    let mut expanded = Vec::with_capacity(statements.len());
    for mut statement in std::mem::take(statements) {
        match &mut statement {
            Statement::If { then, otherwise, .. } => {
                expand(then);
                expand(otherwise);
            }
            Statement::Loop { body, .. } | Statement::For { body, .. } => expand(body),
            Statement::Count(counted) => {
                expanded.extend(written(counted));
                continue;
            }
            _ => {}
        }
        expanded.push(statement);
    }
    *statements = expanded;
}

fn written(counted: &Counted) -> Statements {
    let Counted { count, left, ahead, given, fixed, known, .. } = counted;
    let mut statements = Vec::new();
    let writer = Writer { counted };
    match counted.counting {
        Counting::Begin { again } => {
            if again && *ahead > 0 {
                // What is left of the number before is asked for, since others do so too.
                let rest = vec![writer.rest()];
                statements.push(writer.when(left, Comparison::Equal, *ahead, rest, Vec::new()));
            }
            statements.extend(writer.residue(false));
            if *fixed > 0 && !counted.goes_on {
                let first = *known.min(fixed);
                statements.push(writer.set(count, first.to_string(), Some(first)));
                if first < *fixed {
                    statements.extend(writer.fill(count, *fixed, false));
                }
            }
            if *ahead > 0 {
                let number = (known >= fixed).then_some(*known.min(ahead));
                let first = number.map_or_else(|| count.clone(), |number| number.to_string());
                statements.push(writer.set(left, first, number));
                if ahead > fixed.max(known) {
                    let more = writer.fill(left, *ahead, true);
                    if known < fixed {
                        statements.push(writer.when(count, Comparison::Equal, *fixed, more, Vec::new()));
                    } else {
                        statements.extend(more);
                    }
                }
                if *given > 0 {
                    let set = vec![writer.set(left, given.to_string(), Some(*given))];
                    statements.push(writer.when(left, Comparison::Less, *given, set, Vec::new()));
                }
            }
        }
        Counting::Choose => statements.extend(writer.residue(true)),
        Counting::Finish => {
            let rest = vec![writer.rest(), writer.set(left, "0".to_owned(), Some(0))];
            statements.push(writer.when(left, Comparison::Equal, *ahead, rest, Vec::new()));
        }
        Counting::Pass(taken) => {
            let rest = ahead - taken;
            let mut full = vec![writer.set(left, rest.to_string(), Some(rest))];
            full.extend(writer.fill(left, *ahead, true));
            if taken == 1 {
                full =
                    vec![writer.asks(true, Vec::new(), vec![writer.set(left, rest.to_string(), Some(rest))])];
            }
            let less = vec![writer.set(left, format!("{left} - {taken}"), None)];
            // Less than nothing is left: its low bits are not those of the number.
            let least = if counted.has_rest { -1 } else { 0 };
            let none = vec![writer.set(left, least.to_string(), Some(least))];
            let none = if taken == 1 && !counted.has_rest { Vec::new() } else { none };
            let partly = writer.when(left, Comparison::GreaterOrEqual, taken, less, none);
            statements.push(writer.when(left, Comparison::Equal, *ahead, full, vec![partly]));
        }
    }
    statements
}

struct Writer<'c> {
    counted: &'c Counted,
}

impl Writer<'_> {
    fn set(&self, local: &str, text: String, number: Option<i64>) -> Statement {
        let value = Amount { text, number, step: None };
        Statement::Set { local: local.to_owned(), value, span: self.counted.span }
    }

    fn when(
        &self,
        local: &str,
        comparison: Comparison,
        number: i64,
        then: Statements,
        otherwise: Statements,
    ) -> Statement {
        let asked = Asked::Compares(local.to_owned(), comparison, number);
        let condition =
            Condition::Value { text: asked.text(), compares: asked.compares(), decided: Decided::default() };
        Statement::If { condition, then, otherwise, span: self.counted.span }
    }

    fn repeat(&self, body: Statements) -> Statement {
        Statement::Loop { body, header: 0, span: self.counted.span }
    }

    /// Asks for all that is left.
    fn rest(&self) -> Statement {
        self.repeat(vec![self.asks(true, Vec::new(), vec![Statement::Break])])
    }

    /// What stands for the number: one of those that it may be, or what it is if the first answer is no.
    /// Where it is chosen before, that is not done again.
    fn residue(&self, chooses: bool) -> Statements {
        let Some(residue) = &self.counted.residue else { return Vec::new() };
        let Residue { number, asked, from, exact, period, first, least, multiple, is_once } = residue;
        let counted = self.counted;
        let begin = match from {
            Some(from) => self.set(asked, from.clone(), None),
            None => self.set(asked, first.to_string(), Some(*first)),
        };
        if number == asked || *is_once && !chooses {
            return vec![begin];
        }
        let most = exact + period - multiple;
        let mut statements = vec![self.set(number, least.to_string(), Some(*least))];
        let full = self.when(number, Comparison::Equal, most, vec![Statement::Break], Vec::new());
        let step = vec![self.set(number, format!("{number} + {multiple}"), None)];
        let key = format!("{NUMBER}{}", counted.key);
        let next = self.question(key, counted.about.clone(), step, vec![Statement::Break]);
        if most > *least {
            statements.push(self.repeat(vec![full, next]));
        }
        statements.extend((!is_once).then_some(begin));
        statements
    }

    /// Asks for the next answer: of those at the beginning, or of `more`. Of a number of which something is
    /// computed the answer may be known.
    fn asks(&self, more: bool, then: Statements, otherwise: Statements) -> Statement {
        let Some(residue) = &self.counted.residue else { return self.answers(more, then, otherwise) };
        let Residue { number, asked, exact, period, first, least, multiple, .. } = residue;
        let mut yes = vec![self.set(asked, format!("{asked} + 1"), None)];
        let again = vec![self.set(asked, exact.to_string(), Some(*exact))];
        yes.push(self.when(asked, Comparison::Equal, exact + period, again, Vec::new()));
        yes.extend(then);
        if number == asked {
            let mut open = self.answers(more, yes.clone(), otherwise);
            // A multiple of 4 that is at least 1 is at least 4.
            if *multiple > 1 {
                let text = format!("({asked} & {}) != 0", multiple - 1);
                let condition = Condition::Value { text, compares: None, decided: Decided::default() };
                let (then, otherwise, span) = (yes.clone(), vec![open], self.counted.span);
                open = Statement::If { condition, then, otherwise, span };
            }
            let is_known = *first < *least;
            return if is_known { self.when(asked, Comparison::Less, *least, yes, vec![open]) } else { open };
        }
        let open = self.answers(more, yes.clone(), otherwise.clone());
        let last = match exact {
            0 => vec![open],
            _ => vec![self.when(asked, Comparison::Less, *exact, otherwise, vec![open])],
        };
        let text = format!("{asked} == {number}");
        let condition = Condition::Value { text, compares: None, decided: Decided::default() };
        Statement::If { condition, then: last, otherwise: yes, span: self.counted.span }
    }

    fn answers(&self, more: bool, then: Statements, otherwise: Statements) -> Statement {
        let counted = self.counted;
        let key = if more { format!("{MORE}{}", counted.key) } else { counted.key.clone() };
        // What comes behind the first answers fits them, if some are asked for and every outcome comes about.
        let fits = more && counted.fixed > counted.known && !counted.is_bounded;
        let about = if fits { BTreeSet::new() } else { counted.about.clone() };
        self.question(key, about, then, otherwise)
    }

    fn question(
        &self,
        key: String,
        about: BTreeSet<String>,
        then: Statements,
        otherwise: Statements,
    ) -> Statement {
        let counted = self.counted;
        let span = counted.span;
        if counted.is_private {
            return Statement::If { condition: Condition::OfWarp, then, otherwise, span };
        }
        let assumes = BTreeSet::new();
        let decision = Decision {
            key,
            name: None,
            varies: true,
            assumes,
            about,
            counts: true,
            formula: None,
            apart: None,
            computed: None,
            asked: None,
        };
        Statement::If { condition: Condition::Uniform { decision, negated: false }, then, otherwise, span }
    }

    /// Asks until a variable has reached a number, or the answer is no.
    fn fill(&self, local: &str, up_to: i64, more: bool) -> Statements {
        let next = if up_to == 1 { "1".to_owned() } else { format!("{local} + 1") };
        let step = vec![self.set(local, next, None)];
        if up_to == 1 {
            return vec![self.asks(more, step, Vec::new())];
        }
        let full = self.when(local, Comparison::Equal, up_to, vec![Statement::Break], Vec::new());
        vec![self.repeat(vec![full, self.asks(more, step, vec![Statement::Break])])]
    }
}

//! Terms in words: what makes decisions equal, and what names them.

use std::collections::{BTreeMap, BTreeSet};

use super::arithmetic::signed;
use super::code::{Code, Comparison, Operation, Register, Type, own};
use super::lanes::Lanes;
use super::loads::is_load;
use super::origins::{Agent, Origins, Place};
use super::value::{Term, ValueId};
use crate::common::contents::PLACE;

/// Beyond this many characters a term is named by its number alone.
const LONGEST: usize = 12_000;
/// And a variable of a loop by its place.
const RECURRENCE: usize = 6_000;

pub(super) struct Keys<'k> {
    pub(super) code: &'k Code,
    pub(super) agent: Agent<'k>,
    pub(super) origins: &'k Origins,
    /// The rank of the group, if there are others in its cluster.
    pub(super) rank: Option<u32>,
    /// The node at which the term is evaluated.
    pub(super) node: usize,
    /// For loads from shared memory, the waits behind which they stand.
    pub(super) told: &'k BTreeMap<usize, usize>,
}

/// What is left of the characters for a term, and the variables of loops inside which it stands.
pub(super) struct Words {
    left: usize,
    pub(super) open: Vec<(usize, Register)>,
}

impl Words {
    pub(super) fn new() -> Self {
        Self { left: LONGEST, open: Vec::new() }
    }
}

impl Keys<'_> {
    /// A term in words. Two terms with the same words have the same value, at the same iterations of the
    /// loops around them.
    pub(super) fn of(&self, value: ValueId) -> String {
        self.text(value, &mut Words::new()).unwrap_or_else(|| {
            // Equal terms have equal numbers, but what meets in them may come from elsewhere.
            format!("t{value}{}", self.origin(Place::Term(value)))
        })
    }

    /// A place in memory, in words, and by what tells whether it may be another one.
    fn places(&self, address: ValueId, is_shared: bool) -> Vec<String> {
        let text = self.address(address, &mut Words::new()).unwrap_or_else(|| self.of(address));
        let apart = self.apart(address, &mut Words::new()).filter(|_| !is_shared);
        [format!("[{text}]")].into_iter().chain(apart.map(|apart| format!("{PLACE}{apart}"))).collect()
    }

    /// What a term is about: what is the same for the whole group and known to nobody, and what is loaded.
    pub(super) fn about(&self, value: ValueId) -> BTreeSet<String> {
        let (mut found, mut seen, mut work) = (BTreeSet::new(), BTreeSet::new(), vec![value]);
        let mut bare = BTreeMap::new();
        while let Some(value) = work.pop() {
            if !seen.insert(value) {
                continue;
            }
            match self.agent.values.term(value) {
                // A number that is not an integer is known all the same.
                Term::Same(name) if self.name(*name).starts_with(|c: char| c.is_ascii_digit()) => {}
                Term::Same(name) => {
                    found.insert(self.name(*name));
                }
                // What lies at one address says nothing of the address, nor of another.
                Term::Loaded { address, varies, .. } => found.extend(self.places(*address, *varies)),
                Term::Pure { name, terms } if is_load(&self.name(*name)) => {
                    found.extend(terms.first().into_iter().flat_map(|address| self.places(*address, false)));
                }
                Term::Given { at } => {
                    found.insert(format!("@{at}{}", self.own()));
                }
                // How it comes about is not followed: it may be the same as anything of its kind, and as what
                // it comes from.
                Term::Apply { operation: Operation::Select, terms, .. } => {
                    // Where both are unknown in themselves, neither outcome says which of them it is.
                    let [a, b, condition] = [terms[0], terms[1], terms[2]];
                    work.extend([a, b]);
                    if [a, b].into_iter().any(|one| self.is_bare(one, &mut bare)) {
                        work.push(condition);
                    }
                }
                Term::Meet { block, register } => {
                    found.insert("@meet".to_owned());
                    work.extend(self.agent.behind(self.node, Place::Meet(*block, *register)));
                }
                // What is loaded from an address that is known, say: unknown, but always the same.
                Term::Pure { terms, .. } if terms.iter().all(|one| self.is_bare(*one, &mut bare)) => {
                    found.insert(self.of(value));
                }
                _ => work.extend(self.agent.values.inside(value)),
            }
        }
        found
    }

    /// Whether a term is about nothing, given those of which that is known already. Terms are as deep as the
    /// kernel is long, so that they are gone through without recursion.
    fn is_bare(&self, value: ValueId, bare: &mut BTreeMap<ValueId, bool>) -> bool {
        let mut work = vec![value];
        while let Some(&value) = work.last() {
            let is_bare = match self.agent.values.term(value) {
                _ if bare.contains_key(&value) => None,
                Term::Same(name) => Some(self.name(*name).starts_with(|c: char| c.is_ascii_digit())),
                Term::Loaded { .. } | Term::Given { .. } | Term::Meet { .. } | Term::Pure { .. } => {
                    Some(false)
                }
                _ => {
                    let inside = self.agent.values.inside(value);
                    let before = work.len();
                    work.extend(inside.iter().filter(|one| !bare.contains_key(one)));
                    if work.len() > before {
                        continue;
                    }
                    Some(inside.iter().all(|one| bare[one]))
                }
            };
            work.pop();
            bare.extend(is_bare.map(|is_bare| (value, is_bare)));
        }
        bare[&value]
    }

    /// What is decided, in words, and whether the condition is its negation: comparisons that say the same,
    /// or the opposite, have the same words.
    pub(super) fn decided(&self, condition: ValueId) -> (String, bool) {
        if let Some((truth, negated)) = self.truth(condition) {
            return (self.of(truth), negated);
        }
        let values = self.agent.values;
        let Term::Apply { operation: Operation::Compare(comparison), ty, terms } = values.term(condition)
        else {
            return (self.of(condition), false);
        };
        let (Some(a), Some(b)) = (terms.first().copied(), terms.get(1).copied()) else {
            return (self.of(condition), false);
        };
        let is_known = |value| values.as_known(value).is_some();
        let (mut comparison, mut a, mut b) = (*comparison, a, b);
        // Known numbers stand on the right; of others, the smaller side stands on the left.
        let greater = matches!(comparison, Comparison::Greater | Comparison::LessOrEqual);
        if is_known(a) || !is_known(b) && greater {
            (comparison, a, b) = (comparison.swapped(), b, a);
        }
        let negated = is_opposite(comparison);
        let comparison = if negated { comparison.negated() } else { comparison };
        let (left, mut right) = (self.of(a), self.of(b));
        let next = values.as_known(b).and_then(Lanes::all).and_then(|number| after(number, *ty));
        let comparison = match (comparison, next) {
            // Up to a number is below the next.
            (Comparison::LessOrEqual, Some(next)) => {
                right = next.to_string();
                Comparison::Less
            }
            (comparison, _) => comparison,
        };
        let mut parts = [left, right];
        if comparison == Comparison::Equal && !is_known(b) {
            parts.sort();
        }
        (operation_text(Operation::Compare(comparison), *ty, &parts), negated)
    }

    /// What is no integer but a truth, as comparisons of real numbers give them, and whether the condition is
    /// its negation.
    fn truth(&self, condition: ValueId) -> Option<(ValueId, bool)> {
        match self.agent.values.term(condition) {
            Term::Pure { .. } if self.agent.values.width(condition) <= 1 => Some((condition, false)),
            Term::Apply { operation: Operation::LogicalNot, terms, .. } => {
                self.truth(terms[0]).map(|(truth, negated)| (truth, !negated))
            }
            Term::Apply { operation: Operation::Compare(comparison), terms, .. } => {
                let is_0 = self.agent.values.as_known(terms[1]).is_some_and(Lanes::is_zero);
                let negates = match comparison {
                    Comparison::Equal => true,
                    Comparison::NotEqual => false,
                    _ => return None,
                };
                let (truth, negated) = self.truth(terms[0]).filter(|_| is_0)?;
                Some((truth, negated != negates))
            }
            _ => None,
        }
    }

    pub(super) fn text(&self, value: ValueId, words: &mut Words) -> Option<String> {
        words.left = words.left.checked_sub(1)?;
        let values = self.agent.values;
        let text = match values.term(value) {
            Term::Known(lanes) => number(lanes, 64),
            // As it is: most are cut to 32 bits, and then named alone.
            Term::Same(name) => self.name(*name) + if values.width(value) > 32 { ":64" } else { "" },
            Term::Loaded { at, address, varies: false } => {
                format!("mem[{}]{}", self.address(*address, words)?, self.loaded(*at))
            }
            Term::Loaded { at, address, varies: true } => {
                let (address, ty) = (self.text(*address, words)?, self.loaded(*at));
                match self.wait_before(*at, words) {
                    Some(wait) => format!("shared[{address}]{ty} of {wait}{}", self.own()),
                    None => format!("shared[{address}]@{at}{}", self.own()),
                }
            }
            Term::Given { at } => format!("red@{at}{}", self.own()),
            Term::Sum { bits, terms, known } => {
                let mut parts = Vec::new();
                for (term, factor) in terms {
                    let of = self.text(*term, words)?;
                    parts.push(match factor.all().map(|factor| signed(factor, *bits)) {
                        Some(1) => of,
                        Some(-1) => format!("-{of}"),
                        _ => format!("{of}*{}", number(factor, *bits)),
                    });
                }
                parts.sort();
                if !known.is_zero() {
                    parts.push(number(known, *bits));
                }
                let bits = if *bits == 64 { ":64" } else { "" };
                format!("({}){bits}", parts.join("+").replace("+-", "-"))
            }
            Term::Apply { operation: operation @ (Operation::And | Operation::Or), ty, .. } => {
                let mut parts = BTreeSet::new();
                self.joined(value, (*operation, *ty), &mut parts, words)?;
                let first = parts.pop_first()?;
                parts.into_iter().fold(first, |text, part| operation_text(*operation, *ty, &[text, part]))
            }
            Term::Apply { .. } if let Some((param, _)) = self.bounded(value) => self.text(param, words)?,
            Term::Apply { operation, ty, terms } => self.applied((*operation, *ty), terms, words)?,
            Term::Pure { name, terms } => self.pure(&self.name(*name), terms, words)?,
            Term::Meet { block, register } => self.met(*block, *register, words)?,
            Term::Gained { header, step } => {
                let step = self.text(*step, words)?;
                let iteration = self.iteration(*header, words)?;
                if step == "1" { iteration } else { format!("{iteration}*{step}") }
            }
            Term::Unknown { at, .. } => format!("?{at}"),
            Term::Unset => "unset".to_owned(),
        };
        words.left = words.left.checked_sub(text.len() / 8)?;
        Some(text)
    }

    /// An operation in words: of the lesser and the greater of two unknown numbers the order does not
    /// matter, and a selection is what two ways bring.
    fn applied(
        &self,
        (operation, ty): (Operation, Type),
        terms: &[ValueId],
        words: &mut Words,
    ) -> Option<String> {
        if let (Operation::Select, [a, b, condition]) = (operation, terms)
            && [a, b].iter().all(|one| self.agent.values.width(**one) <= ty.bits)
        {
            return self.choice(*condition, [*a, *b], words);
        }
        let parts: Option<Vec<String>> = terms.iter().map(|term| self.text(*term, words)).collect();
        let mut parts = parts?;
        let is_extreme = matches!(operation, Operation::Minimum | Operation::Maximum);
        if is_extreme && !terms.iter().any(|term| self.agent.values.as_known(*term).is_some()) {
            parts.sort();
        }
        Some(operation_text(operation, ty, &parts))
    }

    /// One of two values, the first if a condition holds.
    pub(super) fn choice(
        &self,
        condition: ValueId,
        [mut a, mut b]: [ValueId; 2],
        words: &mut Words,
    ) -> Option<String> {
        let values = self.agent.values;
        let condition = match values.term(condition) {
            Term::Apply { operation: Operation::Compare(comparison), ty, terms }
                if is_opposite(*comparison) =>
            {
                std::mem::swap(&mut a, &mut b);
                let parts = [self.text(terms[0], words)?, self.text(terms[1], words)?];
                operation_text(Operation::Compare(comparison.negated()), *ty, &parts)
            }
            Term::Apply { operation: Operation::LogicalNot, terms, .. } => {
                std::mem::swap(&mut a, &mut b);
                self.text(terms[0], words)?
            }
            _ => self.text(condition, words)?,
        };
        Some(format!("({condition} ? {} : {})", self.text(a, words)?, self.text(b, words)?))
    }

    /// What a conjunction or disjunction is made of: neither order nor how often something is said matters.
    fn joined(
        &self,
        value: ValueId,
        (operation, ty): (Operation, Type),
        parts: &mut BTreeSet<String>,
        words: &mut Words,
    ) -> Option<()> {
        match self.agent.values.term(value) {
            Term::Apply { operation: inner, ty: of, terms } if (*inner, *of) == (operation, ty) => {
                words.left = words.left.checked_sub(1)?;
                terms.iter().try_for_each(|term| self.joined(*term, (operation, ty), parts, words))
            }
            _ => {
                parts.insert(self.text(value, words)?);
                Some(())
            }
        }
    }

    /// What meets: a variable of a loop by what it becomes, unless that takes too many words, and others by
    /// their place.
    fn met(&self, block: usize, register: Register, words: &mut Words) -> Option<String> {
        let left = words.left;
        words.left = left.min(RECURRENCE);
        match self.carried((block, register), words) {
            Some(text) => {
                words.left = left.saturating_sub(RECURRENCE.min(left) - words.left);
                Some(text)
            }
            // Inside of others it ends these too, so that each is tried once.
            None if !words.open.is_empty() => None,
            // What was tried counts: values that loops hand on to one another are tried again and again.
            None => {
                words.left = left.saturating_sub(RECURRENCE.min(left) - words.left.min(RECURRENCE));
                let origin = self.origin(Place::Meet(block, register));
                Some(format!("{}@{block}.{register}{origin}", self.register(register)))
            }
        }
    }

    /// The iteration of a loop: by its depth where it is around the node, so that loops of different agents
    /// may be the same; where it has been left, by what it was left by.
    pub(super) fn iteration(&self, header: usize, words: &mut Words) -> Option<String> {
        let around: Vec<usize> = self.agent.flow.around(self.node).collect();
        let found = around.iter().rev().position(|l| self.agent.flow.loops[*l].header == header);
        if let Some(depth) = found {
            let name = ["i", "j", "k"].get(depth).map_or_else(|| format!("i{depth}"), |i| (*i).to_owned());
            return Some(name);
        }
        let left = words.left;
        words.left = left.min(RECURRENCE);
        let text = self.last_iteration(header, words);
        words.left = left.saturating_sub(RECURRENCE.min(left) - words.left);
        text.or_else(|| Some(format!("i@{header}{}", self.origin(Place::Iterations(header)))))
    }

    /// What tells values of the same name apart that come from elsewhere in another agent.
    fn origin(&self, place: Place) -> String {
        match self.origins.number(&self.agent, self.node, place) {
            0 => String::new(),
            number => format!("#{number}"),
        }
    }

    /// What tells apart what the groups of a cluster have each for itself.
    fn own(&self) -> String {
        self.rank.map_or_else(String::new, |rank| format!(" of cta {rank}"))
    }

    /// Whether a function that is not computed, or a load of what nobody writes, has a result of 64 bits.
    pub(super) fn gives_64_bits(&self, function: u32) -> bool {
        self.name(function).ends_with("64")
    }

    /// A parameter of which it is said what it is at least, and that number.
    pub(super) fn bounded(&self, value: ValueId) -> Option<(ValueId, i64)> {
        let values = self.agent.values;
        let Term::Apply { operation: Operation::Maximum, terms, .. } = values.term(value) else {
            return None;
        };
        let least = |name: &u32| {
            let (said, _) = self.code.said.get(name).filter(|(_, bits)| *bits > 0)?;
            said.least_times()
        };
        let is_bounded = |term: &ValueId| match values.term(*term) {
            Term::Same(name) => least(name),
            Term::Apply { operation: Operation::Convert(from), ty, terms }
                if from.bits.min(ty.bits) >= 32 =>
            {
                match values.term(terms[0]) {
                    Term::Same(name) => least(name),
                    _ => None,
                }
            }
            _ => None,
        };
        terms.iter().find_map(|term| Some((*term, is_bounded(term)?)))
    }

    pub(super) fn name(&self, name: u32) -> String {
        self.code.names.get(name as usize).cloned().unwrap_or_default()
    }

    fn register(&self, register: u32) -> &str {
        self.code.registers.get(own(register) as usize).map_or("", String::as_str)
    }
}

/// Whether a comparison is said by its opposite.
fn is_opposite(comparison: Comparison) -> bool {
    matches!(comparison, Comparison::NotEqual | Comparison::GreaterOrEqual | Comparison::Greater)
}

/// The number after one of this type, as it is compared, unless it is the last.
fn after(number: u64, ty: Type) -> Option<i128> {
    let bits = u32::from(ty.bits);
    let (value, last) = if ty.signed {
        (i128::from(signed(number, ty.bits)), (1_i128 << (bits - 1)) - 1)
    } else {
        (i128::from(super::arithmetic::cut(number, ty.bits)), (1_i128 << bits) - 1)
    };
    (value < last).then_some(value + 1)
}

/// An operation in words: its type is said where it matters.
fn operation_text(operation: Operation, ty: Type, parts: &[String]) -> String {
    let sign = if ty.signed { "" } else { "u" };
    let infix = match operation {
        Operation::Compare(comparison) => comparison.text(),
        Operation::Multiply => "*",
        Operation::Divide => "/",
        Operation::Remainder => "%",
        Operation::ShiftLeft => "<<",
        Operation::ShiftRight => ">>",
        Operation::And => "&",
        Operation::Or => "|",
        Operation::Xor => "^",
        _ => "",
    };
    let signless = matches!(operation, Operation::And | Operation::Or | Operation::Xor | Operation::Multiply);
    match (infix, parts) {
        ("", [a]) if operation == Operation::LogicalNot => format!("!{a}"),
        // Values are cut to a width without a word.
        ("", [a]) if operation == Operation::Convert(ty) && ty.bits == 32 => {
            a.strip_suffix(":64").map_or_else(|| format!("{a}:32"), str::to_owned)
        }
        (infix, [a, b]) if !infix.is_empty() && ty.bits == 32 => {
            let sign = if signless { "" } else { sign };
            format!("({a} {infix}{sign} {b})")
        }
        (infix, [a, b]) if !infix.is_empty() => format!("({a} {infix}{sign}{} {b})", ty.bits),
        _ => {
            let name = match operation {
                Operation::Convert(from) => {
                    format!("from{}{}_to", if from.signed { "s" } else { "u" }, from.bits)
                }
                other => format!("{other:?}").to_lowercase(),
            };
            let sign = if ty.signed { 's' } else { 'u' };
            format!("{name}_{sign}{}({})", ty.bits, parts.join(", "))
        }
    }
}

fn number(lanes: &Lanes, bits: u8) -> String {
    match lanes {
        Lanes::All(number) => signed(*number, bits).to_string(),
        Lanes::Each(numbers) => format!("{numbers:?}"),
    }
}

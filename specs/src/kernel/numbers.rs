//! Unknown numbers in what is computed of them: how much of a number has to be known for a value to be.
//!
//! A ring that goes on by an unknown number n of steps is at stage `(stage + n) % 6`, in a phase that changes
//! with every sixth step. Of n no more has to be known for that than its remainder by 12, and n itself where
//! it is small and compared: `n < 6 && stage + n >= 6`. So a value is taken apart to find an E and a P such
//! that it is the same for n and n + P, whatever n is from E on. Then one of the numbers below E + P can
//! stand for n.
//!
//! Only numbers are looked at that are compared with the iterations of a loop: others do not say how often
//! something is done.

use std::collections::BTreeSet;

use super::arithmetic::signed;
use super::code::{Comparison, Operation, Type};
use super::counts::Threshold;
use super::lanes::Lanes;
use super::ranges::{Known, Range, Ranges};
use super::terms::{any, part_of};
use super::tree::Assumption;
use super::value::{Term, ValueId, Values};
use crate::common::span::Span;

/// The largest E that is looked for, and the largest P.
const EXACT: i64 = 24;
const PERIOD: i64 = 64;
/// Terms that are looked at for one value.
const TERMS: u32 = 2_000;

/// How much of unknown numbers has to be known for a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Need {
    /// Numbers below this are told apart.
    pub(super) exact: i64,
    /// Others by what is left when they are divided by this.
    pub(super) period: i64,
    pub(super) numbers: BTreeSet<ValueId>,
    /// The value depends on variables as well.
    pub(super) mixes: bool,
}

/// An unknown number that is needed, as programs name it until it is counted.
#[derive(Clone, Debug)]
pub(super) struct Number {
    pub(super) value: ValueId,
    /// Where something is computed of it.
    pub(super) span: Span,
    /// Whether it is at least 1, and at least 2.
    pub(super) one: Threshold,
    pub(super) two: Threshold,
    /// What is asked of it by what has to be computed: see [`Need`].
    pub(super) exact: i64,
    pub(super) period: i64,
    /// Something has to be computed of it.
    pub(super) is_needed: bool,
    /// It is a multiple of this, which is a power of 2.
    pub(super) multiple: i64,
    /// What has to be taken for true of it.
    pub(super) assumes: BTreeSet<Assumption>,
}

/// The largest power of 2 of which numbers are taken to be multiples, as its exponent.
pub(super) const MULTIPLE: u32 = 3;

impl Number {
    /// Whether a step of it is several of what it is made of, such as `(k + 63) / 64`.
    pub(super) fn is_coarse(&self) -> bool {
        self.two.side.least.saturating_sub(self.one.side.least) > 1
    }

    /// Whether it never changes, and is counted in each iteration of a loop.
    pub(super) fn is_counted_again(&self) -> bool {
        self.one.is_invariant && self.one.scope.is_some()
    }

    /// Has more of it known.
    pub(super) fn widen(&mut self, exact: i64, period: i64) {
        self.exact = self.exact.max(exact);
        self.period = least_multiple(self.period, period).unwrap_or(i64::MAX);
    }
}

/// The name of a number until it is counted, by its position among all.
pub(super) fn placeholder(position: usize) -> String {
    format!("{PLACEHOLDER}{position}")
}

/// The position of a number by its name.
pub(super) fn position(word: &str) -> Option<usize> {
    word.strip_prefix(PLACEHOLDER)?.parse().ok()
}

/// Longer than any name that is made of one in a kernel.
const PLACEHOLDER: &str = "number_that_is_not_known_and_of_which_something_is_computed_here_";

/// The numbers that conditions compare with the iterations of loops.
pub(super) fn counted(values: &mut Values, conditions: impl Iterator<Item = ValueId>) -> BTreeSet<ValueId> {
    let (mut numbers, mut seen) = (BTreeSet::new(), BTreeSet::new());
    let mut work: Vec<ValueId> = conditions.collect();
    while let Some(condition) = work.pop() {
        if !seen.insert(condition) || !gains(values, condition) {
            continue;
        }
        match values.term(condition).clone() {
            Term::Apply { operation: Operation::Compare(_), terms, .. } => {
                for side in terms {
                    numbers.extend(whole(values, side));
                    summands(values, side, &mut numbers);
                }
            }
            Term::Apply { terms, .. } => work.extend(terms),
            _ => {}
        }
    }
    numbers
}

/// Whether what a loop has added so far is part of a value.
fn gains(values: &Values, value: ValueId) -> bool {
    any(values, value, |term| matches!(term, Term::Gained { .. }))
}

/// What is compared with iterations in a side of a comparison, if it is a sum of several unknown numbers.
fn whole(values: &mut Values, side: ValueId) -> Option<ValueId> {
    let Term::Sum { bits, terms, .. } = values.term(side).clone() else { return None };
    let (gained, others): (Vec<_>, Vec<_>) = terms.into_iter().partition(|(term, _)| gains(values, *term));
    let minus = Lanes::All(super::arithmetic::cut(u64::MAX, bits));
    let one = Lanes::All(1);
    // `i - n` is compared with 0, or n with i.
    let sign = match gained.as_slice() {
        [] => one,
        [(term, factor)] if matches!(values.term(*term), Term::Gained { .. }) => {
            let is_less = factor.all().is_some_and(|factor| signed(factor, bits) < 0);
            if is_less { one } else { minus }
        }
        _ => return None,
    };
    let parts: Vec<(ValueId, Lanes)> = others
        .into_iter()
        .map(|(term, factor)| Some((values.sum(bits, &[(term, factor)])?, sign.clone())))
        .collect::<Option<_>>()?;
    values.sum(bits, &parts).filter(|whole| is_whole(values, *whole))
}

/// What is added up in a side of a comparison, and what the greater of it and a known number is.
fn summands(values: &Values, value: ValueId, found: &mut BTreeSet<ValueId>) {
    let mut work = vec![value];
    while let Some(value) = work.pop() {
        match values.term(value) {
            Term::Known(_) | Term::Gained { .. } => {}
            Term::Sum { terms, .. } => work.extend(terms.iter().map(|(term, _)| *term)),
            Term::Apply { operation, ty, terms } if keeps(*operation, *ty) => {
                // The lesser of two is a number of its own.
                found.extend((*operation == Operation::Minimum && !gains(values, value)).then_some(value));
                // Of `max(2 * n - m, 4)` the whole sum is the number, and its parts may be others.
                found.extend(terms.iter().filter(|term| is_whole(values, **term)));
                work.extend(terms);
            }
            _ => {
                found.insert(value);
            }
        }
    }
}

/// Whether a value is a sum of unknown numbers alone, or so many times one.
fn is_whole(values: &Values, value: ValueId) -> bool {
    matches!(values.term(value), Term::Sum { known, .. } if known.is_zero()) && !gains(values, value)
}

/// Whether what comes of an operation is one of its operands, or a part of it. What is cut is another number.
fn keeps(operation: Operation, ty: Type) -> bool {
    match operation {
        Operation::Convert(from) => from.bits < ty.bits,
        Operation::Minimum | Operation::Maximum | Operation::Select => true,
        Operation::And | Operation::Remainder => true,
        _ => false,
    }
}

/// Whether one of some numbers stands in a value.
pub(super) fn mentions(values: &Values, numbers: &BTreeSet<ValueId>, value: ValueId) -> bool {
    let (mut seen, mut work) = (BTreeSet::new(), vec![value]);
    while let Some(value) = work.pop().filter(|_| !numbers.is_empty()) {
        if numbers.contains(&value) {
            return true;
        }
        if seen.insert(value) {
            work.extend(values.inside(value));
        }
    }
    false
}

/// How much of unknown numbers has to be known for a value as a node sees it, if it can be computed then.
pub(super) fn need(values: &Values, known: &dyn Known, node: usize, value: ValueId) -> Option<Need> {
    if !mentions(values, known.numbers(), value) {
        return None;
    }
    let is_truth = values.width(value) <= 1;
    let found = (0..=EXACT).find_map(|exact| {
        let need = Need { exact, period: 1, ..Need::default() };
        let mut analysis = Analysis { values, known, node, need, left: TERMS };
        if is_truth {
            analysis.truth(value)?;
        } else {
            analysis.value(value, None)?;
        }
        Some(analysis.need)
    })?;
    (!found.numbers.is_empty()).then_some(found)
}

struct Analysis<'a> {
    values: &'a Values,
    known: &'a dyn Known,
    node: usize,
    need: Need,
    left: u32,
}

impl Analysis<'_> {
    fn is_number(&self, value: ValueId) -> bool {
        self.known.is_number(self.values, self.node, value)
    }

    fn is_exact(&mut self, value: ValueId) -> bool {
        let is_exact = self.known.is_exact(self.values, self.node, value);
        if is_exact {
            self.need.mixes |= any(self.values, value, |term| matches!(term, Term::Meet { .. }));
        }
        is_exact
    }

    /// Whether it is what a loop has added so far, in known steps: its iterations can be counted.
    fn is_counted(&mut self, value: ValueId) -> bool {
        let Term::Gained { step, .. } = self.values.term(value) else { return false };
        let is_known = self.values.as_known(*step).and_then(Lanes::all).is_some();
        self.need.mixes |= is_known;
        is_known
    }

    /// Whether the value follows from what is known of numbers: all of it, or what is left when it is divided
    /// by `want`.
    fn value(&mut self, value: ValueId, want: Option<i64>) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        if want == Some(1) || self.is_exact(value) {
            return Some(());
        }
        if self.is_counted(value) {
            return Some(());
        }
        if self.is_number(value) {
            let period = least_multiple(self.need.period, want?);
            self.need.period = period.filter(|period| *period <= PERIOD)?;
            self.need.numbers.insert(value);
            return Some(());
        }
        // Of a value of a few bits those are wanted.
        let bits = self.values.width(value);
        let all = (bits <= 5).then(|| 1_i64 << bits);
        match self.values.term(value).clone() {
            Term::Sum { mut terms, bits, .. } => {
                while let Some((number, rest)) = part_of(self.values, self.known.numbers(), (bits, &terms))
                    && self.is_number(number)
                {
                    self.value(number, want)?;
                    terms = rest;
                }
                for (term, factor) in terms {
                    let factor = signed(factor.all()?, bits);
                    let part = want.map(|want| want / gcd(want, factor));
                    self.value(term, part)?;
                }
                Some(())
            }
            Term::Apply { operation, ty, terms } => {
                let want = match (want, all) {
                    (Some(want), Some(all)) if want.count_ones() == 1 => Some(want.min(all)),
                    (want, all) => want.or(all),
                };
                self.operation(operation, ty, &terms, want)
            }
            _ => None,
        }
    }

    fn operation(
        &mut self,
        operation: Operation,
        ty: Type,
        terms: &[ValueId],
        want: Option<i64>,
    ) -> Option<()> {
        let known = |analysis: &Self, value| analysis.values.as_known(value).and_then(Lanes::all);
        let is_power = |want: &i64| want.count_ones() == 1;
        match (operation, terms) {
            (Operation::And, [a, b]) => {
                for (of, mask) in [(a, b), (b, a)] {
                    let Some(mask) = known(self, *mask).filter(|mask| *mask < 1 << 31) else { continue };
                    let whole = (mask + 1).next_power_of_two() as i64;
                    let want = want.filter(is_power).map_or(whole, |want| want.min(whole));
                    return self.value(*of, Some(want));
                }
                self.both(*a, *b, want.filter(is_power))
            }
            (Operation::Or | Operation::Xor, [a, b]) => self.both(*a, *b, want.filter(is_power)),
            (Operation::Not, [a]) => self.value(*a, want.filter(is_power)),
            (Operation::LogicalNot, [a]) => self.truth(*a),
            (Operation::Compare(comparison), [a, b]) => self.comparison(comparison, ty, *a, *b),
            (Operation::Select, [a, b, condition]) => {
                self.truth(*condition)?;
                self.value(*a, want)?;
                self.value(*b, want)
            }
            (Operation::ShiftRight, [a, by]) => {
                let by = known(self, *by).filter(|by| *by < 31)?;
                self.is_natural(*a)?;
                self.value(*a, Some(want?.checked_mul(1 << by)?))
            }
            (Operation::ExtractBits, [a, from, count]) if !ty.signed => {
                let bits = known(self, *from)?.checked_add(known(self, *count)?).filter(|bits| *bits < 31)?;
                self.value(*a, Some(1 << bits))
            }
            (Operation::Divide, [a, by]) => {
                let by = i64::try_from(known(self, *by)?).ok().filter(|by| (1..1 << 31).contains(by))?;
                self.is_natural(*a)?;
                self.value(*a, Some(want?.checked_mul(by)?))
            }
            (Operation::Remainder, [a, by]) => {
                let by = i64::try_from(known(self, *by)?).ok().filter(|by| (1..1 << 31).contains(by))?;
                self.is_natural(*a)?;
                self.value(*a, Some(by))
            }
            (Operation::Convert(from), [a]) if from.bits >= 32 && ty.bits >= 32 => {
                self.is_natural(*a)?;
                self.value(*a, want)
            }
            (Operation::Minimum | Operation::Maximum, [a, b]) => {
                let takes_less = operation == Operation::Minimum;
                let which = match self.order(ty, *a, *b)? {
                    true if takes_less => *a,
                    false if !takes_less => *a,
                    _ => *b,
                };
                self.value(which, want)
            }
            _ => None,
        }
    }

    fn both(&mut self, a: ValueId, b: ValueId, want: Option<i64>) -> Option<()> {
        self.value(a, want)?;
        self.value(b, want)
    }

    /// Whether a condition follows from what is known of numbers.
    fn truth(&mut self, condition: ValueId) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        if self.is_exact(condition) {
            return Some(());
        }
        let are_bits = |terms: &[ValueId]| terms.iter().all(|term| self.values.width(*term) <= 1);
        match self.values.term(condition).clone() {
            Term::Apply { operation: Operation::Compare(comparison), ty, terms } => {
                self.comparison(comparison, ty, terms[0], terms[1])
            }
            Term::Apply {
                operation: Operation::And | Operation::Or | Operation::Xor | Operation::LogicalNot,
                terms,
                ..
            } if are_bits(&terms) => terms.into_iter().try_for_each(|term| self.truth(term)),
            _ if self.values.width(condition) <= 1 => self.value(condition, Some(2)),
            _ => None,
        }
    }

    fn comparison(&mut self, comparison: Comparison, ty: Type, a: ValueId, b: ValueId) -> Option<()> {
        if ty.bits < 32 {
            return None;
        }
        let any = matches!(comparison, Comparison::Equal | Comparison::NotEqual);
        let signed = Type { signed: ty.signed || any, ..ty };
        if self.order(signed, a, b).is_some() {
            // From the first number on the outcome is the same; below it, numbers are told apart.
            for side in [a, b] {
                self.numbers(side)?;
            }
            return Some(());
        }
        let bits = self.low_bits(a).max(self.low_bits(b));
        if bits > 5 {
            return None;
        }
        self.both(a, b, Some(1 << bits))
    }

    /// So many low bits of a value are all of it.
    fn low_bits(&self, value: ValueId) -> u8 {
        match self.range(value) {
            (Some(0..), Some(most)) => (64 - most.leading_zeros()) as u8,
            _ => self.values.width(value),
        }
    }

    /// Whether one value is below another, or above it, whatever large numbers are: true if it is below.
    fn order(&mut self, ty: Type, a: ValueId, b: ValueId) -> Option<bool> {
        let (left, right) = (self.range(a), self.range(b));
        if !ty.signed && (left.0? < 0 || right.0? < 0) {
            return None;
        }
        let below = |a: Range, b: Range| a.1.zip(b.0).is_some_and(|(most, least)| most < least);
        match (below(left, right), below(right, left)) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        }
    }

    /// Collects the numbers of a value that is only compared: all else in it has to be known.
    fn numbers(&mut self, value: ValueId) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        if self.is_exact(value) {
            return Some(());
        }
        if self.is_number(value) {
            self.need.numbers.insert(value);
            return Some(());
        }
        match self.values.term(value) {
            Term::Sum { bits, terms, .. } => {
                let mut terms = terms.clone();
                while let Some((number, rest)) = part_of(self.values, self.known.numbers(), (*bits, &terms))
                    && self.is_number(number)
                {
                    self.need.numbers.insert(number);
                    terms = rest;
                }
                terms.into_iter().try_for_each(|(term, _)| self.numbers(term))
            }
            Term::Apply { .. } => {
                self.values.inside(value).into_iter().try_for_each(|inside| self.numbers(inside))
            }
            _ => None,
        }
    }

    /// Whether a value is never negative where numbers are large.
    fn is_natural(&self, value: ValueId) -> Option<()> {
        self.range(value).0.filter(|least| *least >= 0).map(|_| ())
    }

    /// What a value may be where numbers are large.
    fn range(&self, value: ValueId) -> Range {
        let from = self.need.exact;
        Ranges::new(self.values, self.known, (self.node, from)).of(value)
    }
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a.abs() } else { gcd(b, a % b) }
}

/// The least common multiple, if it is small.
pub(super) fn least_multiple(a: i64, b: i64) -> Option<i64> {
    (a / gcd(a, b)).checked_mul(b).filter(|multiple| *multiple < 1 << 31)
}

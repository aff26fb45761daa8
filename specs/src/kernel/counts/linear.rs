//! Comparisons as thresholds of an unknown number.

use std::collections::{BTreeMap, BTreeSet};

use super::sum::{Into, Linear, Rounds};
use super::{Formula, Readings, Side, Sign, Threshold};
use crate::kernel::arithmetic::{signed, without_sign};
use crate::kernel::code::{Comparison, Operation, Type};
use crate::kernel::flow::Flow;
use crate::kernel::keys::Keys;
use crate::kernel::lanes::Lanes;
use crate::kernel::slice::Slice;
use crate::kernel::terms::{any, is_invariant};
use crate::kernel::value::{Term, ValueId, Values};

/// Terms inside one another that are looked into.
pub(super) const DEPTH: u32 = 40;
/// Conditions inside one another that are taken apart.
const PARTS: u32 = 6;

/// Asks what a condition is about in a node of a warp.
pub(in crate::kernel) struct Asker<'a> {
    pub(in crate::kernel) slice: &'a Slice,
    /// Terms in words, as the node sees them.
    pub(in crate::kernel) keys: Keys<'a>,
    /// How many iterations each loop has at most, if they are few.
    pub(in crate::kernel) most: &'a [Option<i64>],
}

impl Asker<'_> {
    pub(super) fn values(&self) -> &Values {
        self.keys.agent.values
    }

    fn flow(&self) -> &Flow {
        self.keys.agent.flow
    }

    /// Whether a number is at least another, from whichever side.
    pub(in crate::kernel) fn reaches(&self, value: ValueId, least: i64) -> Option<Threshold> {
        let sum = match self.values().term(value) {
            // As a comparison takes it apart.
            Term::Sum { bits, .. } => self.linear(value, Type { bits: *bits, signed: true }, DEPTH)?,
            _ => Linear { atoms: BTreeMap::from([(value, 1)]), ..Linear::default() },
        };
        self.flat(&sum, least, (Sign::Either, true), Into::Thresholds)
    }

    /// A condition as a formula over thresholds, if it is one.
    pub(in crate::kernel) fn formula(&self, condition: ValueId) -> Option<Formula> {
        self.part(condition, PARTS, false)
    }

    /// The same with what is asked of the lesser or the greater of two unknown numbers asked of each; `None`
    /// if nothing is.
    pub(in crate::kernel) fn apart(&self, condition: ValueId) -> Option<Formula> {
        let is_extreme = |term: &Term| {
            matches!(term, Term::Apply { operation: Operation::Minimum | Operation::Maximum, .. })
        };
        any(self.values(), condition, is_extreme).then(|| self.part(condition, PARTS, true)).flatten()
    }

    fn part(&self, condition: ValueId, left: u32, splits: bool) -> Option<Formula> {
        let left = left.checked_sub(1)?;
        let Term::Apply { operation, ty, terms } = self.values().term(condition) else {
            return None;
        };
        let parts = || terms.iter().map(|term| self.part(*term, left, splits)).collect::<Option<Vec<_>>>();
        let bits = |value: &ValueId| self.values().width(*value) <= 1;
        match operation {
            Operation::Compare(comparison) => {
                let [a, b] = terms[..] else { return None };
                if let Some(formula) = splits.then(|| self.split(*comparison, *ty, [a, b])).flatten() {
                    return Some(formula);
                }
                let ty = Type { signed: ty.signed || self.goes_down(*ty, (a, b)), ..*ty };
                let mut formula = self.comparison(*comparison, ty, a, b)?;
                let readings = self.readings(*comparison, ty, [a, b]);
                formula.each(&mut |threshold| threshold.readings.clone_from(&readings));
                Some(formula)
            }
            Operation::LogicalNot => Some(parts()?.pop()?.not()),
            Operation::And if terms.iter().all(bits) => Some(Formula::All(parts()?)),
            Operation::Or if terms.iter().all(bits) => Some(Formula::Any(parts()?)),
            // A lowest bit is at least 1, or it is 0.
            Operation::And if bits(&condition) => {
                let bit = Linear { atoms: BTreeMap::from([(condition, 1)]), ..Linear::default() };
                self.threshold(&bit, 1, (Sign::Either, false))
            }
            _ => None,
        }
    }

    pub(super) fn comparison(
        &self,
        comparison: Comparison,
        ty: Type,
        a: ValueId,
        b: ValueId,
    ) -> Option<Formula> {
        if ty.bits < 32 {
            return None;
        }
        let (left, right) = (self.linear(a, ty, DEPTH)?, self.linear(b, ty, DEPTH)?);
        let mut difference = left.clone();
        difference.add(&right, -1)?;
        let sign = if ty.signed { Sign::Signed } else { Sign::Unsigned };
        let is_plain = |value| !matches!(self.values().term(value), Term::Sum { .. } | Term::Apply { .. });
        let is_turned = !(is_plain(a) && is_plain(b));
        let reaches = |least, sign| self.threshold(&difference, least, (sign, is_turned));
        if let Some(within) = self.within(comparison, ty, (a, b)) {
            return Some(within);
        }
        // Unsigned differences wrap around on purpose: `i - 2 <u n` asks whether i is at least 2 as well.
        let is_order = !matches!(comparison, Comparison::Equal | Comparison::NotEqual);
        let is_natural = |sum: &Linear, value| sum.only_adds() || self.is_natural(value);
        if is_order && !ty.signed && !(is_natural(&left, a) && is_natural(&right, b)) {
            return None;
        }
        let mut formula = match comparison {
            Comparison::Less => reaches(0, sign)?.not(),
            Comparison::LessOrEqual => reaches(1, sign)?.not(),
            Comparison::Greater => reaches(1, sign)?,
            Comparison::GreaterOrEqual => reaches(0, sign)?,
            Comparison::Equal | Comparison::NotEqual => {
                let sign = if difference.is_negative() { Sign::Negative } else { Sign::Either };
                let equal = Formula::All(vec![reaches(0, sign)?, reaches(1, sign)?.not()]);
                if comparison == Comparison::Equal { equal } else { equal.not() }
            }
        };
        let number =
            [&left, &right].into_iter().find(|side| side.rounds.is_empty() && !side.atoms.is_empty());
        let more = number.map_or(0, |side| side.known);
        formula.each(&mut |threshold| threshold.more = more);
        Some(formula)
    }

    /// Whether a sum is at least a number.
    pub(super) fn threshold(&self, sum: &Linear, least: i64, sign: (Sign, bool)) -> Option<Formula> {
        if let Some(low) = self.low(sum, least) {
            return Some(low);
        }
        if let Some(low) = self.low(&sum.negated()?, 1_i64.checked_sub(least)?) {
            return Some(low.not());
        }
        if sum.rounds.is_empty() {
            return Some(Formula::Reaches(Box::new(self.flat(sum, least, sign, Into::All)?)));
        }
        if sum.rounds.values().all(|times| *times > 0) {
            // It holds if the negated sum is not at least this.
            return Some(self.growing(&sum.negated()?, 1_i64.checked_sub(least)?, sign)?.not());
        }
        self.growing(sum, least, sign)
    }

    /// Of a threshold that does not grow, from both sides, looked into so far.
    pub(super) fn flat(
        &self,
        sum: &Linear,
        least: i64,
        (sign, is_turned): (Sign, bool),
        into: Into,
    ) -> Option<Threshold> {
        let still = (&Rounds::new(), into);
        let mut side = self.side(sum, least, still)?;
        side.has_no_sign(sum, sign);
        let other = Some(self.side(&sum.negated()?, 1_i64.checked_sub(least)?, still)?);
        let (scope, depth) = self.scope(sum)?;
        let about = self.about(sum);
        let around = self.flow().around(self.keys.node);
        let depths = around.map(|l| (self.flow().loops[l].header, self.depth(l)));
        let mut inside: Vec<_> = depths.take_while(|(_, inner)| *inner > depth).collect();
        let is_mixed = self.mixes(sum, sign);
        let is_invariant = self.is_invariant(sum);
        if is_invariant {
            inside.extend(self.left());
        }
        let mut in_units = self.in_units(sum, least, false)?;
        in_units.extend(self.in_units(&sum.negated()?, 1_i64.checked_sub(least)?, true)?);
        let unit = None;
        Some(Threshold {
            side,
            other,
            unit,
            in_units,
            sign,
            scope,
            depth,
            pass: 0,
            inside,
            about,
            is_turned,
            is_mixed,
            readings: Readings::default(),
            is_invariant,
            most: None,
            more: 0,
            outer: Vec::new(),
        })
    }

    /// Whether unknown numbers of a sum that is compared with a sign, or without, are divided, or held
    /// against others, the other way.
    fn mixes(&self, sum: &Linear, sign: Sign) -> bool {
        let is_top = |value: ValueId| {
            let term = self.values().term(value);
            matches!(
                term,
                Term::Apply { operation: Operation::ShiftRight, ty: Type { signed: true, .. }, .. }
            )
        };
        let is_other = |term: &Term| {
            let Term::Apply { operation, ty, terms } = term else { return false };
            let divides = match operation {
                Operation::Divide | Operation::Maximum | Operation::Minimum => true,
                Operation::And if ty.bits >= 32 => {
                    return self.with_number(terms).is_some_and(|(_, mask)| without_sign(mask, ty.bits) != 0);
                }
                // The sign by itself is what compilers round towards 0 with.
                Operation::ShiftRight => {
                    let by = self.values().as_known(terms[1]).and_then(Lanes::all);
                    !is_top(terms[0]) && by != Some(31)
                }
                _ => false,
            };
            divides && ty.signed == (sign == Sign::Unsigned)
        };
        sum.atoms.keys().any(|atom| !self.is_natural(*atom) && any(self.values(), *atom, is_other))
    }

    /// Whether none of the unknown numbers of a sum ever changes.
    fn is_invariant(&self, sum: &Linear) -> bool {
        let units = sum.rounds.keys().filter_map(|(_, unit)| unit.as_ref());
        sum.atoms.keys().chain(units).all(|number| is_invariant(self.values(), *number))
    }

    /// The loops that have been gone through wherever this is asked, the last one first: headers and depths.
    /// A number that never changes is what it was in their last iteration. One that does need not be: it may
    /// have begun anew in an iteration that was left before it was computed.
    fn left(&self) -> Vec<(usize, usize)> {
        let flow = self.flow();
        let above = std::iter::successors(flow.dominator[self.keys.node], |node| flow.dominator[*node]);
        let entered = above.filter_map(|node| (0..flow.loops.len()).find(|l| flow.loops[*l].header == node));
        let left = entered.filter(|l| !flow.contains(Some(*l), self.keys.node));
        left.map(|l| (flow.loops[l].header, self.depth(l))).collect()
    }

    /// Of a threshold that grows with loops.
    fn growing(&self, sum: &Linear, least: i64, (sign, _): (Sign, bool)) -> Option<Formula> {
        let mut rounds = BTreeMap::new();
        let mut units = BTreeSet::new();
        for ((header, unit), times) in &sum.rounds {
            units.insert(*unit);
            if *times >= 0 || rounds.insert(*header, times.checked_neg()?).is_some() {
                return None;
            }
        }
        let (Some(unit), 1) = (units.first().copied(), units.len()) else { return None };
        let (scope, _) = self.scope(sum)?;
        let scope = scope.and_then(|scope| self.flow().innermost[scope]);
        let around = |header: &usize| Some(self.flow().loops[self.flow().innermost[*header]?].around);
        let mut arounds = rounds.keys().map(around);
        let around = arounds.next()??;
        if !arounds.all(|other| other == Some(around)) {
            return None;
        }
        // The number may change with the iterations of a loop around, but not with those of one inside.
        let is_around = |outer: usize| around.is_some_and(|inner| self.is_inside(inner, outer));
        if scope.is_some_and(|scope| !is_around(scope)) {
            return None;
        }
        let (scope, depth) =
            (around.map(|l| self.flow().loops[l].header), around.map_or(0, |l| self.depth(l)));
        let base = Linear { rounds: BTreeMap::new(), ..sum.clone() };
        let about = self.about(sum);
        let (mut side, unit) = match unit {
            None => (self.side(&base, least, (&rounds, Into::Thresholds))?, None),
            Some(unit) => {
                if !self.is_positive(unit) {
                    return None;
                }
                let growth = rounds.values().copied().collect::<Vec<_>>();
                let side = self.side_in(unit, &base, least, &growth)?;
                (Side { rounds: rounds.into_iter().collect(), ..side }, Some(self.keys.of(unit)))
            }
        };
        if unit.is_none() {
            side.has_no_sign(&base, sign);
        }
        let in_units = self.of_quotient(&base, least, false).filter(|_| unit.is_none());
        let in_units = in_units.into_iter().collect();
        let (other, inside, is_turned) = (None, Vec::new(), true);
        let most = match side.rounds.as_slice() {
            [(header, _)] => self.flow().innermost[*header].and_then(|inner| self.most[inner]),
            _ => None,
        };
        let outer = if unit.is_none() { self.outer(&base) } else { Vec::new() };
        let threshold = Threshold {
            side,
            other,
            unit,
            in_units,
            sign,
            scope,
            depth,
            pass: 0,
            inside,
            about,
            is_turned,
            is_mixed: self.mixes(sum, sign),
            readings: Readings::default(),
            is_invariant: self.is_invariant(sum),
            most,
            more: 0,
            outer,
        };
        Some(Formula::Reaches(Box::new(threshold)))
    }

    /// How many loops are around what is in a loop.
    fn depth(&self, number: usize) -> usize {
        self.flow().around(self.flow().loops[number].header).count()
    }

    /// Whether a loop is another or inside it.
    fn is_inside(&self, inner: usize, outer: usize) -> bool {
        self.flow().contains(Some(outer), self.flow().loops[inner].header)
    }

    pub(super) fn linear(&self, value: ValueId, ty: Type, left: u32) -> Option<Linear> {
        let left = left.checked_sub(1)?;
        let atom = || Linear { atoms: BTreeMap::from([(value, 1)]), ..Linear::default() };
        Some(match self.values().term(value) {
            Term::Known(lanes) => {
                let number = lanes.all()?;
                let known = if ty.signed { signed(number, ty.bits) } else { i64::try_from(number).ok()? };
                Linear { known, ..Linear::default() }
            }
            Term::Sum { bits, terms, known } => {
                let mut sum = Linear { known: signed(known.all()?, *bits), ..Linear::default() };
                for (term, factor) in terms {
                    sum.add(&self.linear(*term, ty, left)?, signed(factor.all()?, *bits))?;
                }
                sum
            }
            Term::Gained { header, step } => {
                let (unit, times) = match self.values().as_known(*step).and_then(Lanes::all) {
                    // Is it negative? A sum of 64 bits does not say.
                    Some(step) if ty.bits == 64 && step >> 31 == 1 => return None,
                    Some(step) => (None, signed(step, ty.bits)),
                    None => self.steps(*step, ty, left),
                };
                Linear { rounds: BTreeMap::from([((*header, unit), times)]), ..Linear::default() }
            }
            Term::Apply { operation: Operation::Not, ty: of, terms } if of.bits >= 32 => {
                let mut sum = self.linear(terms[0], Type { signed: true, ..*of }, left)?.negated()?;
                sum.known = sum.known.checked_sub(1)?;
                sum
            }
            Term::Apply { operation: Operation::Multiply, ty: of, terms } => {
                let [a, b] = terms[..] else { return Some(atom()) };
                let (a, b) = (self.linear(a, *of, left)?, self.linear(b, *of, left)?);
                let product = self.product(&a, &b).or_else(|| self.product(&b, &a));
                product.unwrap_or_else(atom)
            }
            Term::Apply { operation: Operation::Maximum, ty: of, terms } if of.signed && *of == ty => {
                let inside = self.with_number(terms).and_then(|(inside, number)| {
                    self.is_reached(inside, signed(number, of.bits)).then(|| self.linear(inside, ty, left))
                });
                inside.unwrap_or_else(|| Some(atom()))?
            }
            Term::Apply { operation: Operation::Convert(from), ty: to, terms }
                if from.bits < to.bits && self.has_bits(terms[0], from.bits) =>
            {
                let inside = self.linear(terms[0], Type { bits: from.bits, signed: from.signed }, left)?;
                if from.signed == ty.signed || !from.signed { inside } else { atom() }
            }
            Term::Apply { operation: Operation::Select, terms, .. } => match self.settled(terms[2]) {
                Some(holds) => self.linear(terms[usize::from(!holds)], ty, left)?,
                None => atom(),
            },
            _ => atom(),
        })
    }

    /// Whether a term has no more bits than these: to convert it from so many cuts nothing off.
    fn has_bits(&self, value: ValueId, bits: u8) -> bool {
        match self.values().term(value) {
            Term::Same(name) => bits >= 64 || bits >= 32 && !self.keys.code.wide.contains(name),
            Term::Loaded { at, .. } => bits >= 64 || bits >= 32 && !self.keys.is_wide(*at),
            Term::Pure { name, .. } => bits >= 64 || bits >= 32 && !self.keys.gives_64_bits(*name),
            Term::Apply { .. } | Term::Sum { .. } | Term::Meet { .. } => self.values().width(value) <= bits,
            // What registers hold at first has their bits, of which 32 are the fewest that are counted with.
            _ => bits >= 32 || self.values().width(value) <= bits,
        }
    }

    /// Whether what a condition compares is about one thing on both sides, as `n % m < m` is: then not every
    /// outcome need come about.
    pub(in crate::kernel) fn bounds_itself(&self, condition: ValueId) -> bool {
        let Term::Apply { operation: Operation::Compare(_), ty, terms } = self.values().term(condition)
        else {
            return false;
        };
        let [a, b] = terms[..] else { return false };
        let sides = self.linear(a, *ty, DEPTH).zip(self.linear(b, *ty, DEPTH));
        let Some((mut difference, other)) = sides else { return false };
        if difference.add(&other, -1).is_none() {
            return false;
        }
        self.repeats(&difference)
    }

    /// How a condition comes out whatever is unknown in it.
    fn settled(&self, condition: ValueId) -> Option<bool> {
        let selects = |term: &Term| matches!(term, Term::Apply { operation: Operation::Select, .. });
        // What is selected by what is selected would be looked at again and again.
        if any(self.values(), condition, selects) {
            return None;
        }
        self.formula(condition)?.known()
    }

    /// A sum in words, without its known number.
    pub(super) fn words(&self, sum: &Linear) -> Option<String> {
        if sum.atoms.is_empty() {
            return None;
        }
        let mut parts: Vec<String> = sum
            .atoms
            .iter()
            .map(|(atom, times)| match times {
                1 => self.keys.of(*atom),
                times => format!("{times} * {}", self.keys.of(*atom)),
            })
            .collect();
        parts.sort();
        Some(parts.join(" + "))
    }

    fn about(&self, sum: &Linear) -> BTreeSet<String> {
        sum.atoms.keys().flat_map(|atom| self.keys.about(*atom)).collect()
    }

    /// The loop with whose iterations the unknown numbers of a sum change, if they do, and how many loops
    /// are around it; `None` if that is not known.
    fn scope(&self, sum: &Linear) -> Option<(Option<usize>, usize)> {
        let mut deepest: Option<(usize, usize)> = None;
        let (mut seen, mut work) = (BTreeSet::new(), Vec::new());
        work.extend(sum.atoms.keys().copied());
        work.extend(sum.rounds.keys().filter_map(|(_, unit)| *unit));
        while let Some(value) = work.pop() {
            if !seen.insert(value) {
                continue;
            }
            let at = match self.values().term(value) {
                Term::Meet { block, .. } => Some(*block),
                Term::Gained { header, .. } => Some(*header),
                Term::Loaded { at, varies: true, .. } | Term::Given { at } => {
                    Some(self.slice.nodes.iter().position(|node| node.instructions.contains(at))?)
                }
                Term::Unknown { .. } | Term::Unset => return None,
                _ => None,
            };
            if let Some(at) = at {
                let around =
                    self.keys.agent.flow.around(at).find(|l| self.flow().contains(Some(*l), self.keys.node));
                if let Some(around) = around {
                    let depth = self.flow().around(self.flow().loops[around].header).count();
                    if deepest.is_none_or(|(_, so_far)| depth > so_far) {
                        deepest = Some((self.flow().loops[around].header, depth));
                    }
                }
            }
            work.extend(self.values().inside(value));
        }
        Some((deepest.map(|(header, _)| header), deepest.map_or(0, |(_, depth)| depth)))
    }
}

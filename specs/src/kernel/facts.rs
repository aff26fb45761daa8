//! What branches on the way to a node say of numbers, and where others lie by that: behind `n > 0` what is
//! less than `-n` is less than 0, as long as no sum overflows.

use super::arithmetic::{cut, signed};
use super::code::{Comparison, Operation, Type};
use super::dominators::dominates;
use super::evaluate::{Evaluation, Way};
use super::flow::Flow;
use super::lanes::Lanes;
use super::terms::any;
use super::value::{Term, ValueId, Values};

/// Nodes above one that are looked at for what they decide.
const ABOVE: usize = 256;

/// Parts of one condition that are looked at.
const PARTS: usize = 16;

/// A number lies from one number to another, as it is compared.
pub(super) struct Within {
    pub(super) number: ValueId,
    pub(super) ty: Type,
    pub(super) from: i128,
    pub(super) to: i128,
}

/// Conditions of which branches on the way to a node say whether they hold: of those whose one side alone
/// leads there.
pub(super) fn facts(
    values: &Values,
    evaluation: &Evaluation,
    flow: &Flow,
    node: usize,
) -> Vec<(ValueId, bool)> {
    let above = std::iter::successors(Some(node), |node| flow.dominator[*node]).take(ABOVE);
    let decided = above.filter_map(|node| {
        let [from] = flow.before[node].as_slice() else { return None };
        let Some(Way::Branch(condition, taken, other)) = evaluation.then[*from] else { return None };
        (taken != other && is_kept(values, flow, *from, condition)).then_some((condition, node == taken))
    });
    decided.flat_map(|(condition, holds)| parts(values, condition, holds)).collect()
}

/// The same where a loop is entered, from the one node that leads into it from outside; nothing if there are
/// more.
pub(super) fn facts_at_entry(
    values: &Values,
    evaluation: &Evaluation,
    flow: &Flow,
    header: usize,
) -> Vec<(ValueId, bool)> {
    let mut outside = flow.before[header].iter().filter(|from| !dominates(&flow.dominator, header, **from));
    let (Some(from), None) = (outside.next(), outside.next()) else { return Vec::new() };
    let mut found = facts(values, evaluation, flow, *from);
    if let Some(Way::Branch(condition, taken, other)) = evaluation.then[*from]
        && taken != other
    {
        found.extend(parts(values, condition, header == taken));
    }
    found
}

/// Whether the values that a term is made of are those of a branch wherever only one side of it leads: what
/// changes in a loop does so at its header, and behind a header that dominates the branch no way leads there
/// that does not pass the branch again.
fn is_kept(values: &Values, flow: &Flow, branch: usize, term: ValueId) -> bool {
    let changes = |term: &Term| match term {
        Term::Known(_) | Term::Same(_) | Term::Sum { .. } | Term::Apply { .. } | Term::Pure { .. } => false,
        Term::Meet { block: header, .. } | Term::Gained { header, .. } => {
            !dominates(&flow.dominator, *header, branch)
        }
        Term::Loaded { varies, .. } => *varies,
        Term::Given { .. } | Term::Unknown { .. } | Term::Unset => true,
    };
    !any(values, term, changes)
}

/// The parts of a condition of which it is known whether they hold, since it does or does not.
pub(super) fn parts(values: &Values, condition: ValueId, holds: bool) -> Vec<(ValueId, bool)> {
    let (mut found, mut work) = (Vec::new(), vec![(condition, holds)]);
    while let Some((condition, holds)) = work.pop().filter(|_| found.len() < PARTS) {
        match values.term(condition) {
            Term::Apply { operation: Operation::LogicalNot, terms, .. } => work.push((terms[0], !holds)),
            Term::Apply { operation: Operation::And, terms, .. } if holds && values.width(condition) <= 1 => {
                work.extend(terms.iter().map(|term| (*term, holds)));
            }
            Term::Apply { operation: Operation::Or, terms, .. } if !holds && values.width(condition) <= 1 => {
                work.extend(terms.iter().map(|term| (*term, holds)));
            }
            _ => found.push((condition, holds)),
        }
    }
    found
}

/// Where a number lies if its comparison with a known one comes out so.
pub(super) fn within(values: &Values, condition: ValueId, holds: bool) -> Option<Within> {
    let Term::Apply { operation, ty, terms } = values.term(condition) else { return None };
    let comparison = match operation {
        Operation::LogicalNot => return within(values, terms[0], !holds),
        Operation::Compare(comparison) if holds => *comparison,
        Operation::Compare(comparison) => comparison.negated(),
        _ => return None,
    };
    let [a, b] = terms[..] else { return None };
    let known = |value| values.as_known(value).and_then(Lanes::all);
    let (number, bound, comparison) = match (known(a), known(b)) {
        (None, Some(bound)) => (a, bound, comparison),
        (Some(bound), None) => (b, bound, comparison.swapped()),
        _ => return None,
    };
    let bits = ty.bits;
    let (least, most) =
        if ty.signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
    let bound = if ty.signed { signed(bound, bits).into() } else { cut(bound, bits).into() };
    let (from, to): (i128, i128) = match comparison {
        Comparison::Less => (least, bound - 1),
        Comparison::LessOrEqual => (least, bound),
        Comparison::Greater => (bound + 1, most),
        Comparison::GreaterOrEqual => (bound, most),
        Comparison::Equal => (bound, bound),
        Comparison::NotEqual => return None,
    };
    Some(Within { number, ty: *ty, from, to })
}

impl Within {
    /// Whether a number that lies here lies where another says, if it does so or not wherever it is here.
    pub(super) fn decides(&self, other: &Self) -> Option<bool> {
        if self.number != other.number || self.ty != other.ty {
            None
        } else if other.from <= self.from && self.to <= other.to {
            Some(true)
        } else {
            (self.to < other.from || other.to < self.from).then_some(false)
        }
    }
}
/// Terms that are looked at for where a number lies.
const TERMS: u32 = 64;

/// How numbers of 32 bits with a sign are compared.
const NUMBER: Type = Type { bits: 32, signed: true };

/// Where numbers of 32 bits with a sign lie by what is known, as long as no sum overflows.
pub(super) struct Reckoned<'v> {
    values: &'v mut Values,
    /// Sums without a known number, and where they lie.
    facts: Vec<(ValueId, (i128, i128))>,
    /// Some fact was made use of.
    pub(super) by_fact: bool,
    left: u32,
}

impl<'v> Reckoned<'v> {
    pub(super) fn by(values: &'v mut Values, facts: &[(ValueId, bool)]) -> Self {
        let mut reckoned = Self { values, facts: Vec::new(), by_fact: false, left: TERMS };
        for (condition, holds) in facts {
            let fact = reckoned.fact(*condition, *holds);
            reckoned.facts.extend(fact);
        }
        reckoned
    }

    /// What a comparison says of the difference of what is compared.
    fn fact(&mut self, condition: ValueId, holds: bool) -> Option<(ValueId, (i128, i128))> {
        let Term::Apply { operation: Operation::Compare(comparison), ty, terms } =
            self.values.term(condition)
        else {
            return None;
        };
        let comparison = if holds { *comparison } else { comparison.negated() };
        let ([a, b], true) = (<[ValueId; 2]>::try_from(terms.as_slice()).ok()?, *ty == NUMBER) else {
            return None;
        };
        let most = i128::from(u32::MAX);
        let (from, to) = match comparison {
            Comparison::Less => (-most, -1),
            Comparison::LessOrEqual => (-most, 0),
            Comparison::Greater => (1, most),
            Comparison::GreaterOrEqual => (0, most),
            Comparison::Equal => (0, 0),
            Comparison::NotEqual => return None,
        };
        let difference = self.difference([a, b])?;
        let (core, turned, known) = self.core(difference)?;
        let (from, to) = (from - known, to - known);
        Some((core, if turned { (-to, -from) } else { (from, to) }))
    }

    fn difference(&mut self, [a, b]: [ValueId; 2]) -> Option<ValueId> {
        let minus = Lanes::All(u32::MAX.into());
        self.values.sum(NUMBER.bits, &[(a, Lanes::All(1)), (b, minus)])
    }

    /// A number without what is known of it as a sum whose first factor is positive, whether it was turned
    /// for that, and what is known. `None` if nothing else is in it.
    fn core(&mut self, value: ValueId) -> Option<(ValueId, bool, i128)> {
        let (terms, known) = match self.values.term(value) {
            Term::Sum { bits: 32, terms, known } => (terms.clone(), signed(known.all()?, 32).into()),
            Term::Known(_) => return None,
            _ => return Some((value, false, 0)),
        };
        let turned = signed(terms.first()?.1.all()?, 32) < 0;
        let factor = |factor: &Lanes| {
            let factor = factor.all()?;
            Some(Lanes::All(if turned { cut(factor.wrapping_neg(), 32) } else { factor }))
        };
        let parts: Option<Vec<_>> = terms.iter().map(|(term, by)| Some((*term, factor(by)?))).collect();
        Some((self.values.sum(NUMBER.bits, &parts?)?, turned, known))
    }

    /// The lowest 32 bits of a number that is known.
    pub(super) fn known(&self, value: ValueId) -> Option<u64> {
        Some(cut(self.values.as_known(value)?.all()?, NUMBER.bits))
    }

    /// Where the difference of two numbers lies.
    pub(super) fn between(&mut self, numbers: [ValueId; 2]) -> Option<(i128, i128)> {
        let difference = self.difference(numbers)?;
        self.range(difference)
    }

    /// Where a number lies.
    pub(super) fn range(&mut self, value: ValueId) -> Option<(i128, i128)> {
        self.left = self.left.checked_sub(1)?;
        let (from, to) = match self.by_facts(value) {
            Some(range) => range,
            None => self.by_parts(value)?,
        };
        // What would be beyond overflows.
        let (from, to) = (from.max(i32::MIN.into()), to.min(i32::MAX.into()));
        (from <= to).then_some((from, to))
    }

    fn by_facts(&mut self, value: ValueId) -> Option<(i128, i128)> {
        let (core, turned, known) = self.core(value)?;
        let of_core = self.facts.iter().filter(|(of, _)| *of == core).map(|(_, range)| *range);
        let (from, to) = of_core.reduce(|a, b| (a.0.max(b.0), a.1.min(b.1)))?;
        self.by_fact = true;
        let (from, to) = if turned { (-to, -from) } else { (from, to) };
        Some((from + known, to + known))
    }

    fn by_parts(&mut self, value: ValueId) -> Option<(i128, i128)> {
        match self.values.term(value).clone() {
            Term::Known(lanes) => {
                let number = i128::from(signed(lanes.all()?, 32));
                Some((number, number))
            }
            Term::Sum { bits: 32, terms, known } => {
                let known = i128::from(signed(known.all()?, 32));
                terms.iter().try_fold((known, known), |(from, to), (term, factor)| {
                    let factor = i128::from(signed(factor.all()?, 32));
                    let (least, most) = self.range(*term)?;
                    let (least, most) = if factor < 0 { (most, least) } else { (least, most) };
                    Some((from + least * factor, to + most * factor))
                })
            }
            Term::Apply { operation: Operation::Divide, ty, terms } if ty.bits == 32 => {
                let by = i128::from(signed(self.values.as_known(terms[1])?.all()?, 32));
                let (from, to) = self.range(terms[0]).filter(|(from, _)| *from >= 0 && by > 0)?;
                Some((from / by, to / by))
            }
            Term::Apply { operation: Operation::ShiftRight, ty, terms } if ty.bits == 32 => {
                let by = self.values.as_known(terms[1])?.all().filter(|by| *by < 32)?;
                let (from, to) = self.range(terms[0]).filter(|(from, _)| *from >= 0)?;
                Some((from >> by, to >> by))
            }
            _ => None,
        }
    }
}

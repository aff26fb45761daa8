//! Questions about terms and what is inside them.

use std::collections::BTreeSet;

use super::arithmetic::signed;
use super::code::{Code, Comparison, Operation, Type};
use super::lanes::Lanes;
use super::value::{Term, ValueId, Values};

/// Whether something holds for a term or for any inside it.
pub(super) fn any(values: &Values, value: ValueId, holds: impl Fn(&Term) -> bool) -> bool {
    let mut seen = BTreeSet::new();
    let mut work = vec![value];
    while let Some(value) = work.pop() {
        if seen.insert(value) {
            if holds(values.term(value)) {
                return true;
            }
            work.extend(values.inside(value));
        }
    }
    false
}

/// A term and all inside it.
pub(super) fn all(values: &Values, value: ValueId) -> BTreeSet<ValueId> {
    let mut seen = BTreeSet::new();
    let mut work = vec![value];
    while let Some(value) = work.pop() {
        if seen.insert(value) {
            work.extend(values.inside(value));
        }
    }
    seen
}

/// Whether a term has the same value whenever it is evaluated.
pub(super) fn is_invariant(values: &Values, value: ValueId) -> bool {
    let changes = |term: &Term| match term {
        Term::Known(_) | Term::Same(_) | Term::Sum { .. } | Term::Apply { .. } | Term::Pure { .. } => false,
        Term::Loaded { varies, .. } => *varies,
        Term::Given { .. } | Term::Meet { .. } | Term::Gained { .. } | Term::Unknown { .. } | Term::Unset => {
            true
        }
    };
    !any(values, value, changes)
}

/// Whether a value is the same for all lanes of a warp by what it is made of.
pub(super) fn is_of_warp(values: &Values, value: ValueId) -> bool {
    let may_differ =
        |term: &Term| matches!(term, Term::Meet { .. } | Term::Unknown { of_warp: false, .. } | Term::Unset);
    !differs(values, value) && !any(values, value, may_differ)
}

/// How a comparison with a known number comes out whatever is unknown in it: `max(n, 4) < 3`.
pub(super) fn raised(
    values: &Values,
    comparison: Comparison,
    ty: Type,
    [a, b]: [ValueId; 2],
) -> Option<bool> {
    let (value, number, comparison) = match (values.as_known(a), values.as_known(b)) {
        (_, Some(number)) => (a, number.all()?, comparison),
        (Some(number), _) => (b, number.all()?, comparison.swapped()),
        _ => return None,
    };
    let Term::Apply { operation: Operation::Maximum, ty: of, terms } = values.term(value) else {
        return None;
    };
    let known = terms.iter().find_map(|term| values.as_known(*term)?.all())?;
    let (least, number) = (signed(known, of.bits), signed(number, ty.bits));
    // Below half of all numbers it does not matter whether they have signs, nor does it for equality.
    let is_order = !matches!(comparison, Comparison::Equal | Comparison::NotEqual);
    if !of.signed || of.bits != ty.bits || least < 0 || number < 0 && !ty.signed && is_order {
        return None;
    }
    match comparison {
        Comparison::Less if number <= least => Some(false),
        Comparison::LessOrEqual | Comparison::Equal if number < least => Some(false),
        Comparison::GreaterOrEqual if number <= least => Some(true),
        Comparison::Greater | Comparison::NotEqual if number < least => Some(true),
        _ => None,
    }
}

/// What the position of a group in the grid is at least, or the size of the grid, which no launch makes so
/// large that they have a sign (CUDA C++ Programming Guide, technical specifications).
pub(super) fn of_grid(values: &Values, code: &Code, atom: ValueId) -> Option<i64> {
    match values.term(atom) {
        Term::Same(name) => {
            let name = code.names.get(*name as usize)?.strip_prefix('%')?;
            match name.split('.').next()? {
                "nctaid" | "nclusterid" => Some(1),
                "ctaid" | "clusterid" => Some(0),
                _ => None,
            }
        }
        Term::Apply { operation: Operation::Convert(from), ty, terms }
            if ty.bits >= from.bits && from.bits >= 32 =>
        {
            of_grid(values, code, terms[0])
        }
        _ => None,
    }
}

/// Whether a term is 0 or 1.
pub(super) fn is_truth(values: &Values, value: ValueId) -> bool {
    match values.term(value) {
        Term::Apply { operation: Operation::Select, terms, .. } => {
            terms.iter().all(|term| is_truth(values, *term))
        }
        _ => values.width(value) <= 1,
    }
}

/// Whether known numbers that differ between lanes are part of a term.
pub(super) fn differs(values: &Values, value: ValueId) -> bool {
    any(values, value, |term| match term {
        Term::Known(lanes) => lanes.all().is_none(),
        Term::Sum { terms, known, .. } => {
            known.all().is_none() || terms.iter().any(|(_, factor)| factor.all().is_none())
        }
        _ => false,
    })
}

/// Of some numbers the longest sum of which all terms are among those of a sum, and the other terms.
pub(super) fn part_of(
    values: &Values,
    numbers: &BTreeSet<ValueId>,
    (bits, terms): (u8, &[(ValueId, Lanes)]),
) -> Option<(ValueId, Vec<(ValueId, Lanes)>)> {
    let inside = numbers.iter().filter_map(|number| match values.term(*number) {
        Term::Sum { bits: of, terms: parts, known } if *of == bits && known.is_zero() => {
            parts.iter().all(|part| terms.contains(part)).then_some((*number, parts))
        }
        _ => None,
    });
    let (number, parts) = inside.max_by_key(|(number, parts)| (parts.len(), *number))?;
    Some((number, terms.iter().filter(|part| !parts.contains(part)).cloned().collect()))
}

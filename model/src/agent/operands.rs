//! Operands, evaluated: for a whole fragment, and lane by lane to see where lanes differ.

use super::action::Choices;
use super::eval::{Eval, FaultKind, each_lane};
use crate::barrier::Contribution;
use crate::program::{ArrayId, Expr, LocationId, Locations, Predicate, Program, ReductionOp};
use crate::rule::Rule;

/// Why operands give no instruction.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Bad {
    /// They cannot be evaluated.
    Fault(FaultKind),
    /// They are out of range; the offending value, for the message.
    Rule(Rule, i64),
}

impl From<FaultKind> for Bad {
    fn from(kind: FaultKind) -> Self {
        Self::Fault(kind)
    }
}

/// The lanes' predicates, and the lanes whose predicate is open.
pub(super) fn contribution(
    eval: &Eval<'_>,
    predicate: Option<&Predicate>,
) -> Result<(Contribution, u32), FaultKind> {
    let lanes = eval.lanes.count_ones();
    let Some(predicate) = predicate else {
        return Ok((Contribution::default(), 0));
    };
    Ok(match truths(eval, predicate)? {
        Some(truths) => (Contribution { lanes, truths }, 0),
        None => (Contribution { lanes, truths: 0 }, lanes),
    })
}

/// In how many ways open predicates matter: their number for POPC, as far as anybody tells counts apart, all
/// or none of them otherwise; in one if nobody ever reads a result.
pub(super) fn predicate_choices(eval: &Eval<'_>, op: Option<ReductionOp>, open: u32) -> Choices {
    let told_apart = eval.context.facts.told_apart();
    match op {
        _ if open == 0 || told_apart == 0 => Choices::One,
        Some(ReductionOp::Popc) => Choices::Open(u64::from(open.min(told_apart)) + 1),
        Some(ReductionOp::And | ReductionOp::Or) | None => Choices::Open(2),
    }
}

/// The operands of a fragment whose lanes agree, evaluated in each of them; in one, unless the expressions
/// may `vary`.
pub(super) fn every_lane<T>(
    eval: &Eval<'_>,
    vary: bool,
    mut operands: impl FnMut(u32) -> Result<T, Bad>,
) -> Result<T, Bad> {
    let lanes = if vary { eval.lanes } else { 1 << eval.lanes.trailing_zeros() };
    let mut first = None;
    for lane in each_lane(lanes) {
        let found = operands(lane);
        if let Err(Bad::Fault(_)) = found {
            return found;
        }
        first.get_or_insert(found);
    }
    first.unwrap_or(Err(Bad::Fault(FaultKind::EmptyRange)))
}

/// How many lanes of the fragment have a true predicate; `None` for `?`.
fn truths(eval: &Eval<'_>, predicate: &Predicate) -> Result<Option<u32>, FaultKind> {
    let Some(value) = &predicate.value else {
        return Ok(None);
    };
    let numbers = eval.numbers(value)?;
    // clause: ptx.red-negation, bcu.red-predicate
    let truths = each_lane(eval.lanes).filter(|lane| (numbers.get(*lane) != 0) != predicate.negated).count();
    Ok(Some(u32::try_from(truths).unwrap_or(32)))
}

/// The lanes by what they name.
pub(super) fn group_by<K: PartialEq>(lanes: u32, key: impl Fn(u32) -> Result<K, Bad>) -> Vec<u32> {
    let mut groups: Vec<(Result<K, Bad>, u32)> = Vec::new();
    for lane in each_lane(lanes) {
        // Where some lane's operands cannot be evaluated, the step fails for all that execute it.
        let key = match key(lane) {
            Err(Bad::Fault(_)) => return vec![lanes],
            other => other,
        };
        match groups.iter_mut().find(|(k, _)| *k == key) {
            Some((_, group)) => *group |= 1 << lane,
            None => groups.push((key, 1 << lane)),
        }
    }
    groups.into_iter().map(|(_, lanes)| lanes).collect()
}

/// A CTA of the cluster: the agent's own, or the one that an operand names.
pub(super) fn cta(eval: &Eval<'_>, cta: Option<&Expr>, at: u32) -> Result<u32, FaultKind> {
    let Some(expr) = cta else { return Ok(eval.context.cta()) };
    let (index, length) = (eval.number(expr, at)?, eval.context.program.ctas);
    let within = u32::try_from(index).ok().filter(|index| *index < length);
    within.ok_or(FaultKind::IndexOutside { index, length })
}

/// An element of an array, or a scalar, in a CTA.
pub(super) fn location(
    program: &Program,
    (array, cta): (ArrayId, u32),
    index: Option<i64>,
) -> Result<LocationId, FaultKind> {
    let (index, length) = (index.unwrap_or(0), program.arrays[array.index()].length.unwrap_or(1));
    let within = u32::try_from(index).ok().filter(|index| *index < length);
    let element = within.ok_or(FaultKind::IndexOutside { index, length })?;
    Ok(program.location_in(cta, array, element))
}

/// The locations that an access touches, each once.
pub(super) fn locations(
    eval: &Eval<'_>,
    array: ArrayId,
    index: Option<&Expr>,
    in_cta: Option<&Expr>,
) -> Result<Locations, FaultKind> {
    let vary = index.into_iter().chain(in_cta).any(|expr| eval.varies(expr));
    let lanes = if vary { eval.lanes } else { 1 << eval.lanes.trailing_zeros() };
    let mut found = Locations::new();
    for at in each_lane(lanes) {
        let index = index.map(|index| eval.number(index, at)).transpose()?;
        let cta = cta(eval, in_cta, at)?;
        found.push(location(eval.context.program, (array, cta), index)?);
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

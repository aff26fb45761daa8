//! Barrier operands, evaluated: for a whole fragment, and lane by lane to see where lanes differ.

use super::Context;
use super::config::Fragment;
use super::eval::{Eval, FaultKind, Numbers, Value, each_lane};
use super::facts::expressions;
use crate::barrier::{bcu, ptx};
use crate::program::{BcuOp, BcuOperand, BcuRedOperands, Locations, Op, Predicate, PtxKind, PtxOp};
use crate::rule::Rule;
use smallvec::smallvec;

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

pub(super) fn ptx_cta(context: Context<'_>, exits_release: bool) -> ptx::Cta {
    let warps = u32::try_from(context.program.agents.len()).unwrap_or(u32::MAX);
    ptx::Cta { warps, exits_release }
}

/// The operands of a PTX barrier in one lane.
pub(super) fn ptx_lane(eval: &Eval<'_>, op: &PtxOp, lane: u32) -> Result<ptx::Announcement, Bad> {
    let id = eval.number(&op.id, lane)?;
    let count = op.count.as_ref().map(|c| eval.number(c, lane)).transpose()?;
    let operation = match op.kind {
        PtxKind::Sync => ptx::Operation::Sync,
        PtxKind::Arrive => ptx::Operation::Arrive,
        PtxKind::Red { op, .. } => ptx::Operation::Red(op),
    };
    // Whether exits release anything plays no part in operand checks.
    ptx::check_operands(ptx_cta(eval.context, false), operation, id, count)
        .map_err(|rule| Bad::Rule(rule, if rule == Rule::BarrierIdRange { id } else { count.unwrap_or(0) }))
}

fn bcu_operand(eval: &Eval<'_>, operand: &BcuOperand, lane: u32) -> Result<bcu::Operand, FaultKind> {
    Ok(bcu::Operand { value: eval.number(&operand.value, lane)?, register: operand.register })
}

/// The operands of BAR.SYNC, BAR.ARV or BAR.RED in one lane.
pub(super) fn bcu_lane(eval: &Eval<'_>, op: &BcuOp, lane: u32) -> Result<bcu::Announcement, Bad> {
    // clause: bcu.sync-count-zero
    let zero = bcu::Operand { value: 0, register: false };
    let optional =
        |count: &Option<BcuOperand>| count.as_ref().map_or(Ok(zero), |c| bcu_operand(eval, c, lane));
    let (operation, id, count, dropped) = match op {
        BcuOp::Sync { id, count } => {
            (bcu::Operation::Sync, bcu_operand(eval, id, lane)?, optional(count)?, false)
        }
        BcuOp::Arv { id, count } => {
            (bcu::Operation::Arv, bcu_operand(eval, id, lane)?, bcu_operand(eval, count, lane)?, false)
        }
        BcuOp::Red { op, operands: BcuRedOperands::Separate(id, count), .. } => {
            (bcu::Operation::Red(*op), bcu_operand(eval, id, lane)?, optional(count)?, false)
        }
        BcuOp::Red { op, operands: BcuRedOperands::Packed(register), .. } => {
            let (id, count, dropped) = bcu::unpack(eval.number(register, lane)?);
            (bcu::Operation::Red(*op), id, count, dropped)
        }
        _ => return Err(Bad::Fault(FaultKind::Overflow)),
    };
    bcu::check_operands(operation, id, count, dropped)
        .map_err(|rule| Bad::Rule(rule, if rule == Rule::BarrierIdRange { id.value } else { count.value }))
}

/// Whether an operation of the BCU set is an arrival.
pub(super) fn bcu_arrives(op: &BcuOp) -> bool {
    matches!(op, BcuOp::Sync { .. } | BcuOp::Arv { .. } | BcuOp::Red { .. })
}

/// How many lanes of the fragment have a true predicate; `None` for `?`.
pub(super) fn truths(eval: &Eval<'_>, predicate: &Predicate) -> Result<Option<u32>, FaultKind> {
    let Some(value) = &predicate.value else {
        return Ok(None);
    };
    let numbers = eval.numbers(value)?;
    // clause: ptx.red-negation, bcu.red-predicate
    let truths = each_lane(eval.lanes).filter(|lane| (numbers.get(*lane) != 0) != predicate.negated).count();
    Ok(Some(u32::try_from(truths).unwrap_or(32)))
}

/// The groups of lanes that execute the fragment's next operation apart from one another, because ids,
/// counts or bounds of a decision differ. One group where there is nothing to separate.
pub(super) fn groups(context: Context<'_>, fragment: &Fragment) -> Vec<u32> {
    let eval = Eval { context, locals: &fragment.locals, lanes: fragment.lanes };
    let op = &context.code.ops[fragment.pc.index()];
    if !expressions(op).into_iter().any(|operand| eval.varies(operand)) {
        return vec![fragment.lanes];
    }
    match op {
        Op::Ptx(op) => group_by(fragment.lanes, |lane| ptx_lane(&eval, op, lane)),
        Op::Bcu(op) if bcu_arrives(op) => group_by(fragment.lanes, |lane| {
            // Lanes whose registers differ only in dropped bits name the same barrier and count.
            bcu_lane(&eval, op, lane).map(|what| bcu::Announcement { truncated: false, ..what })
        }),
        Op::Bcu(
            BcuOp::ReadBarrier { id, .. }
            | BcuOp::WriteBarrier { id, .. }
            | BcuOp::ReadWarp { id: Some(id), .. }
            | BcuOp::WriteWarp { id: Some(id), .. },
        ) => group_by(fragment.lanes, |lane| Ok(eval.number(id, lane)?)),
        Op::Any(_, low, high) => {
            group_by(fragment.lanes, |lane| Ok::<_, Bad>((eval.number(low, lane)?, eval.number(high, lane)?)))
        }
        _ => vec![fragment.lanes],
    }
}

fn group_by<K: PartialEq>(lanes: u32, key: impl Fn(u32) -> Result<K, Bad>) -> Vec<u32> {
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

/// The opaque value that a register operand holds in every lane; `None` for a number, or where lanes differ.
pub(super) fn opaque(
    eval: &Eval<'_>,
    source: &crate::program::Expr,
) -> Result<Option<bcu::Opaque>, FaultKind> {
    let crate::program::Expr::Local(local) = source else {
        return eval.numbers(source).map(|_| None);
    };
    let held = &eval.locals[local.index()];
    if each_lane(eval.lanes).any(|lane| *held.get(lane) == Value::Unset) {
        return Err(FaultKind::Unset(*local));
    }
    let first = eval.local(*local);
    let alike = each_lane(eval.lanes).all(|lane| held.get(lane) == first);
    Ok(match first {
        Value::Opaque(value) if alike => Some(**value),
        _ => None,
    })
}

/// The locations that an access touches, each once.
pub(super) fn locations(
    eval: &Eval<'_>,
    array: &crate::program::Array,
    index: Option<&crate::program::Expr>,
) -> Result<Locations, FaultKind> {
    let location = |index: i64| {
        let length = array.length.unwrap_or(1);
        u32::try_from(index)
            .ok()
            .filter(|i| *i < length)
            .map(|i| crate::program::LocationId(array.first.0 + i))
            .ok_or(FaultKind::IndexOutside { index, length })
    };
    let Some(index) = index else {
        return Ok(smallvec![array.first]);
    };
    match eval.numbers(index)? {
        Numbers::Same(index) => Ok(smallvec![location(index)?]),
        Numbers::Each(all) => {
            let mut found =
                all.into_iter().map(|(_, index)| location(index)).collect::<Result<Vec<_>, _>>()?;
            found.sort_unstable();
            found.dedup();
            Ok(found.into())
        }
    }
}

//! BCU instructions as a warp executes them.

use super::action::{Action, Choices};
use super::config::Config;
use super::eval::{Eval, FaultKind, Value, each_lane};
use super::execute::Execute;
use super::operands::{Bad, contribution, every_lane, group_by, predicate_choices};
use super::outcome::Outcome;
use crate::barrier::{BarrierAction, NotModelled, bcu};
use crate::program::{BarrierOp, BcuOp, BcuOperand, BcuRedOperands, Expr, Pc};
use crate::rule::Rule;

impl Execute for BcuOp {
    fn action(&self, eval: &Eval<'_>, config: &Config, index: usize) -> Result<(Action, Choices), Bad> {
        let state_id = |id: i64| bcu::check_state_id(id).map_err(|rule| Bad::Rule(rule, id));
        // clause: bcu.b2r-id-ignored, bcu.r2b-id-ignored
        let ignored_id = |id: &Option<Expr>| -> Result<(), Bad> {
            if let Some(id) = id {
                state_id(eval.first(id)?)?;
            }
            Ok(())
        };
        let action = match self {
            BcuOp::Sync { .. } | BcuOp::Arv { .. } | BcuOp::Red { .. } => {
                let (red, predicate) = match self {
                    BcuOp::Red { op, predicate, .. } => (Some(*op), Some(predicate)),
                    _ => (None, None),
                };
                let (contribution, open) = contribution(eval, predicate)?;
                let mut truncated = false;
                let vary = BarrierOp::expressions(self).into_iter().any(|expr| eval.varies(expr));
                let what = every_lane(eval, vary, |at| {
                    let what = lane(eval, self, at)?;
                    truncated |= what.truncated;
                    Ok(what)
                })?;
                let what = bcu::Announcement { truncated, ..what };
                let action = Action::Barrier(bcu::Action::Arrive { what, contribution, open }.into());
                return Ok((action, predicate_choices(eval, red, open)));
            }
            BcuOp::Result { register, predicate } => {
                // clause: bcu.b2r-result
                let copy = config.copy.map(|(copy, _)| copy);
                let value =
                    bcu::fetch(copy, register.is_some(), predicate.is_some()).map_err(|r| Bad::Rule(r, 0))?;
                Action::Fetch(value)
            }
            BcuOp::ReadBarrier { id, dest } => {
                let id = state_id(eval.first(id)?)?;
                let next = Pc(config.fragments[index].pc.0 + 1);
                if dest.is_some_and(|dest| eval.context.facts.is_live(next, dest)) {
                    Action::Barrier(bcu::Action::ReadState(id).into())
                } else {
                    // It is read in vain, and nothing is known by it.
                    Action::Fetch(None)
                }
            }
            BcuOp::ReadWarp { id, .. } => {
                ignored_id(id)?;
                // clause: bcu.b2r-warp-undefined
                let (copy, _) = config.copy.ok_or(Bad::Rule(Rule::UndefinedResult, 0))?;
                Action::SaveCopy(copy)
            }
            BcuOp::WriteBarrier { id, source } => {
                let (id, value) = (eval.first(id)?, opaque(eval, source)?);
                Action::Barrier(bcu::Action::WriteState(state_id(id)?, value).into())
            }
            BcuOp::WriteWarp { id, source } => {
                let value = opaque(eval, source)?;
                ignored_id(id)?;
                match value {
                    Some(bcu::Opaque::Warp(copy)) => Action::RestoreCopy(copy),
                    _ => Action::NotModelled(NotModelled::ForgedState),
                }
            }
        };
        Ok((action, Choices::One))
    }

    /// Those that name different barriers or counts.
    fn groups(&self, eval: &Eval<'_>) -> Vec<u32> {
        match self {
            BcuOp::Sync { .. } | BcuOp::Arv { .. } | BcuOp::Red { .. } => group_by(eval.lanes, |at| {
                // Lanes whose registers differ only in dropped bits name the same barrier and count.
                lane(eval, self, at).map(|what| bcu::Announcement { truncated: false, ..what })
            }),
            BcuOp::ReadBarrier { id, .. }
            | BcuOp::WriteBarrier { id, .. }
            | BcuOp::ReadWarp { id: Some(id), .. }
            | BcuOp::WriteWarp { id: Some(id), .. } => group_by(eval.lanes, |at| Ok(eval.number(id, at)?)),
            BcuOp::Result { .. } | BcuOp::ReadWarp { id: None, .. } | BcuOp::WriteWarp { id: None, .. } => {
                vec![eval.lanes]
            }
        }
    }

    fn perform(&self, config: &mut Config, index: usize, action: &Action, outcome: Outcome) {
        let fragment = &mut config.fragments[index];
        match (self, action) {
            (BcuOp::Result { register, predicate }, Action::Fetch(value)) => {
                for local in register.iter().chain(predicate) {
                    fragment.set(*local, Value::Int(i64::from(value.unwrap_or(0))));
                }
                // clause: bcu.b2r-result
                config.copy = config.copy.map(|(copy, _)| (copy, true));
            }
            (BcuOp::ReadWarp { dest, .. }, Action::SaveCopy(copy)) => {
                if let Some(dest) = dest {
                    fragment.set(*dest, Value::Opaque(Box::new(bcu::Opaque::Warp(*copy))));
                }
                // clause: bcu.b2r-warp
                config.copy = Some((*copy, true));
            }
            // clause: bcu.r2b-warp
            (BcuOp::WriteWarp { .. }, Action::RestoreCopy(copy)) => config.copy = Some((*copy, true)),
            (BcuOp::ReadBarrier { dest: Some(dest), .. }, Action::Barrier(_)) => {
                if let Outcome::Read(value) = outcome {
                    fragment.set(*dest, Value::Opaque(Box::new(value)));
                }
            }
            _ => {}
        }
    }

    fn arrived(&self, _: &mut Config, _: &BarrierAction) {}

    fn take_result(&self, config: &mut Config, _: usize, result: u32) {
        if let BcuOp::Red { op, .. } = self {
            // clause: bcu.red-copy
            config.copy = Some((bcu::ResultCopy { op: *op, result }, false));
        }
    }
}

fn operand(eval: &Eval<'_>, named: &BcuOperand, at: u32) -> Result<bcu::Operand, FaultKind> {
    Ok(bcu::Operand { value: eval.number(&named.value, at)?, register: named.register })
}

/// The operands of BAR.SYNC, BAR.ARV or BAR.RED in one lane.
fn lane(eval: &Eval<'_>, op: &BcuOp, at: u32) -> Result<bcu::Announcement, Bad> {
    // clause: bcu.sync-count-zero
    let zero = bcu::Operand { value: 0, register: false };
    let optional = |count: &Option<BcuOperand>| count.as_ref().map_or(Ok(zero), |c| operand(eval, c, at));
    let (operation, id, count, dropped) = match op {
        BcuOp::Sync { id, count } => (bcu::Operation::Sync, operand(eval, id, at)?, optional(count)?, false),
        BcuOp::Arv { id, count } => {
            (bcu::Operation::Arv, operand(eval, id, at)?, operand(eval, count, at)?, false)
        }
        BcuOp::Red { op, operands: BcuRedOperands::Separate(id, count), .. } => {
            (bcu::Operation::Red(*op), operand(eval, id, at)?, optional(count)?, false)
        }
        BcuOp::Red { op, operands: BcuRedOperands::Packed(register), .. } => {
            let (id, count, dropped) = bcu::unpack(eval.number(register, at)?);
            (bcu::Operation::Red(*op), id, count, dropped)
        }
        _ => return Err(Bad::Fault(FaultKind::Overflow)),
    };
    bcu::check_operands(operation, id, count, dropped)
        .map_err(|rule| Bad::Rule(rule, if rule == Rule::BarrierIdRange { id.value } else { count.value }))
}

/// The opaque value that a register operand holds in every lane; `None` for a number, or where lanes differ.
fn opaque(eval: &Eval<'_>, source: &Expr) -> Result<Option<bcu::Opaque>, FaultKind> {
    let Expr::Local(local) = source else {
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

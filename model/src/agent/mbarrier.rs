//! Instructions on mbarrier objects as a warp executes them: every lane by itself.

use super::action::{Action, Choices};
use super::config::Config;
use super::eval::{Eval, FaultKind};
use super::execute::Execute;
use super::operands::{self, Bad, every_lane, group_by};
use super::outcome::Outcome;
use crate::barrier::mbarrier::{self, What, check_bytes, check_count, check_parity};
use crate::barrier::{BarrierAction, NotModelled};
use crate::program::{BarrierOp as _, Expr, MbarrierKind, MbarrierOp};
use crate::rule::Rule;

impl Execute for MbarrierOp {
    fn action(&self, eval: &Eval<'_>, config: &Config, index: usize) -> Result<(Action, Choices), Bad> {
        let vary = self.expressions().into_iter().any(|operand| eval.varies(operand));
        let action = every_lane(eval, vary, |at| lane(eval, self, at))?;
        let is_wait = matches!(self.kind, MbarrierKind::Wait(_));
        let others = || config.fragments.iter().enumerate().filter(|(other, _)| *other != index);
        // Waiting for the phase blocks the whole warp here.
        if is_wait && others().any(|(_, fragment)| fragment.join.is_none() && fragment.parked.is_none()) {
            return Ok((Action::NotModelled(NotModelled::DivergentWait), Choices::One));
        }
        Ok((Action::Barrier(action.into()), Choices::One))
    }

    fn groups(&self, eval: &Eval<'_>) -> Vec<u32> {
        group_by(eval.lanes, |at| lane(eval, self, at))
    }

    fn perform(&self, _: &mut Config, _: usize, _: &Action, _: Outcome) {}

    fn arrived(&self, _: &mut Config, _: &BarrierAction) {}

    fn take_result(&self, _: &mut Config, _: usize, _: u32) {}
}

/// What all lanes of the fragment do together, with the operands of one.
// clause: ptx.mbarrier-every-lane
fn lane(eval: &Eval<'_>, op: &MbarrierOp, at: u32) -> Result<mbarrier::Action, Bad> {
    let lanes = eval.lanes.count_ones();
    let object = object(eval, op, at)?;
    let checked = |expr: &Expr, check: fn(i64) -> Result<u32, Rule>| {
        let value = eval.number(expr, at)?;
        check(value).map_err(|rule| Bad::Rule(rule, value))
    };
    // Of all lanes together, as many as the object can count or more.
    let count = |expr: &Expr| Ok::<_, Bad>(checked(expr, check_count)?.saturating_mul(lanes));
    let bytes = |expr: &Expr| {
        let value = eval.number(expr, at)?;
        let whole = i64::from(check_bytes(value).map_err(|rule| Bad::Rule(rule, value))?) * i64::from(lanes);
        check_bytes(whole).map_err(|rule| Bad::Rule(rule, whole))
    };
    let what = match &op.kind {
        // Lanes that initialise an object together do so one after the other.
        MbarrierKind::Init(_) if lanes > 1 => return Err(Bad::Rule(Rule::MbarrierLive, i64::from(lanes))),
        MbarrierKind::Init(expected) => What::Init(checked(expected, check_count)?),
        MbarrierKind::Inval if lanes > 1 => return Err(Bad::Rule(Rule::MbarrierNotLive, i64::from(lanes))),
        MbarrierKind::Inval => What::Inval,
        MbarrierKind::Arrive { count: each, bytes: announced, drops, relaxed } => {
            let count = each.as_ref().map_or(Ok(lanes), count)?;
            let bytes = announced.as_ref().map_or(Ok(0), bytes)?;
            let dropped = if *drops { count } else { 0 };
            What::Arrive { count, bytes, dropped, relaxed: *relaxed }
        }
        MbarrierKind::ExpectTx(each) => What::CountBytes(bytes(each)?),
        MbarrierKind::CompleteTx(each) => What::CountBytes(-bytes(each)?),
        MbarrierKind::Wait(parity) => {
            let parity = eval.number(parity, at)?;
            What::Wait(check_parity(parity).map_err(|rule| Bad::Rule(rule, parity))?)
        }
        MbarrierKind::Copy { bytes: each, to } => {
            let to = to.as_ref().map(|(array, index)| {
                let array = &eval.context.program.arrays[array.index()];
                let index = index.as_ref().map(|index| eval.number(index, at)).transpose()?;
                operands::location(array, index)
            });
            What::Copy(bytes(each)?.unsigned_abs(), to.transpose()?)
        }
        MbarrierKind::Commit => What::Commit(lanes),
    };
    Ok(mbarrier::Action { object, what })
}

/// The number of the object that a lane names.
fn object(eval: &Eval<'_>, op: &MbarrierOp, at: u32) -> Result<u32, FaultKind> {
    let objects = &eval.context.program.objects[op.objects.index()];
    let length = objects.length.unwrap_or(1);
    let index = op.index.as_ref().map_or(Ok(0), |index| eval.number(index, at))?;
    let within = u32::try_from(index).ok().filter(|index| *index < length);
    within.map(|index| objects.first + index).ok_or(FaultKind::IndexOutside { index, length })
}

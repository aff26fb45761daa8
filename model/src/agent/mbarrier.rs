//! Instructions on mbarrier objects as a warp executes them: every lane by itself.

use super::action::{Action, Choices};
use super::config::Config;
use super::eval::{Eval, FaultKind, LaneValues, Value};
use super::execute::Execute;
use super::operands::{self, Bad, every_lane, group_by};
use super::outcome::Outcome;
use super::proxy;
use crate::barrier::mbarrier::{
    self, Acquire, Keeping, Moved, Phase, What, check_bytes, check_count, check_parity,
};
use crate::barrier::{Arrival, BarrierAction, NotModelled};
use crate::program::{
    AccessKind, ArrayId, Awaited, BarrierOp as _, Expr, LocalId, MbarrierKind, MbarrierOp, Means, Reach,
};
use crate::rule::Rule;

impl Execute for MbarrierOp {
    fn action(&self, eval: &Eval<'_>, config: &Config, index: usize) -> Result<(Action, Choices), Bad> {
        let each = |local: LocalId| matches!(eval.locals[local.index()], LaneValues::Each(_));
        let vary = self.expressions().into_iter().any(|operand| eval.varies(operand))
            || self.handle().is_some_and(each);
        let together = eval.lanes.count_ones();
        let mut action = every_lane(eval, vary, |at| lane(eval, self, at, together))?;
        if let (What::Arrive { kept, .. }, MbarrierKind::Arrive { token: Some(token), .. }) =
            (&mut action.what, &self.kind)
            && holds(config, index, *token, action.object)
        {
            *kept = Keeping::OneMore;
        }
        let choices = match self.kind {
            MbarrierKind::Wait { .. } if goes_on_elsewhere(config, index) => {
                return Ok((Action::NotModelled(NotModelled::DivergentWait), Choices::One));
            }
            MbarrierKind::Test { gives_up: true, .. } => Choices::Open(2),
            _ => Choices::One,
        };
        Ok((Action::Barrier(action.into()), choices))
    }

    fn groups(&self, eval: &Eval<'_>) -> Vec<u32> {
        // How many are together depends on what each of them names.
        group_by(eval.lanes, |at| lane(eval, self, at, 1))
    }

    fn perform(&self, config: &mut Config, index: usize, action: &Action, outcome: Outcome) {
        let fragment = &mut config.fragments[index];
        match (&self.kind, action.on_barrier(), outcome) {
            (
                MbarrierKind::Arrive { token: Some(token), .. },
                Some(BarrierAction::Mbarrier(mbarrier::Action { object, .. })),
                _,
            ) => fragment.set(*token, Value::Token(*object)),
            (MbarrierKind::Test { dest: Some(dest), .. }, _, Outcome::Tested(complete)) => {
                fragment.set(*dest, Value::Int(i64::from(complete)));
            }
            (
                MbarrierKind::FillsArrive { .. },
                Some(BarrierAction::Mbarrier(mbarrier::Action { object, .. })),
                _,
            ) => {
                let (lanes, object) = (fragment.lanes, *object);
                proxy::entrust(config, lanes, object);
            }
            // A wait in its place passes.
            (MbarrierKind::Test { dest: Some(dest), .. }, _, _) => fragment.set(*dest, Value::Int(1)),
            _ => {}
        }
    }

    fn arrived(&self, _: &mut Config, _: &BarrierAction) {}

    fn released(&self, config: &mut Config, index: usize) {
        if let MbarrierKind::Test { dest: Some(dest), .. } = &self.kind {
            config.fragments[index].set(*dest, Value::Int(1));
        }
    }

    fn take_result(&self, _: &mut Config, _: usize, _: u32) {}
}

/// Waiting for a phase blocks the whole warp here, and other lanes of it go on elsewhere.
pub(super) fn goes_on_elsewhere(config: &Config, index: usize) -> bool {
    let mut others = config.fragments.iter().enumerate().filter(|(other, _)| *other != index);
    others.any(|(_, fragment)| fragment.join.is_none() && fragment.parked.is_none())
}

/// The warp holds a token of the object besides the one that it is about to replace.
fn holds(config: &Config, index: usize, replaced: LocalId, object: u32) -> bool {
    config.fragments.iter().enumerate().any(|(other, fragment)| {
        fragment.locals.iter().enumerate().any(|(local, values)| {
            (other, local) != (index, replaced.index())
                && values.values().any(|value| *value == Value::Token(object))
        })
    })
}

/// The phase that a lane names.
fn phase(eval: &Eval<'_>, phase: &Awaited, object: u32, at: u32) -> Result<Phase, Bad> {
    match phase {
        Awaited::Parity(parity) => {
            let parity = eval.number(parity, at)?;
            check_parity(parity).map(Phase::Parity).map_err(|rule| Bad::Rule(rule, parity))
        }
        Awaited::Token(local) => match eval.locals[local.index()].get(at) {
            Value::Token(of) if *of == object => Ok(Phase::OfToken),
            // clause: ptx.mbarrier-token-wait
            Value::Token(_) => Err(Bad::Rule(Rule::StaleToken, 0)),
            Value::Unset => Err(FaultKind::Unset(*local).into()),
            // clause: ptx.mbarrier-token-wait
            Value::Int(_) | Value::Opaque(_) | Value::Handle(_) => Err(Bad::Rule(Rule::StaleToken, 0)),
        },
    }
}

/// What so many lanes do together, with the operands of one.
// clause: ptx.mbarrier-every-lane
fn lane(eval: &Eval<'_>, op: &MbarrierOp, at: u32, lanes: u32) -> Result<mbarrier::Action, Bad> {
    let cta = operands::cta(eval, op.cta.as_ref(), at)?;
    let object = object(eval, op, cta, at)?;
    let is_remote = cta != eval.context.cta();
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
        // Lanes that initialise an object together do so one after the other, and the first with its count.
        MbarrierKind::Init(expected) => match checked(expected, check_count)? {
            _ if lanes > 1 => return Err(Bad::Rule(Rule::MbarrierLive, i64::from(lanes))),
            count => What::Init(count),
        },
        MbarrierKind::Inval if lanes > 1 => return Err(Bad::Rule(Rule::MbarrierNotLive, i64::from(lanes))),
        MbarrierKind::Inval => What::Inval,
        MbarrierKind::Arrive {
            count: each,
            bytes: announced,
            drops,
            no_complete,
            relaxed,
            within_cta,
            token,
        } => {
            let count = each.as_ref().map_or(Ok(lanes), count)?;
            let bytes = announced.as_ref().map_or(Ok(0), bytes)?;
            let dropped = if *drops { count } else { 0 };
            let how = match (*relaxed, *within_cta, is_remote) {
                // clause: ptx.mbarrier-scope, barcheck.remote-default-scope
                (_, true, true) => Arrival::InTimeAlone,
                // clause: ptx.mbarrier-release
                (false, ..) => Arrival::Publishing,
                // clause: ptx.mbarrier-relaxed, ptx.fence-release
                (true, _, false) => Arrival::AfterFence(Reach::Cta),
                (true, false, true) => Arrival::AfterFence(Reach::Cluster),
            };
            let kept = if token.is_some() { Keeping::Token } else { Keeping::Nothing };
            What::Arrive { count, bytes, dropped, no_complete: *no_complete, how, kept }
        }
        MbarrierKind::ExpectTx(each) => What::CountBytes(bytes(each)?),
        MbarrierKind::CompleteTx(each) => What::CountBytes(-bytes(each)?),
        MbarrierKind::Wait { phase: awaited, relaxed } => {
            What::Wait(phase(eval, awaited, object, at)?, acquire(eval, op, *relaxed))
        }
        MbarrierKind::Test { phase: awaited, gives_up, relaxed, .. } => {
            What::Ask(phase(eval, awaited, object, at)?, acquire(eval, op, *relaxed), *gives_up)
        }
        MbarrierKind::Copy { bytes: each, to, by } => {
            What::Copy(bytes(each)?.unsigned_abs(), moved(eval, (to.as_ref(), by), cta, at)?)
        }
        MbarrierKind::Commit => What::Commit(lanes),
        MbarrierKind::FillsArrive { counted } => {
            // clause: barcheck.fills-publish-alone
            let publishes = !eval.context.program.fills();
            What::FillsArrive { lanes, counted: *counted, publishes }
        }
    };
    Ok(mbarrier::Action { object, what })
}

/// What a wait acquires: where other CTAs arrive on its objects, behind a fence that reaches them alone.
// clause: ptx.mbarrier-relaxed-wait
fn acquire(eval: &Eval<'_>, op: &MbarrierOp, relaxed: bool) -> Acquire {
    match (relaxed, eval.context.program.is_reached_from_afar(op.objects)) {
        (false, _) => Acquire::Now,
        (true, false) => Acquire::AtFence(Reach::Cta),
        (true, true) => Acquire::AtFence(Reach::Cluster),
    }
}

/// What a copy to a CTA accesses.
fn moved(
    eval: &Eval<'_>,
    (to, by): (Option<&(ArrayId, Option<Expr>)>, &Means),
    cta: u32,
    at: u32,
) -> Result<Moved, FaultKind> {
    let location = |array: ArrayId, index: Option<&Expr>, cta: u32| {
        let index = index.map(|index| eval.number(index, at)).transpose()?;
        operands::location(eval.context.program, (array, cta), index)
    };
    let kind = match by {
        Means::Bulk | Means::Across(..) => AccessKind::Copy,
        Means::Store => AccessKind::Sent,
        Means::Reduction => AccessKind::Reduction,
    };
    let to = to.map(|(array, index)| location(*array, index.as_ref(), cta)).transpose()?;
    let from = match by {
        Means::Across(array, index) => Some(location(*array, index.as_ref(), eval.context.cta())?),
        Means::Bulk | Means::Store | Means::Reduction => None,
    };
    Ok(Moved { to: to.map(|to| (kind, to)), from })
}

/// The number of the object that a lane names.
fn object(eval: &Eval<'_>, op: &MbarrierOp, cta: u32, at: u32) -> Result<u32, FaultKind> {
    let objects = &eval.context.program.objects[op.objects.index()];
    let length = objects.length.unwrap_or(1);
    let index = op.index.as_ref().map_or(Ok(0), |index| eval.number(index, at))?;
    let within = u32::try_from(index).ok().filter(|index| *index < length);
    let number = within.map(|index| eval.context.program.object_in(cta, objects.first + index));
    number.ok_or(FaultKind::IndexOutside { index, length })
}

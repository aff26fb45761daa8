//! The list of systems, as far as one agent by itself is concerned: who evaluates whose instructions.

use super::action::{Action, Choices};
use super::config::{Config, Fragment};
use super::eval::Eval;
use super::operands::{Bad, group_by};
use super::outcome::Outcome;
use super::{Context, bcu, nbarrier, ptx, split, xegpu};
use crate::barrier::BarrierAction;
use crate::program::{Op, other_ops};

/// What a fragment that stands at an instruction on barriers could do, `None` at any other operation.
pub(super) fn action(
    eval: Eval<'_>,
    config: &Config,
    index: usize,
) -> Option<Result<(Action, Choices), Bad>> {
    let one = |action| (action, Choices::One);
    let pc = config.fragments[index].pc;
    Some(match &eval.context.code.ops[pc.index()] {
        Op::Ptx(op) => ptx::action(&eval, config, index, op),
        Op::Bcu(op) => bcu::action(&eval, config, op),
        Op::Nbarrier(op) => nbarrier::action(&eval, op).map(one),
        Op::Split(op) => Ok(one(split::action(eval.context, config, pc, op))),
        Op::Xegpu(op) => xegpu::action(&eval, config, op).map(one),
        other_ops!() => return None,
    })
}

/// The groups of lanes that execute the fragment's next operation apart from one another, because ids,
/// counts or bounds of a decision differ. One group where there is nothing to separate.
pub(super) fn groups(context: Context<'_>, fragment: &Fragment) -> Vec<u32> {
    let eval = Eval { context, locals: &fragment.locals, lanes: fragment.lanes };
    let op = &context.code.ops[fragment.pc.index()];
    if !op.expressions().into_iter().any(|operand| eval.varies(operand)) {
        return vec![fragment.lanes];
    }
    if let Op::Any(_, low, high) = op {
        let bounds = |lane| Ok::<_, Bad>((eval.number(low, lane)?, eval.number(high, lane)?));
        return group_by(fragment.lanes, bounds);
    }
    match op {
        Op::Ptx(op) => ptx::groups(&eval, op),
        Op::Bcu(op) => bcu::groups(&eval, op),
        // Their agents have one lane, and at other operations lanes stay together.
        Op::Nbarrier(_) | Op::Split(_) | Op::Xegpu(_) | other_ops!() => vec![fragment.lanes],
    }
}

/// The arrival that all these fragments make together, if all are parked alike.
// clause: ptx.warp-arrival
pub(super) fn parked_arrival(fragments: &[Fragment]) -> Option<BarrierAction> {
    ptx::parked_arrival(fragments)
}

/// The local effects of an instruction that lets its agent go on.
pub(super) fn perform(op: &Op, config: &mut Config, index: usize, action: &Action, outcome: Outcome) {
    match op {
        Op::Bcu(op) => bcu::perform(op, config, index, action, outcome),
        Op::Xegpu(_) => xegpu::perform(config, index, action),
        Op::Ptx(_) | Op::Nbarrier(_) | Op::Split(_) | other_ops!() => {}
    }
}

/// The local effects of an instruction by which its agent has arrived, or waits.
pub(super) fn arrived(config: &mut Config, action: &BarrierAction) {
    match action {
        BarrierAction::Split(action) => split::arrived(config, action),
        BarrierAction::Ptx(_) | BarrierAction::Bcu(_) | BarrierAction::Nbarrier(_) => {}
    }
}

/// A fragment goes on from an instruction at which its agent was released with a reduction's result.
pub(super) fn take_result(op: &Op, config: &mut Config, index: usize, result: u32) {
    match op {
        Op::Ptx(op) => ptx::take_result(op, &mut config.fragments[index], result),
        Op::Bcu(op) => bcu::take_result(op, config, result),
        Op::Nbarrier(_) | Op::Split(_) | Op::Xegpu(_) | other_ops!() => {}
    }
}

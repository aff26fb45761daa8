//! What the systems say of their instructions as far as one agent by itself is concerned, and who answers
//! for whose.

use super::Context;
use super::action::{Action, Choices};
use super::config::{Config, Fragment};
use super::eval::{Eval, LaneValues};
use super::execute::Execute;
use super::operands::{Bad, group_by};
use super::outcome::Outcome;
use super::ptx;
use crate::barrier::BarrierAction;
use crate::program::{BarrierInstruction, LocalId, Op};
use crate::systems::systems;

/// Finds out whose instruction it is.
macro_rules! executed {
    (
        barriers { $($barriers:tt)* }
        instructions { $($Op:ident($Instruction:ident) $([$cfg:meta])?)+ }
        targets { $($targets:tt)* }
    ) => {
        fn executed(instruction: &BarrierInstruction) -> &dyn Execute {
            match instruction { $($(#[cfg($cfg)])? BarrierInstruction::$Op(instruction) => instruction,)+ }
        }
    };
}
systems!(executed);

/// What a fragment that stands at an instruction on barriers could do.
pub(super) fn action(
    instruction: &BarrierInstruction,
    eval: &Eval<'_>,
    config: &Config,
    index: usize,
) -> Result<(Action, Choices), Bad> {
    executed(instruction).action(eval, config, index)
}

/// The groups of lanes that execute the fragment's next operation apart from one another, because ids,
/// counts or bounds of a decision differ. One group where there is nothing to separate.
pub(super) fn groups(context: Context<'_>, fragment: &Fragment) -> Vec<u32> {
    let eval = Eval { context, locals: &fragment.locals, lanes: fragment.lanes };
    let op = &context.code.ops[fragment.pc.index()];
    let each = |local: LocalId| matches!(eval.locals[local.index()], LaneValues::Each(_));
    let vary =
        op.expressions().into_iter().any(|operand| eval.varies(operand)) || op.handle().is_some_and(each);
    if !vary {
        return vec![fragment.lanes];
    }
    match op {
        Op::Any(_, low, high) => {
            let bounds = |lane| Ok::<_, Bad>((eval.number(low, lane)?, eval.number(high, lane)?));
            group_by(fragment.lanes, bounds)
        }
        Op::Barrier(instruction) => executed(instruction).groups(&eval),
        // At other operations lanes stay together.
        _ => vec![fragment.lanes],
    }
}

/// The arrival that all these fragments make together, if all are parked alike.
// clause: ptx.warp-arrival
pub(super) fn parked_arrival(fragments: &[Fragment]) -> Option<BarrierAction> {
    ptx::parked_arrival(fragments)
}

/// The local effects of an operation that lets its agent go on.
pub(super) fn perform(op: &Op, config: &mut Config, index: usize, action: &Action, outcome: Outcome) {
    if let Op::Barrier(instruction) = op {
        executed(instruction).perform(config, index, action, outcome);
    }
}

/// The local effects of an operation by which its agent has arrived, or waits.
pub(super) fn arrived(op: &Op, config: &mut Config, action: &BarrierAction) {
    if let Op::Barrier(instruction) = op {
        executed(instruction).arrived(config, action);
    }
}

/// A fragment goes on from an operation at which its agent was released without a result.
pub(super) fn released(op: &Op, config: &mut Config, index: usize) {
    if let Op::Barrier(instruction) = op {
        executed(instruction).released(config, index);
    }
}

/// A fragment goes on from an operation at which its agent was released with a reduction's result.
pub(super) fn take_result(op: &Op, config: &mut Config, index: usize, result: u32) {
    if let Op::Barrier(instruction) = op {
        executed(instruction).take_result(config, index, result);
    }
}

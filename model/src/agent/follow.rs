//! What becomes of an agent when it has made a move.

use super::Context;
use super::config::{Config, Fragment, Waiting};
use super::eval::{Eval, Fault, LaneValues, Value, fits};
use super::moves::{Action, Move};
use super::settle::{arrive_at_join, exit_lanes, settle};
use crate::barrier::{BarrierAction, BarrierId, Parked, bcu};
use crate::program::{BcuOp, LocalId, Op, Pc, PtxKind, SplitKind};

/// How a move went, as far as the agent that made it can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Outcome {
    /// The agent goes on.
    Pass,
    /// The agent blocks.
    Block,
    /// The agent goes on with a barrier's state read.
    Read(bcu::Opaque),
}

/// The configuration after a move. `pick` is the choice made, 0 where there is none.
#[must_use]
pub fn follow(context: Context<'_>, config: &Config, made: &Move, pick: u32, outcome: Outcome) -> Config {
    let mut next = config.clone();
    if matches!(made.action, Action::Spin) {
        return next;
    }
    if let (Outcome::Block, Some(barrier)) = (outcome, made.action.barrier()) {
        block(&mut next, made, barrier);
        return next;
    }
    match &made.action {
        Action::Exit(arrival) => {
            exit_lanes(&mut next, made.fragment);
            if arrival.is_some() {
                whole_warp_goes_on(context, &mut next, None);
            }
        }
        Action::Park(parked, open) => {
            let operator = parked.what.operation.reduction();
            let contribution = parked.contribution.with_pick(operator, *open, pick);
            next.fragments[made.fragment].parked = Some(Parked { contribution, ..*parked });
        }
        Action::Barrier(BarrierAction::Ptx(..)) => whole_warp_goes_on(context, &mut next, None),
        Action::Decide => decide(context, &mut next, made, pick),
        _ => {
            perform(context, &mut next, made, outcome);
            advance(&mut next, made.fragment);
        }
    }
    settle(context, &mut next);
    next
}

/// The configuration after a blocked agent is released; `result` is that of a reduction.
#[must_use]
pub fn release(context: Context<'_>, config: &Config, result: Option<u32>) -> Config {
    let mut next = config.clone();
    let Some(waiting) = next.waiting.take() else {
        return next;
    };
    match &context.code.ops[waiting.at.index()] {
        Op::Ptx(_) => whole_warp_goes_on(context, &mut next, result),
        op => {
            if let (Op::Bcu(BcuOp::Red { op, .. }), Some(result)) = (op, result) {
                // clause: bcu.red-copy
                next.copy = Some((bcu::ResultCopy { op: *op, result }, false));
            }
            if let Some(index) = next.fragments.iter().position(|f| f.lanes == waiting.lanes) {
                advance(&mut next, index);
            }
        }
    }
    settle(context, &mut next);
    next
}

fn advance(config: &mut Config, index: usize) {
    let pc = config.fragments[index].pc;
    arrive_at_join(config, index, super::Join::After(pc), Pc(pc.0 + 1));
}

fn block(config: &mut Config, made: &Move, barrier: BarrierId) {
    let mut waiting = Waiting { barrier, at: made.pc, lanes: made.lanes, acquires: None };
    match &made.action {
        Action::Exit(_) => {
            exit_lanes(config, made.fragment);
            unpark(config);
            waiting.at = config.fragments.first().map_or(made.pc, |f| f.pc);
            waiting.lanes = config.live_lanes();
        }
        Action::Barrier(BarrierAction::Ptx(..)) => {
            unpark(config);
            waiting.lanes = config.live_lanes();
        }
        Action::Barrier(BarrierAction::Split(split)) => {
            waiting.acquires = Some((split.memory, split.semantics));
            if split.kind == SplitKind::Both {
                restart_iterations(config, split.scope);
            }
        }
        _ => {}
    }
    config.waiting = Some(waiting);
}

fn unpark(config: &mut Config) {
    for fragment in &mut config.fragments {
        fragment.parked = None;
    }
}

/// All lanes of a warp have arrived together and go on, each fragment from its own instruction.
fn whole_warp_goes_on(context: Context<'_>, config: &mut Config, result: Option<u32>) {
    unpark(config);
    let lanes: Vec<u32> = config.fragments.iter().map(|f| f.lanes).collect();
    for lanes in lanes {
        let Some(index) = config.fragments.iter().position(|f| f.lanes == lanes) else {
            continue;
        };
        let fragment = &mut config.fragments[index];
        if let Op::Ptx(op) = &context.code.ops[fragment.pc.index()]
            && let (PtxKind::Red { dest: Some(dest), .. }, Some(result)) = (&op.kind, result)
        {
            // clause: ptx.red-result
            set(fragment, *dest, Value::Int(i64::from(result)));
        }
        advance(config, index);
    }
}

fn set(fragment: &mut Fragment, local: LocalId, value: Value) {
    fragment.locals[local.index()] = LaneValues::Same(value);
}

fn decide(context: Context<'_>, config: &mut Config, made: &Move, pick: u32) {
    let fragment = &mut config.fragments[made.fragment];
    let next = Pc(made.pc.0 + 1);
    match &context.code.ops[made.pc.index()] {
        Op::Branch { otherwise, .. } => fragment.pc = if pick != 0 { next } else { *otherwise },
        Op::Test { construct, .. } => {
            fragment.pc = if pick != 0 { next } else { context.code.constructs[construct.index()].end };
        }
        Op::Any(local, low, _) => {
            let eval = Eval { context, locals: &fragment.locals, lanes: fragment.lanes };
            // The bounds have been evaluated to list the choices.
            let value = eval.first(low).unwrap_or(0).wrapping_add(i64::from(pick));
            match fits(context.code.locals[local.index()].kind, value) {
                Ok(value) => {
                    set(fragment, *local, Value::Int(value));
                    advance(config, made.fragment);
                }
                Err(kind) => config.fault = Some(Fault { at: made.pc, kind }),
            }
        }
        _ => {}
    }
}

/// The local effects of an instruction that lets its agent go on.
fn perform(context: Context<'_>, config: &mut Config, made: &Move, outcome: Outcome) {
    let op = &context.code.ops[made.pc.index()];
    let fragment = &mut config.fragments[made.fragment];
    match &made.action {
        // clause: xegpu.alloc
        Action::Alloc(count) => config.allocated = u32::try_from(*count).ok(),
        // clause: xegpu.init
        Action::Init(local, handle) => set(fragment, *local, Value::Handle(*handle)),
        Action::Fetch(value) => {
            if let Op::Bcu(BcuOp::Result { register, predicate }) = op {
                for local in register.iter().chain(predicate) {
                    set(fragment, *local, Value::Int(i64::from(value.unwrap_or(0))));
                }
            }
            // clause: bcu.b2r-result
            config.copy = config.copy.map(|(copy, _)| (copy, true));
        }
        Action::SaveCopy(copy) => {
            if let Op::Bcu(BcuOp::ReadWarp { dest: Some(dest), .. }) = op {
                set(fragment, *dest, Value::Opaque(Box::new(bcu::Opaque::Warp(*copy))));
            }
            // clause: bcu.b2r-warp
            config.copy = Some((*copy, true));
        }
        // clause: bcu.r2b-warp
        Action::RestoreCopy(copy) => config.copy = Some((*copy, true)),
        Action::Barrier(BarrierAction::Bcu(bcu::Action::ReadState(_))) => {
            if let (Op::Bcu(BcuOp::ReadBarrier { dest: Some(dest), .. }), Outcome::Read(value)) =
                (op, outcome)
            {
                set(fragment, *dest, Value::Opaque(Box::new(value)));
            }
        }
        Action::Barrier(BarrierAction::Split(split)) if split.kind != SplitKind::Wait => {
            restart_iterations(config, split.scope);
        }
        _ => {}
    }
}

/// Iterations are counted from the agent's last arrival: see [`crate::barrier::split::Instance`].
// clause: barcheck.same-instance
fn restart_iterations(config: &mut Config, scope: crate::program::Scope) {
    let counts = match scope {
        crate::program::Scope::Workgroup => &mut config.iterations.workgroup,
        crate::program::Scope::Subgroup => &mut config.iterations.subgroup,
        _ => return,
    };
    counts.fill(0);
}

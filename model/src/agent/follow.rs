//! What becomes of an agent when it has made a move.

use super::Context;
use super::action::{Action, Move};
use super::config::{Config, Waiting};
use super::eval::{Eval, Fault, Value, fits};
use super::outcome::Outcome;
use super::proxy;
use super::settle::{arrive_at_join, exit_lanes, settle};
use super::systems;
use crate::barrier::{BarrierId, Parked};
use crate::program::{Op, Pc};

/// The configuration after a move. `pick` is the choice made, 0 where there is none.
#[must_use]
pub fn follow(context: Context<'_>, config: &Config, made: &Move, pick: u32, outcome: Outcome) -> Config {
    let mut next = config.clone();
    if matches!(made.action, Action::Spin) {
        return next;
    }
    if let (Outcome::Block, Some(barrier)) = (outcome, made.action.barrier()) {
        block(context, &mut next, made, barrier);
        return next;
    }
    match &made.action {
        Action::Exit(arrival) => {
            exit_lanes(&mut next, made.fragment);
            if arrival.is_some() {
                all_lanes_go_on(context, &mut next, None);
            }
        }
        Action::Park(parked, open) => {
            let operator = parked.what.operation.reduction();
            let contribution = parked.contribution.with_pick(operator, *open, pick);
            next.fragments[made.fragment].parked = Some(Parked { contribution, ..*parked });
        }
        Action::Barrier(_) if context.code.ops[made.pc.index()].is_of_all_lanes() => {
            all_lanes_go_on(context, &mut next, None);
        }
        Action::Decide => decide(context, &mut next, made, pick),
        Action::Proxy(action) => {
            proxy::perform(context, &mut next, (made.pc, made.lanes), action);
            advance(&mut next, made.fragment);
        }
        _ => {
            let op = &context.code.ops[made.pc.index()];
            if let Action::Barrier(action) = &made.action {
                systems::arrived(op, &mut next, action);
            }
            systems::perform(op, &mut next, made.fragment, &made.action, outcome);
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
    let op = &context.code.ops[waiting.at.index()];
    if op.tries_again() {
        return next;
    }
    if op.is_of_all_lanes() {
        all_lanes_go_on(context, &mut next, result);
    } else if let Some(index) = next.fragments.iter().position(|f| f.lanes == waiting.lanes) {
        systems::released(op, &mut next, index);
        goes_on(context, &mut next, index, result);
    }
    settle(context, &mut next);
    next
}

fn advance(config: &mut Config, index: usize) {
    let pc = config.fragments[index].pc;
    arrive_at_join(config, index, super::Join::After(pc), Pc(pc.0 + 1));
}

fn block(context: Context<'_>, config: &mut Config, made: &Move, barrier: BarrierId) {
    let mut waiting = Waiting { barrier, at: made.pc, lanes: made.lanes, acquires: None, lacks: 0 };
    match &made.action {
        Action::Exit(_) => {
            exit_lanes(config, made.fragment);
            unpark(config);
            waiting.at = config.fragments.first().map_or(made.pc, |f| f.pc);
            waiting.lanes = config.live_lanes();
        }
        Action::Barrier(action) => {
            let op = &context.code.ops[made.pc.index()];
            if op.is_of_all_lanes() {
                unpark(config);
                waiting.lanes = config.live_lanes();
            }
            waiting.acquires = action.ordering();
            waiting.lacks = action.lacks();
            systems::arrived(op, config, action);
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
fn all_lanes_go_on(context: Context<'_>, config: &mut Config, result: Option<u32>) {
    unpark(config);
    let lanes: Vec<u32> = config.fragments.iter().map(|f| f.lanes).collect();
    for lanes in lanes {
        let Some(index) = config.fragments.iter().position(|f| f.lanes == lanes) else {
            continue;
        };
        goes_on(context, config, index, result);
    }
}

/// A fragment goes on from its instruction, with a reduction's result if there is one.
fn goes_on(context: Context<'_>, config: &mut Config, index: usize, result: Option<u32>) {
    if let Some(result) = result {
        let op = &context.code.ops[config.fragments[index].pc.index()];
        systems::take_result(op, config, index, result);
    }
    advance(config, index);
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
                    fragment.set(*local, Value::Int(value));
                    advance(config, made.fragment);
                }
                Err(kind) => config.fault = Some(Fault { at: made.pc, kind }),
            }
        }
        _ => {}
    }
}

//! What an agent could do next, operands evaluated.

use super::Context;
use super::action::{Action, Choices, Move, Moves};
use super::config::Config;
use super::eval::{Eval, FaultKind, each_lane};
use super::operands::{self, Bad};
use super::settle::exit_lanes;
use super::systems;
use crate::program::{Condition, Op};

/// What the agent could do next; nothing if it has exited or is blocked.
#[must_use]
pub fn moves(context: Context<'_>, config: &Config) -> Moves {
    // clause: bcu.warp-blocks-whole, bcu.red-warp-blocks-whole, barcheck.bcu-fragment-arrivals
    if config.waiting.is_some() || config.fault.is_some() {
        return Moves::new();
    }
    let mut found = Moves::new();
    for (index, fragment) in config.fragments.iter().enumerate() {
        if fragment.join.is_some() || fragment.parked.is_some() {
            continue;
        }
        let (action, choices) = if fragment.spins {
            (Action::Spin, Choices::One)
        } else {
            action(context, config, index).unwrap_or_else(|bad| {
                let action = match bad {
                    Bad::Fault(kind) => Action::Fault(kind),
                    Bad::Rule(rule, value) => Action::Refuse(rule, value),
                };
                (action, Choices::One)
            })
        };
        found.push(Move { fragment: index, lanes: fragment.lanes, pc: fragment.pc, action, choices });
    }
    found
}

fn action(context: Context<'_>, config: &Config, index: usize) -> Result<(Action, Choices), Bad> {
    let fragment = &config.fragments[index];
    let eval = Eval { context, locals: &fragment.locals, lanes: fragment.lanes };
    let op = &context.code.ops[fragment.pc.index()];
    let action = match op {
        Op::Branch { condition, .. } | Op::Test { condition, .. } => {
            let choices = match condition {
                Condition::Uniform(sequence) => Choices::Uniform(*sequence),
                Condition::Private | Condition::Value(_) => Choices::Open(2),
            };
            return Ok((Action::Decide, choices));
        }
        Op::Any(_, low, high) => {
            let (low, high) = (eval.first(low)?, eval.first(high)?);
            if low >= high {
                return Err(FaultKind::EmptyRange.into());
            }
            return Ok((Action::Decide, Choices::Open(high.abs_diff(low))));
        }
        Op::Exit => exit(config, index),
        Op::Assert(condition) => {
            // clause: barcheck.assertion
            let numbers = eval.numbers(condition)?;
            Action::Assert(each_lane(fragment.lanes).all(|lane| numbers.get(lane) != 0))
        }
        Op::Access(kind, array, index) => {
            let array = &context.program.arrays[array.index()];
            Action::Access(*kind, operands::locations(&eval, array, index.as_ref())?)
        }
        Op::Fence(spaces) => Action::Fence(*spaces),
        Op::Barrier(instruction) => return systems::action(instruction, &eval, config, index),
        // Invisible operations are never where a settled fragment stands.
        _ => Action::Spin,
    };
    Ok((action, Choices::One))
}

/// The fragment exits; where that leaves the rest of the warp parked alike, the warp arrives.
// clause: ptx.warp-arrival
fn exit(config: &Config, index: usize) -> Action {
    let mut rest = config.clone();
    exit_lanes(&mut rest, index);
    Action::Exit(systems::parked_arrival(&rest.fragments))
}

//! What an agent could do next, operands evaluated.

use super::Context;
use super::action::{Action, Choices, Move, Moves};
use super::config::Config;
use super::eval::{Eval, FaultKind, each_lane};
use super::follow::follow;
use super::mbarrier::goes_on_elsewhere;
use super::operands::{self, Bad};
use super::outcome::Outcome;
use super::proxy;
use super::settle::exit_lanes;
use super::systems;
use crate::barrier::{BarrierAction, Blocking, NotModelled};
use crate::program::{Condition, Op};
use std::collections::HashSet;

/// Configurations that a loop may go through which goes on as long as phases are not complete.
const MOST_ASKING: usize = 4096;

/// What the agent could do next; nothing if it has exited or is blocked.
#[must_use]
pub fn moves(context: Context<'_>, config: &Config) -> Moves {
    listed(context, config).into_iter().map(|made| waiting(context, config, made)).collect()
}

/// The same, as it stands in the text.
fn listed(context: Context<'_>, config: &Config) -> Moves {
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
        let made = Move { fragment: index, lanes: fragment.lanes, pc: fragment.pc, action, choices };
        found.push(made);
    }
    found
}

/// The same move, but a wait where asking whether a phase is complete leads back to the same place as long as
/// it is not, as in a loop around `mbarrier.try_wait`, or to a wait for it.
// clause: ptx.mbarrier-try-wait, barcheck.asking-loop
fn waiting(context: Context<'_>, config: &Config, made: Move) -> Move {
    let Some(wait) = made.action.on_barrier().and_then(BarrierAction::as_wait) else { return made };
    let refused = |what| Move { action: Action::NotModelled(what), choices: Choices::One, ..made.clone() };
    let next = follow(context, config, &made, 0, Outcome::Tested(false));
    if next == *config {
        return match goes_on_elsewhere(config, made.fragment) {
            true => refused(NotModelled::DivergentWait),
            false => Move { action: Action::Barrier(wait), choices: Choices::One, ..made },
        };
    }
    if waits_then(context, config, &made, &wait, &next) {
        return Move { action: Action::Barrier(wait), choices: Choices::One, ..made };
    }
    match asks_again(context, config, next) {
        true => refused(NotModelled::AskingLoop),
        false => made,
    }
}

/// Whether an agent that finds a phase not complete waits for it next, and then is where it would be if it
/// had found it complete. It may as well wait at once: between the two it does nothing that others see, and
/// until it waits it stands where it would stand if it had not asked yet.
fn waits_then(
    context: Context<'_>,
    config: &Config,
    made: &Move,
    wait: &BarrierAction,
    incomplete: &Config,
) -> bool {
    let moves = listed(context, incomplete);
    let [then] = &moves[..] else { return false };
    let passes = match then.action.on_barrier() {
        Some(action) if action == wait => Outcome::Pass,
        Some(action)
            if action.as_wait().as_ref() == Some(wait)
                && follow(context, incomplete, then, 0, Outcome::Tested(false)) == *incomplete =>
        {
            Outcome::Tested(true)
        }
        _ => return false,
    };
    follow(context, incomplete, then, 0, passes) == follow(context, config, made, 0, Outcome::Tested(true))
}

/// Whether an agent may come back to a configuration by steps that wait for nobody and find no phase
/// complete, or may make so many of them that it is not known.
fn asks_again(context: Context<'_>, from: &Config, next: Config) -> bool {
    let (mut seen, mut ahead) = (HashSet::new(), vec![next]);
    while let Some(config) = ahead.pop() {
        if config == *from || seen.len() >= MOST_ASKING {
            return true;
        }
        if !seen.insert(config.clone()) {
            continue;
        }
        for made in listed(context, &config) {
            let (outcome, picks) = match (&made.action, made.choices) {
                (Action::Barrier(action), _) => match action.blocking() {
                    Blocking::Asks => (Outcome::Tested(false), 1),
                    Blocking::Never => (Outcome::Pass, 1),
                    Blocking::Always | Blocking::Sometimes | Blocking::Reads => continue,
                },
                (Action::Decide, Choices::Open(n)) => (Outcome::Pass, n.min(MOST_ASKING as u64)),
                (Action::Decide, Choices::Uniform(_)) => (Outcome::Pass, 2),
                (Action::Assert(true) | Action::Access(..) | Action::Fence(_) | Action::Proxy(_), _) => {
                    (Outcome::Pass, 1)
                }
                _ => continue,
            };
            let picks = u32::try_from(picks).unwrap_or(u32::MAX);
            ahead.extend((0..picks).map(|pick| follow(context, &config, &made, pick, outcome)));
        }
    }
    false
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
        Op::Access(kind, array, index, cta) => {
            let mut locations = operands::locations(&eval, *array, index.as_ref(), cta.as_ref())?;
            if let Some(watched) = context.watched {
                locations.retain(|at| watched.binary_search(at).is_ok());
            }
            Action::Access(*kind, locations)
        }
        Op::Fence(fence) => Action::Fence(*fence),
        Op::Proxy(op) => Action::Proxy(proxy::action(op, &eval, config, fragment.lanes)?),
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

//! Instructions that all lanes of a warp execute together.

use super::action::{Action, Choices};
use super::config::Config;
use super::eval::Eval;
use super::execute::Execute;
use super::operands::{Bad, group_by};
use super::outcome::Outcome;
use crate::barrier::{BarrierAction, NotModelled, registers};
use crate::program::{Fence, WarpOp};
use crate::rule::Rule;

impl Execute for WarpOp {
    fn action(&self, eval: &Eval<'_>, config: &Config, index: usize) -> Result<(Action, Choices), Bad> {
        let (lanes, live) = (config.fragments[index].lanes, config.live_lanes());
        let action = match self {
            WarpOp::Sync(mask) => {
                let mask = eval.first(mask)?;
                // clause: ptx.warp-sync
                let among = u32::try_from(mask).ok().filter(|mask| lanes & !mask == 0);
                let mask = among.ok_or(Bad::Rule(Rule::PartialWarp, mask))?;
                if live & mask == lanes {
                    Action::Fence(Fence::Nothing)
                } else {
                    Action::NotModelled(NotModelled::DivergentWarp)
                }
            }
            WarpOp::Registers { takes, count } => {
                let count = eval.first(count)?;
                let program = eval.context.program;
                let has = config.registers.unwrap_or(program.registers);
                let pool = program.register_pool(eval.context.cta());
                let action = registers::Action::check(pool, (has, count), *takes);
                let action = action.map_err(|rule| Bad::Rule(rule, count))?;
                // clause: ptx.registers-aligned
                if lanes != live {
                    return Err(Bad::Rule(Rule::PartialWarp, i64::from(lanes)));
                }
                Action::Barrier(action.into())
            }
        };
        Ok((action, Choices::One))
    }

    fn groups(&self, eval: &Eval<'_>) -> Vec<u32> {
        match self {
            // clause: ptx.warp-sync
            WarpOp::Sync(mask) => group_by(eval.lanes, |at| Ok(eval.number(mask, at)?)),
            WarpOp::Registers { .. } => vec![eval.lanes],
        }
    }

    fn perform(&self, config: &mut Config, _: usize, action: &Action, outcome: Outcome) {
        if let (Some(BarrierAction::Registers(action)), Outcome::Pass) = (action.on_barrier(), outcome) {
            config.registers = Some(action.has);
        }
    }

    fn arrived(&self, _: &mut Config, _: &BarrierAction) {}

    fn take_result(&self, _: &mut Config, _: usize, _: u32) {}
}

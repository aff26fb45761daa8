//! vISA instructions as a thread executes them.

use super::action::{Action, Choices};
use super::config::Config;
use super::eval::Eval;
use super::execute::Execute;
use super::operands::Bad;
use super::outcome::Outcome;
use crate::barrier::{BarrierAction, nbarrier};
use crate::program::NbarrierOp;
use crate::rule::Rule;

impl Execute for NbarrierOp {
    fn action(&self, eval: &Eval<'_>, _: &Config, _: usize) -> Result<(Action, Choices), Bad> {
        let group = eval.context.program.threads;
        let (id, kind, producers, consumers) = match self {
            // clause: nbarrier.wait-ignores-fields
            NbarrierOp::Wait { id } => {
                let id = eval.first(id)?;
                let id = nbarrier::check_id(id).map_err(|rule| Bad::Rule(rule, id))?;
                return Ok((Action::Barrier(nbarrier::Action::Wait(id).into()), Choices::One));
            }
            // clause: nbarrier.baseline-form
            NbarrierOp::SignalAll { id, threads } => {
                let threads = eval.first(threads)?;
                (eval.first(id)?, 0, threads, threads)
            }
            // clause: nbarrier.general-form
            NbarrierOp::Signal { id, kind, producers, consumers } => {
                (eval.first(id)?, eval.first(kind)?, eval.first(producers)?, eval.first(consumers)?)
            }
        };
        let what = nbarrier::check_signal(id, kind, producers, consumers, group).map_err(|rule| {
            let value = match rule {
                Rule::BarrierIdRange => id,
                Rule::TypeRange => kind,
                _ if nbarrier::check_count(producers, group).is_err() => producers,
                _ => consumers,
            };
            Bad::Rule(rule, value)
        })?;
        Ok((Action::Barrier(nbarrier::Action::Signal(what).into()), Choices::One))
    }

    /// Its agents have one lane.
    fn groups(&self, eval: &Eval<'_>) -> Vec<u32> {
        vec![eval.lanes]
    }

    fn perform(&self, _: &mut Config, _: usize, _: &Action, _: Outcome) {}

    fn arrived(&self, _: &mut Config, _: &BarrierAction) {}

    fn take_result(&self, _: &mut Config, _: usize, _: u32) {}
}

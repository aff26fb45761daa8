//! The toy's instructions as a thread executes them.

use super::action::{Action, Choices};
use super::config::Config;
use super::eval::Eval;
use super::execute::Execute;
use super::operands::Bad;
use super::outcome::Outcome;
use crate::barrier::{BarrierAction, toy};
use crate::program::ToyOp;
use crate::rule::Rule;

impl Execute for ToyOp {
    fn action(&self, eval: &Eval<'_>, _: &Config, _: usize) -> Result<(Action, Choices), Bad> {
        let (id, count) = (eval.first(&self.id)?, eval.first(&self.count)?);
        let what = toy::check(id, count, eval.context.program.threads)
            .map_err(|rule| Bad::Rule(rule, if rule == Rule::BarrierIdRange { id } else { count }))?;
        Ok((Action::Barrier(toy::Action { what, blocks: self.blocks }.into()), Choices::One))
    }

    /// Its agents have one lane.
    fn groups(&self, eval: &Eval<'_>) -> Vec<u32> {
        vec![eval.lanes]
    }

    fn perform(&self, _: &mut Config, _: usize, _: &Action, _: Outcome) {}

    fn arrived(&self, _: &mut Config, _: &BarrierAction) {}

    fn take_result(&self, _: &mut Config, _: usize, _: u32) {}
}

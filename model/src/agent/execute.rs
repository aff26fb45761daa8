//! What an agent asks of an instruction on barriers.

use super::action::{Action, Choices};
use super::config::Config;
use super::eval::Eval;
use super::operands::Bad;
use super::outcome::Outcome;
use crate::barrier::BarrierAction;

/// An instruction as an agent executes it.
pub(super) trait Execute {
    /// What a fragment that stands at it could do.
    fn action(&self, eval: &Eval<'_>, config: &Config, index: usize) -> Result<(Action, Choices), Bad>;

    /// The groups of lanes that execute it apart from one another, because ids or counts differ. It is asked
    /// only if some operand differs.
    fn groups(&self, eval: &Eval<'_>) -> Vec<u32>;

    /// Its local effects where it lets its agent go on.
    fn perform(&self, config: &mut Config, index: usize, action: &Action, outcome: Outcome);

    /// Its local effects where its agent has arrived by it, or waits.
    fn arrived(&self, config: &mut Config, action: &BarrierAction);

    /// A fragment goes on from it, released without a result.
    fn released(&self, _config: &mut Config, _index: usize) {}

    /// A fragment goes on from it, released with a reduction's result.
    fn take_result(&self, config: &mut Config, index: usize, result: u32);
}

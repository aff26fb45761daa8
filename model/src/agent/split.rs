//! SPIR-V instructions as an invocation executes them.

use super::action::{Action, Choices};
use super::config::Config;
use super::eval::Eval;
use super::execute::Execute;
use super::operands::Bad;
use super::outcome::Outcome;
use crate::barrier::split::{self, Workgroup};
use crate::barrier::{BarrierAction, Instance};
use crate::program::{SplitKind, SplitOp};

impl Execute for SplitOp {
    fn action(&self, eval: &Eval<'_>, config: &Config, index: usize) -> Result<(Action, Choices), Bad> {
        let pc = config.fragments[index].pc;
        if self.kind == SplitKind::MemoryBarrier {
            return Ok((Action::MemoryBarrier(self.memory, self.semantics), Choices::One));
        }
        let group = Workgroup::of(eval.context.program);
        let barrier = match group.barrier_of(self.execution, eval.context.agent) {
            Ok(barrier) => barrier,
            // clause: split_barrier.device-scope
            Err(what) => return Ok((Action::NotModelled(what), Choices::One)),
        };
        // clause: barcheck.same-instance
        let around = eval.context.facts.counted_around(eval.context.code, pc, self.execution);
        let iterations = around.iter().map(|c| config.iterations.in_loop(self.execution, *c)).collect();
        let action = split::Action {
            kind: self.kind,
            barrier,
            scope: self.execution,
            members: group.members(barrier),
            instance: Instance { role: eval.context.role, statement: pc, iterations },
            memory: self.memory,
            semantics: self.semantics,
        };
        Ok((Action::Barrier(action.into()), Choices::One))
    }

    /// Its agents have one lane.
    fn groups(&self, eval: &Eval<'_>) -> Vec<u32> {
        vec![eval.lanes]
    }

    fn perform(&self, _: &mut Config, _: usize, _: &Action, _: Outcome) {}

    /// The invocation's iterations are counted from here, see [`Instance`].
    // clause: barcheck.same-instance
    fn arrived(&self, config: &mut Config, _: &BarrierAction) {
        if self.kind == SplitKind::Wait {
            return;
        }
        config.iterations.change(self.execution, Vec::clear);
    }

    fn take_result(&self, _: &mut Config, _: usize, _: u32) {}
}

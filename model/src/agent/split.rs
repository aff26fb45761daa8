//! SPIR-V instructions as an invocation executes them.

use super::action::{Action, Choices};
use super::config::Config;
use super::eval::Eval;
use super::execute::Execute;
use super::operands::Bad;
use super::outcome::Outcome;
use crate::barrier::BarrierAction;
use crate::barrier::split::{self, Instance, Workgroup};
use crate::program::{Program, Scope, SplitKind, SplitOp};

impl Execute for SplitOp {
    fn action(&self, eval: &Eval<'_>, config: &Config, index: usize) -> Result<(Action, Choices), Bad> {
        let pc = config.fragments[index].pc;
        if self.kind == SplitKind::MemoryBarrier {
            return Ok((Action::MemoryBarrier(self.memory, self.semantics), Choices::One));
        }
        let Program { threads: invocations, subgroup_size, .. } = *eval.context.program;
        let group = Workgroup { invocations, subgroup_size };
        let barrier = match group.barrier_of(self.execution, eval.context.agent) {
            Ok(barrier) => barrier,
            // clause: split_barrier.device-scope
            Err(what) => return Ok((Action::NotModelled(what), Choices::One)),
        };
        // clause: barcheck.same-instance
        let counts = match self.execution {
            Scope::Workgroup => &config.iterations.workgroup,
            _ => &config.iterations.subgroup,
        };
        let around = eval.context.facts.counted_around(eval.context.code, pc, self.execution);
        let iterations = around.iter().map(|c| counts.get(c.index()).copied().unwrap_or(0)).collect();
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
        let counts = match self.execution {
            Scope::Workgroup => &mut config.iterations.workgroup,
            Scope::Subgroup => &mut config.iterations.subgroup,
            Scope::Invocation | Scope::Device => return,
        };
        counts.fill(0);
    }

    fn take_result(&self, _: &mut Config, _: usize, _: u32) {}
}

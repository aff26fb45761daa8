//! SPIR-V instructions as an invocation executes them.

use super::Context;
use super::action::Action;
use super::config::Config;
use crate::barrier::split::{self, Instance, Workgroup};
use crate::program::{Pc, Program, Scope, SplitKind, SplitOp};

pub(super) fn action(context: Context<'_>, config: &Config, pc: Pc, op: &SplitOp) -> Action {
    if op.kind == SplitKind::MemoryBarrier {
        return Action::MemoryBarrier(op.memory, op.semantics);
    }
    let Program { threads: invocations, subgroup_size, .. } = *context.program;
    let group = Workgroup { invocations, subgroup_size };
    let barrier = match group.barrier_of(op.execution, context.agent) {
        Ok(barrier) => barrier,
        // clause: split_barrier.device-scope
        Err(what) => return Action::NotModelled(what),
    };
    // clause: barcheck.same-instance
    let counts = match op.execution {
        Scope::Workgroup => &config.iterations.workgroup,
        _ => &config.iterations.subgroup,
    };
    let around = context.facts.counted_around(context.code, pc, op.execution);
    let iterations = around.iter().map(|c| counts.get(c.index()).copied().unwrap_or(0)).collect();
    let action = split::Action {
        kind: op.kind,
        barrier,
        scope: op.execution,
        members: group.members(barrier),
        instance: Instance { role: context.role, statement: pc, iterations },
        memory: op.memory,
        semantics: op.semantics,
    };
    Action::Barrier(action.into())
}

/// The invocation has arrived: its iterations are counted from here, see [`Instance`].
// clause: barcheck.same-instance
pub(super) fn arrived(config: &mut Config, action: &split::Action) {
    if action.kind == SplitKind::Wait {
        return;
    }
    let counts = match action.scope {
        Scope::Workgroup => &mut config.iterations.workgroup,
        Scope::Subgroup => &mut config.iterations.subgroup,
        Scope::Invocation | Scope::Device => return,
    };
    counts.fill(0);
}

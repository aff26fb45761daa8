//! SPIR-V's split barriers in words.

use barcheck_model::barrier::BarrierId;
use barcheck_model::barrier::split::{Action, Barrier, Workgroup};
use barcheck_model::barrier::{AnyBarrier, BarrierAction};
use barcheck_model::program::{AgentId, BarrierInstruction, Program, Scope, SplitKind, SplitOp};

use super::figures::{Gathering, Naming, Present, count, plain};
use super::system::{Names, Parties, Unpublished, Wording};
use crate::trace::Operands;

pub(super) struct Split;

impl Wording for Split {
    fn barrier(&self, program: &Program, id: BarrierId) -> Names {
        let group = workgroup(program);
        let (name, short) = match group.scope_of(id) {
            Scope::Subgroup => (format!("subgroup {}'s barrier", id.0 - 1), format!("sg{}", id.0 - 1)),
            Scope::Invocation => {
                let own = id.0.saturating_sub(1 + group.subgroups());
                (format!("invocation {own}'s own barrier"), format!("inv{own}"))
            }
            Scope::Workgroup | Scope::Device => ("the workgroup barrier".to_owned(), "wg".to_owned()),
        };
        Names { name, short }
    }

    fn waits_between_arrivals(&self) -> bool {
        true
    }

    fn unpublished(&self, parties: Parties<'_>) -> Unpublished {
        let Parties { earlier, later, .. } = parties;
        Unpublished {
            why: format!(
                "memory is ordered only from an arrive with Release to a wait with Acquire, each with a \
                 memory scope that contains {earlier} and {later} and with the storage class of the location"
            ),
            fix: "add what is missing to the Memory and Semantics operands of that arrive and that wait \
                   (`Release|WorkgroupMemory`, `Acquire|WorkgroupMemory` for shared locations)"
                .to_owned(),
        }
    }

    fn operands(&self, action: &BarrierAction) -> Option<Operands> {
        let BarrierAction::Split(action) = action else { return None };
        Some(operands(action))
    }

    fn may_use(&self, op: &BarrierInstruction, naming: &Naming<'_>) -> bool {
        matches!(op, BarrierInstruction::Split(op) if may_use(op, naming))
    }

    fn is_member(&self, program: &Program, agent: AgentId, id: BarrierId) -> bool {
        is_member(program, agent, id)
    }

    fn gathering(
        &self,
        program: &Program,
        id: BarrierId,
        barrier: &AnyBarrier,
        _: Present,
    ) -> Option<Gathering> {
        let AnyBarrier::Split(barrier) = barrier else { return None };
        gathering(program, id, barrier)
    }
}

fn workgroup(program: &Program) -> Workgroup {
    Workgroup { invocations: program.threads, subgroup_size: program.subgroup_size.max(1) }
}

/// The operands of an instruction.
fn operands(split: &Action) -> Operands {
    let operation = match split.kind {
        SplitKind::Arrive => "arrive",
        SplitKind::Wait => return plain("wait", split.barrier, Vec::new()),
        SplitKind::Both | SplitKind::MemoryBarrier => "arrive+wait",
    };
    plain(operation, split.barrier, vec![count("invocations", 1, split.members)])
}

/// The generation that gathers at a barrier.
fn gathering(program: &Program, id: BarrierId, barrier: &Barrier) -> Option<Gathering> {
    let counts = || vec![count("invocations", barrier.arrived, workgroup(program).members(id))];
    (barrier.arrived > 0).then(|| Gathering::plain(counts()))
}

/// Whether the agent belongs to those that share the barrier.
fn is_member(program: &Program, agent: AgentId, id: BarrierId) -> bool {
    let group = workgroup(program);
    group.barrier_of(group.scope_of(id), agent) == Ok(id)
}

/// Whether an instruction may arrive on a barrier.
fn may_use(op: &SplitOp, naming: &Naming<'_>) -> bool {
    let arrives = match op.kind {
        SplitKind::Arrive | SplitKind::Both => true,
        SplitKind::Wait | SplitKind::MemoryBarrier => false,
    };
    let of = |scope| workgroup(naming.program).barrier_of(scope, naming.agent);
    arrives && op.execution != Scope::Device && of(op.execution) == Ok(naming.id)
}

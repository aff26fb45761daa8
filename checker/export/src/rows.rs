//! The columns that a target's instructions need in the tables.

use super::columns::{Barriers, Columns};
use super::node::{Act, Kind, Node, Step};
use barcheck_model::barrier::{bcu, nbarrier, ptx};
use barcheck_model::program::{ReductionOp, Scope, Semantics, SplitKind, Target, WARP_SIZE};

/// The columns of a step's row.
pub(super) fn fill_step(target: Target, barriers: &Barriers, step: &Step, columns: &mut Columns) {
    columns.push("step_bar", step.act.barrier().map_or(0, |id| barriers.number(id)));
    match target {
        Target::Ptx => ptx_step(step, columns),
        Target::Bcu => bcu_step(step, columns),
        Target::Nbarrier | Target::Xegpu => named_step(step, columns),
        Target::SplitBarrier => split_step(step, columns),
    }
}

/// The columns of a node where an agent waits.
pub(super) fn fill_wait(target: Target, node: &Node, columns: &mut Columns) {
    let Kind::Waits { acquires, unfetched, .. } = &node.kind else { return };
    match target {
        Target::Bcu => columns.push("wait_unfetched", usize::from(*unfetched)),
        Target::SplitBarrier => {
            let (memory, semantics) = acquires.unwrap_or((Scope::Invocation, Semantics::default()));
            columns.push("wait_acquires", if semantics.acquire { reach(memory) } else { 0 });
            columns.push("wait_shared", usize::from(semantics.classes.shared));
            columns.push("wait_global", usize::from(semantics.classes.global));
        }
        Target::Ptx | Target::Nbarrier | Target::Xegpu => {}
    }
}

/// The number of a reduction's operator, 0 for none.
fn operator(op: Option<ReductionOp>) -> usize {
    match op {
        None => 0,
        Some(ReductionOp::Popc) => 1,
        Some(ReductionOp::And) => 2,
        Some(ReductionOp::Or) => 3,
    }
}

fn predicates(predicates: ptx::Contribution, columns: &mut Columns) {
    columns.push("step_truths", predicates.truths as usize);
    columns.push("step_lanes", predicates.lanes as usize);
}

fn ptx_step(step: &Step, columns: &mut Columns) {
    let (what, contribution) = match &step.act {
        Act::Ptx(what, contribution) => (Some(*what), *contribution),
        _ => (None, ptx::Contribution::default()),
    };
    let reduction = what.and_then(|what| match what.operation {
        ptx::Operation::Red(op) => Some(op),
        ptx::Operation::Sync | ptx::Operation::Arrive => None,
    });
    columns.push("step_count", what.map_or(0, |what| (what.expected / WARP_SIZE) as usize));
    columns.push("step_for_all", usize::from(what.is_some_and(|what| what.all)));
    columns.push("step_reserved", usize::from(what.is_some_and(|what| what.id.0 == 0 && !what.all)));
    columns.push("step_operator", operator(reduction));
    predicates(contribution, columns);
}

fn bcu_step(step: &Step, columns: &mut Columns) {
    let (what, contribution) = match &step.act {
        Act::Bcu(what, contribution) => (Some(*what), *contribution),
        _ => (None, ptx::Contribution::default()),
    };
    let reduction = what.and_then(|what| match what.operation {
        bcu::Operation::Red(op) => Some(op),
        bcu::Operation::Sync | bcu::Operation::Arv => None,
    });
    let waits = what.is_some_and(|what| what.operation != bcu::Operation::Arv);
    columns.push("step_count", what.map_or(0, |what| (what.count / WARP_SIZE) as usize));
    columns.push("step_waits", usize::from(waits));
    columns.push("step_truncated", usize::from(what.is_some_and(|what| what.truncated)));
    columns.push("step_operator", operator(reduction));
    predicates(contribution, columns);
}

fn named_step(step: &Step, columns: &mut Columns) {
    let signal = match &step.act {
        Act::Signal(what) => Some(*what),
        _ => None,
    };
    let kind = signal.map(|what| what.kind);
    let is = |kinds: [nbarrier::Kind; 2]| usize::from(kind.is_some_and(|kind| kinds.contains(&kind)));
    columns.push("step_producers", signal.map_or(0, |what| what.producers as usize));
    columns.push("step_consumers", signal.map_or(0, |what| what.consumers as usize));
    columns.push("step_produces", is([nbarrier::Kind::Both, nbarrier::Kind::Producer]));
    columns.push("step_consumes", is([nbarrier::Kind::Both, nbarrier::Kind::Consumer]));
    columns.push("step_blocks", step.blocks.unwrap_or_default());
    // What is out of range stays so.
    let number = if let Act::Alloc(count) = step.act { count.clamp(0, 255) } else { 0 };
    columns.push("step_number", usize::try_from(number).unwrap_or_default());
    let spaces = if let Act::Fence(spaces) = step.act { spaces } else { Default::default() };
    columns.push("step_shared", usize::from(spaces.shared));
    columns.push("step_global", usize::from(spaces.global));
}

fn split_step(step: &Step, columns: &mut Columns) {
    let (split, instance) = match &step.act {
        Act::Split(split, instance) => (Some(split), *instance + 1),
        _ => (None, 0),
    };
    let part = match split.map(|split| split.kind) {
        Some(SplitKind::Wait) => 1,
        Some(SplitKind::Both) => 2,
        _ => 0,
    };
    let (memory, semantics) = match (&step.act, split) {
        (Act::MemoryBarrier(memory, semantics), _) => (*memory, *semantics),
        (_, Some(split)) => (split.memory, split.semantics),
        _ => (Scope::Invocation, Semantics::default()),
    };
    columns.push("step_part", part);
    columns.push("step_instance", instance);
    columns.push("step_members", split.map_or(0, |split| split.members as usize));
    columns.push("step_workgroup", usize::from(split.is_some_and(|split| split.scope == Scope::Workgroup)));
    columns.push("step_blocks", step.blocks.unwrap_or_default());
    columns.push("step_releases", if semantics.release { reach(memory) } else { 0 });
    columns.push("step_acquires", if semantics.acquire { reach(memory) } else { 0 });
    columns.push("step_shared", usize::from(semantics.classes.shared));
    columns.push("step_global", usize::from(semantics.classes.global));
}

/// Whom a memory scope contains besides the agent: nobody, its subgroup, the workgroup.
fn reach(memory: Scope) -> usize {
    match memory {
        Scope::Invocation => 0,
        Scope::Subgroup => 1,
        Scope::Workgroup | Scope::Device => 2,
    }
}

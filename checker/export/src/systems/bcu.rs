//! The BCU.

use super::step::{Spelling, System, operator, predicates};
use crate::columns::Columns;
use crate::node::{Act, Kind, Node, Step};
use barcheck_model::barrier::bcu::{Action, Operation};
use barcheck_model::barrier::{BarrierAction, Contribution};
use barcheck_model::program::{BarrierInstruction, BcuOp, Expr, LocalId, Op, WARP_SIZE};

pub(super) const BCU: System = System {
    promela: include_str!("../promela/bcu.pml"),
    promela_memory: include_str!("../promela/bcu_memory.pml"),
    tla: include_str!("../tla/bcu.tla"),
    wait_columns: &["wait_unfetched"],
    fill_wait,
    spelling: |_| ARRIVE,
    fill_step,
    holders: |sizes| 2 * sizes.agents + sizes.barriers,
    sizes: |_| String::new(),
};

const ARRIVE: Spelling =
    Spelling { name: "ARRIVE", promela: "arrive()", tla: "Arrive(t, a, r)", goes_where_it_blocks: true };

fn fill_wait(node: &Node, columns: &mut Columns) {
    let Kind::Waits { unfetched, .. } = &node.kind else { return };
    columns.push("wait_unfetched", usize::from(*unfetched));
}

/// The register from which an operation puts a barrier's state back.
pub(super) fn written_back(op: &Op) -> Option<LocalId> {
    match op {
        Op::Barrier(BarrierInstruction::Bcu(BcuOp::WriteBarrier { source: Expr::Local(source), .. })) => {
            Some(*source)
        }
        _ => None,
    }
}

fn fill_step(step: &Step, columns: &mut Columns) {
    let (what, contribution) = match &step.act {
        Act::Barrier(BarrierAction::Bcu(Action::Arrive { what, contribution, .. }), _) => {
            (Some(*what), *contribution)
        }
        _ => (None, Contribution::default()),
    };
    let reduction = what.and_then(|what| what.operation.reduction());
    let waits = what.is_some_and(|what| what.operation != Operation::Arv);
    columns.push("step_count", what.map_or(0, |what| (what.count / WARP_SIZE) as usize));
    columns.push("step_waits", usize::from(waits));
    columns.push("step_truncated", usize::from(what.is_some_and(|what| what.truncated)));
    columns.push("step_operator", operator(reduction));
    predicates(contribution, columns);
}

//! PTX.

use super::step::{Spelling, System, operator, predicates};
use crate::columns::Columns;
use crate::node::{Act, Step};
use barcheck_model::barrier::{BarrierAction, Contribution};
use barcheck_model::program::WARP_SIZE;

pub(super) const PTX: System = System {
    promela: include_str!("../promela/ptx.pml"),
    promela_memory: include_str!("../promela/ptx_memory.pml"),
    tla: include_str!("../tla/ptx.tla"),
    wait_columns: &[],
    fill_wait: |_, _| {},
    spelling: |_| ARRIVE,
    fill_step,
    holders: |sizes| sizes.agents + sizes.barriers,
    sizes: |sizes| format!("#define EXITS_RELEASE {}\n", u8::from(sizes.exits_release)),
};

const ARRIVE: Spelling =
    Spelling { name: "ARRIVE", promela: "arrive()", tla: "Arrive(t, a, r)", goes_where_it_blocks: true };

fn fill_step(step: &Step, columns: &mut Columns) {
    let (what, contribution) = match &step.act {
        Act::Barrier(BarrierAction::Ptx(action), _) => (Some(action.what), action.contribution),
        _ => (None, Contribution::default()),
    };
    let reduction = what.and_then(|what| what.operation.reduction());
    columns.push("step_count", what.map_or(0, |what| (what.expected / WARP_SIZE) as usize));
    columns.push("step_for_all", usize::from(what.is_some_and(|what| what.all)));
    columns.push("step_reserved", usize::from(what.is_some_and(|what| what.id.0 == 0 && !what.all)));
    columns.push("step_operator", operator(reduction));
    predicates(contribution, columns);
}

//! PTX.

use super::step::{Sizes, Spelling, System, operator, predicates};
use super::{cluster, mbarrier};
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
    spelling,
    fill_step,
    holders,
    sizes,
};

/// Agents, what generations carry, what completed phases carry, what is in flight, what fences have released,
/// and the record of what copies write.
fn holders(sizes: Sizes) -> usize {
    let in_flight = if sizes.slots > 0 { sizes.slots + 1 } else { 0 };
    let released = if sizes.releases { 2 * sizes.agents } else { 0 };
    sizes.agents + sizes.barriers + 2 * sizes.phased + in_flight + released
}

fn sizes(sizes: Sizes) -> String {
    let in_cta = match sizes.ctas {
        1 => "true",
        _ => "((agent) / CTA_SIZE == home_of[bar])",
    };
    format!(
        "#define EXITS_RELEASE {}\n#define CTAS {}\n#define CTA_SIZE {}\n#define IN_CTA(agent, bar) {in_cta}\n",
        u8::from(sizes.exits_release),
        sizes.ctas,
        sizes.agents / sizes.ctas
    )
}

fn spelling(action: &BarrierAction) -> Spelling {
    match action {
        BarrierAction::Mbarrier(action) => mbarrier::spelling(action),
        BarrierAction::Cluster(action) => cluster::spelling(action),
        _ => ARRIVE,
    }
}

const ARRIVE: Spelling =
    Spelling { name: "ARRIVE", promela: "arrive()", tla: "Arrive(t, a, r)", goes_where_it_blocks: true };

fn fill_step(step: &Step, columns: &mut Columns) {
    let (what, contribution) = match &step.act {
        Act::Barrier(BarrierAction::Ptx(action), _) => (Some(action.what), action.contribution),
        _ => (None, Contribution::default()),
    };
    let reduction = what.and_then(|what| what.operation.reduction());
    let counted = mbarrier::on_object(&step.act).map_or(0, |action| mbarrier::counted(action).0);
    columns.push("step_count", what.map_or(counted, |what| (what.expected / WARP_SIZE) as usize));
    columns.push("step_for_all", usize::from(what.is_some_and(|what| what.all)));
    columns.push("step_reserved", usize::from(what.is_some_and(|what| !what.notes().is_empty())));
    columns.push("step_operator", operator(reduction));
    predicates(contribution, columns);
}

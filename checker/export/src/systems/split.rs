//! Split barriers.

use super::step::{Spelling, System, reach};
use crate::columns::Columns;
use crate::node::{Act, Kind, Node, Step};
use barcheck_model::barrier::BarrierAction;
use barcheck_model::program::{Scope, Semantics, SplitKind};

pub(super) const SPLIT: System = System {
    promela: include_str!("../promela/split.pml"),
    promela_memory: include_str!("../promela/split_memory.pml"),
    tla: include_str!("../tla/split.tla"),
    wait_columns: &["wait_acquires", "wait_shared", "wait_global"],
    fill_wait,
    spelling: |_| CONTROL,
    fill_step,
    holders: |sizes| sizes.agents * 5 + sizes.barriers * 4 * sizes.subgroups(),
    sizes: |sizes| {
        let (number, size) = (sizes.subgroups(), sizes.subgroup_size);
        format!("#define SUBGROUPS {number}\n#define SUBGROUP_SIZE {size}\n")
    },
};

const CONTROL: Spelling =
    Spelling { name: "CONTROL", promela: "control()", tla: "Control(t, a, r)", goes_where_it_blocks: false };

fn fill_wait(node: &Node, columns: &mut Columns) {
    let Kind::Waits { acquires, .. } = &node.kind else { return };
    let (memory, semantics) = acquires.unwrap_or((Scope::Invocation, Semantics::default()));
    columns.push("wait_acquires", if semantics.acquire { reach(memory) } else { 0 });
    columns.push("wait_shared", usize::from(semantics.classes.shared));
    columns.push("wait_global", usize::from(semantics.classes.global));
}

fn fill_step(step: &Step, columns: &mut Columns) {
    let (split, instance) = match &step.act {
        Act::Barrier(BarrierAction::Split(split), instance) => {
            (Some(split), instance.map_or(0, |instance| instance + 1))
        }
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

//! The named barriers of vISA and XeGPU.

use super::step::{Spelling, System};
use crate::columns::Columns;
use crate::node::{Act, Step};
use barcheck_model::barrier::BarrierAction;
use barcheck_model::barrier::nbarrier::Action;
use barcheck_model::program::{Fence, Spaces};

pub(super) const NBARRIER: System = System {
    promela: include_str!("../promela/named.pml"),
    promela_memory: include_str!("../promela/named_memory.pml"),
    tla: include_str!("../tla/named.tla"),
    wait_columns: &[],
    fill_wait: |_, _| {},
    spelling,
    fill_step,
    holders: |sizes| sizes.agents + sizes.barriers + sizes.barriers * sizes.agents,
    sizes: |_| String::new(),
};

pub(super) const XEGPU: System = System {
    // Every signal of XeGPU is a producer's and a consumer's.
    sizes: |_| "#define end_producer_waits end_wait_without_arrive\n".to_owned(),
    ..NBARRIER
};

fn spelling(action: &BarrierAction) -> Spelling {
    let (name, promela, tla) = match action {
        BarrierAction::Nbarrier(Action::Wait(_)) => ("WAIT", "wait()", "Wait(t, a, r)"),
        _ => ("SIGNAL", "signal()", "Signal(t, a, r)"),
    };
    Spelling { name, promela, tla, goes_where_it_blocks: false }
}

fn fill_step(step: &Step, columns: &mut Columns) {
    let signal = match &step.act {
        Act::Barrier(BarrierAction::Nbarrier(Action::Signal(what)), _) => Some(*what),
        _ => None,
    };
    let kind = signal.map(|what| what.kind);
    columns.push("step_producers", signal.map_or(0, |what| what.producers as usize));
    columns.push("step_consumers", signal.map_or(0, |what| what.consumers as usize));
    columns.push("step_produces", usize::from(kind.is_some_and(|kind| kind.produces())));
    columns.push("step_consumes", usize::from(kind.is_some_and(|kind| kind.consumes())));
    columns.push("step_blocks", step.blocks.unwrap_or_default());
    // What is out of range stays so.
    let number = if let Act::Alloc(count) = step.act { count.clamp(0, 255) } else { 0 };
    columns.push("step_number", usize::try_from(number).unwrap_or_default());
    let spaces = if let Act::Fence(Fence::Publishes(spaces)) = step.act { spaces } else { Spaces::default() };
    columns.push("step_shared", usize::from(spaces.shared));
    columns.push("step_global", usize::from(spaces.global));
}

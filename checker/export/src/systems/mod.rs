//! What differs from system to system: a file for each, with the texts of its semantics, and the list of
//! them.

mod bcu;
mod named;
mod ptx;
mod split;
mod step;

pub(super) use step::{Sizes, Spelling, System};

use super::columns::{Barriers, Columns};
use super::node::{Act, Step};
use barcheck_model::barrier::{BarrierAction, Instance};
use barcheck_model::program::{LocalId, Op, Target};

/// The system of a target.
pub(super) fn of(target: Target) -> &'static System {
    match target {
        Target::Ptx => &ptx::PTX,
        Target::Bcu => &bcu::BCU,
        Target::Nbarrier => &named::NBARRIER,
        Target::Xegpu => &named::XEGPU,
        Target::SplitBarrier => &split::SPLIT,
    }
}

/// The columns of a step's row.
pub(super) fn fill_step(system: &System, barriers: &Barriers, step: &Step, columns: &mut Columns) {
    columns.push("step_bar", step.act.barrier().map_or(0, |id| barriers.number(id)));
    (system.fill_step)(step, columns);
}

/// Where an agent goes at a step.
pub(super) fn goes(step: &Step) -> usize {
    let first = match &step.act {
        Act::Barrier(action, _) if spelling(action).goes_where_it_blocks => step.blocks,
        _ => None,
    };
    first.unwrap_or(step.next)
}

/// What an instruction is called.
pub(super) fn spelling(action: &BarrierAction) -> Spelling {
    match action {
        BarrierAction::Ptx(_) => ptx::ARRIVE,
        BarrierAction::Bcu(_) => bcu::ARRIVE,
        BarrierAction::Nbarrier(action) => named::spelling(action),
        BarrierAction::Split(_) => split::CONTROL,
    }
}

/// The dynamic instance of an instruction.
pub(super) fn instance(action: &BarrierAction) -> Option<&Instance> {
    match action {
        BarrierAction::Split(action) => Some(&action.instance),
        BarrierAction::Ptx(_) | BarrierAction::Bcu(_) | BarrierAction::Nbarrier(_) => None,
    }
}

/// The register from which an operation puts a barrier's state back.
pub(super) fn written_back(op: &Op) -> Option<LocalId> {
    bcu::written_back(op)
}

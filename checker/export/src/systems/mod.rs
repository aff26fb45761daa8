//! What differs from system to system: a file for each, with the texts of its semantics, and the list of
//! them.

mod bcu;
mod named;
mod ptx;
mod split;
mod step;

pub(super) use step::{Sizes, System};

use super::columns::{Barriers, Columns};
use super::node::{Act, Step};
use barcheck_model::barrier::{BarrierAction, Instance};
use barcheck_model::program::{LocalId, Op, Target};

/// What there is to say of a target; `None` if nobody has written it down.
pub(super) fn of(target: Target) -> Option<&'static System> {
    match target {
        Target::Ptx => Some(&ptx::PTX),
        Target::Bcu => Some(&bcu::BCU),
        Target::Nbarrier => Some(&named::NBARRIER),
        Target::Xegpu => Some(&named::XEGPU),
        Target::SplitBarrier => Some(&split::SPLIT),
        #[allow(unreachable_patterns, reason = "each of the targets so far has models")]
        _ => None,
    }
}

/// The columns of a step's row.
pub(super) fn fill_step(system: &System, barriers: &Barriers, step: &Step, columns: &mut Columns) {
    columns.push("step_bar", step.act.barrier().map_or(0, |id| barriers.number(id)));
    (system.fill_step)(step, columns);
}

/// Where an agent goes at a step.
pub(super) fn goes(system: &System, step: &Step) -> usize {
    let first = match &step.act {
        Act::Barrier(action, _) if (system.spelling)(action).goes_where_it_blocks => step.blocks,
        _ => None,
    };
    first.unwrap_or(step.next)
}

/// The dynamic instance of an instruction.
pub(super) fn instance(action: &BarrierAction) -> Option<&Instance> {
    let BarrierAction::Split(action) = action else { return None };
    Some(&action.instance)
}

/// The register from which an operation puts a barrier's state back.
pub(super) fn written_back(op: &Op) -> Option<LocalId> {
    bcu::written_back(op)
}

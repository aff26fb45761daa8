//! What differs from system to system: a file for each, with the texts of its semantics, and the list of
//! them.

mod bcu;
mod cluster;
mod mbarrier;
mod named;
mod ptx;
mod split;
mod step;

pub(super) use mbarrier::keeps_one_more_token;
pub(super) use step::{Sizes, System};

use super::columns::{Barriers, Columns, Sort};
use super::node::{Act, Step};
use barcheck_model::barrier::{Arrival, BarrierAction, BarrierId, Instance};
use barcheck_model::program::{Fence, LocalId, Op, Program, Reach, Target};

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

/// What the barrier is on which a step works.
pub(super) fn sort(act: &Act) -> Sort {
    match act {
        Act::Barrier(BarrierAction::Mbarrier(_), _) => Sort::Object,
        Act::Barrier(BarrierAction::Cluster(_), _) => Sort::Cluster,
        _ => Sort::Generations,
    }
}

/// The agent keeps a token of the phase.
pub(super) fn keeps_token(act: &Act) -> bool {
    mbarrier::keeps_token(act)
}

/// Arrivals that a step makes an object expect.
pub(super) fn expects(act: &Act) -> Option<usize> {
    mbarrier::on_object(act).and_then(mbarrier::expects)
}

/// Whether a step leaves something in flight.
pub(super) fn issues(act: &Act) -> bool {
    mbarrier::on_object(act).is_some_and(mbarrier::issues)
}

/// What an arrival carries in memory: all that its agent knows, nothing, or what fences have released, all of
/// them or those alone that reach other CTAs. The models have the same numbers.
const CARRIES_ALL: usize = 0;
const CARRIES_NOTHING: usize = 1;
const CARRIES_RELEASED: usize = 2;
const CARRIES_RELEASED_FAR: usize = 3;

/// A fence that reaches other CTAs.
pub(super) fn is_far_fence(act: &Act) -> bool {
    matches!(act, Act::Fence(Fence::Orders { reach: Reach::Cluster, .. }))
}

/// The columns of a row, where there are barriers of phases.
pub(super) fn fill_phased(step: &Step, columns: &mut Columns) {
    mbarrier::fill_step(step, columns);
    let carries = match mbarrier::arrival(&step.act).or_else(|| cluster::arrival(&step.act)) {
        Some(Arrival::AfterFence(Reach::Cta)) => CARRIES_RELEASED,
        Some(Arrival::AfterFence(Reach::Cluster)) => CARRIES_RELEASED_FAR,
        Some(Arrival::InTimeAlone) => CARRIES_NOTHING,
        _ => CARRIES_ALL,
    };
    columns.push("step_carries", carries);
    columns.push("step_far", usize::from(is_far_fence(&step.act)));
    columns.push("step_blocks", step.blocks.unwrap_or_default());
    columns.push("step_reaches", step.reaches);
}

/// What tells apart what is in flight: the barrier, arrivals, bytes, and the CTA to which it is sent, if that
/// is another one.
pub(super) type Operation = (BarrierId, usize, usize, usize);

/// What a step leaves in flight.
pub(super) fn operation(step: &Step) -> Option<Operation> {
    let action = mbarrier::on_object(&step.act).filter(|action| mbarrier::issues(action))?;
    let (count, bytes) = mbarrier::counted(action);
    Some((step.act.barrier()?, count, bytes, step.reaches))
}

/// Arrivals that an object expects which is initialised before the first step.
pub(super) fn initial_count(program: &Program, object: BarrierId) -> Option<u32> {
    mbarrier::initial_count(program, object)
}

/// What a barrier is called, for people.
pub(super) fn name(program: &Program, id: BarrierId) -> String {
    mbarrier::name(program, id).unwrap_or_else(|| match program.home(id) {
        Some(home) if program.ctas > 1 => format!("{} of cta {}", home.barrier.0, home.cta),
        Some(home) => home.barrier.0.to_string(),
        None => "that of the cluster".to_owned(),
    })
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

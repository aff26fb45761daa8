//! The barrier of the cluster in words.

use barcheck_model::barrier::BarrierId;
use barcheck_model::barrier::cluster::{Action, Barrier, What};
use barcheck_model::program::{ClusterKind, ClusterOp, Program, Target, WARP_SIZE};

use super::figures::{Gathering, Naming, Present, count, plain};
use super::system::Names;
use crate::trace::Operands;

/// Its names, if a barrier is it.
pub(super) fn names(program: &Program, id: BarrierId) -> Option<Names> {
    let is_it = program.target == Target::Ptx && id == program.cluster_barrier();
    is_it.then(|| Names { name: "the cluster barrier".to_owned(), short: "cluster".to_owned() })
}

/// The operands of an instruction.
pub(super) fn operands(action: &Action) -> Operands {
    let operation = match action.what {
        What::Arrive { .. } => "arrive",
        What::Wait => "wait",
    };
    plain(operation, action.barrier, Vec::new())
}

/// What has gathered since the last completion.
pub(super) fn gathering(barrier: Barrier, present: Present) -> Option<Gathering> {
    let threads = |warps: u32| warps.saturating_mul(WARP_SIZE);
    let gone = present.gone;
    let expected = present.members.saturating_sub(gone);
    let counts = vec![count("threads", threads(barrier.arrived), threads(expected))];
    (barrier.arrived > 0).then(|| Gathering { all: true, class: "plain".to_owned(), counts })
}

/// Whether an instruction may arrive on it.
pub(super) fn may_use(op: &ClusterOp, naming: &Naming<'_>) -> bool {
    matches!(op.kind, ClusterKind::Arrive { .. }) && naming.id == naming.program.cluster_barrier()
}

//! Instructions on the barrier of the cluster: how they are spelled, and what they lower to.

use barcheck_model::program::{ClusterKind, ClusterOp, Op};

use crate::bar::ast::Instruction;
use crate::bar::lower::RoleLowerer;

/// An instruction on the barrier of the cluster.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cluster {
    kind: ClusterKind,
    aligned: bool,
}

/// Calls `add` with all spellings, and whether each is an alias.
// clause: ptx.cluster-syntax
pub(super) fn spellings(mut add: impl FnMut(Cluster, String, bool)) {
    for (suffix, aligned) in [("", false), (".aligned", true)] {
        for (order, relaxed) in [("", false), (".release", false), (".relaxed", true)] {
            let kind = ClusterKind::Arrive { relaxed };
            let text = format!("barrier.cluster.arrive{order}{suffix}");
            add(Cluster { kind, aligned }, text, order == ".release");
        }
        for order in ["", ".acquire"] {
            let (kind, text) = (ClusterKind::Wait, format!("barrier.cluster.wait{order}{suffix}"));
            add(Cluster { kind, aligned }, text, !order.is_empty());
        }
    }
}

impl<'a> RoleLowerer<'_, 'a> {
    /// What an instruction on the barrier of the cluster lowers to.
    pub(super) fn cluster(&mut self, instruction: &'a Instruction, operation: Cluster) -> Option<Op> {
        let Cluster { kind, aligned } = operation;
        match instruction.operands.as_slice() {
            [] => Some(Op::from(ClusterOp { kind, aligned })),
            _ => self.wrong_count(instruction, &[]),
        }
    }
}

//! Instructions for which nobody has made anything executable yet.

use barcheck_model::program::BarrierInstruction;

/// Why nothing executable stands for an instruction, if nothing does.
pub(super) fn without_counterpart(op: &BarrierInstruction) -> Option<&'static str> {
    match op {
        BarrierInstruction::Warp(_) => Some("registers and warps have no executable counterparts yet"),
        BarrierInstruction::Cluster(_) => Some("clusters have no executable counterparts yet"),
        BarrierInstruction::Mbarrier(_) => Some("mbarrier objects have no executable counterparts yet"),
        _ => None,
    }
}

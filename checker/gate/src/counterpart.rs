//! Instructions for which nobody has made anything executable yet.

use barcheck_model::program::{BarrierInstruction, WarpOp};

/// Why nothing executable stands for an instruction, if nothing does.
pub(super) fn without_counterpart(op: &BarrierInstruction) -> Option<&'static str> {
    match op {
        BarrierInstruction::Warp(WarpOp::Registers { .. }) => {
            Some("the pool of registers has no executable counterpart yet")
        }
        _ => None,
    }
}

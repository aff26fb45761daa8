//! What of a program orders accesses in memory, and of which accesses it matters.

use super::{BarrierInstruction, Fence, MbarrierKind, Means, Op, Program, ProxyOp, Transfer};

impl Program {
    /// Whether what orders accesses in time makes them visible in memory too, as long as nobody exits early.
    #[must_use]
    pub fn time_is_memory(&self) -> bool {
        let mut ops = self.roles.iter().flat_map(|role| &role.code.ops);
        self.target.facts().time_is_memory && !ops.any(Op::is_relaxed) && !self.stores()
    }

    /// Whether what a fence releases may travel with a later arrival.
    // clause: ptx.fence-release
    #[must_use]
    pub fn releases_by_fences(&self) -> bool {
        let mut ops = self.roles.iter().flat_map(|role| &role.code.ops);
        ops.clone().any(Op::is_relaxed)
            && ops.any(|op| match op {
                Op::Fence(Fence::Orders { releases, .. }) => *releases,
                Op::Fence(Fence::ReleasesInitialised) => self.objects.iter().any(|all| all.lives.is_some()),
                _ => false,
            })
    }

    /// Whether what a wait has seen may be acquired by a later fence.
    // clause: ptx.fence-acquire
    #[must_use]
    pub fn acquires_by_fences(&self) -> bool {
        let mut ops = self.roles.iter().flat_map(|role| &role.code.ops);
        let is_acquiring = |op: &Op| matches!(op, Op::Fence(Fence::Orders { acquires: true, .. }));
        ops.clone().any(Op::is_relaxed_wait) && ops.any(is_acquiring)
    }

    /// Whether there are `cp.async`.
    #[must_use]
    pub fn fills(&self) -> bool {
        let mut ops = self.roles.iter().flat_map(|role| &role.code.ops);
        ops.any(|op| matches!(op, Op::Proxy(ProxyOp::Begin(Transfer::Fill, ..))))
    }

    /// Whether copies read memory.
    #[must_use]
    pub fn stores(&self) -> bool {
        let mut ops = self.roles.iter().flat_map(|role| &role.code.ops);
        ops.any(|op| match op {
            Op::Proxy(ProxyOp::Begin(Transfer::Store, ..)) => true,
            Op::Barrier(BarrierInstruction::Mbarrier(op)) => {
                matches!(op.kind, MbarrierKind::Copy { by: Means::Across(..), .. })
            }
            _ => false,
        })
    }
}

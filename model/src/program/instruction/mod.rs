//! The barrier instructions of the systems, a file for each, and what their operands share.

mod bcu;
mod cluster;
mod mbarrier;
mod nbarrier;
mod ptx;
mod split;
#[cfg(feature = "toy")]
mod toy;
mod warp;
mod xegpu;

pub use bcu::{BcuOp, BcuOperand, BcuRedOperands};
pub use cluster::{ClusterKind, ClusterOp};
pub use mbarrier::{Awaited, MbarrierKind, MbarrierOp, Means};
pub use nbarrier::NbarrierOp;
pub use ptx::{PtxKind, PtxOp};
pub use split::{SplitKind, SplitOp};
#[cfg(feature = "toy")]
pub use toy::ToyOp;
pub use warp::WarpOp;
pub use xegpu::XegpuOp;

use super::{Expr, LocalId, Spaces};
use smallvec::SmallVec;

/// The expressions that an instruction reads.
pub(crate) type Expressions<'a> = SmallVec<[&'a Expr; 4]>;
/// The locals that an instruction sets.
pub(crate) type Written = SmallVec<[LocalId; 2]>;

/// What can be asked of an instruction on barriers before its operands are evaluated.
pub(crate) trait BarrierOp {
    /// Every expression in it.
    fn expressions(&self) -> Expressions<'_>;

    /// The locals that it certainly sets.
    fn written(&self) -> Written;

    /// The local that it reads other than in an expression.
    fn handle(&self) -> Option<LocalId>;

    /// The operator, if it is a reduction.
    fn reduction(&self) -> Option<ReductionOp>;

    /// The execution scope, where a system has more than one and the instruction concerns barriers.
    fn execution_scope(&self) -> Option<Scope>;

    /// All lanes of the agent arrive together, each fragment from an instruction of its own.
    fn is_of_all_lanes(&self) -> bool;

    /// It reads a barrier's state as a value.
    fn reads_state(&self) -> bool;

    /// What it leaves pending accesses memory.
    fn accesses(&self) -> bool {
        false
    }

    /// It orders in time what it does not order in memory.
    fn is_relaxed(&self) -> bool {
        false
    }

    /// It waits so that what it has seen is acquired only by a fence behind it.
    fn is_relaxed_wait(&self) -> bool {
        false
    }

    /// It begins or ends the life of an mbarrier object.
    fn initialises(&self) -> bool {
        false
    }

    /// The memory scope, where a system has more than one.
    fn memory_scope(&self) -> Option<Scope> {
        None
    }

    /// It orders accesses and does nothing else.
    fn only_orders_memory(&self) -> bool {
        false
    }

    /// A generation that it arrives in may wait for every live agent, so that an exit counts.
    fn may_count_exits(&self) -> bool {
        true
    }

    /// It leaves something pending, which lands later.
    fn leaves_pending(&self) -> bool {
        false
    }

    /// What a completed generation of its barrier carries is kept, though the barrier is no object.
    fn has_phases(&self) -> bool {
        false
    }

    /// An agent that blocks at it and is released tries again.
    fn tries_again(&self) -> bool {
        false
    }

    /// It concerns another CTA, or all of them.
    fn is_remote(&self) -> bool {
        self.has_phases()
    }
}

/// Reduction operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ReductionOp {
    /// Number of lanes whose predicate is true.
    Popc,
    /// Whether all lanes' predicates are true.
    And,
    /// Whether any lane's predicate is true.
    Or,
}

/// The predicate operand of a reduction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Predicate {
    /// Written with `!`.
    pub negated: bool,
    /// The operand, evaluated for every executing lane; `None` for `?`: any number of the lanes.
    pub value: Option<Expr>,
}

/// SPIR-V scopes, smallest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// One invocation.
    Invocation,
    /// A subgroup.
    Subgroup,
    /// The workgroup.
    Workgroup,
    /// The device.
    Device,
}

/// SPIR-V memory semantics, reduced to what concerns `shared` and `global` locations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Semantics {
    /// Acquire, AcquireRelease or SequentiallyConsistent.
    pub acquire: bool,
    /// Release, AcquireRelease or SequentiallyConsistent.
    pub release: bool,
    /// WorkgroupMemory (`shared`) and CrossWorkgroupMemory (`global`).
    pub classes: Spaces,
}

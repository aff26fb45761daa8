//! The barrier instructions of the five systems.

use super::{Expr, LocalId, Spaces};

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

/// PTX `barrier{.cta}` instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PtxOp {
    /// What it does.
    pub kind: PtxKind,
    /// `.aligned`, as every `bar.*` is.
    pub aligned: bool,
    /// Operand a.
    pub id: Expr,
    /// Operand b.
    pub count: Option<Expr>,
}

/// The forms of PTX barrier instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PtxKind {
    /// `.sync`.
    Sync,
    /// `.arrive`.
    Arrive,
    /// `.red`.
    Red {
        /// The operator.
        op: ReductionOp,
        /// Operand c.
        predicate: Predicate,
        /// Destination, `None` for `_`.
        dest: Option<LocalId>,
    },
}

/// A BCU operand that is an immediate or a register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BcuOperand {
    /// Its value.
    pub value: Expr,
    /// Register form (`RZ` included): the hardware drops high bits. Otherwise an immediate, which must be in range.
    pub register: bool,
}

/// BCU instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BcuOp {
    /// `BAR.SYNC id[, count]`.
    Sync {
        /// Barrier id.
        id: BcuOperand,
        /// Count; omitted means 0.
        count: Option<BcuOperand>,
    },
    /// `BAR.ARV id, count`.
    Arv {
        /// Barrier id.
        id: BcuOperand,
        /// Count.
        count: BcuOperand,
    },
    /// `BAR.RED.op`.
    Red {
        /// The operator.
        op: ReductionOp,
        /// Where id and count come from.
        operands: BcuRedOperands,
        /// The predicate.
        predicate: Predicate,
    },
    /// `B2R.RESULT Rd[, Pu]`, `BAR.RESULT Rd, Pu`: `None` where the result is not kept (`RZ`, `PT`, omitted).
    Result {
        /// Gets the count of POPC.
        register: Option<LocalId>,
        /// Gets the truth value of AND and OR.
        predicate: Option<LocalId>,
    },
    /// `B2R[.BAR] Rd, id`: `None` for `RZ`.
    ReadBarrier {
        /// Destination.
        dest: Option<LocalId>,
        /// Barrier id.
        id: Expr,
    },
    /// `B2R.WARP Rd[, id]`: the id is checked and ignored.
    ReadWarp {
        /// Destination, `None` for `RZ`.
        dest: Option<LocalId>,
        /// Ignored id.
        id: Option<Expr>,
    },
    /// `R2B[.BAR] id, Ra`.
    WriteBarrier {
        /// Barrier id.
        id: Expr,
        /// Source register.
        source: Expr,
    },
    /// `R2B.WARP [id,] Ra`: the id is checked and ignored.
    WriteWarp {
        /// Ignored id.
        id: Option<Expr>,
        /// Source register.
        source: Expr,
    },
}

/// Where `BAR.RED` takes id and count from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BcuRedOperands {
    /// Two operands (an omitted count is 0).
    Separate(BcuOperand, Option<BcuOperand>),
    /// One register: id in bits 3..0, count in bits 15..4.
    Packed(Expr),
}

/// vISA `NBARRIER` instructions.
// clause: nbarrier.mode
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NbarrierOp {
    /// `nbarrier.signal id, num_threads`.
    SignalAll {
        /// Barrier id.
        id: Expr,
        /// Producers and consumers alike.
        threads: Expr,
    },
    /// `nbarrier.signal id, type, num_producers, num_consumers`.
    Signal {
        /// Barrier id.
        id: Expr,
        /// 0 producer and consumer, 1 producer, 2 consumer.
        kind: Expr,
        /// Number of producers.
        producers: Expr,
        /// Number of consumers.
        consumers: Expr,
    },
    /// `nbarrier.wait id`.
    Wait {
        /// Barrier id.
        id: Expr,
    },
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

/// SPIR-V barrier instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitOp {
    /// Which instruction.
    pub kind: SplitKind,
    /// Execution scope; unused by `OpMemoryBarrier`.
    pub execution: Scope,
    /// Memory scope.
    pub memory: Scope,
    /// Memory semantics.
    pub semantics: Semantics,
}

/// The SPIR-V barrier instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SplitKind {
    /// `OpControlBarrierArriveINTEL`.
    Arrive,
    /// `OpControlBarrierWaitINTEL`.
    Wait,
    /// `OpControlBarrier`: both at once.
    Both,
    /// `OpMemoryBarrier`.
    MemoryBarrier,
}

/// XeGPU named-barrier instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum XegpuOp {
    /// `xegpu.alloc_nbarrier n`.
    Alloc {
        /// Number of barriers.
        count: Expr,
    },
    /// `%h = xegpu.init_nbarrier id, n`.
    Init {
        /// The handle.
        handle: LocalId,
        /// Barrier id.
        id: Expr,
        /// Number of participants.
        participants: Expr,
    },
    /// `xegpu.nbarrier_arrive %h`.
    Arrive(LocalId),
    /// `xegpu.nbarrier_wait %h`.
    Wait(LocalId),
}

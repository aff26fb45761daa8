//! Programs: what each agent of a group executes, as a control-flow graph with structured joins.
//!
//! A [`Program`] is what every reader of a notation produces and what every engine consumes. It is
//! plain data: operands are expressions over integer locals, evaluated by [`crate::agent`].

use std::fmt;

/// The barrier system that a program is written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// PTX ISA, `barrier{.cta}` and `bar{.cta}`: agents are warps.
    Ptx,
    /// The BCU instruction set, `BAR`, `BAR.RED`, `B2R`, `R2B`: agents are warps.
    Bcu,
    /// Intel vISA `NBARRIER`: agents are hardware threads.
    Nbarrier,
    /// `SPV_INTEL_split_barrier`: agents are invocations.
    SplitBarrier,
    /// The XeGPU dialect's named barriers: agents are subgroups.
    Xegpu,
}

impl Target {
    /// All targets, in the order in which the documentation lists them.
    pub const ALL: [Self; 5] = [Self::Ptx, Self::Bcu, Self::Nbarrier, Self::SplitBarrier, Self::Xegpu];

    /// The name of the target as protocols spell it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ptx => "ptx",
            Self::Bcu => "bcu",
            Self::Nbarrier => "nbarrier",
            Self::SplitBarrier => "split_barrier",
            Self::Xegpu => "xegpu",
        }
    }

    /// What an agent of this target is called.
    #[must_use]
    pub fn agent_noun(self) -> &'static str {
        match self {
            Self::Ptx | Self::Bcu => "warp",
            Self::Nbarrier => "thread",
            Self::SplitBarrier => "invocation",
            Self::Xegpu => "subgroup",
        }
    }

    /// Whether agents of this target are warps of lanes that may diverge.
    #[must_use]
    pub fn has_lanes(self) -> bool {
        matches!(self, Self::Ptx | Self::Bcu)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Threads in a warp (`ptx`, `bcu`).
pub const WARP_SIZE: u32 = 32;

macro_rules! index_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            /// The position in the table that this index belongs to.
            #[must_use]
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// The index of position `index`.
            ///
            /// # Panics
            /// If `index` exceeds 32 bits; tables are bounded long before.
            #[must_use]
            pub fn from_index(index: usize) -> Self {
                Self(u32::try_from(index).expect("tables hold fewer than 2^32 entries"))
            }
        }
    };
}

index_type!(
    /// An agent of the group: a warp, a hardware thread, an invocation or a subgroup.
    AgentId
);
index_type!(
    /// A role: agents that run the same block of the protocol. Indexes [`Program::roles`].
    RoleId
);
index_type!(
    /// A memory location: one element of an [`Array`], numbered over all arrays.
    LocationId
);
index_type!(
    /// An array of locations. Indexes [`Program::arrays`].
    ArrayId
);
index_type!(
    /// A local variable, register or handle of a role. Indexes [`Code::locals`].
    LocalId
);
index_type!(
    /// A branch or loop of a role. Indexes [`Code::constructs`].
    ConstructId
);
index_type!(
    /// A position in a role's code. Indexes [`Code::ops`].
    Pc
);
index_type!(
    /// A sequence of decisions that all agents make alike. Indexes [`Program::sequences`].
    SequenceId
);

/// A place in the text that a program was read from: line and column from 1, in characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// Line, from 1; 0 where there is no text.
    pub line: u32,
    /// Column, from 1, in Unicode scalar values.
    pub column: u32,
    /// Length in characters of the marked text, up to the end of the line at most.
    pub length: u32,
}

/// A whole protocol: the group, its memory and what every agent runs.
///
/// Invariants, which readers uphold: every agent belongs to exactly one role, `threads` and
/// `subgroup_size` are positive, every index points into its table, jumps stay inside the code, and
/// every role's code ends with [`Op::Exit`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The system whose rules apply.
    pub target: Target,
    /// Size of the group as declared: threads (`ptx`, `bcu`, `nbarrier`), invocations
    /// (`split_barrier`) or subgroups (`xegpu`).
    pub threads: u32,
    /// Invocations in each subgroup (`split_barrier`; the last may be smaller); elsewhere 1.
    pub subgroup_size: u32,
    /// Memory, as declared.
    pub arrays: Vec<Array>,
    /// The blocks of the protocol, in the order of the text.
    pub roles: Vec<Role>,
    /// The role of each agent.
    pub agents: Vec<RoleId>,
    /// The sequences of uniform decisions: their names, or `None` for one belonging to a statement.
    pub sequences: Vec<Option<String>>,
}

impl Program {
    /// The code that `agent` runs.
    #[must_use]
    pub fn code(&self, agent: AgentId) -> &Code {
        &self.roles[self.agents[agent.index()].index()].code
    }

    /// Lanes of `agent`: 32, or fewer in a partial last warp; 1 where agents have no lanes.
    #[must_use]
    // clause: xegpu.uniform-lowering
    pub fn lanes(&self, agent: AgentId) -> u32 {
        if self.target.has_lanes() { (self.threads - agent.0 * WARP_SIZE).min(WARP_SIZE) } else { 1 }
    }

    /// Number of memory locations.
    #[must_use]
    pub fn locations(&self) -> usize {
        self.arrays.iter().map(|a| a.length.unwrap_or(1) as usize).sum()
    }

    /// The array that `location` belongs to.
    #[must_use]
    pub fn array_of(&self, location: LocationId) -> &Array {
        let after = self.arrays.partition_point(|a| a.first <= location);
        &self.arrays[after - 1]
    }

    /// How the protocol writes `location`: `buf[3]`, or `flag` for a scalar.
    #[must_use]
    pub fn location_name(&self, location: LocationId) -> String {
        let array = self.array_of(location);
        match array.length {
            Some(_) => format!("{}[{}]", array.name, location.0 - array.first.0),
            None => array.name.clone(),
        }
    }
}

/// Where memory lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Space {
    /// Shared by the group: PTX `.shared`, SPIR-V WorkgroupMemory, Intel `slm`.
    Shared,
    /// Global: SPIR-V CrossWorkgroupMemory, Intel `ugm`.
    Global,
}

/// A named array of locations, or a single one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// Its name.
    pub name: String,
    /// Where it lives.
    pub space: Space,
    /// Its first location; arrays follow one another without gaps, in the order of `arrays`.
    pub first: LocationId,
    /// Number of elements, at least 1, or `None` for a scalar.
    pub length: Option<u32>,
}

/// A block of the protocol and the agents that run it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    /// The name given with `as`, if any.
    pub name: Option<String>,
    /// What the agents run.
    pub code: Code,
    /// The place of the block's head.
    pub place: Place,
}

/// The code of a role.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Code {
    /// The operations; execution starts at the first.
    pub ops: Vec<Op>,
    /// For each operation, its place in the text.
    pub places: Vec<Place>,
    /// For each operation, its text as written (white space folded); may be empty for jumps and joins.
    pub texts: Vec<String>,
    /// Variables, registers and handles.
    pub locals: Vec<Local>,
    /// Branches and loops.
    pub constructs: Vec<Construct>,
    /// The block has no statement: its agents have exited before the first step.
    pub empty: bool,
}

/// A variable of a role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Local {
    /// Name as written (`i`, `R4`, `%h`).
    pub name: String,
    /// What it can hold.
    pub kind: LocalKind,
}

/// What a local can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LocalKind {
    /// A signed 64-bit integer.
    Integer,
    /// A BCU register: unsigned 32 bits, or an opaque state read by B2R.
    // clause: bcu.operand-registers
    Register,
    /// A BCU predicate: 0 or 1.
    Predicate,
    /// An XeGPU named-barrier handle.
    Handle,
}

/// A branch or a loop: the unit at whose end diverged lanes join again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Construct {
    /// Branch or loop.
    pub kind: ConstructKind,
    /// The construct around it.
    pub parent: Option<ConstructId>,
    /// Position of its [`Op::End`].
    pub end: Pc,
}

/// The kinds of constructs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConstructKind {
    /// `if`.
    If,
    /// `for`, `while` or `loop`.
    Loop,
}

/// One operation. Those that do not concern other agents are invisible: they happen together with
/// the step before them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    /// Invisible. Assigns a local.
    Set(LocalId, Expr),
    /// A decision: assigns any value of the half-open range.
    Any(LocalId, Expr, Expr),
    /// `if`: true goes on with the next operation, false goes to `otherwise` (the `else` part, or
    /// the construct's end).
    Branch {
        /// The `if`.
        construct: ConstructId,
        /// What is decided.
        condition: Condition,
        /// Where a false condition leads.
        otherwise: Pc,
    },
    /// Invisible. Goes to a position inside the same constructs, or to the end of the innermost one.
    Jump(Pc),
    /// Invisible. Entry of a loop: its iterations are counted from here. The next operation is the loop's head.
    Enter(ConstructId),
    /// The condition at a loop's head: true goes on, false goes to the construct's end.
    Test {
        /// The loop.
        construct: ConstructId,
        /// What is decided.
        condition: Condition,
    },
    /// Invisible. The end of a loop's body: one more iteration, back to the head at the position given.
    Back(ConstructId, Pc),
    /// Invisible. `break`: leaves the loop for its end.
    Break(ConstructId),
    /// Invisible. `continue`: goes to the position given, at the end of the loop's body (its increment
    /// or its [`Op::Back`]).
    Continue(ConstructId, Pc),
    /// Invisible. The end of a construct, where its lanes join.
    End(ConstructId),
    /// The agent (or the executing lanes) exits.
    Exit,
    /// Checks that an expression is not zero.
    Assert(Expr),
    /// A memory access: the array, and the index where it is not a scalar.
    Access(AccessKind, ArrayId, Option<Expr>),
    /// `membar.cta`, `fence…` (`ptx`); vISA `fence`; XeGPU `mfence`: for locations of these spaces.
    Fence(Spaces),
    /// A PTX barrier instruction.
    Ptx(PtxOp),
    /// A BCU instruction.
    Bcu(BcuOp),
    /// A vISA `NBARRIER` instruction.
    Nbarrier(NbarrierOp),
    /// A SPIR-V barrier instruction.
    Split(SplitOp),
    /// An XeGPU named-barrier instruction.
    Xegpu(XegpuOp),
}

/// A set of memory spaces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Spaces {
    /// Includes `shared` locations.
    pub shared: bool,
    /// Includes `global` locations.
    pub global: bool,
}

/// What a branch or loop test asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Not zero means true; may differ between lanes.
    Value(Expr),
    /// `?`: this agent decides, anew each time.
    Private,
    /// `uniform ?`: the next decision of a sequence that all agents share.
    Uniform(SequenceId),
}

/// The kinds of memory accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AccessKind {
    /// A read.
    Read,
    /// A write.
    Write,
    /// An atomic read and write.
    Atomic,
}

/// An expression over signed 64-bit integers. Comparison and logic give 0 or 1; `&&` and `||` evaluate
/// their right side only where it matters; overflow, division by zero, a shift outside 0..=63 and a local
/// without a value are evaluation errors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expr {
    /// A constant.
    Int(i64),
    /// A local's value.
    Local(LocalId),
    /// The index of the agent that evaluates.
    Agent,
    /// The lane that evaluates, 0..=31.
    Lane,
    /// An operator with one operand.
    Unary(UnaryOp, Box<Expr>),
    /// An operator with two operands.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// Negation.
    Neg,
    /// Logical not: 1 for zero, 0 for anything else.
    Not,
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the variants are the operators themselves")]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Shl,
    Shr,
    And,
    Or,
    Xor,
    LogicalAnd,
    LogicalOr,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
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

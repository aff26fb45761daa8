//! Programs: what each agent of a group executes, as a control-flow graph with structured joins.
//!
//! A [`Program`] is what every reader of a notation produces and what every engine consumes. It is
//! plain data: operands are expressions over integer locals, evaluated by [`crate::agent`].

mod arithmetic;
mod cluster;
mod expr;
mod index;
mod instruction;
mod lives;
mod memory;
mod objects;
mod order;
mod proxy;

pub use arithmetic::NoResult;
pub use cluster::Home;
pub use expr::{BinaryOp, Expr, UnaryOp};
pub use index::{
    AgentId, ArrayId, ConstructId, LocalId, LocationId, ObjectsId, Pc, Place, RoleId, SequenceId,
};
pub(crate) use instruction::BarrierOp;
pub use instruction::*;
use instruction::{Expressions, Written};
pub use memory::{AccessKind, Array, Begun, Fence, Locations, Reach, Space, Spaces};
pub use objects::Objects;
pub use proxy::{ProxyOp, Transfer, Window};

use crate::systems::systems;
use std::fmt;

/// Makes [`Target`] and [`BarrierInstruction`] from the list of systems.
macro_rules! targets {
    (
        barriers { $($barriers:tt)* }
        instructions { $($Op:ident($Instruction:ident) $([$when:meta])?)+ }
        targets { $($(#[$doc:meta])* $Target:ident($($answers:ident)::+) $([$cfg:meta])?)+ }
    ) => {
        /// The barrier system that a program is written for.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Target { $($(#[$doc])* $(#[cfg($cfg)])? $Target,)+ }

        impl Target {
            /// All targets that have a specification, in the order in which the documentation lists them.
            pub const ALL: [Self; [$($(#[cfg(all($cfg, not($cfg)))])? Self::$Target,)+].len()] =
                [$($(#[cfg(all($cfg, not($cfg)))])? Self::$Target,)+];

            /// All that protocols can be written for, what exists for tests included.
            pub const WRITABLE: [Self; [$($(#[cfg($cfg)])? Self::$Target,)+].len()] =
                [$($(#[cfg($cfg)])? Self::$Target,)+];
        }

        /// An instruction on barriers, or of a system's own.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum BarrierInstruction {
            $(
                #[doc = concat!("See [`", stringify!($Instruction), "`].")]
                $(#[cfg($when)])?
                $Op($Instruction),
            )+
        }

        impl BarrierInstruction {
            /// What all of them can be asked.
            fn asked(&self) -> &dyn BarrierOp {
                match self { $($(#[cfg($when)])? Self::$Op(instruction) => instruction,)+ }
            }
        }

        $($(#[cfg($when)])? impl From<$Instruction> for Op {
            fn from(instruction: $Instruction) -> Self {
                Self::Barrier(BarrierInstruction::$Op(instruction))
            }
        })+
    };
}
systems!(targets);

impl Target {
    /// The name of the target as protocols spell it.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.facts().name
    }

    /// The target whose name it is.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::WRITABLE.into_iter().find(|target| target.name() == name)
    }

    /// What an agent of this target is called.
    #[must_use]
    pub fn agent_noun(self) -> &'static str {
        self.facts().agent_noun
    }

    /// Whether agents of this target are warps of lanes that may diverge.
    #[must_use]
    pub fn has_lanes(self) -> bool {
        self.facts().has_lanes
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Threads in a warp (`ptx`, `bcu`).
pub const WARP_SIZE: u32 = 32;

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
    /// (`split_barrier`) or subgroups (`xegpu`). In a cluster, that of each CTA.
    pub threads: u32,
    /// CTAs of the cluster (`ptx`); elsewhere 1. Each has as many agents.
    pub ctas: u32,
    /// Registers of each thread when the CTA begins (`ptx`); elsewhere 0.
    pub registers: u32,
    /// At a PTX barrier with a count of its own each arrival counts, though its warp has arrived before in
    /// this generation: else that is `repeated-arrival`.
    // clause: barcheck.repeated-switch
    pub repeats_count: bool,
    /// Invocations in each subgroup (`split_barrier`; the last may be smaller); elsewhere 1.
    pub subgroup_size: u32,
    /// Memory, as declared.
    pub arrays: Vec<Array>,
    /// mbarrier objects, as declared (`ptx`).
    pub objects: Vec<Objects>,
    /// The blocks of the protocol, in the order of the text.
    pub roles: Vec<Role>,
    /// The role of each agent, one CTA after the other.
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
        let warp = self.index_in_cta(agent);
        if self.target.has_lanes() { (self.threads - warp * WARP_SIZE).min(WARP_SIZE) } else { 1 }
    }

    /// Whether any memory is accessed, by agents or by what they leave pending; what stands for objects
    /// included.
    #[must_use]
    pub fn has_accesses(&self) -> bool {
        self.objects.iter().any(|objects| objects.lives.is_some())
            || self.roles.iter().flat_map(|role| &role.code.ops).any(Op::accesses)
    }

    /// Whether instructions leave anything pending, which lands later.
    #[must_use]
    pub fn leaves_pending(&self) -> bool {
        self.roles.iter().flat_map(|role| &role.code.ops).any(Op::leaves_pending)
    }

    /// Whether CTAs concern one another.
    #[must_use]
    pub fn has_remote(&self) -> bool {
        self.roles.iter().flat_map(|role| &role.code.ops).any(Op::is_remote)
    }

    /// Whether agents take what others give.
    #[must_use]
    pub fn has_pools(&self) -> bool {
        self.roles.iter().flat_map(|role| &role.code.ops).any(Op::tries_again)
    }

    /// Whether a generation may wait for every live agent, and take in what those know that have exited.
    #[must_use]
    pub fn counts_exits(&self) -> bool {
        let mut ops = self.roles.iter().flat_map(|role| &role.code.ops);
        ops.any(|op| op.on_barriers().is_some_and(BarrierOp::may_count_exits))
    }

    /// Whether something depends on who is in which subgroup.
    #[must_use]
    pub fn mentions_subgroups(&self) -> bool {
        let mut ops = self.roles.iter().flat_map(|role| &role.code.ops);
        let near = Some(Scope::Subgroup);
        ops.any(|op| op.execution_scope() == near || op.memory_scope() == near)
    }
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

impl Code {
    /// A construct and those around it, innermost first.
    pub(crate) fn around(&self, innermost: Option<ConstructId>) -> impl Iterator<Item = ConstructId> + '_ {
        std::iter::successors(innermost, |construct| self.constructs[construct.index()].parent)
    }
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
    /// Invisible. Entry of a loop: its iterations are counted from here. The next operation is the loop's
    /// head.
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
    /// A memory access: the array, the index where it is not a scalar, and the CTA where it is not the
    /// agent's own.
    Access(AccessKind, ArrayId, Option<Expr>, Option<Expr>),
    /// `membar`, `fence` (`ptx`); vISA `fence`; XeGPU `mfence`.
    Fence(Fence),
    /// An instruction of the asynchronous proxy (`ptx`).
    Proxy(ProxyOp),
    /// An instruction on barriers.
    Barrier(BarrierInstruction),
}

impl Op {
    /// The instruction on barriers that the operation is.
    fn on_barriers(&self) -> Option<&dyn BarrierOp> {
        match self {
            Self::Barrier(instruction) => Some(instruction.asked()),
            Self::Set(..)
            | Self::Any(..)
            | Self::Branch { .. }
            | Self::Jump(_)
            | Self::Enter(_)
            | Self::Test { .. }
            | Self::Back(..)
            | Self::Break(_)
            | Self::Continue(..)
            | Self::End(_)
            | Self::Exit
            | Self::Assert(_)
            | Self::Access(..)
            | Self::Fence(_)
            | Self::Proxy(_) => None,
        }
    }

    /// Every expression in the operation.
    pub(crate) fn expressions(&self) -> Expressions<'_> {
        match self {
            Self::Set(_, e) | Self::Assert(e) => Expressions::from_slice(&[e]),
            Self::Access(_, _, index, cta) => index.iter().chain(cta).collect(),
            Self::Proxy(op) => op.expression().into_iter().collect(),
            Self::Any(_, a, b) => Expressions::from_slice(&[a, b]),
            Self::Branch { condition: Condition::Value(e), .. }
            | Self::Test { condition: Condition::Value(e), .. } => Expressions::from_slice(&[e]),
            _ => self.on_barriers().map(BarrierOp::expressions).unwrap_or_default(),
        }
    }

    /// Locals that the operation certainly sets.
    pub(crate) fn written(&self) -> Written {
        match self {
            Self::Set(local, _) | Self::Any(local, _, _) => Written::from_slice(&[*local]),
            _ => self.on_barriers().map(BarrierOp::written).unwrap_or_default(),
        }
    }

    /// The local that the operation reads other than in an expression.
    pub(crate) fn handle(&self) -> Option<LocalId> {
        self.on_barriers()?.handle()
    }

    /// The operator, if the operation is a reduction.
    pub(crate) fn reduction(&self) -> Option<ReductionOp> {
        self.on_barriers()?.reduction()
    }

    /// The execution scope, where a system has more than one and the operation concerns barriers.
    pub(crate) fn execution_scope(&self) -> Option<Scope> {
        self.on_barriers()?.execution_scope()
    }

    /// All lanes of the agent arrive together, each fragment from an instruction of its own.
    pub(crate) fn is_of_all_lanes(&self) -> bool {
        self.on_barriers().is_some_and(BarrierOp::is_of_all_lanes)
    }

    /// It accesses memory, now or when what it leaves pending lands.
    pub(crate) fn accesses(&self) -> bool {
        matches!(self, Self::Access(..) | Self::Proxy(ProxyOp::Begin(..)))
            || self.on_barriers().is_some_and(BarrierOp::accesses)
    }

    /// It orders in time what it does not order in memory.
    pub(crate) fn is_relaxed(&self) -> bool {
        self.on_barriers().is_some_and(BarrierOp::is_relaxed)
    }

    /// It waits so that what it has seen is acquired only by a fence behind it.
    pub(crate) fn is_relaxed_wait(&self) -> bool {
        self.on_barriers().is_some_and(BarrierOp::is_relaxed_wait)
    }

    /// The memory scope, where a system has more than one and the operation concerns barriers.
    pub(crate) fn memory_scope(&self) -> Option<Scope> {
        self.on_barriers()?.memory_scope()
    }

    /// It orders accesses of its own agent or of others, and does nothing else.
    pub(crate) fn only_orders_memory(&self) -> bool {
        matches!(self, Self::Fence(_) | Self::Proxy(ProxyOp::Fence(_)))
            || self.on_barriers().is_some_and(BarrierOp::only_orders_memory)
    }

    /// It leaves something pending, which lands later.
    pub(crate) fn leaves_pending(&self) -> bool {
        self.on_barriers().is_some_and(BarrierOp::leaves_pending)
    }

    /// Its barrier keeps what completed generations carry, and is no object.
    pub(crate) fn has_phases(&self) -> bool {
        self.on_barriers().is_some_and(BarrierOp::has_phases)
    }

    /// An agent that blocks at it and is released tries again.
    pub(crate) fn tries_again(&self) -> bool {
        self.on_barriers().is_some_and(BarrierOp::tries_again)
    }

    /// It concerns another CTA, or all of them.
    pub(crate) fn is_remote(&self) -> bool {
        matches!(self, Self::Access(_, _, _, Some(_))) || self.on_barriers().is_some_and(BarrierOp::is_remote)
    }

    /// It reads a barrier's state as a value.
    pub(crate) fn reads_state(&self) -> bool {
        self.on_barriers().is_some_and(BarrierOp::reads_state)
    }
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

//! A protocol as a tree: targets, agents, statements, expressions, instructions.

pub use super::fences::Fence;
pub use super::fills::{Fill, Written};
pub use super::objects::*;
pub use super::stores::{Spelling, Store};
pub use super::warps::Own;
use std::ops::Range;
use std::sync::Arc;

/// The name of a local, register or handle. A suffix `#…` tells apart two locals of one printed name.
pub type Name = Arc<str>;

/// The number of a statement, unique in its protocol.
pub type StmtId = usize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    Ptx,
    Bcu,
    Nbarrier,
    Split,
    Xegpu,
}

impl Target {
    pub const ALL: [Target; 5] = [Target::Ptx, Target::Bcu, Target::Nbarrier, Target::Split, Target::Xegpu];

    /// Whether an agent is a warp of lanes.
    pub fn has_lanes(self) -> bool {
        matches!(self, Target::Ptx | Target::Bcu)
    }

    pub fn name(self) -> &'static str {
        match self {
            Target::Ptx => "ptx",
            Target::Bcu => "bcu",
            Target::Nbarrier => "nbarrier",
            Target::Split => "split_barrier",
            Target::Xegpu => "xegpu",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Space {
    Shared,
    Global,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    pub name: String,
    /// A length, or none for a single location.
    pub len: Option<i64>,
    pub space: Space,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Protocol {
    pub target: Target,
    /// Threads (ptx, bcu, nbarrier), invocations (split) or subgroups (xegpu).
    pub size: i64,
    pub subgroup_size: Option<i64>,
    /// The number of CTAs (ptx), each of this size.
    pub cluster: usize,
    /// Each arrival of a warp counts (ptx).
    pub repeats: bool,
    /// Registers of each thread in the beginning (ptx).
    pub registers: Option<i64>,
    pub arrays: Vec<Array>,
    pub objects: Vec<Objects>,
    pub blocks: Vec<Block>,
}

impl Protocol {
    /// One without anything in it.
    pub fn empty(target: Target, size: i64) -> Self {
        let (arrays, objects, blocks) = (Vec::new(), Vec::new(), Vec::new());
        Self {
            target,
            size,
            subgroup_size: None,
            cluster: 1,
            repeats: false,
            registers: None,
            arrays,
            objects,
            blocks,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// As each CTA counts them.
    pub agents: Range<usize>,
    pub role: Option<String>,
    pub body: Vec<Stmt>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    pub id: StmtId,
    pub kind: Kind,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    For {
        var: Name,
        from: Expr,
        to: Expr,
        body: Vec<Stmt>,
    },
    Loop(Vec<Stmt>),
    While(Cond, Vec<Stmt>),
    If(Cond, Vec<Stmt>, Vec<Stmt>),
    /// `@P0 INSTRUCTION`, with `!` when negated.
    Guard {
        negated: bool,
        name: Name,
        instr: Box<Stmt>,
    },
    Let(Name, Rhs),
    Assign(Name, Rhs),
    Access {
        kind: AccessKind,
        array: usize,
        index: Option<Expr>,
        /// The CTA whose memory it is, if not the own one.
        cta: Option<Expr>,
    },
    Break,
    Continue,
    Exit,
    Assert(Expr),
    Instr(Instr),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccessKind {
    Read,
    Write,
    Atomic,
    /// The write of an asynchronous copy: no statement has it.
    Copy,
    /// The write of a copy by `cp.async`: no statement has it.
    Fill,
    /// What `red.async` does: no statement has it.
    Reduction,
    /// The read by a copy that comes to its end on an object: no statement has it.
    Source,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Cond {
    Expr(Expr),
    Choice,
    Uniform(Option<Name>),
    /// The answer of an mbarrier object, or the opposite.
    Ask {
        negated: bool,
        on: Mbarrier,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub enum Rhs {
    Expr(Expr),
    Any(Expr, Expr),
    /// The token of an arrival, or an answer.
    On(Mbarrier),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    Int(i64),
    Var(Name),
    /// The agent's own index, in its CTA.
    Own,
    /// The rank of the agent's CTA.
    Rank,
    Lane,
    Neg(Box<Expr>),
    Not(Box<Expr>),
    Bin(Op, Box<Expr>, Box<Expr>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Mul,
    Div,
    Rem,
    Add,
    Sub,
    Shl,
    Shr,
    BitAnd,
    BitXor,
    BitOr,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    And,
    Or,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RedOp {
    And,
    Or,
    Popc,
}

/// The predicate operand of a reduction.
#[derive(Clone, Debug, PartialEq)]
pub enum Pred {
    Expr {
        negated: bool,
        expr: Expr,
    },
    /// Any number of the lanes.
    Any,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    Device,
    Workgroup,
    Subgroup,
    Invocation,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Acquire,
    Release,
    AcquireRelease,
    SequentiallyConsistent,
}

/// Memory semantics of a split barrier instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Semantics {
    pub order: Option<Order>,
    pub workgroup_memory: bool,
    pub cross_workgroup_memory: bool,
    /// A storage class in which no location of the language lies.
    pub image_memory: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Instr {
    Sync {
        id: Expr,
        count: Option<Expr>,
        aligned: bool,
    },
    Arrive {
        id: Expr,
        count: Option<Expr>,
        aligned: bool,
    },
    Red {
        op: RedOp,
        dest: Option<Name>,
        id: Expr,
        count: Option<Expr>,
        pred: Pred,
        aligned: bool,
    },
    PtxFence(Fence),
    Mbarrier(Mbarrier),
    Store(Store),
    Fill(Fill),
    Own(Own),
    ClusterArrive {
        relaxed: bool,
        aligned: bool,
    },
    ClusterWait {
        aligned: bool,
    },

    BarSync {
        id: Expr,
        count: Option<Expr>,
    },
    BarArv {
        id: Expr,
        count: Expr,
    },
    BarRed {
        op: RedOp,
        id: Expr,
        count: Option<Expr>,
        pred: Pred,
    },
    /// The two-operand form: id and count in one register.
    BarRedPacked {
        op: RedOp,
        packed: Name,
        pred: Pred,
    },
    B2rResult {
        rd: Name,
        pu: Option<Name>,
    },
    B2rBar {
        rd: Name,
        id: Expr,
    },
    B2rWarp {
        rd: Name,
        id: Option<Expr>,
    },
    R2bBar {
        id: Expr,
        ra: Name,
    },
    R2bWarp {
        id: Option<Expr>,
        ra: Name,
    },

    SignalAll {
        id: Expr,
        threads: Expr,
    },
    Signal {
        id: Expr,
        kind: Expr,
        producers: Expr,
        consumers: Expr,
    },
    Wait {
        id: Expr,
    },
    /// `fence` of `nbarrier`; none means both storage classes.
    Fence(Option<Space>),

    SplitArrive {
        scope: Scope,
        memory: Scope,
        semantics: Semantics,
    },
    SplitWait {
        scope: Scope,
        memory: Scope,
        semantics: Semantics,
    },
    ControlBarrier {
        scope: Scope,
        memory: Scope,
        semantics: Semantics,
    },
    MemoryBarrier {
        memory: Scope,
        semantics: Semantics,
    },

    Alloc(Expr),
    Init {
        handle: Name,
        id: Expr,
        threads: Expr,
    },
    HandleArrive(Name),
    HandleWait(Name),
    Mfence(Option<Space>),
    CompileHint,
}

impl Protocol {
    /// The number of agents in the group, or in all of its CTAs.
    pub fn agents(&self) -> usize {
        self.cluster * self.per_cta()
    }

    /// The number of agents in one CTA.
    pub fn per_cta(&self) -> usize {
        let size = usize::try_from(self.size).unwrap_or(0);
        if self.target.has_lanes() { size.div_ceil(32) } else { size }
    }

    /// The CTA of an agent.
    pub fn cta_of(&self, agent: usize) -> usize {
        agent / self.per_cta()
    }

    /// The number of lanes of one agent.
    pub fn lanes(&self, agent: usize) -> u8 {
        if !self.target.has_lanes() {
            return 1;
        }
        let left = self.size - 32 * (agent % self.per_cta()) as i64;
        left.min(32) as u8
    }

    /// The number of the block that an agent runs.
    pub fn block_of(&self, agent: usize) -> usize {
        let own = agent % self.per_cta();
        self.blocks.iter().position(|b| b.agents.contains(&own)).expect("every agent belongs to a block")
    }

    /// Gives every statement its own number, in the order of the text.
    pub fn number(&mut self) {
        let mut next = 0;
        for block in &mut self.blocks {
            number_all(&mut block.body, &mut next);
        }
    }
}

fn number_all(stmts: &mut [Stmt], next: &mut usize) {
    for stmt in stmts {
        stmt.id = *next;
        *next += 1;
        match &mut stmt.kind {
            Kind::For { body, .. } | Kind::Loop(body) | Kind::While(_, body) => {
                number_all(body, next);
            }
            Kind::If(_, then, other) => {
                number_all(then, next);
                number_all(other, next);
            }
            Kind::Guard { instr, .. } => number_all(std::slice::from_mut(instr), next),
            _ => {}
        }
    }
}

impl Stmt {
    /// The statement lists nested directly in this statement.
    pub fn arms(&self) -> Vec<&[Stmt]> {
        match &self.kind {
            Kind::For { body, .. } | Kind::Loop(body) | Kind::While(_, body) => vec![body],
            Kind::If(_, then, other) => vec![then, other],
            Kind::Guard { instr, .. } => vec![std::slice::from_ref(instr), &[]],
            _ => vec![],
        }
    }

    /// What it does on an mbarrier object, itself and not something inside it.
    pub fn on(&self) -> Option<&Mbarrier> {
        match &self.kind {
            Kind::Instr(Instr::Mbarrier(on))
            | Kind::If(Cond::Ask { on, .. }, ..)
            | Kind::While(Cond::Ask { on, .. }, _)
            | Kind::Let(_, Rhs::On(on))
            | Kind::Assign(_, Rhs::On(on)) => Some(on),
            _ => None,
        }
    }

    /// The same, to be changed.
    pub fn on_mut(&mut self) -> Option<&mut Mbarrier> {
        match &mut self.kind {
            Kind::Instr(Instr::Mbarrier(on))
            | Kind::If(Cond::Ask { on, .. }, ..)
            | Kind::While(Cond::Ask { on, .. }, _)
            | Kind::Let(_, Rhs::On(on))
            | Kind::Assign(_, Rhs::On(on)) => Some(on),
            _ => None,
        }
    }

    /// Whether this statement or one inside it satisfies a predicate.
    pub fn any(&self, test: &dyn Fn(&Stmt) -> bool) -> bool {
        test(self) || self.arms().iter().any(|arm| arm.iter().any(|s| s.any(test)))
    }
}

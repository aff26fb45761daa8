//! What a state of a protocol consists of.

use super::memory::Memory;
use super::overview::Overview;
use super::protocol::*;
use super::uniform::Uniform;
use super::{bcu, cluster, mbarrier, nbarrier, ptx, split, warps, xegpu};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

pub type AgentId = usize;
pub type Lane = u8;

/// Why a path ends, or is left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Halt {
    /// A rule that ends paths was violated.
    Rule(&'static str),
    /// An expression has no value.
    EvalError(String),
    /// The semantics says nothing about what happened.
    NotModelled(&'static str),
    /// Local computation ran longer than this explorer cares to follow.
    TooLong,
}

pub type Flow<T> = Result<T, Halt>;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    Int(i64),
    /// A barrier's state as `B2R.BAR` reads it.
    BarState(Option<bcu::BarState>),
    /// A warp's copy of its last reduction as `B2R.WARP` reads it.
    WarpState(bcu::WarpCopy),
    /// What `init_nbarrier` yields: an id and a number of participants.
    Handle(i64, i64),
    /// What an arrival on an mbarrier object yields, and how many phases have been completed since, up to 2.
    Token(mbarrier::ObjectId, u8),
}

/// Where a lane keeps a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Slot {
    Var(Name),
    /// The upper bound of a `for` loop, read on entry.
    End(StmtId),
}

pub type Locals = BTreeMap<Slot, Value>;

/// A list of statements: an agent block's body or an arm of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum List {
    Body(usize),
    Arm(StmtId, usize),
}

/// One level of nesting that a fragment is in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Frame {
    /// The statement at `next` of a list is to be executed.
    List { list: List, next: usize },
    /// One single statement is to be executed.
    One(StmtId),
    /// Inside a loop that these lanes entered together; on top: before its next iteration.
    Loop { stmt: StmtId, entered: BTreeSet<Lane> },
    /// These lanes join here; on top: waiting for the others.
    Join { stmt: StmtId, entered: BTreeSet<Lane> },
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    Running,
    /// At a `ptx` barrier, waiting for the other lanes of its own warp.
    Parked(ptx::Request),
    /// Blocked in a barrier until its generation completes.
    Waiting,
    /// Blocked until the present phase of an mbarrier object completes.
    Awaiting(mbarrier::ObjectId),
    /// Blocked until the barrier of the cluster completes.
    AtCluster,
    /// Blocked until its CTA has so many registers.
    Lacking(i64),
    /// In an endless loop of local computation.
    Spinning,
}

/// Lanes that execute together, each with its own locals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fragment {
    pub lanes: BTreeMap<Lane, Arc<Locals>>,
    pub stack: Vec<Frame>,
    pub status: Status,
}

/// The locals of one lane stand for those of all: they seldom differ, and there are many.
impl Hash for Fragment {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.lanes.len().hash(hasher);
        self.lanes.first_key_value().hash(hasher);
        self.stack.hash(hasher);
        self.status.hash(hasher);
    }
}

impl Fragment {
    pub fn lane_set(&self) -> BTreeSet<Lane> {
        self.lanes.keys().copied().collect()
    }

    pub fn set(&mut self, lane: Lane, slot: Slot, value: Value) {
        let locals = self.lanes.get_mut(&lane).expect("a lane of this fragment");
        Arc::make_mut(locals).insert(slot, value);
    }

    pub fn set_all(&mut self, slot: &Slot, value: &Value) {
        for locals in self.lanes.values_mut() {
            Arc::make_mut(locals).insert(slot.clone(), value.clone());
        }
    }

    pub fn unset(&mut self, slot: &Slot) {
        for locals in self.lanes.values_mut() {
            if locals.contains_key(slot) {
                Arc::make_mut(locals).remove(slot);
            }
        }
    }
}

/// An agent; one without fragments has exited.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Agent {
    pub fragments: Vec<Fragment>,
    /// `split_barrier`: iterations of enclosing loops since the last arrive at a scope.
    pub iterations: BTreeMap<(Scope, StmtId), u64>,
}

impl Agent {
    pub fn exited(&self) -> bool {
        self.fragments.is_empty()
    }

    pub fn blocked(&self) -> bool {
        self.fragments.iter().any(|f| !matches!(f.status, Status::Running | Status::Spinning))
    }

    pub fn waits(&self) -> bool {
        self.fragments.iter().any(|f| f.status == Status::Waiting)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Barriers {
    Ptx(ptx::Barriers),
    Bcu(bcu::Barriers),
    Nbarrier(nbarrier::Barriers),
    Split(split::Barriers),
    Xegpu(xegpu::Barriers),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    pub agents: Vec<Arc<Agent>>,
    pub barriers: Barriers,
    pub objects: mbarrier::State,
    pub cluster: cluster::State,
    pub registers: warps::Registers,
    pub uniform: Uniform,
    pub memory: Memory,
}

impl State {
    pub fn everyone_exited(&self) -> bool {
        self.agents.iter().all(|a| a.exited())
    }
}

/// What exited warps mean for barriers with an explicit count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitedThreads {
    Hold,
    Release,
}

/// A protocol with its statements by number.
pub struct Code<'p> {
    pub protocol: &'p Protocol,
    pub exited_threads: ExitedThreads,
    pub overview: Overview,
    stmts: HashMap<StmtId, &'p Stmt>,
}

impl<'p> Code<'p> {
    pub fn new(protocol: &'p Protocol, exited_threads: ExitedThreads) -> Self {
        let mut stmts = HashMap::new();
        for block in &protocol.blocks {
            collect(&block.body, &mut stmts);
        }
        Code { protocol, exited_threads, overview: Overview::new(protocol), stmts }
    }

    pub fn stmt(&self, id: StmtId) -> &'p Stmt {
        self.stmts[&id]
    }

    pub fn list(&self, list: List) -> &'p [Stmt] {
        match list {
            List::Body(block) => &self.protocol.blocks[block].body,
            List::Arm(stmt, arm) => self.stmt(stmt).arms()[arm],
        }
    }
}

fn collect<'p>(stmts: &'p [Stmt], into: &mut HashMap<StmtId, &'p Stmt>) {
    for stmt in stmts {
        into.insert(stmt.id, stmt);
        for arm in stmt.arms() {
            collect(arm, into);
        }
    }
}

/// A state in the course of a step, with what the step found so far.
#[derive(Clone)]
pub struct World<'p> {
    pub code: &'p Code<'p>,
    pub state: State,
    pub notes: BTreeSet<&'static str>,
    pub log: Log,
}

/// What agents were told in a step.
#[derive(Clone, Debug, Default)]
pub struct Log {
    /// Who asked for a phase, and the answer was no.
    pub denied: Option<AgentId>,
    /// Whose wait for a phase is over, or was answered with yes.
    pub passed: BTreeSet<AgentId>,
}

impl<'p> World<'p> {
    pub fn new(code: &'p Code<'p>, state: State) -> Self {
        World { code, state, notes: BTreeSet::new(), log: Log::default() }
    }

    pub fn agent(&mut self, agent: AgentId) -> &mut Agent {
        Arc::make_mut(&mut self.state.agents[agent])
    }

    pub fn fragment(&mut self, who: Who) -> &mut Fragment {
        &mut self.agent(who.agent).fragments[who.fragment]
    }

    pub fn see(&self, who: Who) -> &Fragment {
        &self.state.agents[who.agent].fragments[who.fragment]
    }

    pub fn note(&mut self, rule: &'static str) {
        self.notes.insert(rule);
    }

    pub fn protocol(&self) -> &'p Protocol {
        self.code.protocol
    }

    /// Whether all agents of a CTA have exited.
    pub fn cta_exited(&self, cta: usize) -> bool {
        let per_cta = self.protocol().per_cta();
        self.state.agents[cta * per_cta..(cta + 1) * per_cta].iter().all(|a| a.exited())
    }

    /// The live lanes of an agent.
    pub fn lanes_of(&self, agent: AgentId) -> BTreeSet<Lane> {
        let fragments = &self.state.agents[agent].fragments;
        fragments.iter().flat_map(Fragment::lane_set).collect()
    }
}

/// A fragment of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Who {
    pub agent: AgentId,
    pub fragment: usize,
}

/// How an open decision of a step is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    None,
    Bool(bool),
    Int(i64),
    /// How many of the lanes' predicates are true.
    Trues(i64),
}

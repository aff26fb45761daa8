//! Short ways to write protocols in tests.

use super::protocol::*;
use std::ops::Range;

impl From<i32> for Expr {
    fn from(n: i32) -> Expr {
        Expr::Int(n.into())
    }
}

/// Joins two expressions by an operator.
pub fn bin(op: Op, a: impl Into<Expr>, b: impl Into<Expr>) -> Expr {
    Expr::Bin(op, Box::new(a.into()), Box::new(b.into()))
}

macro_rules! operators {
    ($($trait:ident $method:ident $op:ident),*) => {$(
        impl<T: Into<Expr>> std::ops::$trait<T> for Expr {
            type Output = Expr;
            fn $method(self, other: T) -> Expr {
                bin(Op::$op, self, other)
            }
        }
    )*};
}
operators!(Add add Add, Sub sub Sub, Mul mul Mul, Div div Div, Rem rem Rem);

pub fn lt(a: impl Into<Expr>, b: impl Into<Expr>) -> Expr {
    bin(Op::Lt, a, b)
}

pub fn ge(a: impl Into<Expr>, b: impl Into<Expr>) -> Expr {
    bin(Op::Ge, a, b)
}

pub fn eq(a: impl Into<Expr>, b: impl Into<Expr>) -> Expr {
    bin(Op::Eq, a, b)
}

pub fn v(name: &str) -> Expr {
    Expr::Var(name.into())
}

pub fn own() -> Expr {
    Expr::Own
}

pub fn lane() -> Expr {
    Expr::Lane
}

/// A statement that has no number yet.
pub fn stmt(kind: Kind) -> Stmt {
    Stmt { id: 0, kind }
}

pub fn instr(instr: Instr) -> Stmt {
    stmt(Kind::Instr(instr))
}

pub fn for_(var: &str, from: impl Into<Expr>, to: impl Into<Expr>, body: Vec<Stmt>) -> Stmt {
    stmt(Kind::For { var: var.into(), from: from.into(), to: to.into(), body })
}

pub fn loop_(body: Vec<Stmt>) -> Stmt {
    stmt(Kind::Loop(body))
}

pub fn while_(cond: Cond, body: Vec<Stmt>) -> Stmt {
    stmt(Kind::While(cond, body))
}

pub fn if_(cond: impl Into<Expr>, then: Vec<Stmt>, other: Vec<Stmt>) -> Stmt {
    stmt(Kind::If(Cond::Expr(cond.into()), then, other))
}

pub fn maybe(then: Vec<Stmt>, other: Vec<Stmt>) -> Stmt {
    stmt(Kind::If(Cond::Choice, then, other))
}

pub fn let_(name: &str, value: impl Into<Expr>) -> Stmt {
    stmt(Kind::Let(name.into(), Rhs::Expr(value.into())))
}

pub fn set(name: &str, value: impl Into<Expr>) -> Stmt {
    stmt(Kind::Assign(name.into(), Rhs::Expr(value.into())))
}

pub fn assert_(expr: impl Into<Expr>) -> Stmt {
    stmt(Kind::Assert(expr.into()))
}

pub fn exit() -> Stmt {
    stmt(Kind::Exit)
}

pub fn access(kind: AccessKind, array: usize, index: Option<Expr>) -> Stmt {
    stmt(Kind::Access { kind, array, index, cta: None })
}

pub fn read(array: usize) -> Stmt {
    access(AccessKind::Read, array, None)
}

pub fn write(array: usize) -> Stmt {
    access(AccessKind::Write, array, None)
}

pub fn atomic(array: usize) -> Stmt {
    access(AccessKind::Atomic, array, None)
}

/// A protocol; agents that no block names get an empty one.
pub fn protocol(target: Target, size: i64, blocks: Vec<(Range<usize>, Vec<Stmt>)>) -> Protocol {
    let mut result = Protocol::empty(target, size);
    let mut free: Vec<usize> = (0..result.agents()).collect();
    for (agents, body) in blocks {
        free.retain(|a| !agents.contains(a));
        result.blocks.push(Block { agents, role: None, body });
    }
    for agent in free {
        result.blocks.push(Block { agents: agent..agent + 1, role: None, body: Vec::new() });
    }
    result.number();
    result
}

impl Protocol {
    /// With one more single location, or array if it has a length.
    pub fn with(mut self, name: &str, space: Space, len: Option<i64>) -> Protocol {
        self.arrays.push(Array { name: name.into(), len, space });
        self
    }

    /// With one shared location, number 0.
    pub fn with_shared(self) -> Protocol {
        self.with("x", Space::Shared, None)
    }
}

// ptx

/// `bar.sync id, count`.
pub fn sync(id: impl Into<Expr>, count: impl Into<Expr>) -> Stmt {
    instr(Instr::Sync { id: id.into(), count: Some(count.into()), aligned: true })
}

/// `bar.sync id`.
pub fn sync_all(id: impl Into<Expr>) -> Stmt {
    instr(Instr::Sync { id: id.into(), count: None, aligned: true })
}

/// `barrier.sync id, count`, not aligned.
pub fn barrier_sync(id: impl Into<Expr>, count: impl Into<Expr>) -> Stmt {
    instr(Instr::Sync { id: id.into(), count: Some(count.into()), aligned: false })
}

/// `bar.arrive id, count`.
pub fn arrive(id: impl Into<Expr>, count: impl Into<Expr>) -> Stmt {
    instr(Instr::Arrive { id: id.into(), count: Some(count.into()), aligned: true })
}

/// `bar.red.op dest, id, count, pred`.
pub fn red(op: RedOp, dest: Option<&str>, id: impl Into<Expr>, count: impl Into<Expr>, pred: Pred) -> Stmt {
    instr(Instr::Red {
        op,
        dest: dest.map(Into::into),
        id: id.into(),
        count: Some(count.into()),
        pred,
        aligned: true,
    })
}

/// A predicate operand.
pub fn pred(expr: impl Into<Expr>) -> Pred {
    Pred::Expr { negated: false, expr: expr.into() }
}

// bcu

pub fn bar_sync(id: impl Into<Expr>, count: impl Into<Expr>) -> Stmt {
    instr(Instr::BarSync { id: id.into(), count: Some(count.into()) })
}

pub fn bar_arv(id: impl Into<Expr>, count: impl Into<Expr>) -> Stmt {
    instr(Instr::BarArv { id: id.into(), count: count.into() })
}

pub fn bar_red(op: RedOp, id: impl Into<Expr>, count: impl Into<Expr>, pred: Pred) -> Stmt {
    instr(Instr::BarRed { op, id: id.into(), count: Some(count.into()), pred })
}

pub fn b2r_result(rd: &str, pu: Option<&str>) -> Stmt {
    instr(Instr::B2rResult { rd: rd.into(), pu: pu.map(Into::into) })
}

pub fn b2r_bar(rd: &str, id: impl Into<Expr>) -> Stmt {
    instr(Instr::B2rBar { rd: rd.into(), id: id.into() })
}

pub fn r2b_bar(id: impl Into<Expr>, ra: &str) -> Stmt {
    instr(Instr::R2bBar { id: id.into(), ra: ra.into() })
}

// nbarrier

pub fn signal(
    id: impl Into<Expr>,
    kind: impl Into<Expr>,
    producers: impl Into<Expr>,
    consumers: impl Into<Expr>,
) -> Stmt {
    instr(Instr::Signal {
        id: id.into(),
        kind: kind.into(),
        producers: producers.into(),
        consumers: consumers.into(),
    })
}

pub fn signal_all(id: impl Into<Expr>, threads: impl Into<Expr>) -> Stmt {
    instr(Instr::SignalAll { id: id.into(), threads: threads.into() })
}

pub fn wait(id: impl Into<Expr>) -> Stmt {
    instr(Instr::Wait { id: id.into() })
}

pub fn fence() -> Stmt {
    instr(Instr::Fence(None))
}

// split_barrier

/// Memory semantics with both storage classes.
pub fn order(order: Option<Order>) -> Semantics {
    Semantics {
        order,
        workgroup_memory: order.is_some(),
        cross_workgroup_memory: order.is_some(),
        image_memory: false,
    }
}

pub fn split_arrive(scope: Scope, semantics: Semantics) -> Stmt {
    instr(Instr::SplitArrive { scope, memory: Scope::Workgroup, semantics })
}

pub fn split_wait(scope: Scope, semantics: Semantics) -> Stmt {
    instr(Instr::SplitWait { scope, memory: Scope::Workgroup, semantics })
}

pub fn control_barrier(scope: Scope, semantics: Semantics) -> Stmt {
    instr(Instr::ControlBarrier { scope, memory: Scope::Workgroup, semantics })
}

pub fn memory_barrier(semantics: Semantics) -> Stmt {
    instr(Instr::MemoryBarrier { memory: Scope::Workgroup, semantics })
}

// xegpu

pub fn alloc(n: impl Into<Expr>) -> Stmt {
    instr(Instr::Alloc(n.into()))
}

pub fn init(handle: &str, id: impl Into<Expr>, threads: impl Into<Expr>) -> Stmt {
    instr(Instr::Init { handle: handle.into(), id: id.into(), threads: threads.into() })
}

pub fn handle_arrive(handle: &str) -> Stmt {
    instr(Instr::HandleArrive(handle.into()))
}

pub fn handle_wait(handle: &str) -> Stmt {
    instr(Instr::HandleWait(handle.into()))
}

pub fn mfence() -> Stmt {
    instr(Instr::Mfence(None))
}

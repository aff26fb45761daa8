//! Programs: structured statements, lowered to code as readers of a notation do it.

use barcheck_model::program::*;

/// A statement.
#[derive(Clone)]
pub(crate) enum S {
    Op(Op),
    If(Condition, Vec<S>, Vec<S>),
    /// `while`, or `loop` without a condition.
    While(Option<Condition>, Vec<S>),
    /// `for local in from..to`.
    For(u32, Expr, Expr, Vec<S>),
    Break,
    Continue,
}

pub(crate) fn n(value: i64) -> Expr {
    Expr::Int(value)
}

/// A local: 0..=3 integers, 4 and 5 registers, 6 and 7 predicates, 8 and 9 handles.
pub(crate) fn v(local: u32) -> Expr {
    Expr::Local(LocalId(local))
}

pub(crate) fn bin(op: BinaryOp, a: Expr, b: Expr) -> Expr {
    Expr::Binary(op, Box::new(a), Box::new(b))
}

pub(crate) fn not(a: Expr) -> Expr {
    Expr::Unary(UnaryOp::Not, Box::new(a))
}

pub(crate) fn eq(a: Expr, b: Expr) -> Expr {
    bin(BinaryOp::Eq, a, b)
}

pub(crate) fn lt(a: Expr, b: Expr) -> Expr {
    bin(BinaryOp::Lt, a, b)
}

pub(crate) fn add(a: Expr, b: Expr) -> Expr {
    bin(BinaryOp::Add, a, b)
}

/// `lane < bound`.
pub(crate) fn lanes_below(bound: i64) -> Expr {
    lt(Expr::Lane, n(bound))
}

/// A value by lane: `low` in lanes below `bound`, `low + step` in the others.
pub(crate) fn by_lane(bound: i64, low: i64, step: i64) -> Expr {
    let upper = bin(BinaryOp::Ge, Expr::Lane, n(bound));
    add(n(low), bin(BinaryOp::Mul, n(step), upper))
}

pub(crate) fn set(local: u32, value: Expr) -> S {
    S::Op(Op::Set(LocalId(local), value))
}

pub(crate) fn any(local: u32, low: Expr, high: Expr) -> S {
    S::Op(Op::Any(LocalId(local), low, high))
}

pub(crate) fn iff(condition: Expr, then: Vec<S>) -> S {
    S::If(Condition::Value(condition), then, Vec::new())
}

pub(crate) fn if_else(condition: Expr, then: Vec<S>, otherwise: Vec<S>) -> S {
    S::If(Condition::Value(condition), then, otherwise)
}

pub(crate) fn while_do(condition: Expr, body: Vec<S>) -> S {
    S::While(Some(Condition::Value(condition)), body)
}

pub(crate) fn forever(body: Vec<S>) -> S {
    S::While(None, body)
}

pub(crate) fn exit() -> S {
    S::Op(Op::Exit)
}

pub(crate) fn assert(value: Expr) -> S {
    S::Op(Op::Assert(value))
}

fn access(kind: AccessKind, array: u32) -> S {
    S::Op(Op::Access(kind, ArrayId(array), None, None))
}

/// A read of a scalar.
pub(crate) fn read(array: u32) -> S {
    access(AccessKind::Read, array)
}

pub(crate) fn write(array: u32) -> S {
    access(AccessKind::Write, array)
}

pub(crate) fn atomic(array: u32) -> S {
    access(AccessKind::Atomic, array)
}

pub(crate) fn access_at(kind: AccessKind, array: u32, index: Expr) -> S {
    S::Op(Op::Access(kind, ArrayId(array), Some(index), None))
}

pub(crate) const SHARED: Spaces = Spaces { shared: true, global: false };
pub(crate) const GLOBAL: Spaces = Spaces { shared: false, global: true };
pub(crate) const BOTH: Spaces = Spaces { shared: true, global: true };
pub(crate) const NEITHER: Spaces = Spaces { shared: false, global: false };

pub(crate) fn fence(spaces: Spaces) -> S {
    S::Op(Op::Fence(Fence::Publishes(spaces)))
}

fn ptx(kind: PtxKind, aligned: bool, id: Expr, count: Option<Expr>) -> S {
    S::Op(Op::from(PtxOp { kind, aligned, id, count }))
}

/// `barrier.sync`, not aligned; a count of 0 is left out.
pub(crate) fn sync(id: i64, count: i64) -> S {
    sync_of(n(id), (count != 0).then(|| n(count)))
}

pub(crate) fn sync_of(id: Expr, count: Option<Expr>) -> S {
    ptx(PtxKind::Sync, false, id, count)
}

pub(crate) fn bar_sync(id: i64, count: i64) -> S {
    ptx(PtxKind::Sync, true, n(id), (count != 0).then(|| n(count)))
}

/// `barrier.arrive`, not aligned.
pub(crate) fn arrive(id: i64, count: i64) -> S {
    ptx(PtxKind::Arrive, false, n(id), Some(n(count)))
}

pub(crate) fn arrive_of(id: Expr, count: Option<Expr>) -> S {
    ptx(PtxKind::Arrive, false, id, count)
}

pub(crate) fn truth(value: Expr) -> Predicate {
    Predicate { negated: false, value: Some(value) }
}

pub(crate) fn untruth(value: Expr) -> Predicate {
    Predicate { negated: true, value: Some(value) }
}

/// `?` as a predicate.
pub(crate) const OPEN: Predicate = Predicate { negated: false, value: None };

/// `barrier.red` into local 0, not aligned; a count of 0 is left out.
pub(crate) fn red(op: ReductionOp, id: i64, count: i64, predicate: Predicate) -> S {
    let kind = PtxKind::Red { op, predicate, dest: Some(LocalId(0)) };
    ptx(kind, false, n(id), (count != 0).then(|| n(count)))
}

/// `barrier.red` whose result nobody keeps.
pub(crate) fn red_unkept(op: ReductionOp, id: i64, count: i64, predicate: Predicate) -> S {
    ptx(PtxKind::Red { op, predicate, dest: None }, false, n(id), (count != 0).then(|| n(count)))
}

pub(crate) fn immediate(value: i64) -> BcuOperand {
    BcuOperand { value: n(value), register: false }
}

pub(crate) fn register(value: Expr) -> BcuOperand {
    BcuOperand { value, register: true }
}

pub(crate) fn bcu(op: BcuOp) -> S {
    S::Op(Op::from(op))
}

pub(crate) fn bsync(id: i64, count: i64) -> S {
    bcu(BcuOp::Sync { id: immediate(id), count: Some(immediate(count)) })
}

pub(crate) fn barv(id: i64, count: i64) -> S {
    bcu(BcuOp::Arv { id: immediate(id), count: immediate(count) })
}

pub(crate) fn bred(op: ReductionOp, id: i64, count: i64, predicate: Predicate) -> S {
    let operands = BcuRedOperands::Separate(immediate(id), Some(immediate(count)));
    bcu(BcuOp::Red { op, operands, predicate })
}

pub(crate) fn result(register: Option<u32>, predicate: Option<u32>) -> S {
    bcu(BcuOp::Result { register: register.map(LocalId), predicate: predicate.map(LocalId) })
}

pub(crate) fn signal_all(id: i64, threads: i64) -> S {
    S::Op(Op::from(NbarrierOp::SignalAll { id: n(id), threads: n(threads) }))
}

pub(crate) fn signal(id: i64, kind: i64, producers: i64, consumers: i64) -> S {
    let (id, kind, producers, consumers) = (n(id), n(kind), n(producers), n(consumers));
    S::Op(Op::from(NbarrierOp::Signal { id, kind, producers, consumers }))
}

pub(crate) fn wait(id: i64) -> S {
    S::Op(Op::from(NbarrierOp::Wait { id: n(id) }))
}

/// A split-barrier instruction.
pub(crate) fn split(kind: SplitKind, execution: Scope, memory: Scope, semantics: Semantics) -> S {
    S::Op(Op::from(SplitOp { kind, execution, memory, semantics }))
}

/// A split-barrier instruction without memory semantics.
pub(crate) fn bare(kind: SplitKind, execution: Scope) -> S {
    split(kind, execution, execution, Semantics::default())
}

pub(crate) fn acquire(classes: Spaces) -> Semantics {
    Semantics { acquire: true, release: false, classes }
}

pub(crate) fn release(classes: Spaces) -> Semantics {
    Semantics { acquire: false, release: true, classes }
}

pub(crate) fn xegpu(op: XegpuOp) -> S {
    S::Op(Op::from(op))
}

pub(crate) fn alloc(count: i64) -> S {
    xegpu(XegpuOp::Alloc { count: n(count) })
}

/// `init_nbarrier` into local 8.
pub(crate) fn init(id: i64, participants: i64) -> S {
    xegpu(XegpuOp::Init { handle: LocalId(8), id: n(id), participants: n(participants) })
}

pub(crate) fn xarrive() -> S {
    xegpu(XegpuOp::Arrive(LocalId(8)))
}

pub(crate) fn xwait() -> S {
    xegpu(XegpuOp::Wait(LocalId(8)))
}

/// A group in the making: roles take agents in order.
pub(crate) struct Group(Program);

impl Group {
    /// `threads` as protocols declare them: a number of agents, or of threads on `ptx` and `bcu`.
    pub(crate) fn new(target: Target, threads: u32) -> Self {
        Self(Program {
            target,
            threads,
            ctas: 1,
            registers: 0,
            repeats_count: false,
            subgroup_size: 1,
            arrays: Vec::new(),
            objects: Vec::new(),
            roles: Vec::new(),
            agents: Vec::new(),
            sequences: Vec::new(),
        })
    }

    pub(crate) fn subgroups_of(mut self, size: u32) -> Self {
        self.0.subgroup_size = size;
        self
    }

    pub(crate) fn sequences(mut self, number: usize) -> Self {
        self.0.sequences = vec![None; number];
        self
    }

    /// A scalar.
    pub(crate) fn scalar(self, space: Space) -> Self {
        self.array(space, None)
    }

    pub(crate) fn array(mut self, space: Space, length: Option<u32>) -> Self {
        let first = LocationId::from_index(self.0.locations());
        let name = format!("a{}", self.0.arrays.len());
        self.0.arrays.push(Array { name, space, first, length });
        self
    }

    /// The next agent runs `body`.
    pub(crate) fn one(self, body: Vec<S>) -> Self {
        self.many(1, body)
    }

    /// The next `agents` agents run `body`.
    pub(crate) fn many(mut self, agents: u32, body: Vec<S>) -> Self {
        let role = RoleId::from_index(self.0.roles.len());
        self.0.roles.push(Role { name: None, code: code(body), place: Place::default() });
        self.0.agents.extend((0..agents).map(|_| role));
        self
    }

    pub(crate) fn build(self) -> Program {
        self.0
    }
}

/// Code for a body.
pub(crate) fn code(body: Vec<S>) -> Code {
    let kinds = [
        (4, LocalKind::Integer, 'x'),
        (2, LocalKind::Register, 'R'),
        (2, LocalKind::Predicate, 'P'),
        (2, LocalKind::Handle, 'h'),
    ];
    let mut code = Code { empty: body.is_empty(), ..Code::default() };
    for (number, kind, letter) in kinds {
        for _ in 0..number {
            let name = format!("{letter}{}", code.locals.len());
            code.locals.push(Local { name, kind });
        }
    }
    let mut lowering = Lowering { code, around: Vec::new(), loops: Vec::new() };
    lowering.all(body);
    lowering.emit(Op::Exit);
    lowering.code
}

struct Lowering {
    code: Code,
    around: Vec<ConstructId>,
    /// The loops around, with the places of their `continue`s.
    loops: Vec<(ConstructId, Vec<Pc>)>,
}

impl Lowering {
    fn here(&self) -> Pc {
        Pc::from_index(self.code.ops.len())
    }

    fn emit(&mut self, op: Op) -> Pc {
        let at = self.here();
        self.code.ops.push(op);
        self.code.places.push(Place { line: at.0 + 1, column: 1, length: 1 });
        self.code.texts.push(String::new());
        at
    }

    fn open(&mut self, kind: ConstructKind) -> ConstructId {
        let id = ConstructId::from_index(self.code.constructs.len());
        self.code.constructs.push(Construct { kind, parent: self.around.last().copied(), end: Pc(0) });
        self.around.push(id);
        id
    }

    fn close(&mut self, id: ConstructId) -> Pc {
        let end = self.emit(Op::End(id));
        self.code.constructs[id.index()].end = end;
        self.around.pop();
        end
    }

    fn all(&mut self, body: Vec<S>) {
        for statement in body {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: S) {
        match statement {
            S::Op(op) => drop(self.emit(op)),
            S::If(condition, then, otherwise) => self.branch(condition, then, otherwise),
            S::While(condition, body) => self.round(condition, body, None),
            S::For(local, from, to, body) => {
                self.emit(Op::Set(LocalId(local), from));
                let next = Op::Set(LocalId(local), add(v(local), n(1)));
                self.round(Some(Condition::Value(lt(v(local), to))), body, Some(next));
            }
            S::Break => {
                let construct = self.loops.last().expect("inside a loop").0;
                self.emit(Op::Break(construct));
            }
            S::Continue => {
                let construct = self.loops.last().expect("inside a loop").0;
                let at = self.emit(Op::Continue(construct, Pc(0)));
                self.loops.last_mut().expect("inside a loop").1.push(at);
            }
        }
    }

    fn branch(&mut self, condition: Condition, then: Vec<S>, otherwise: Vec<S>) {
        let construct = self.open(ConstructKind::If);
        let branch = self.emit(Op::Branch { construct, condition, otherwise: Pc(0) });
        self.all(then);
        let mut over = None;
        let mut target = self.here();
        if !otherwise.is_empty() {
            over = Some(self.emit(Op::Jump(Pc(0))));
            target = self.here();
            self.all(otherwise);
        }
        let end = self.close(construct);
        if let Some(over) = over {
            self.code.ops[over.index()] = Op::Jump(end);
        }
        if let Op::Branch { otherwise, .. } = &mut self.code.ops[branch.index()] {
            *otherwise = target;
        }
    }

    fn round(&mut self, condition: Option<Condition>, body: Vec<S>, next: Option<Op>) {
        let construct = self.open(ConstructKind::Loop);
        self.emit(Op::Enter(construct));
        self.loops.push((construct, Vec::new()));
        let head = self.here();
        if let Some(condition) = condition {
            self.emit(Op::Test { construct, condition });
        }
        self.all(body);
        let to = self.here();
        if let Some(op) = next {
            self.emit(op);
        }
        self.emit(Op::Back(construct, head));
        self.close(construct);
        let (_, continues) = self.loops.pop().expect("inside this loop");
        for at in continues {
            self.code.ops[at.index()] = Op::Continue(construct, to);
        }
    }
}

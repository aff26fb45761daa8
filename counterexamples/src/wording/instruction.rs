//! Instructions with their operands' values, for people.
//!
//! The model evaluates operands to act on them; here they are evaluated once more, only to be shown.

use barcheck_model::agent::{Action, BarrierAction, Fragment, LaneValues, Move, Value};
use barcheck_model::barrier::{bcu, nbarrier, ptx};
use barcheck_model::program::{
    AccessKind, AgentId, BcuOp, BcuOperand, BcuRedOperands, BinaryOp, Code, Condition, Expr, LocalId,
    NbarrierOp, Op, Pc, Predicate, Program, PtxKind, PtxOp, ReductionOp, SplitKind, XegpuOp,
};

use crate::names;
use crate::trace::{Count, Operands};

/// Lanes that execute an instruction, and what they know.
pub(crate) struct Reader<'a> {
    pub(crate) program: &'a Program,
    pub(crate) agent: AgentId,
    pub(crate) fragment: &'a Fragment,
}

impl Reader<'_> {
    fn code(&self) -> &Code {
        self.program.code(self.agent)
    }

    fn lanes(&self) -> impl Iterator<Item = u32> + use<> {
        let mask = self.fragment.lanes;
        (0..32).filter(move |lane| mask >> lane & 1 == 1)
    }

    /// A number in one lane, `None` where it cannot be evaluated.
    pub(crate) fn number(&self, expr: &Expr, lane: u32) -> Option<i64> {
        let local = |local: &LocalId| match self.fragment.locals.get(local.index())?.get(lane) {
            Value::Int(n) => Some(*n),
            Value::Unset | Value::Opaque(_) | Value::Handle(_) => None,
        };
        evaluate(expr, &|leaf| match leaf {
            Expr::Agent => Some(i64::from(self.agent.0)),
            Expr::Lane => Some(i64::from(lane)),
            Expr::Local(id) => local(id),
            _ => None,
        })
    }

    /// The value in all lanes, as text.
    fn show(&self, expr: &Expr) -> String {
        if let Expr::Local(local) = expr
            && let Some(LaneValues::Same(value @ (Value::Opaque(_) | Value::Handle(_)))) =
                self.fragment.locals.get(local.index())
        {
            return show_value(value);
        }
        let values: Vec<Option<i64>> = self.lanes().map(|lane| self.number(expr, lane)).collect();
        show_lanes(&values)
    }

    fn operand(&self, operand: &BcuOperand, mask: i64) -> String {
        let value = self.number(&operand.value, self.fragment.lanes.trailing_zeros());
        match value {
            // A register keeps only its low bits: both values matter.
            Some(n) if operand.register && n & !mask != 0 => format!("{} (of 0x{n:x})", n & mask),
            _ => self.show(&operand.value),
        }
    }

    fn truths(&self, op: ReductionOp, predicate: &Predicate, pick: u32) -> String {
        let lanes = self.fragment.lanes.count_ones();
        let Some(value) = &predicate.value else {
            let truths = match op {
                ReductionOp::Popc => pick,
                ReductionOp::And | ReductionOp::Or => pick.saturating_mul(lanes),
            };
            return format!("? = {truths}/{lanes} true");
        };
        let is_true = |lane| self.number(value, lane).map(|n| (n != 0) != predicate.negated);
        let all: Option<Vec<bool>> = self.lanes().map(is_true).collect();
        all.map_or("?".to_owned(), |all| format!("{}/{lanes} true", all.iter().filter(|t| **t).count()))
    }

    /// The instruction at `pc` with its operands' values.
    pub(crate) fn resolved(&self, pc: Pc, made: &Move, pick: u32) -> String {
        let written = self.code().texts.get(pc.index()).map_or("", String::as_str);
        let Some(op) = self.code().ops.get(pc.index()) else {
            return written.to_owned();
        };
        match op {
            Op::Branch { condition, .. } | Op::Test { condition, .. } => match condition {
                Condition::Private => format!("? = {}", pick != 0),
                Condition::Uniform(sequence) => {
                    let name = self.program.sequences.get(sequence.index()).and_then(Option::as_deref);
                    format!("uniform {}? = {}", name.map(|n| format!("{n} ")).unwrap_or_default(), pick != 0)
                }
                Condition::Value(_) => "local loop".to_owned(),
            },
            Op::Any(local, low, _) => {
                let low = self.number(low, self.fragment.lanes.trailing_zeros());
                let value = low.and_then(|n| n.checked_add(i64::from(pick)));
                format!("{} = {}", self.local_name(*local), show_lanes(&[value]))
            }
            Op::Exit => "exit".to_owned(),
            Op::Assert(condition) => format!("assert {}", self.show(condition)),
            Op::Access(kind, array, index) => self.access(*kind, array.index(), index.as_ref(), made),
            Op::Ptx(op) => self.ptx(op, written, pick),
            Op::Bcu(op) => self.bcu(op, written, pick),
            Op::Nbarrier(op) => self.nbarrier(op),
            Op::Xegpu(op) => self.xegpu(op),
            Op::Fence(_) | Op::Split(_) => written.to_owned(),
            _ => "local loop".to_owned(),
        }
    }

    fn local_name(&self, local: LocalId) -> &str {
        self.code().locals.get(local.index()).map_or("_", |l| l.name.as_str())
    }

    fn access(&self, kind: AccessKind, array: usize, index: Option<&Expr>, made: &Move) -> String {
        let name = self.program.arrays.get(array).map_or("", |a| a.name.as_str());
        match (&made.action, index) {
            (Action::Access(_, locations), _) if locations.len() == 1 => {
                format!("{} {}", access_name(kind), self.program.location_name(locations[0]))
            }
            (_, Some(index)) => format!("{} {name}[{}]", access_name(kind), self.show(index)),
            (_, None) => format!("{} {name}", access_name(kind)),
        }
    }

    fn ptx(&self, op: &PtxOp, written: &str, pick: u32) -> String {
        let suffix = match &op.kind {
            PtxKind::Sync => "sync",
            PtxKind::Arrive => "arrive",
            PtxKind::Red { op, .. } => match op {
                ReductionOp::Popc => "red.popc.u32",
                ReductionOp::And => "red.and.pred",
                ReductionOp::Or => "red.or.pred",
            },
        };
        let prefix = if op.aligned { "bar" } else { "barrier" };
        let mut operands = Vec::new();
        if let PtxKind::Red { dest, .. } = &op.kind {
            operands.push(dest.map_or("_", |dest| self.local_name(dest)).to_owned());
        }
        operands.push(self.show(&op.id));
        operands.extend(op.count.as_ref().map(|count| self.show(count)));
        if let PtxKind::Red { op, predicate, .. } = &op.kind {
            operands.push(self.truths(*op, predicate, pick));
        }
        format!("{} {}", mnemonic(written, &format!("{prefix}.{suffix}")), operands.join(", "))
    }

    fn bcu(&self, op: &BcuOp, written: &str, pick: u32) -> String {
        let id = |operand| self.operand(operand, bcu::ID_MASK);
        let count = |operand| self.operand(operand, bcu::COUNT_MASK);
        let (canonical, operands) = match op {
            BcuOp::Sync { id: i, count: c } => {
                ("BAR.SYNC", [Some(id(i)), c.as_ref().map(count)].into_iter().flatten().collect())
            }
            BcuOp::Arv { id: i, count: c } => ("BAR.ARV", vec![id(i), count(c)]),
            BcuOp::Red { op, operands, predicate } => {
                let mut shown = match operands {
                    BcuRedOperands::Separate(i, c) => {
                        [Some(id(i)), c.as_ref().map(count)].into_iter().flatten().collect()
                    }
                    BcuRedOperands::Packed(register) => {
                        match self.number(register, self.fragment.lanes.trailing_zeros()) {
                            Some(n) => {
                                let (id, count, _) = bcu::unpack(n);
                                vec![format!("0x{n:x} = {}, {}", id.value, count.value)]
                            }
                            None => vec![self.show(register)],
                        }
                    }
                };
                shown.push(self.truths(*op, predicate, pick));
                ("BAR.RED", shown)
            }
            BcuOp::Result { .. } => return written.to_owned(),
            BcuOp::ReadBarrier { id, .. } => return format!("{written} (barrier {})", self.show(id)),
            BcuOp::WriteBarrier { id, source } => ("R2B.BAR", vec![self.show(id), self.show(source)]),
            BcuOp::ReadWarp { .. } => return written.to_owned(),
            BcuOp::WriteWarp { source, .. } => ("R2B.WARP", vec![self.show(source)]),
        };
        format!("{} {}", mnemonic(written, canonical), operands.join(", "))
    }

    fn nbarrier(&self, op: &NbarrierOp) -> String {
        match op {
            NbarrierOp::SignalAll { id, threads } => {
                format!("nbarrier.signal {}, {}", self.show(id), self.show(threads))
            }
            NbarrierOp::Signal { id, kind, producers, consumers } => format!(
                "nbarrier.signal {}, {}, {}, {}",
                self.show(id),
                self.show(kind),
                self.show(producers),
                self.show(consumers)
            ),
            NbarrierOp::Wait { id } => format!("nbarrier.wait {}", self.show(id)),
        }
    }

    fn xegpu(&self, op: &XegpuOp) -> String {
        let local = |local: &LocalId| self.show(&Expr::Local(*local));
        match op {
            XegpuOp::Alloc { count } => format!("xegpu.alloc_nbarrier {}", self.show(count)),
            XegpuOp::Init { handle, id, participants } => format!(
                "{} = xegpu.init_nbarrier {}, {}",
                self.local_name(*handle),
                self.show(id),
                self.show(participants)
            ),
            XegpuOp::Arrive(handle) => format!("xegpu.nbarrier_arrive {}", local(handle)),
            XegpuOp::Wait(handle) => format!("xegpu.nbarrier_wait {}", local(handle)),
        }
    }
}

/// How an access is called.
pub(crate) fn access_name(kind: AccessKind) -> &'static str {
    match kind {
        AccessKind::Read => "read",
        AccessKind::Write => "write",
        AccessKind::Atomic => "atomic",
    }
}

/// A local's value, as text; `None` for one that holds nothing.
pub(crate) fn show_local(values: &LaneValues, lanes: u32) -> Option<String> {
    match values {
        LaneValues::Same(Value::Unset) => None,
        LaneValues::Same(value) => Some(show_value(value)),
        LaneValues::Each(each) => {
            let of = |lane: u32| each.get(lane as usize);
            let values: Vec<_> = (0..32)
                .filter(|lane| lanes >> lane & 1 == 1)
                .map(|lane| match of(lane) {
                    Some(Value::Int(n)) => Some(*n),
                    _ => None,
                })
                .collect();
            Some(show_lanes(&values))
        }
    }
}

fn show_value(value: &Value) -> String {
    match value {
        Value::Unset => "?".to_owned(),
        Value::Int(n) => n.to_string(),
        Value::Opaque(opaque) => match **opaque {
            bcu::Opaque::Barrier(None) => "state(idle)".to_owned(),
            bcu::Opaque::Barrier(Some(live)) => {
                let class = live.red.map_or("plain", names::reduction);
                format!("state({class}, {} of {} threads)", live.arrivals.saturating_mul(32), live.count)
            }
            bcu::Opaque::Unknown(_) => "state".to_owned(),
            bcu::Opaque::Warp(copy) => format!("result({}, {})", names::reduction(copy.op), copy.result),
        },
        Value::Handle(handle) => format!("(barrier {}, {} participants)", handle.id.0, handle.participants),
    }
}

/// Values lane by lane: one number where they agree, the values in braces where they do not.
fn show_lanes(values: &[Option<i64>]) -> String {
    let Some(known) = values.iter().copied().collect::<Option<Vec<i64>>>() else {
        return "?".to_owned();
    };
    let distinct = names::distinct(known);
    match distinct.as_slice() {
        [] => "?".to_owned(),
        [one] => one.to_string(),
        [first, .., last] if *last == first.saturating_add(distinct.len() as i64 - 1) => {
            format!("{{{first}-{last}}}")
        }
        several if several.len() <= 4 => {
            format!("{{{}}}", several.iter().map(i64::to_string).collect::<Vec<_>>().join(","))
        }
        [first, .., last] => format!("{{{first},...,{last}}}"),
    }
}

/// The mnemonic as the user spelt it, a guard left out.
fn mnemonic(written: &str, canonical: &str) -> String {
    let mut words = written.split_whitespace().skip_while(|word| word.starts_with('@'));
    let first = words.next().unwrap_or("").trim_end_matches(';');
    if first.contains('.') { first.to_owned() } else { canonical.to_owned() }
}

/// An expression's value, with `leaf` for what it names; `None` where it has none.
pub(crate) fn evaluate(expr: &Expr, leaf: &dyn Fn(&Expr) -> Option<i64>) -> Option<i64> {
    let of = |expr: &Expr| evaluate(expr, leaf);
    match expr {
        Expr::Int(n) => Some(*n),
        Expr::Agent | Expr::Lane | Expr::Local(_) => leaf(expr),
        Expr::Unary(op, a) => op.apply(of(a)?).ok(),
        Expr::Binary(BinaryOp::LogicalAnd, a, b) => Some(i64::from(of(a)? != 0 && of(b)? != 0)),
        Expr::Binary(BinaryOp::LogicalOr, a, b) => Some(i64::from(of(a)? != 0 || of(b)? != 0)),
        Expr::Binary(op, a, b) => op.apply(of(a)?, of(b)?).ok(),
    }
}

/// The barrier operands of a move whose operands are in range.
pub(crate) fn operands(program: &Program, action: &Action) -> Option<Operands> {
    match action {
        Action::Exit(Some(action)) | Action::Barrier(action) => Some(on_barrier(program, action)),
        Action::Park(parked, _) => Some(ptx_operands(&parked.what)),
        _ => None,
    }
}

fn on_barrier(program: &Program, action: &BarrierAction) -> Operands {
    match action {
        BarrierAction::Ptx(action) => ptx_operands(&action.what),
        BarrierAction::Bcu(bcu::Action::Arrive { what, .. }) => {
            let operation = match what.operation {
                bcu::Operation::Sync => "sync",
                bcu::Operation::Arv => "arrive",
                bcu::Operation::Red(op) => names::reduction(op),
            };
            let all = what.count == 0;
            Operands { all, ..plain(operation, what.id.0, vec![count("threads", 32, what.count)]) }
        }
        BarrierAction::Bcu(bcu::Action::ReadState(id)) => plain("read-state", id.0, Vec::new()),
        BarrierAction::Bcu(bcu::Action::WriteState(id, _)) => plain("write-state", id.0, Vec::new()),
        BarrierAction::Nbarrier(nbarrier::Action::Wait(id)) => plain("wait", id.0, Vec::new()),
        BarrierAction::Nbarrier(nbarrier::Action::Signal(what)) => {
            let counts = if program.target == barcheck_model::program::Target::Xegpu {
                vec![count("subgroups", 1, what.consumers)]
            } else {
                let adds = |yes| u32::from(yes);
                vec![
                    count("producers", adds(what.kind != nbarrier::Kind::Consumer), what.producers),
                    count("consumers", adds(what.kind != nbarrier::Kind::Producer), what.consumers),
                ]
            };
            plain("signal", what.id.0, counts)
        }
        BarrierAction::Split(split) => {
            let operation = match split.kind {
                SplitKind::Arrive => "arrive",
                SplitKind::Wait => return plain("wait", split.barrier.0, Vec::new()),
                SplitKind::Both | SplitKind::MemoryBarrier => "arrive+wait",
            };
            plain(operation, split.barrier.0, vec![count("invocations", 1, split.members)])
        }
    }
}

fn ptx_operands(what: &ptx::Announcement) -> Operands {
    let operation = match what.operation {
        ptx::Operation::Sync => "sync",
        ptx::Operation::Arrive => "arrive",
        ptx::Operation::Red(op) => names::reduction(op),
    };
    Operands { all: what.all, ..plain(operation, what.id.0, vec![count("threads", 32, what.expected)]) }
}

fn plain(operation: &str, barrier: u32, counts: Vec<Count>) -> Operands {
    Operands { operation: operation.to_owned(), barrier, counts, all: false }
}

/// A counter's figures.
pub(crate) fn count(of: &str, arrived: u32, expected: u32) -> Count {
    Count { of: of.to_owned(), arrived, expected }
}

//! States of the model as a trace shows them.

use std::collections::BTreeMap;

use barcheck_model::agent::Fragment as ModelFragment;
use barcheck_model::barrier::BarrierId;
use barcheck_model::barrier::ptx;
use barcheck_model::barrier::split::Workgroup;
use barcheck_model::machine::{AnyBarrier, ExitedThreads, Machine, State};
use barcheck_model::program::{
    AgentId, BcuOp, BcuRedOperands, Expr, NbarrierOp, Op, Pc, Place, Program, Scope, SplitKind, Target,
    WARP_SIZE, XegpuOp,
};

use crate::names;
use crate::trace::{AgentState, Awaits, BarrierState, Count, Doing, Fragment, Location, Status, Waits};
use crate::wording::instruction::{self, count, show_local};

/// A place as the trace writes it.
pub(crate) fn location(place: Place) -> Location {
    Location { line: place.line, column: place.column, length: place.length }
}

/// An instruction as written.
pub(crate) fn written(program: &Program, agent: AgentId, pc: Pc) -> String {
    program.code(agent).texts.get(pc.index()).cloned().unwrap_or_default()
}

/// An agent in a state.
pub(crate) fn agent(machine: &Machine, state: &State, agent: AgentId) -> AgentState {
    let config = machine.config(state, agent);
    let seats = &state.agents[agent.index()].seats;
    let notified = seats.iter().filter(|(_, seat)| seat.notified).map(|(id, _)| id.0).collect();
    let status = if config.fault.is_some() {
        Status::Failed
    } else if config.has_exited() {
        Status::Exited
    } else if config.is_blocked() {
        Status::Blocked
    } else {
        Status::Running
    };
    let parked = config.fragments.iter().find_map(|f| f.parked).map(|p| p.what.id.0);
    let waits = match (config.waiting, parked) {
        (Some(waiting), _) => Some(Waits { barrier: waiting.barrier.0, awaits: Awaits::Agents }),
        (None, Some(barrier)) => Some(Waits { barrier, awaits: Awaits::Lanes }),
        (None, None) => None,
    };
    let pc = config.fault.as_ref().map_or_else(|| machine.stands_at(state, agent), |fault| fault.at);
    let waiting = config.waiting.map(|w| (w.lanes, w.barrier.0));
    let fragments = config.fragments.iter().map(|f| fragment(machine, agent, f, waiting)).collect();
    let exited = status == Status::Exited;
    AgentState {
        agent: agent.0,
        status,
        location: (!exited).then(|| location(machine.place(agent, pc))),
        instruction: if exited { String::new() } else { written(machine.program(), agent, pc) },
        waits,
        notified,
        fragments,
    }
}

/// Lanes of an agent; `waiting` is on which lanes it blocks at which barrier.
fn fragment(machine: &Machine, agent: AgentId, f: &ModelFragment, waiting: Option<(u32, u32)>) -> Fragment {
    let barrier = waiting.map(|(_, barrier)| barrier);
    let doing = if waiting.is_some_and(|(lanes, _)| lanes & f.lanes != 0) {
        Doing::Blocked
    } else if f.parked.is_some() {
        Doing::Parked
    } else if f.join.is_some() {
        Doing::Joining
    } else if f.spins {
        Doing::Spinning
    } else {
        Doing::Running
    };
    let names = &machine.program().code(agent).locals;
    let mut locals = BTreeMap::new();
    for (local, values) in names.iter().zip(&f.locals) {
        if let Some(value) = show_local(values, f.lanes) {
            locals.insert(local.name.clone(), value);
        }
    }
    Fragment {
        lanes: names::lanes(f.lanes),
        location: location(machine.place(agent, f.pc)),
        barrier: match doing {
            Doing::Blocked => barrier,
            _ => f.parked.map(|p| p.what.id.0),
        },
        doing,
        locals,
    }
}

/// A barrier in a state, after `generation` completed generations.
pub(crate) fn barrier(machine: &Machine, state: &State, id: BarrierId, generation: u32) -> BarrierState {
    let seated = |test: fn(barcheck_model::barrier::Seat) -> bool| -> Vec<u32> {
        let agents = machine.agents().filter(|a| test(state.agents[a.index()].seat(id)));
        agents.map(|a| a.0).collect()
    };
    let arrived = seated(|seat| seat.arrived);
    let gathering = gathering(machine, state, id, &arrived);
    let active = gathering.is_some();
    let missing = gathering.as_ref().map_or_else(Vec::new, |now| missing(machine, state, id, now, &arrived));
    let (all, class, counts) =
        gathering.map_or((false, None, Vec::new()), |g| (g.all, Some(g.class), g.counts));
    BarrierState {
        barrier: id.0,
        generation,
        active,
        all,
        class,
        counts,
        waiting: seated(|seat| seat.waiting),
        notified: seated(|seat| seat.notified),
        missing,
        arrived,
    }
}

struct Gathering {
    all: bool,
    class: String,
    counts: Vec<Count>,
}

/// The generation that is gathering, if any.
fn gathering(machine: &Machine, state: &State, id: BarrierId, arrived: &[u32]) -> Option<Gathering> {
    let program = machine.program();
    let exited = machine.agents().filter(|a| machine.config(state, *a).has_exited());
    let class = |red: Option<_>| red.map_or("plain", names::reduction).to_owned();
    match state.barrier(id)? {
        AnyBarrier::Ptx(ptx::Barrier::Idle) => None,
        AnyBarrier::Ptx(ptx::Barrier::Active { expected, all, class: c, arrived: n, .. }) => {
            let outside = exited.filter(|a| !arrived.contains(&a.0)).count();
            let gone = if *all { u32::try_from(outside).unwrap_or(u32::MAX) } else { 0 };
            let expected = expected.saturating_sub(gone.saturating_mul(WARP_SIZE));
            let red = match c {
                ptx::Class::Plain => None,
                ptx::Class::Red(op) => Some(*op),
            };
            Some(Gathering {
                all: *all,
                class: class(red),
                counts: vec![count("threads", n.saturating_mul(WARP_SIZE), expected)],
            })
        }
        AnyBarrier::Bcu(b) => {
            let live = b.live?;
            let all = live.count == 0;
            let warps = program.agents.len().saturating_sub(exited.count());
            let awaited = u32::try_from(warps).unwrap_or(u32::MAX).saturating_mul(WARP_SIZE);
            let expected = if all { awaited } else { live.count };
            let arrived = live.arrivals.saturating_mul(WARP_SIZE);
            Some(Gathering { all, class: class(live.red), counts: vec![count("threads", arrived, expected)] })
        }
        AnyBarrier::Nbarrier(b) => {
            let now = b.gathering?;
            let counts = if program.target == Target::Xegpu {
                vec![count("subgroups", now.consumed, now.consumers)]
            } else {
                vec![
                    count("producers", now.produced, now.producers),
                    count("consumers", now.consumed, now.consumers),
                ]
            };
            Some(Gathering { all: false, class: class(None), counts })
        }
        AnyBarrier::Split(b) => (b.arrived > 0).then(|| Gathering {
            all: false,
            class: class(None),
            counts: vec![count("invocations", b.arrived, workgroup(program).members(id))],
        }),
    }
}

fn workgroup(program: &Program) -> Workgroup {
    Workgroup { invocations: program.threads, subgroup_size: program.subgroup_size.max(1) }
}

/// Agents that have not arrived and could; all that have not, where all are needed.
fn missing(machine: &Machine, state: &State, id: BarrierId, now: &Gathering, arrived: &[u32]) -> Vec<u32> {
    let program = machine.program();
    let released = now.all || machine.options().exited_threads == ExitedThreads::Release;
    let absent: Vec<AgentId> = machine
        .agents()
        .filter(|a| !arrived.contains(&a.0) && is_member(program, *a, id))
        // Whom an exit counts for is not missing.
        .filter(|a| !(released && machine.config(state, *a).has_exited()))
        .collect();
    let unit = if program.target.has_lanes() { WARP_SIZE } else { 1 };
    let needed = now.counts.iter().map(|c| c.expected.saturating_sub(c.arrived)).max().unwrap_or(0) / unit;
    let everybody = absent.len() <= needed as usize;
    absent.into_iter().filter(|a| everybody || may_use(program, *a, id)).map(|a| a.0).collect()
}

/// Whether the agent belongs to those that share the barrier.
fn is_member(program: &Program, agent: AgentId, id: BarrierId) -> bool {
    let group = workgroup(program);
    program.target != Target::SplitBarrier || group.barrier_of(group.scope_of(id), agent) == Ok(id)
}

/// Whether an agent's code names a barrier, as far as can be told without running it.
fn may_use(program: &Program, agent: AgentId, id: BarrierId) -> bool {
    let names = |expr: &Expr| {
        let leaf = |leaf: &Expr| matches!(leaf, Expr::Agent).then(|| i64::from(agent.0));
        instruction::evaluate(expr, &leaf).is_none_or(|n| n == i64::from(id.0))
    };
    let group = workgroup(program);
    program.code(agent).ops.iter().any(|op| match op {
        Op::Ptx(op) => names(&op.id),
        Op::Bcu(BcuOp::Sync { id: operand, .. } | BcuOp::Arv { id: operand, .. }) => {
            operand.register || names(&operand.value)
        }
        Op::Bcu(BcuOp::Red { operands: BcuRedOperands::Separate(operand, _), .. }) => {
            operand.register || names(&operand.value)
        }
        Op::Bcu(BcuOp::Red { .. }) => true,
        Op::Nbarrier(NbarrierOp::SignalAll { id: expr, .. } | NbarrierOp::Signal { id: expr, .. }) => {
            names(expr)
        }
        Op::Xegpu(XegpuOp::Init { id: expr, .. }) => names(expr),
        Op::Split(op) if !matches!(op.kind, SplitKind::MemoryBarrier | SplitKind::Wait) => {
            op.execution != Scope::Device && group.barrier_of(op.execution, agent) == Ok(id)
        }
        _ => false,
    })
}

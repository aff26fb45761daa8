//! States of the model as a trace shows them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use barcheck_model::agent::Fragment as ModelFragment;
use barcheck_model::barrier::{AnyBarrier, BarrierId, mbarrier};
use barcheck_model::machine::{self, ExitedThreads, Machine, State};
use barcheck_model::program::{AgentId, Pc, Place, Program};

use crate::names;
use crate::trace::{AgentState, Awaits, BarrierState, Doing, Fragment, Location, Pending, Status, Waits};
use crate::wording::{self, Gathering, Held, show_local};

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
        pending: state.pending_of(agent).iter().map(|left| pending(machine, left)).collect(),
        fragments,
    }
}

fn pending(machine: &Machine, left: &machine::Pending) -> Pending {
    Pending {
        barrier: left.operation.barrier().0,
        location: location(machine.place(left.agent, left.pc)),
        instruction: written(machine.program(), left.agent, left.pc),
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

/// What a state does not say of a barrier: its past, and who may come to it.
pub(crate) struct Past<'p> {
    /// Generations completed so far.
    pub(crate) generation: u32,
    /// Who has arrived since the latest of them, in order.
    pub(crate) came: &'p [u32],
    /// Whose code may arrive on it.
    pub(crate) users: &'p [u32],
}

/// A barrier in a state.
pub(crate) fn barrier(machine: &Machine, state: &State, id: BarrierId, past: &Past<'_>) -> BarrierState {
    let seated = |test: fn(barcheck_model::barrier::Seat) -> bool| -> Vec<u32> {
        let agents = machine.agents().filter(|a| test(state.agents[a.index()].seat(id)));
        agents.map(|a| a.0).collect()
    };
    // An object counts its arrivals, and does not know whose they are.
    let mut arrived = seated(|seat| seat.arrived);
    if mbarrier::number(id).is_some() && matches!(state.barrier(id), Some(AnyBarrier::Mbarrier(_))) {
        arrived = past.came.to_vec();
    }
    let gathering = wording::gathering(machine, state, id, &arrived);
    let active = gathering.is_some();
    let missing = gathering
        .as_ref()
        .map_or_else(Vec::new, |now| missing(machine, state, (id, past.users), now, &arrived));
    let (all, class, counts) =
        gathering.map_or((false, None, Vec::new()), |g| (g.all, Some(g.class), g.counts));
    BarrierState {
        barrier: id.0,
        generation: past.generation,
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

/// Agents that have not arrived and could: their code names the barrier, or it waits for all that live.
fn missing(
    machine: &Machine,
    state: &State,
    (id, users): (BarrierId, &[u32]),
    now: &Gathering,
    arrived: &[u32],
) -> Vec<u32> {
    let program = machine.program();
    // On an object an exit never counts.
    let is_object = matches!(state.barrier(id), Some(AnyBarrier::Mbarrier(_)));
    let released = now.all || !is_object && machine.options().exited_threads == ExitedThreads::Release;
    machine
        .agents()
        .filter(|a| !arrived.contains(&a.0) && wording::is_member(program, *a, id))
        // Whom an exit counts for is not missing.
        .filter(|a| !(released && machine.config(state, *a).has_exited()))
        .filter(|a| now.all || users.contains(&a.0))
        .map(|a| a.0)
        .collect()
}

/// What the locals of each agent may hold, once that was asked.
pub(crate) type Locals = BTreeMap<AgentId, Option<Arc<Held>>>;

/// Agents whose code may arrive on a barrier.
pub(crate) fn users(program: &Program, id: BarrierId, locals: &mut Locals) -> Vec<u32> {
    let agents = (0..program.agents.len()).map(AgentId::from_index);
    let locals = RefCell::new(locals);
    let held = |agent: AgentId| {
        let mut known = locals.borrow_mut();
        known.entry(agent).or_insert_with(|| Held::of(program, agent).map(Arc::new)).clone()
    };
    let may_use = |agent: &AgentId| wording::agent_may_use(program, *agent, id, &|| held(*agent));
    agents.filter(may_use).map(|agent| agent.0).collect()
}

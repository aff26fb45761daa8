//! `NBARRIER` of vISA, and the named barriers that `xegpu` lowers to.

use super::expr::eval_same;
use super::local::{Point, advance, point};
use super::memory::{self, Access, Parcel, learn};
use super::protocol::*;
use super::state::Barriers as AllBarriers;
use super::state::*;
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Role {
    pub produces: bool,
    pub consumes: bool,
}

/// A barrier whose generation has begun.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Gathering {
    wanted: (i64, i64),
    signalled: BTreeMap<AgentId, Role>,
    parcel: Parcel,
}

impl Gathering {
    fn producers(&self) -> i64 {
        self.signalled.values().filter(|r| r.produces).count() as i64
    }

    fn consumers(&self) -> i64 {
        self.signalled.values().filter(|r| r.consumes).count() as i64
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Barriers {
    active: BTreeMap<i64, Gathering>,
    /// Notifications that an agent has yet to consume, with what they bring.
    pending: BTreeMap<(i64, AgentId), Parcel>,
    /// The role of each agent's latest arrival on each barrier.
    latest: BTreeMap<(i64, AgentId), Role>,
    /// Which barrier a blocked agent waits for.
    waiting: BTreeMap<AgentId, i64>,
}

impl Barriers {
    pub fn forget(&mut self, access: &Access) {
        for barrier in self.active.values_mut() {
            barrier.parcel.forget(access);
        }
        for parcel in self.pending.values_mut() {
            parcel.forget(access);
        }
    }

    pub fn holds_arrivals(&self) -> bool {
        !self.active.is_empty()
    }
}

/// The named barriers of a protocol of either target.
fn named<'a>(world: &'a mut World<'_>) -> &'a mut Barriers {
    match &mut world.state.barriers {
        AllBarriers::Nbarrier(b) => b,
        AllBarriers::Xegpu(x) => &mut x.named,
        _ => unreachable!("no named barriers here"),
    }
}

/// A signal's operands, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signal {
    pub id: i64,
    pub role: Role,
    pub wanted: (i64, i64),
}

fn request(code: &Code<'_>, own: AgentId, fragment: &Fragment, instr: &Instr) -> Flow<Option<Signal>> {
    let value = |expr: &Expr| eval_same(code, own, fragment, expr);
    let (id, kind, producers, consumers) = match instr {
        Instr::SignalAll { id, threads } => {
            let (id, threads) = (value(id)?, value(threads)?);
            (id, 0, threads, threads)
        }
        Instr::Signal { id, kind, producers, consumers } => {
            (value(id)?, value(kind)?, value(producers)?, value(consumers)?)
        }
        _ => return Ok(None),
    };
    if !(0..32).contains(&id) {
        return Err(Halt::Rule("barrier-id-range"));
    }
    if !(0..=2).contains(&kind) {
        return Err(Halt::Rule("type-range"));
    }
    let sizes = 1..=code.protocol.size;
    if !sizes.contains(&producers) || !sizes.contains(&consumers) {
        return Err(Halt::Rule("count-range"));
    }
    Ok(Some(Signal {
        id,
        role: Role { produces: kind != 2, consumes: kind != 1 },
        wanted: (producers, consumers),
    }))
}

pub fn execute(world: &mut World<'_>, who: Who, instr: &Instr) -> Flow<()> {
    if let Some(signal) = request(world.code, who.agent, world.see(who), instr)? {
        return arrive(world, who, signal);
    }
    match instr {
        Instr::Wait { id } => {
            let id = eval_same(world.code, who.agent, world.see(who), id)?;
            if !(0..32).contains(&id) {
                return Err(Halt::Rule("barrier-id-range"));
            }
            wait(world, who, id)
        }
        Instr::Fence(space) => {
            memory::fence(world, who.agent, *space);
            advance(world.fragment(who));
            Ok(())
        }
        other => unreachable!("not an instruction of nbarrier: {other:?}"),
    }
}

fn check_against(barriers: &Barriers, agent: AgentId, signal: Signal) -> Flow<()> {
    let Some(active) = barriers.active.get(&signal.id) else {
        return Ok(());
    };
    if active.wanted != signal.wanted {
        return Err(Halt::Rule("count-mismatch"));
    }
    if active.signalled.contains_key(&agent) {
        return Err(Halt::Rule("repeated-arrival"));
    }
    let producers = active.producers() + i64::from(signal.role.produces);
    let consumers = active.consumers() + i64::from(signal.role.consumes);
    if producers > active.wanted.0 || consumers > active.wanted.1 {
        return Err(Halt::Rule("too-many-participants"));
    }
    Ok(())
}

/// A signal of a named barrier.
pub fn arrive(world: &mut World<'_>, who: Who, signal: Signal) -> Flow<()> {
    let agent = who.agent;
    check_against(named(world), agent, signal)?;
    if named(world).pending.keys().any(|(id, _)| *id == signal.id) {
        world.note("reuse-before-free");
    }
    let knows = world.state.memory.agents[agent].known.clone();
    let barriers = named(world);
    barriers.latest.insert((signal.id, agent), signal.role);
    let active = barriers.active.entry(signal.id).or_insert(Gathering {
        wanted: signal.wanted,
        signalled: BTreeMap::new(),
        parcel: Parcel::default(),
    });
    active.signalled.insert(agent, signal.role);
    active.parcel.add(&knows);
    let full = (active.producers(), active.consumers()) == active.wanted;
    advance(world.fragment(who));
    if full { complete(world, signal.id) } else { Ok(()) }
}

fn complete(world: &mut World<'_>, id: i64) -> Flow<()> {
    let done = named(world).active.remove(&id).expect("it is full");
    for (&agent, role) in &done.signalled {
        if !role.consumes {
            continue;
        }
        if named(world).waiting.get(&agent) == Some(&id) {
            named(world).waiting.remove(&agent);
            learn(world, agent, &done.parcel);
            let fragment = world.fragment(Who { agent, fragment: 0 });
            fragment.status = Status::Running;
            advance(fragment);
            continue;
        }
        let pending = &mut named(world).pending;
        if pending.insert((id, agent), done.parcel.clone()).is_some() {
            return Err(Halt::Rule("lost-notification"));
        }
    }
    Ok(())
}

/// A wait on a named barrier.
pub fn wait(world: &mut World<'_>, who: Who, id: i64) -> Flow<()> {
    let agent = who.agent;
    let may_lack_consumers = world.protocol().target == Target::Nbarrier;
    let barriers = named(world);
    if let Some(parcel) = barriers.pending.remove(&(id, agent)) {
        learn(world, agent, &parcel);
        advance(world.fragment(who));
        return Ok(());
    }
    let outstanding = barriers
        .active
        .get(&id)
        .and_then(|active| active.signalled.get(&agent))
        .is_some_and(|role| role.consumes);
    if outstanding {
        barriers.waiting.insert(agent, id);
        world.fragment(who).status = Status::Waiting;
        return Ok(());
    }
    match barriers.latest.get(&(id, agent)) {
        Some(role) if !role.consumes && may_lack_consumers => Err(Halt::Rule("producer-waits")),
        _ => Err(Halt::Rule("wait-without-arrive")),
    }
}

/// An agent that leaves between its arrival as a consumer and its wait is worth a note.
pub fn after_exit(world: &mut World<'_>, agent: AgentId) {
    let barriers = named(world);
    let notified = barriers.pending.keys().any(|(_, a)| *a == agent);
    let arrived =
        barriers.active.values().any(|active| active.signalled.get(&agent).is_some_and(|r| r.consumes));
    barriers.latest.retain(|(_, a), _| *a != agent);
    if notified || arrived {
        world.note("missing-wait");
    }
}

/// Whether more agents stand at a signal than a generation has room for.
pub fn arrival_race(world: &World<'_>) -> bool {
    let code = world.code;
    let barriers = match &world.state.barriers {
        AllBarriers::Nbarrier(b) => b,
        AllBarriers::Xegpu(x) => &x.named,
        _ => unreachable!("no named barriers here"),
    };
    let mut standing: BTreeMap<(i64, (i64, i64)), Vec<Role>> = BTreeMap::new();
    for (own, agent) in world.state.agents.iter().enumerate() {
        let Some(fragment) = agent.fragments.first() else {
            continue;
        };
        if fragment.status != Status::Running {
            continue;
        }
        if let Point::At(stmt) = point(code, fragment)
            && let Kind::Instr(instr) = &stmt.kind
            && let Some(signal) = signal_of(code, own, fragment, instr)
        {
            let key = (signal.id, signal.wanted);
            standing.entry(key).or_default().push(signal.role);
        }
    }
    standing.iter().any(|((id, wanted), roles)| {
        let (producers, consumers) = match barriers.active.get(id) {
            Some(active) if active.wanted != *wanted => return false,
            Some(active) => (wanted.0 - active.producers(), wanted.1 - active.consumers()),
            None => *wanted,
        };
        let count = |test: fn(&Role) -> bool| roles.iter().filter(|r| test(r)).count() as i64;
        count(|r| r.produces) > producers || count(|r| r.consumes) > consumers
    })
}

fn signal_of(code: &Code<'_>, own: AgentId, fragment: &Fragment, instr: &Instr) -> Option<Signal> {
    match instr {
        Instr::HandleArrive(handle) => super::xegpu::signal(own, fragment, handle).ok(),
        Instr::SignalAll { .. } | Instr::Signal { .. } => request(code, own, fragment, instr).ok().flatten(),
        _ => None,
    }
}

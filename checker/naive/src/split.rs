//! `OpControlBarrierArriveINTEL`, `OpControlBarrierWaitINTEL` and the barriers they split.

use super::local::advance;
use super::memory::{Access, Facts};
use super::protocol::*;
use super::state::Barriers as AllBarriers;
use super::state::*;
use std::collections::{BTreeMap, BTreeSet};

/// The invocations that one barrier is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Instance {
    Workgroup,
    Subgroup(i64),
    Invocation(AgentId),
}

/// A dynamic instance of an instruction: the statement, and for each enclosing loop its iteration
/// since the agent's last arrive at this scope (or since it entered the loop).
pub type Dynamic = (StmtId, Vec<(StmtId, u64)>);

/// One meeting of a scope's agents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Generation {
    arrived: BTreeSet<AgentId>,
    /// Who has yet to pass its wait.
    outstanding: BTreeSet<AgentId>,
    waiting: BTreeSet<AgentId>,
    arrives_from: Option<Dynamic>,
    waits_from: Option<Dynamic>,
    time: Facts,
    /// Accesses that an arrive released, by whom, and to which scope.
    carried: BTreeSet<(Access, AgentId, Scope)>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Barriers {
    /// The generation that gathers.
    gathering: BTreeMap<Instance, Generation>,
    /// The last complete generation, as long as somebody has yet to wait for it.
    complete: BTreeMap<Instance, Generation>,
}

impl Barriers {
    pub fn forget(&mut self, access: &Access) {
        for generation in self.gathering.values_mut().chain(self.complete.values_mut()) {
            generation.time.remove(access);
            generation.carried.retain(|(a, _, _)| a != access);
        }
    }
}

fn barriers<'a>(world: &'a mut World<'_>) -> &'a mut Barriers {
    match &mut world.state.barriers {
        AllBarriers::Split(b) => b,
        _ => unreachable!("a split_barrier protocol has split barriers"),
    }
}

fn subgroup(protocol: &Protocol, agent: AgentId) -> i64 {
    agent as i64 / protocol.subgroup_size.unwrap_or(protocol.size)
}

fn instance(protocol: &Protocol, scope: Scope, agent: AgentId) -> Flow<Instance> {
    match scope {
        Scope::Device => Err(Halt::NotModelled("Device as execution scope")),
        Scope::Workgroup => Ok(Instance::Workgroup),
        Scope::Subgroup => Ok(Instance::Subgroup(subgroup(protocol, agent))),
        Scope::Invocation => Ok(Instance::Invocation(agent)),
    }
}

fn members(protocol: &Protocol, instance: Instance) -> BTreeSet<AgentId> {
    (0..protocol.agents())
        .filter(|&agent| match instance {
            Instance::Workgroup => true,
            Instance::Subgroup(n) => subgroup(protocol, agent) == n,
            Instance::Invocation(a) => a == agent,
        })
        .collect()
}

/// Whether a memory scope, as seen from one of two agents, contains both.
fn contains(protocol: &Protocol, scope: Scope, a: AgentId, b: AgentId) -> bool {
    match scope {
        Scope::Device | Scope::Workgroup => true,
        Scope::Subgroup => subgroup(protocol, a) == subgroup(protocol, b),
        Scope::Invocation => a == b,
    }
}

fn releases(semantics: &Semantics) -> bool {
    matches!(semantics.order, Some(Order::Release | Order::AcquireRelease | Order::SequentiallyConsistent))
}

fn acquires(semantics: &Semantics) -> bool {
    matches!(semantics.order, Some(Order::Acquire | Order::AcquireRelease | Order::SequentiallyConsistent))
}

fn covers(protocol: &Protocol, semantics: &Semantics, access: &Access) -> bool {
    match protocol.arrays[access.location.array].space {
        Space::Shared => semantics.workgroup_memory,
        Space::Global => semantics.cross_workgroup_memory,
    }
}

/// The operands that an instruction shares with an OpMemoryBarrier.
#[derive(Clone, Copy)]
struct Effects<'a> {
    memory: Scope,
    semantics: &'a Semantics,
}

pub fn execute(world: &mut World<'_>, who: Who, stmt: &Stmt, instr: &Instr) -> Flow<()> {
    match instr {
        Instr::SplitArrive { scope, memory, semantics } => {
            let effects = Effects { memory: *memory, semantics };
            let at = instance(world.protocol(), *scope, who.agent)?;
            let dynamic = dynamic(world, who, *scope, stmt);
            arrive(world, who, at, *scope, &dynamic, effects)?;
            advance(world.fragment(who));
            complete_if_due(world, at);
            Ok(())
        }
        Instr::SplitWait { scope, .. } => {
            let at = instance(world.protocol(), *scope, who.agent)?;
            let dynamic = dynamic(world, who, *scope, stmt);
            wait(world, who, at, &dynamic)
        }
        Instr::ControlBarrier { scope, memory, semantics } => {
            let effects = Effects { memory: *memory, semantics };
            let at = instance(world.protocol(), *scope, who.agent)?;
            let dynamic = dynamic(world, who, *scope, stmt);
            arrive(world, who, at, *scope, &dynamic, effects)?;
            complete_if_due(world, at);
            wait(world, who, at, &dynamic)
        }
        Instr::MemoryBarrier { memory, semantics } => {
            memory_barrier(world, who.agent, Effects { memory: *memory, semantics });
            advance(world.fragment(who));
            Ok(())
        }
        other => unreachable!("not an instruction of split_barrier: {other:?}"),
    }
}

/// The dynamic instance in which an agent executes a statement.
fn dynamic(world: &World<'_>, who: Who, scope: Scope, stmt: &Stmt) -> Dynamic {
    let agent = &world.state.agents[who.agent];
    let mut loops = Vec::new();
    for frame in &agent.fragments[who.fragment].stack {
        if let Frame::Loop { stmt, .. } = frame {
            // An invocation by itself meets nobody, so nothing is counted for it.
            let count = agent.iterations.get(&(scope, *stmt)).unwrap_or(&0);
            loops.push((*stmt, *count));
        }
    }
    (stmt.id, loops)
}

/// What different dynamic instances in one meeting mean.
fn check_instance(at: Instance, before: Option<&Dynamic>, now: &Dynamic) -> Flow<()> {
    match (before, at) {
        (Some(before), Instance::Workgroup) if before != now => Err(Halt::Rule("nonuniform-barrier")),
        (Some(before), _) if before != now => {
            Err(Halt::NotModelled("a subgroup meets from different dynamic instances"))
        }
        _ => Ok(()),
    }
}

/// The last complete generation, if the agent has yet to wait for it.
fn owes_complete(barriers: &Barriers, at: Instance, agent: AgentId) -> bool {
    let generation = barriers.complete.get(&at);
    generation.is_some_and(|g| g.outstanding.contains(&agent))
}

fn owes_gathering(barriers: &Barriers, at: Instance, agent: AgentId) -> bool {
    let generation = barriers.gathering.get(&at);
    generation.is_some_and(|g| g.outstanding.contains(&agent))
}

fn arrive(
    world: &mut World<'_>,
    who: Who,
    at: Instance,
    scope: Scope,
    dynamic: &Dynamic,
    effects: Effects<'_>,
) -> Flow<()> {
    let agent = who.agent;
    if owes_complete(barriers(world), at, agent) || owes_gathering(barriers(world), at, agent) {
        return Err(Halt::Rule("repeated-arrival"));
    }
    let before = barriers(world).gathering.get(&at).and_then(|g| g.arrives_from.clone());
    check_instance(at, before.as_ref(), dynamic)?;

    let protocol = world.protocol();
    let knowledge = world.state.memory.agents[agent].clone();
    let generation = barriers(world).gathering.entry(at).or_default();
    generation.arrived.insert(agent);
    generation.outstanding.insert(agent);
    generation.arrives_from = Some(dynamic.clone());
    generation.time.extend(&knowledge.known.time);
    for (access, scope) in &knowledge.released {
        generation.carried.insert((*access, agent, *scope));
    }
    if releases(effects.semantics) {
        for access in &knowledge.known.memory {
            if covers(protocol, effects.semantics, access) {
                generation.carried.insert((*access, agent, effects.memory));
            }
        }
    }
    for ((of, _), count) in &mut world.agent(agent).iterations {
        if *of == scope {
            *count = 0;
        }
    }
    Ok(())
}

fn complete_if_due(world: &mut World<'_>, at: Instance) {
    let members = members(world.protocol(), at);
    let Some(generation) = barriers(world).gathering.get(&at) else {
        return;
    };
    if generation.arrived != members {
        return;
    }
    let mut generation = barriers(world).gathering.remove(&at).expect("it is there");
    for agent in std::mem::take(&mut generation.waiting) {
        generation.outstanding.remove(&agent);
        finish_wait(world, agent, &generation);
    }
    keep_complete(world, at, generation);
}

fn keep_complete(world: &mut World<'_>, at: Instance, generation: Generation) {
    if generation.outstanding.is_empty() {
        barriers(world).complete.remove(&at);
    } else {
        barriers(world).complete.insert(at, generation);
    }
}

fn wait(world: &mut World<'_>, who: Who, at: Instance, dynamic: &Dynamic) -> Flow<()> {
    let agent = who.agent;
    if owes_complete(barriers(world), at, agent) {
        let mut generation = barriers(world).complete.remove(&at).expect("it is there");
        check_instance(at, generation.waits_from.as_ref(), dynamic)?;
        generation.waits_from = Some(dynamic.clone());
        generation.outstanding.remove(&agent);
        finish_wait(world, agent, &generation);
        keep_complete(world, at, generation);
        return Ok(());
    }
    if !owes_gathering(barriers(world), at, agent) {
        return Err(Halt::Rule("wait-without-arrive"));
    }
    let generation = barriers(world).gathering.get_mut(&at).expect("it is there");
    check_instance(at, generation.waits_from.as_ref(), dynamic)?;
    generation.waits_from = Some(dynamic.clone());
    generation.waiting.insert(agent);
    world.fragment(who).status = Status::Waiting;
    Ok(())
}

/// The agent goes on behind its wait, with what the generation brings it.
fn finish_wait(world: &mut World<'_>, agent: AgentId, generation: &Generation) {
    let code = world.code;
    let protocol = world.protocol();
    let who = Who { agent, fragment: 0 };
    let super::local::Point::At(stmt) = super::local::point(code, world.see(who)) else {
        unreachable!("at its wait");
    };
    let (Kind::Instr(
        Instr::SplitWait { memory, semantics, .. } | Instr::ControlBarrier { memory, semantics, .. },
    ),) = (&stmt.kind,)
    else {
        unreachable!("at its wait");
    };
    let knowledge = &mut world.state.memory.agents[agent];
    knowledge.known.time.extend(&generation.time);
    knowledge.received.extend(&generation.carried);
    if acquires(semantics) {
        for (access, from, scope) in &generation.carried {
            if covers(protocol, semantics, access)
                && contains(protocol, *scope, *from, agent)
                && contains(protocol, *memory, *from, agent)
            {
                knowledge.known.memory.insert(*access);
            }
        }
    }
    let fragment = world.fragment(who);
    fragment.status = Status::Running;
    advance(fragment);
}

fn memory_barrier(world: &mut World<'_>, agent: AgentId, effects: Effects<'_>) {
    let protocol = world.protocol();
    let knowledge = &mut world.state.memory.agents[agent];
    let covered = |access: &Access| covers(protocol, effects.semantics, access);
    // Acquire first: what one barrier acquires, it also releases if it has both halves.
    if acquires(effects.semantics) {
        for (access, from, scope) in &knowledge.received {
            if covered(access)
                && contains(protocol, *scope, *from, agent)
                && contains(protocol, effects.memory, *from, agent)
            {
                knowledge.known.memory.insert(*access);
            }
        }
    }
    if releases(effects.semantics) {
        for access in &knowledge.known.memory {
            if covered(access) {
                knowledge.released.insert((*access, effects.memory));
            }
        }
    }
}

/// An agent that leaves between its arrive and its wait is in error.
pub fn after_exit(world: &mut World<'_>, agent: AgentId) {
    let barriers = barriers(world);
    let owing =
        barriers.gathering.values().chain(barriers.complete.values()).any(|g| g.outstanding.contains(&agent));
    if owing {
        world.note("missing-wait");
    }
    world.agent(agent).iterations.clear();
}

/// The scopes at which a loop's body can meet others.
fn scopes(stmt: &Stmt) -> Vec<Scope> {
    let mut scopes = vec![Scope::Workgroup, Scope::Subgroup];
    scopes.retain(|scope| stmt.any(&|s| executes_at(s) == Some(*scope)));
    scopes
}

fn executes_at(stmt: &Stmt) -> Option<Scope> {
    match &stmt.kind {
        Kind::Instr(
            Instr::SplitArrive { scope, .. }
            | Instr::SplitWait { scope, .. }
            | Instr::ControlBarrier { scope, .. },
        ) => Some(*scope),
        _ => None,
    }
}

/// Begins to count a loop's iterations, as far as an instruction inside it asks for them.
pub fn loop_entered(code: &Code<'_>, agent: &mut Agent, stmt: &Stmt) {
    if code.protocol.target == Target::Split {
        for scope in scopes(stmt) {
            agent.iterations.insert((scope, stmt.id), 0);
        }
    }
}

pub fn loop_repeated(agent: &mut Agent, stmt: StmtId) {
    for ((_, of), count) in &mut agent.iterations {
        if *of == stmt {
            *count += 1;
        }
    }
}

pub fn loop_left(agent: &mut Agent, stmt: StmtId) {
    agent.iterations.retain(|(_, of), _| *of != stmt);
}

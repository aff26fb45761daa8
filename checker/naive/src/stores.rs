//! Copies out of shared memory by the asynchronous proxy, the groups in which they are waited for, and the
//! fence between the proxies: `ptx`.

use super::expr::eval_lanes;
use super::initialised::is_of_object;
use super::local::advance;
use super::memory::{Access, Location, Memory, replace};
use super::protocol::*;
use super::state::{AgentId, Flow, Halt, Lane, Who, World};
use std::collections::BTreeSet;

/// More newer groups than any wait of these tests leaves out.
const MOST: i64 = 3;

/// The read by a copy of which no wait has said that it is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OpenRead {
    pub location: Location,
    agent: AgentId,
    /// Groups belong to the lane that makes them.
    lane: Lane,
    /// How many groups its lane has made after its own, up to some number; none if it is in no group yet.
    newer: Option<i64>,
}

/// An instruction about copies out of shared memory.
#[derive(Clone, Debug, PartialEq)]
pub enum Store {
    /// A copy that reads a location at some time after it is issued.
    Read { array: usize, index: Option<Expr>, spelling: Spelling },
    /// What is in no group yet becomes one, which may be empty.
    Commit,
    /// Goes on when all groups but so many of the newest are over.
    Wait { but: i64, of_reading: bool },
    /// `fence.proxy.async`, for all locations or those of a window.
    Fence(Option<Window>),
}

/// The ways to write a copy out of shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    Short,
    Whole,
    Tensor,
    Reduction,
    Sized,
}

/// Which locations a fence is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// The shared memory of the own CTA.
    Own,
    /// The shared memory of all CTAs.
    Cluster,
    Global,
}

pub fn execute(world: &mut World<'_>, who: Who, store: &Store) -> Flow<()> {
    match store {
        Store::Read { array, index, .. } => read(world, who, *array, index.as_ref())?,
        Store::Commit => commit(world, who),
        Store::Wait { but, .. } => wait(world, who, *but),
        Store::Fence(window) => fence(world, who, *window),
    }
    advance(world.fragment(who));
    Ok(())
}

fn read(world: &mut World<'_>, who: Who, array: usize, index: Option<&Expr>) -> Flow<()> {
    let Array { len, space, .. } = world.protocol().arrays[array];
    let cta = if space == Space::Global { 0 } else { world.protocol().cta_of(who.agent) };
    let zero = Expr::Int(0);
    let indices = eval_lanes(world.code, who.agent, world.see(who), index.unwrap_or(&zero))?;
    for (_, index) in &indices {
        if !(0..len.unwrap_or(1)).contains(index) {
            return Err(Halt::EvalError("index outside its array".into()));
        }
    }
    for (lane, index) in indices {
        let location = Location { cta, array, index };
        check(world, who.agent, location);
        let read = OpenRead { location, agent: who.agent, lane, newer: None };
        world.state.memory.open.insert(read);
    }
    Ok(())
}

/// Every write must have happened before, in time and in memory, and a generic one needs a fence.
fn check(world: &mut World<'_>, agent: AgentId, location: Location) {
    let mut found = BTreeSet::new();
    let known = &world.state.memory.agents[agent].known;
    for earlier in world.state.memory.latest.iter().filter(|earlier| earlier.location == location) {
        if matches!(earlier.kind, AccessKind::Read | AccessKind::Source) {
            continue;
        }
        if !known.time.contains(earlier) {
            found.insert("data-race");
        } else if !known.memory.contains(earlier) {
            found.insert("missing-fence");
        }
    }
    world.notes.extend(found);
    check_proxies(world, agent, location);
}

fn is_generic(kind: AccessKind) -> bool {
    matches!(kind, AccessKind::Write | AccessKind::Atomic | AccessKind::Fill)
}

/// A copy reads or writes what the agent knows to be written by threads: that needs a fence in between.
pub fn check_proxies(world: &mut World<'_>, agent: AgentId, location: Location) {
    let Memory { latest, agents, .. } = &world.state.memory;
    let known = &agents[agent].known;
    let lacks = |earlier: &Access| {
        let is_known = known.time.contains(earlier) && known.memory.contains(earlier);
        is_generic(earlier.kind) && is_known && !known.fenced.contains(earlier)
    };
    if latest.iter().any(|earlier| earlier.location == location && lacks(earlier)) {
        world.note("missing-fence");
    }
}

fn commit(world: &mut World<'_>, who: Who) {
    let lanes = world.see(who).lane_set();
    let grown = world.state.memory.open.iter().map(|read| {
        let own = read.agent == who.agent && lanes.contains(&read.lane);
        let newer = match read.newer {
            None => 0,
            Some(n) => MOST.min(n + 1),
        };
        if own { OpenRead { newer: Some(newer), ..*read } } else { *read }
    });
    world.state.memory.open = grown.collect();
}

fn wait(world: &mut World<'_>, who: Who, but: i64) {
    assert!(but <= MOST, "ages are told apart up to a number");
    let lanes = world.see(who).lane_set();
    let is_over = |read: &OpenRead| {
        let own = read.agent == who.agent && lanes.contains(&read.lane);
        own && read.newer.is_some_and(|newer| newer >= but)
    };
    let (over, open): (BTreeSet<_>, BTreeSet<_>) =
        world.state.memory.open.iter().copied().partition(|read| is_over(read));
    world.state.memory.open = open;
    for read in over {
        replace(world, who.agent, AccessKind::Read, read.location);
    }
}

fn fence(world: &mut World<'_>, who: Who, window: Option<Window>) {
    let protocol = world.protocol();
    let own = protocol.cta_of(who.agent);
    let memory = &mut world.state.memory;
    let known = &mut memory.agents[who.agent].known;
    for access in &memory.latest {
        if is_of_object(protocol, access.location) {
            continue;
        }
        let space = protocol.arrays[access.location.array].space;
        let covered = match window {
            None => true,
            Some(Window::Own) => space == Space::Shared && access.location.cta == own,
            Some(Window::Cluster) => space == Space::Shared,
            Some(Window::Global) => space == Space::Global,
        };
        if covered && is_generic(access.kind) && known.memory.contains(access) {
            known.fenced.insert(*access);
        }
    }
}

/// Whether reads by copies of a CTA's own agents may not be over.
pub fn left_open(world: &World<'_>, cta: usize) -> bool {
    world.state.memory.open.iter().any(|read| world.protocol().cta_of(read.agent) == cta)
}

impl Store {
    /// The instruction as text, with the location as it is written.
    pub fn text(&self, place: impl Fn(usize, Option<&Expr>) -> String) -> String {
        match self {
            Store::Read { array, index, spelling } => {
                let place = place(*array, index.as_ref());
                match spelling {
                    Spelling::Short => format!("cp.async.bulk.global {place}"),
                    Spelling::Whole => format!("cp.async.bulk.global.shared::cta.bulk_group {place}"),
                    Spelling::Tensor => format!("cp.async.bulk.tensor.global {place}"),
                    Spelling::Reduction => format!("cp.reduce.async.bulk.global {place}"),
                    Spelling::Sized => format!("cp.async.bulk.global {place}, 64"),
                }
            }
            Store::Commit => "cp.async.bulk.commit_group".into(),
            Store::Wait { but, of_reading } => {
                let read = if *of_reading { ".read" } else { "" };
                format!("cp.async.bulk.wait_group{read} {but}")
            }
            Store::Fence(window) => {
                let window = match window {
                    None => "",
                    Some(Window::Own) => ".shared::cta",
                    Some(Window::Cluster) => ".shared::cluster",
                    Some(Window::Global) => ".global",
                };
                format!("fence.proxy.async{window}")
            }
        }
    }
}

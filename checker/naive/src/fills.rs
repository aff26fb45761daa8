//! Copies into shared memory by `cp.async`, and the groups in which their lanes wait for them: `ptx`.
//!
//! Such a copy writes at some time between its issue and the moment that its lane has waited for it. Until
//! then nobody knows of the write, not even its own agent.

use super::expr::eval_lanes;
use super::local::advance;
use super::mbarrier::ObjectId;
use super::memory::{self, Access, Location};
use super::protocol::*;
use super::state::{AgentId, Flow, Halt, Lane, Who, World};
use std::collections::BTreeSet;

/// More newer groups than any wait of these tests leaves out.
const MOST: i64 = 3;

/// The newest copy of a lane to a location, for which the lane has not waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OpenFill {
    pub location: Location,
    pub agent: AgentId,
    /// Groups belong to the lane that makes them.
    lane: Lane,
    /// How many groups its lane has made after its own, up to some number; none if it is in no group yet.
    newer: Option<i64>,
    /// On which object the lane has arrived last since: when it is over.
    toward: Option<ObjectId>,
}

/// An instruction about copies by `cp.async`.
#[derive(Clone, Debug, PartialEq)]
pub enum Fill {
    /// A copy that writes a location of the own CTA at some time after it is issued.
    Begin { array: usize, index: Option<Expr>, written: Written },
    /// What is in no group yet becomes one, which may be empty.
    Commit,
    /// Goes on when all groups but so many of the newest are over.
    Wait(i64),
    /// Goes on when all copies are over, in a group or not.
    WaitAll,
}

/// The ways to write such a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    Short,
    CacheAll,
    CacheGlobal,
    Sized,
}

pub fn execute(world: &mut World<'_>, who: Who, fill: &Fill) -> Flow<()> {
    match fill {
        Fill::Begin { array, index, .. } => begin(world, who, *array, index.as_ref())?,
        Fill::Commit => commit(world, who),
        Fill::Wait(but) => {
            assert!(*but <= MOST, "ages are told apart up to a number");
            wait(world, who, |fill| fill.newer.is_some_and(|newer| newer >= *but));
        }
        Fill::WaitAll => wait(world, who, |_| true),
    }
    advance(world.fragment(who));
    Ok(())
}

fn begin(world: &mut World<'_>, who: Who, array: usize, index: Option<&Expr>) -> Flow<()> {
    let Array { len, space, .. } = world.protocol().arrays[array];
    assert_eq!(space, Space::Shared, "others are refused when a protocol is read");
    let cta = world.protocol().cta_of(who.agent);
    let zero = Expr::Int(0);
    let indices = eval_lanes(world.code, who.agent, world.see(who), index.unwrap_or(&zero))?;
    if indices.iter().any(|(_, index)| !(0..len.unwrap_or(1)).contains(index)) {
        return Err(Halt::EvalError("index outside its array".into()));
    }
    let places: Vec<_> =
        indices.into_iter().map(|(lane, index)| (lane, Location { cta, array, index })).collect();
    let locations: BTreeSet<Location> = places.iter().map(|(_, location)| *location).collect();
    memory::access(world, who.agent, AccessKind::Fill, &locations);
    let open = &mut world.state.memory.fills;
    for (lane, location) in places {
        let is_older = |old: &OpenFill| (old.agent, old.lane, old.location) == (who.agent, lane, location);
        open.retain(|old| !is_older(old));
        open.insert(OpenFill { location, agent: who.agent, lane, newer: None, toward: None });
    }
    Ok(())
}

fn commit(world: &mut World<'_>, who: Who) {
    let lanes = world.see(who).lane_set();
    let grown = world.state.memory.fills.iter().map(|fill| {
        let own = fill.agent == who.agent && lanes.contains(&fill.lane);
        let newer = fill.newer.map_or(0, |n| MOST.min(n + 1));
        if own { OpenFill { newer: Some(newer), ..*fill } } else { *fill }
    });
    world.state.memory.fills = grown.collect();
}

/// The agent knows of a write once no lane of it has a copy to the location that may still go on.
fn wait(world: &mut World<'_>, who: Who, is_over: impl Fn(&OpenFill) -> bool) {
    let lanes = world.see(who).lane_set();
    let memory = &mut world.state.memory;
    let (over, open): (BTreeSet<OpenFill>, BTreeSet<OpenFill>) = memory
        .fills
        .iter()
        .partition(|fill| fill.agent == who.agent && lanes.contains(&fill.lane) && is_over(fill));
    for OpenFill { location, agent, .. } in over {
        if open.iter().any(|fill| (fill.location, fill.agent) == (location, agent)) {
            continue;
        }
        let written = Access::new(location, AccessKind::Fill, agent);
        if !memory.latest.contains(&written) {
            continue;
        }
        let known = &mut memory.agents[agent].known;
        known.time.insert(written);
        known.memory.insert(written);
    }
    memory.fills = open;
}

/// The lanes of a fragment are about to arrive on an object when all that they have copied is over. The
/// writes of which that says that they are over: those to locations to which no other lane of the agent
/// copies, or only lanes that have arrived on the same object.
pub fn cover(world: &mut World<'_>, who: Who, object: ObjectId) -> BTreeSet<Access> {
    let lanes = world.see(who).lane_set();
    let memory = &mut world.state.memory;
    let is_own = |fill: &OpenFill| fill.agent == who.agent;
    let arrives = |fill: &OpenFill| is_own(fill) && lanes.contains(&fill.lane);
    let is_left = |at: Location| {
        let mut others = memory.fills.iter().filter(|f| is_own(f) && f.location == at && !arrives(f));
        others.any(|fill| fill.toward != Some(object))
    };
    let locations: BTreeSet<Location> =
        memory.fills.iter().filter(|f| arrives(f)).map(|f| f.location).collect();
    let covered = locations.into_iter().filter(|at| !is_left(*at));
    let written = covered.map(|at| Access::new(at, AccessKind::Fill, who.agent));
    // Whoever has written there since has raced with it.
    let written = written.filter(|access| memory.latest.contains(access)).collect();
    let turned = memory
        .fills
        .iter()
        .map(|fill| if arrives(fill) { OpenFill { toward: Some(object), ..*fill } } else { *fill });
    memory.fills = turned.collect();
    written
}

impl Fill {
    /// The instruction as text, with the location as it is written.
    pub fn text(&self, place: impl Fn(usize, Option<&Expr>) -> String) -> String {
        match self {
            Fill::Begin { array, index, written } => {
                let place = place(*array, index.as_ref());
                match written {
                    Written::Short => format!("cp.async {place}"),
                    Written::CacheAll => format!("cp.async.ca.shared.global {place}"),
                    Written::CacheGlobal => format!("cp.async.cg.shared.global {place}"),
                    Written::Sized => format!("cp.async {place}, 16"),
                }
            }
            Fill::Commit => "cp.async.commit_group".into(),
            Fill::Wait(but) => format!("cp.async.wait_group {but}"),
            Fill::WaitAll => "cp.async.wait_all".into(),
        }
    }
}

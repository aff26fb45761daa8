//! What each agent knows of the accesses to each location: in time, in memory, and of which writes it knows
//! that a fence between the proxies has come after them.

use super::fills::OpenFill;
use super::protocol::*;
use super::state::{AgentId, Barriers, State, World};
use super::stores::OpenRead;
use std::collections::BTreeSet;
use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Location {
    /// 0 for a location that belongs to all CTAs.
    pub cta: usize,
    pub array: usize,
    pub index: i64,
}

/// An agent's latest access of a kind to a location, or one of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Access {
    pub location: Location,
    pub kind: AccessKind,
    pub agent: AgentId,
    /// Tells apart those of which a later one does not replace an earlier one.
    pub serial: usize,
}

impl Access {
    pub fn new(location: Location, kind: AccessKind, agent: AgentId) -> Self {
        Access { location, kind, agent, serial: 0 }
    }
}

pub type Facts = BTreeSet<Access>;

/// What an arrival brings along.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Parcel {
    pub time: Facts,
    pub memory: Facts,
    /// The generic writes after which somebody who knew of them in memory has executed a fence between the
    /// proxies.
    pub fenced: Facts,
}

impl Parcel {
    pub fn add(&mut self, other: &Parcel) {
        self.time.extend(&other.time);
        self.memory.extend(&other.memory);
        self.fenced.extend(&other.fenced);
    }

    pub fn forget(&mut self, access: &Access) {
        self.time.remove(access);
        self.memory.remove(access);
        self.fenced.remove(access);
    }

    /// An access gets another name, or none.
    fn rename(&mut self, old: &Access, new: Option<Access>) {
        for facts in [&mut self.time, &mut self.memory, &mut self.fenced] {
            if facts.remove(old) {
                facts.extend(new);
            }
        }
    }

    /// What is passed on without order in memory.
    pub fn only_in_time(&mut self) {
        self.memory.clear();
        self.fenced.clear();
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Knowledge {
    pub known: Parcel,
    /// `ptx`: what it knew at fences, in memory alone: at any of them, and at those that reach other CTAs.
    pub near: Parcel,
    pub far: Parcel,
    /// `ptx`: what relaxed waits have brought, in memory alone: those on objects that only agents of the own
    /// CTA name, and those on others.
    pub heard_near: Parcel,
    pub heard_far: Parcel,
    /// `bcu`: what a SYNC or RED of this warp has published, so that ARV carries it too.
    pub published: Facts,
    /// `split_barrier`: what an OpMemoryBarrier with Release covers, for all later arrives.
    pub released: BTreeSet<(Access, Scope)>,
    /// `split_barrier`: what waits received, for an OpMemoryBarrier with Acquire.
    pub received: BTreeSet<(Access, AgentId, Scope)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Memory {
    /// The last write to each location, and the reads and atomics since.
    pub latest: Facts,
    pub agents: Vec<Knowledge>,
    /// The reads of copies out of shared memory of which no wait has said that they are over.
    pub open: BTreeSet<OpenRead>,
    /// The copies by `cp.async` for which their lanes have not waited, whoever has written there since.
    pub fills: BTreeSet<OpenFill>,
}

impl Memory {
    pub fn new(agents: usize) -> Self {
        Memory {
            latest: Facts::new(),
            agents: vec![Knowledge::default(); agents],
            open: BTreeSet::new(),
            fills: BTreeSet::new(),
        }
    }
}

fn conflicts(a: AccessKind, b: AccessKind) -> bool {
    use AccessKind::{Atomic, Copy, Fill, Read, Reduction, Source, Write};
    match (a, b) {
        (Write | Copy | Fill, _) | (_, Write | Copy | Fill) => true,
        (Atomic | Reduction, Atomic | Reduction) | (Read | Source, Read | Source) => false,
        (Atomic | Reduction, Read | Source) | (Read | Source, Atomic | Reduction) => true,
    }
}

/// Whether an access is known in memory to its own agent without any fence.
fn known_at_once(target: Target, kind: AccessKind) -> bool {
    match target {
        Target::Ptx | Target::Bcu | Target::Split => true,
        Target::Nbarrier | Target::Xegpu => kind == AccessKind::Read,
    }
}

/// One access by an agent to several locations.
pub fn access(world: &mut World<'_>, agent: AgentId, kind: AccessKind, locations: &BTreeSet<Location>) {
    for &location in locations {
        access_one(world, agent, kind, location);
    }
}

/// One access by an agent to one location.
pub fn access_one(world: &mut World<'_>, agent: AgentId, kind: AccessKind, location: Location) -> Access {
    check(world, agent, kind, location);
    replace(world, agent, kind, location)
}

fn check(world: &mut World<'_>, agent: AgentId, kind: AccessKind, location: Location) {
    let mut found = Vec::new();
    let reads = matches!(kind, AccessKind::Read | AccessKind::Source);
    if !reads && world.state.memory.open.iter().any(|read| read.location == location) {
        found.push("data-race");
    }
    let known = &world.state.memory.agents[agent].known;
    for earlier in &world.state.memory.latest {
        // What a copy does is not in the order of its warp's own accesses. Lanes of one warp do not race, so
        // those by `cp.async` do not race among themselves.
        let in_order = match earlier.kind {
            AccessKind::Copy | AccessKind::Reduction | AccessKind::Source => false,
            AccessKind::Fill => kind == AccessKind::Fill,
            AccessKind::Read | AccessKind::Write | AccessKind::Atomic => true,
        };
        let own = earlier.agent == agent && in_order;
        if earlier.location != location || own || !conflicts(earlier.kind, kind) {
            continue;
        }
        if !known.time.contains(earlier) {
            found.push("data-race");
        } else if !known.memory.contains(earlier) {
            found.push("missing-fence");
        }
    }
    world.notes.extend(found);
}

/// An access becomes the latest of its agent.
pub fn replace(world: &mut World<'_>, agent: AgentId, kind: AccessKind, location: Location) -> Access {
    let mut new = Access::new(location, kind, agent);
    let stays = matches!(kind, AccessKind::Reduction | AccessKind::Source);
    let overwrites = matches!(kind, AccessKind::Write | AccessKind::Copy | AccessKind::Fill);
    let latest = &world.state.memory.latest;
    let gone: Vec<Access> = latest
        .iter()
        .filter(|old| {
            let older = old.agent == agent && old.kind == kind && !stays;
            old.location == location && (overwrites || older)
        })
        .copied()
        .collect();
    while stays && latest.contains(&new) {
        new.serial += 1;
    }
    for old in &gone {
        forget(world, old);
    }
    let at_once = known_at_once(world.protocol().target, kind);
    let memory = &mut world.state.memory;
    memory.latest.insert(new);
    // Of copies somebody learns later.
    if stays || matches!(kind, AccessKind::Copy | AccessKind::Fill) {
        return new;
    }
    memory.agents[agent].known.time.insert(new);
    if at_once {
        memory.agents[agent].known.memory.insert(new);
    }
    new
}

fn forget(world: &mut World<'_>, old: &Access) {
    let memory = &mut world.state.memory;
    memory.latest.remove(old);
    for agent in &mut memory.agents {
        agent.published.remove(old);
        agent.released.retain(|(access, _)| access != old);
        agent.received.retain(|(access, _, _)| access != old);
    }
    for parcel in parcels(&mut world.state) {
        parcel.forget(old);
    }
    world.state.objects.sort();
    match &mut world.state.barriers {
        Barriers::Ptx(_) => {}
        Barriers::Bcu(b) => b.forget(old),
        Barriers::Nbarrier(b) => b.forget(old),
        Barriers::Split(b) => b.forget(old),
        Barriers::Xegpu(b) => b.named.forget(old),
    }
}

/// All that is known to somebody, or on its way: `ptx`.
fn parcels(state: &mut State) -> Vec<&mut Parcel> {
    let mut all = Vec::new();
    for agent in &mut state.memory.agents {
        all.extend([&mut agent.known, &mut agent.near, &mut agent.far]);
        all.extend([&mut agent.heard_near, &mut agent.heard_far]);
    }
    all.extend(state.objects.parcels());
    all.extend(state.cluster.parcels());
    if let Barriers::Ptx(barriers) = &mut state.barriers {
        all.extend(barriers.parcels());
    }
    all
}

/// Accesses of one kind that are known alike to everybody are as good as one. Those that are left are counted
/// anew, so that there are no more of them for ever.
pub fn unite(state: &mut State) {
    let several: Vec<Access> = state.memory.latest.iter().filter(|a| a.serial > 0).copied().collect();
    if several.is_empty() {
        return;
    }
    let alike: BTreeSet<Access> = several.into_iter().map(|a| Access { serial: 0, ..a }).collect();
    for first in alike {
        let is_alike = |a: &&Access| Access { serial: 0, ..**a } == first;
        let all: Vec<Access> = state.memory.latest.iter().filter(is_alike).copied().collect();
        let mut kept: BTreeSet<Vec<[bool; 3]>> = BTreeSet::new();
        let mut serial = 0;
        for old in all {
            let holds = |p: &mut Parcel| [&p.time, &p.memory, &p.fenced].map(|facts| facts.contains(&old));
            let is_new = kept.insert(parcels(state).into_iter().map(holds).collect());
            let new = is_new.then_some(Access { serial, ..old });
            serial += usize::from(is_new);
            state.memory.latest.remove(&old);
            state.memory.latest.extend(new);
            for parcel in parcels(state) {
                parcel.rename(&old, new);
            }
        }
    }
    state.objects.sort();
}

/// A fence of `nbarrier` or `xegpu`: the agent's own accesses become known in memory.
pub fn fence(world: &mut World<'_>, agent: AgentId, space: Option<Space>) {
    let arrays = &world.protocol().arrays;
    let memory = &mut world.state.memory;
    for access in &memory.latest {
        let covered = space.is_none_or(|s| arrays[access.location.array].space == s);
        if access.agent == agent && covered {
            memory.agents[agent].known.memory.insert(*access);
        }
    }
}

/// What those of some agents that have exited knew in time.
pub fn left_behind(world: &World<'_>, agents: Range<AgentId>) -> Facts {
    let state = &world.state;
    agents
        .filter(|&a| state.agents[a].exited())
        .flat_map(|a| state.memory.agents[a].known.time.iter().copied())
        .collect()
}

/// An agent is released with what a generation gathered.
pub fn learn(world: &mut World<'_>, agent: AgentId, parcel: &Parcel) {
    world.state.memory.agents[agent].known.add(parcel);
}

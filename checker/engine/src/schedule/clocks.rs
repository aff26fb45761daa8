//! The happens-before order along a run, as vector clocks.
//!
//! Along one run, the steps of each agent are numbered from 1. What a holder knows of an agent's accesses is
//! always a prefix of that agent's steps, as far as they touch one storage class: so one number for each
//! agent says it. Who learns what from whom is the model's ([`Knowledge`]); only the bookkeeping is
//! different.

use barcheck_model::barrier::BarrierId;
use barcheck_model::machine::Pending;
use barcheck_model::memory::{Conflict, Knowledge, Known, Layout};
use barcheck_model::program::{AccessKind, AgentId, LocationId, Program, Space, Spaces, Transfer, Window};
use barcheck_model::rule::Rule;
use rustc_hash::FxHashMap;

/// The number of a step among its agent's steps, from 1. Signed, since processors without AVX compare many of
/// these at a time, and no others.
pub(super) type Clock = i32;

/// The step of a copy that has not been waited for: nobody knows it.
const OPEN: Clock = Clock::MAX;

/// Operations of which nobody knows yet that they have landed, at most, for each CTA.
const MOST_PENDING: usize = 64;

/// A step of an actor: who, and its number among the actor's steps, from 1. An actor is an agent or, from the
/// number of agents on, a place for what is pending. Landings that have the same place one after another come
/// after one another in every order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    pub(super) actor: u32,
    pub(super) clock: Clock,
}

/// Steps of several actors, one of each at most.
#[derive(Clone, Debug, Default)]
pub(super) struct Moments(Vec<Clock>);

impl Moments {
    pub(super) fn add(&mut self, moment: Moment) {
        let index = moment.actor as usize;
        if self.0.len() <= index {
            self.0.resize(index + 1, 0);
        }
        self.0[index] = moment.clock;
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Moment> + '_ {
        let all = self.0.iter().enumerate().filter(|(_, clock)| **clock > 0);
        all.map(|(actor, clock)| Moment { actor: to_u32(actor), clock: *clock })
    }
}

/// What holders know of accesses to one storage class: for each holder, the latest step that it knows of each
/// agent.
#[derive(Clone, Debug)]
pub(super) struct Plane {
    actors: usize,
    /// For each holder, where its row begins, or [`NO_ROW`] if it has never known anything.
    begins: Vec<usize>,
    rows: Vec<Clock>,
}

const NO_ROW: usize = usize::MAX;

impl Plane {
    fn new(actors: usize) -> Self {
        Self { actors, begins: Vec::new(), rows: Vec::new() }
    }

    fn row(&self, holder: usize) -> &[Clock] {
        match self.begins.get(holder) {
            Some(begin) if *begin != NO_ROW => &self.rows[*begin..begin + self.actors],
            _ => &[],
        }
    }

    fn begin(&mut self, holder: usize) -> usize {
        if self.begins.len() <= holder {
            self.begins.resize(holder + 1, NO_ROW);
        }
        if self.begins[holder] == NO_ROW {
            self.begins[holder] = self.rows.len();
            self.rows.resize(self.rows.len() + self.actors, 0);
        }
        self.begins[holder]
    }

    fn set(&mut self, holder: usize, now: Moment) {
        let begin = self.begin(holder);
        self.rows[begin + now.actor as usize] = now.clock;
    }

    fn knows(&self, holder: usize, moment: Moment) -> bool {
        self.row(holder).get(moment.actor as usize).is_some_and(|clock| *clock >= moment.clock)
    }
}

impl Known for Plane {
    fn pass(&mut self, from: usize, to: usize) {
        let Some(begin) = self.begins.get(from).copied().filter(|begin| *begin != NO_ROW) else { return };
        let into = self.begin(to);
        let actors = self.actors;
        // Two rows never overlap: one of them ends before the other begins.
        let (source, target) = if begin < into {
            let (low, high) = self.rows.split_at_mut(into);
            (&low[begin..begin + actors], &mut high[..actors])
        } else if into < begin {
            let (low, high) = self.rows.split_at_mut(begin);
            (&high[..actors], &mut low[into..into + actors])
        } else {
            return;
        };
        for (known, learnt) in target.iter_mut().zip(source) {
            *known = (*known).max(*learnt);
        }
    }

    fn forget(&mut self, holder: usize) {
        if let Some(begin) = self.begins.get(holder).copied().filter(|begin| *begin != NO_ROW) {
            self.rows[begin..begin + self.actors].fill(0);
        }
    }
}

/// The latest accesses to a location.
#[derive(Clone, Debug, Default)]
struct Latest {
    write: Option<Moment>,
    /// A `cp.async`: the wait for it, or [`OPEN`].
    fill: Option<Moment>,
    /// With who began it.
    copy: Option<(Moment, AgentId)>,
    reads: Vec<Moment>,
    atomics: Vec<Moment>,
    /// Copies out of the location: the waits for those that have read, and [`OPEN`].
    stores: Vec<Moment>,
    /// Generic writes, each with a fence between the proxies by somebody who knew of it: the first one of
    /// each agent.
    fences: Vec<(Moment, Moment)>,
}

impl Latest {
    /// By kind.
    fn all(&self) -> impl Iterator<Item = (AccessKind, Moment)> + '_ {
        let of = |kind| move |moment: &Moment| (kind, *moment);
        let writes = self.write.iter().map(of(AccessKind::Write));
        let fills = self.fill.iter().map(of(AccessKind::Fill));
        let copies = self.copy.iter().map(|(moment, _)| (AccessKind::Copy, *moment));
        let reads = self.reads.iter().map(of(AccessKind::Read));
        let stores = self.stores.iter().map(of(AccessKind::Store));
        let atomics = self.atomics.iter().map(of(AccessKind::Atomic));
        writes.chain(fills).chain(copies).chain(reads).chain(atomics).chain(stores)
    }

    /// The generic writes that an agent knows of.
    fn known_writes(&self, plane: &Plane, layout: Layout, agent: AgentId) -> Vec<(AccessKind, Moment)> {
        let is_known = |(kind, moment): &(AccessKind, Moment)| {
            let holders = [layout.time(agent), layout.memory(agent)];
            kind.is_generic_write()
                && (moment.actor == agent.0 && moment.clock != OPEN
                    || holders.iter().all(|holder| plane.knows(*holder, *moment)))
        };
        self.all().filter(is_known).collect()
    }

    /// The agent that made, or began, an access.
    fn agent_of(&self, kind: AccessKind, moment: Moment) -> AgentId {
        let began = self.copy.filter(|_| kind == AccessKind::Copy);
        began.map_or(AgentId(moment.actor), |(_, agent)| agent)
    }

    /// What is not among the latest any more once this access is made.
    fn replace(&mut self, kind: AccessKind, now: Moment) {
        // When it is made is not known before it has been waited for.
        let clock = if matches!(kind, AccessKind::Store | AccessKind::Fill) { OPEN } else { now.clock };
        let now = Moment { clock, ..now };
        let of_kind = match kind {
            AccessKind::Write => return *self = Self { write: Some(now), ..Self::default() },
            AccessKind::Fill => return *self = Self { fill: Some(now), ..Self::default() },
            // Who performs it is known once it has been issued.
            AccessKind::Copy => {
                return *self = Self { copy: Some((now, AgentId(now.actor))), ..Self::default() };
            }
            AccessKind::Read => &mut self.reads,
            AccessKind::Atomic => {
                self.fences.retain(|(atomic, _)| atomic.actor != now.actor || Some(*atomic) == self.write);
                &mut self.atomics
            }
            AccessKind::Store => &mut self.stores,
        };
        match of_kind.iter_mut().find(|m| m.actor == now.actor) {
            Some(earlier) => *earlier = now,
            None => of_kind.push(now),
        }
    }
}

/// What everybody knows, along one run.
#[derive(Clone, Debug)]
pub(super) struct Clocks {
    /// Steps that each actor has made.
    now: Vec<Clock>,
    agents: usize,
    /// What is pending, each with its place.
    in_flight: Vec<(Pending, u32)>,
    /// For each storage class: shared, global. Only the first, if nothing is stored in global memory.
    planes: Vec<Plane>,
    /// The first location of each array, and where the array is stored.
    arrays: Vec<(LocationId, Space)>,
    /// Locations of each CTA.
    declared: u32,
    latest: FxHashMap<LocationId, Latest>,
    layout: Layout,
}

fn plane_of(space: Space) -> usize {
    match space {
        Space::Shared => 0,
        Space::Global => 1,
    }
}

impl Clocks {
    pub(super) fn new(program: &Program, layout: Layout) -> Self {
        let agents = program.agents.len();
        let arrays: Vec<_> = program.arrays.iter().map(|array| (array.first, array.space)).collect();
        let planes = 1 + usize::from(arrays.iter().any(|(_, space)| *space == Space::Global));
        let actors = agents + if program.leaves_pending() { MOST_PENDING * program.ctas as usize } else { 0 };
        Self {
            now: vec![0; actors],
            agents,
            in_flight: Vec::new(),
            planes: vec![Plane::new(actors); planes],
            arrays,
            declared: to_u32(program.locations() / (program.ctas as usize).max(1)),
            latest: FxHashMap::default(),
            layout,
        }
    }

    /// The plane in which accesses to a location are kept.
    fn plane_at(&self, location: LocationId) -> usize {
        let location = LocationId(location.0 % self.declared.max(1));
        let after = self.arrays.partition_point(|(first, _)| *first <= location);
        self.arrays[..after].last().map_or(0, |(_, space)| plane_of(*space))
    }

    /// An agent makes its next step.
    pub(super) fn tick(&mut self, agent: AgentId) {
        self.now[agent.index()] += 1;
        let now = self.moment(agent.0);
        for plane in &mut self.planes {
            plane.set(self.layout.time(agent), now);
        }
    }

    /// Agents, and places for what is pending.
    pub(super) fn actors(&self) -> usize {
        self.now.len()
    }

    /// The latest step of an actor.
    pub(super) fn moment(&self, actor: u32) -> Moment {
        Moment { actor, clock: self.now[actor as usize] }
    }

    /// An agent has left something pending, which gets a place: one whose landings so far the agent knows of.
    /// `false` if there is none.
    pub(super) fn issue(&mut self, pending: Pending) -> bool {
        let is_free = |actor: &u32| {
            let is_used = self.in_flight.iter().any(|(_, used)| used == actor);
            !is_used && self.knows(pending.agent, self.moment(*actor))
        };
        let place = (to_u32(self.agents)..to_u32(self.now.len())).find(is_free);
        let Some(place) = place else { return false };
        self.in_flight.push((pending, place));
        if let Some(latest) = pending.operation.written().and_then(|to| self.latest.get_mut(&to)) {
            let landing = Moment { actor: place, clock: self.now[place as usize] + 1 };
            latest.copy = Some((landing, pending.agent));
        }
        true
    }

    /// What was pending lands, and its place is told; whoever the barrier's completion reaches will know.
    pub(super) fn land(&mut self, pending: Pending) -> Option<u32> {
        let at = self.in_flight.iter().position(|(other, _)| *other == pending)?;
        let (_, actor) = self.in_flight.drain(at..=at).next()?;
        self.now[actor as usize] += 1;
        let now = self.moment(actor);
        for plane in &mut self.planes {
            plane.set(self.layout.gathering(pending.operation.barrier()), now);
            plane.set(self.layout.gathering_in_memory(pending.operation.barrier()), now);
        }
        Some(actor)
    }

    /// Whether an agent's next step comes after a step in every order.
    pub(super) fn knows(&self, agent: AgentId, moment: Moment) -> bool {
        self.planes[0].knows(self.layout.time(agent), moment)
    }

    /// Whether an agent's next step comes after all of these in every order.
    pub(super) fn knows_all(&self, agent: AgentId, moments: &Moments) -> bool {
        let row = self.planes[0].row(self.layout.time(agent));
        if row.is_empty() {
            return moments.0.iter().all(|clock| *clock == 0);
        }
        // Without an early exit, so that many are compared at a time.
        row.iter().zip(&moments.0).fold(true, |all, (known, clock)| all & (known >= clock))
    }

    /// Adds the steps that come before an agent's next one in every order, as the latest of each agent.
    pub(super) fn add_past(&self, agent: AgentId, past: &mut [Clock]) {
        join(past, self.planes[0].row(self.layout.time(agent)));
    }

    /// Adds the steps on which a barrier's arrivals in the present generation rest.
    pub(super) fn add_arrivals(&self, barrier: BarrierId, past: &mut [Clock]) {
        join(past, self.planes[0].row(self.layout.gathering(barrier)));
    }

    /// For each of the steps that may still matter, who knows it: together with the state of the group this
    /// says what any access, and any arrival, will find.
    pub(super) fn abstracted(&self, marks: impl Iterator<Item = (u64, Moment)>) -> Vec<u64> {
        let mut facts: Vec<u64> = self.in_flight.iter().map(|(_, place)| u64::from(*place)).collect();
        let mut locations: Vec<_> = self.latest.keys().copied().collect();
        locations.sort_unstable();
        for location in locations {
            let mut all: Vec<_> = self.latest[&location].all().collect();
            all.sort_unstable_by_key(|(kind, moment)| (*kind, moment.actor));
            for (kind, moment) in all {
                facts.extend([u64::from(location.0), kind as u64, u64::from(moment.actor)]);
                knowers(&self.planes[self.plane_at(location)], moment, &mut facts);
            }
            let latest = &self.latest[&location];
            let mut fences = latest.fences.clone();
            fences.sort_unstable_by_key(|(write, fence)| {
                (write.actor, Some(*write) == latest.write, fence.actor)
            });
            for (write, fence) in fences {
                let is_plain = u64::from(Some(write) == latest.write);
                facts.extend([u64::from(write.actor), is_plain, u64::from(fence.actor)]);
                knowers(&self.planes[self.plane_at(location)], fence, &mut facts);
            }
        }
        for (mark, moment) in marks {
            facts.extend([mark, u64::from(moment.actor)]);
            knowers(&self.planes[0], moment, &mut facts);
        }
        facts
    }

    /// Bytes in use.
    pub(super) fn bytes(&self) -> u64 {
        let rows: usize = self.planes.iter().map(|plane| plane.rows.len() * 4 + plane.begins.len() * 8).sum();
        (rows + self.latest.len() * (size_of::<Latest>() + 64)) as u64
    }
}

fn join(past: &mut [Clock], row: &[Clock]) {
    for (past, known) in past.iter_mut().zip(row) {
        *past = (*past).max(*known);
    }
}

/// Adds the holders that know of a step, and how many there are.
fn knowers(plane: &Plane, moment: Moment, facts: &mut Vec<u64>) {
    let from = facts.len();
    let holders = (0..plane.begins.len()).filter(|holder| plane.knows(*holder, moment));
    facts.extend(holders.map(|holder| holder as u64));
    facts.push((facts.len() - from) as u64);
}

impl Knowledge for Clocks {
    type Known = Plane;

    fn settles(&self) -> bool {
        false
    }

    fn each(&mut self, f: impl FnMut(&mut Plane)) {
        self.planes.iter_mut().for_each(f);
    }

    fn each_in(&mut self, _: &Program, spaces: Spaces, mut f: impl FnMut(&mut Plane)) {
        for space in [Space::Shared, Space::Global].into_iter().filter(|space| spaces.includes(*space)) {
            if let Some(plane) = self.planes.get_mut(plane_of(space)) {
                f(plane);
            }
        }
    }

    fn access(
        &mut self,
        layout: Layout,
        agent: AgentId,
        kind: AccessKind,
        locations: &[LocationId],
    ) -> Vec<Conflict> {
        let now = self.moment(agent.0);
        let mut found = Vec::new();
        for location in locations {
            let plane = self.plane_at(*location);
            let plane = &mut self.planes[plane];
            let latest = self.latest.entry(*location).or_default();
            let conflicting = latest.all().filter(|(earlier, _)| earlier.conflicts_with(kind));
            for (earlier, moment) in conflicting {
                if !earlier.is_apart_from(AgentId(moment.actor), (agent, kind)) {
                    continue;
                }
                let rule = if !plane.knows(layout.time(agent), moment) {
                    Rule::DataRace
                } else if layout.needs_memory_order(earlier) && !plane.knows(layout.memory(agent), moment) {
                    Rule::MissingFence
                } else {
                    continue;
                };
                found.push((rule, *location, latest.agent_of(earlier, moment), earlier));
            }
            if kind == AccessKind::Store {
                for (earlier, write) in latest.known_writes(plane, layout, agent) {
                    let fenced = |(of, fence): &(Moment, Moment)| {
                        *of == write && plane.knows(layout.memory(agent), *fence)
                    };
                    if !latest.fences.iter().any(fenced) {
                        found.push((Rule::MissingFence, *location, AgentId(write.actor), earlier));
                    }
                }
            }
            latest.replace(kind, now);
            if !layout.has_fences() && kind != AccessKind::Copy {
                plane.set(layout.memory(agent), now);
            }
        }
        found
    }

    /// What has landed is known from the places of what is pending.
    fn copy(&mut self, layout: Layout, agent: AgentId, _: u16, written: LocationId) -> Vec<Conflict> {
        self.access(layout, agent, AccessKind::Copy, &[written])
    }

    fn finish(&mut self, layout: Layout, agent: AgentId, of: Transfer, locations: &[LocationId]) {
        let now = self.moment(agent.0);
        for location in locations {
            let plane = self.plane_at(*location);
            self.planes[plane].set(layout.memory(agent), now);
            let Some(latest) = self.latest.get_mut(location) else { continue };
            let copies = match of {
                Transfer::Store => latest.stores.as_mut_slice(),
                Transfer::Fill => latest.fill.as_mut_slice(),
            };
            for copy in copies.iter_mut().filter(|copy| copy.actor == agent.0) {
                *copy = now;
            }
        }
    }

    fn fence_proxies(&mut self, layout: Layout, program: &Program, agent: AgentId, window: Window) {
        if !layout.has_stores() {
            return;
        }
        let now = self.moment(agent.0);
        for (location, latest) in &mut self.latest {
            if !layout.is_stored(*location) || !program.covers(window, agent, *location) {
                continue;
            }
            let plane = &mut self.planes[plane_of(program.array_of(*location).space)];
            for (_, write) in latest.known_writes(plane, layout, agent) {
                let is_known = |(of, fence): &(Moment, Moment)| *of == write && fence.actor == agent.0;
                if !latest.fences.iter().any(is_known) {
                    latest.fences.push((write, now));
                }
            }
            plane.set(layout.memory(agent), now);
        }
    }

    fn publish(&mut self, layout: Layout, _: &Program, agent: AgentId, spaces: Spaces) {
        let now = self.moment(agent.0);
        for space in [Space::Shared, Space::Global].into_iter().filter(|space| spaces.includes(*space)) {
            if let Some(plane) = self.planes.get_mut(plane_of(space)) {
                plane.set(layout.memory(agent), now);
            }
        }
    }

    fn forget_settled(&mut self, _: Layout, _: &[AgentId]) {}
}

/// An actor's number.
fn to_u32(actor: usize) -> u32 {
    u32::try_from(actor).unwrap_or(u32::MAX)
}

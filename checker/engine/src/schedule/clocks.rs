//! The happens-before order along a run, as vector clocks.
//!
//! Along one run, the steps of each agent are numbered from 1. What a holder knows of an agent's accesses is
//! always a prefix of that agent's steps, as far as they touch one storage class: so one number for each
//! agent says it. Who learns what from whom is the model's ([`Knowledge`]); only the bookkeeping is
//! different.

use super::latest::{Earlier, InFlight, Latest, complete};
use super::plane::{Clock, Moment, Moments, Plane, to_u32};
use barcheck_model::barrier::BarrierId;
use barcheck_model::machine::Pending;
use barcheck_model::memory::{Conflict, Knowledge, Known as _, Layout};
use barcheck_model::program::{
    AccessKind, AgentId, Array, Begun, LocationId, Program, Space, Spaces, Transfer, Window,
};
use barcheck_model::rule::Rule;
use rustc_hash::FxHashMap;

/// Operations of which nobody knows yet that they have landed, at most, for each CTA.
const MOST_PENDING: usize = 64;

/// What everybody knows, along one run.
#[derive(Clone, Debug)]
pub(super) struct Clocks {
    /// Steps that each actor has made.
    now: Vec<Clock>,
    agents: usize,
    /// What is pending, each with its place.
    in_flight: Vec<(Pending, u32)>,
    /// Where `cp.async` have written for which the arrival stands that is about to get its place.
    entrusted: Vec<LocationId>,
    /// For each storage class: shared, global. Only the first, if nothing is stored in global memory. Behind
    /// them one for what stands for objects, if anything does.
    planes: Vec<Plane>,
    /// The number of the latter.
    lives: Option<usize>,
    /// The first location of each array, and the plane in which accesses to it are kept.
    arrays: Vec<(LocationId, usize)>,
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
        let spaces = 1 + usize::from(program.arrays.iter().any(|array| array.space == Space::Global));
        let lives = program.arrays.iter().any(|array| program.is_life(array.first)).then_some(spaces);
        let planes = spaces + usize::from(lives.is_some());
        let plane = |array: &Array| match lives.filter(|_| program.is_life(array.first)) {
            Some(lives) => (array.first, lives),
            None => (array.first, plane_of(array.space)),
        };
        let arrays: Vec<_> = program.arrays.iter().map(plane).collect();
        let actors = agents + if program.leaves_pending() { MOST_PENDING * program.ctas as usize } else { 0 };
        Self {
            now: vec![0; actors],
            agents,
            in_flight: Vec::new(),
            entrusted: Vec::new(),
            planes: vec![Plane::new(actors); planes],
            lives,
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
        self.arrays[..after].last().map_or(0, |(_, plane)| *plane)
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
        let landing = Moment { actor: place, clock: self.now[place as usize] + 1 };
        for (kind, location) in pending.operation.accesses() {
            let Some(latest) = self.latest.get_mut(&location) else { continue };
            let is_new = |begun: &InFlight| {
                begun.kind == kind && begun.agent == pending.agent && begun.landing.actor == pending.agent.0
            };
            let Some(at) = latest.in_flight.iter().rposition(is_new) else { continue };
            latest.in_flight[at].landing = landing;
            // Whoever knows of this landing knows of those at the same place before.
            let is_before = |begun: &InFlight| {
                begun.kind == kind && begun.landing.actor == place && begun.landing.clock < landing.clock
            };
            latest.in_flight.retain(|begun| !is_before(begun));
        }
        for location in std::mem::take(&mut self.entrusted) {
            let Some(fill) = self.latest.get_mut(&location).and_then(|latest| latest.fill.as_mut()) else {
                continue;
            };
            complete(&mut fill.complete, landing);
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
            all.sort_by_key(|earlier| (earlier.kind, earlier.agent, earlier.made.actor));
            for Earlier { kind, agent, made, over } in all {
                facts.extend([u64::from(location.0), kind as u64, u64::from(agent.0), u64::from(made.actor)]);
                for moment in over {
                    knowers(&self.planes[self.plane_at(location)], *moment, &mut facts);
                }
                facts.push(over.len() as u64);
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
        let rows: usize = self.planes.iter().map(Plane::size).sum();
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
    let holders = (0..plane.holders()).filter(|holder| plane.knows(*holder, moment));
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
        debug_assert!(self.lives.is_none(), "no target whose orders have storage classes has objects");
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
            for earlier in latest.all().filter(|earlier| earlier.kind.conflicts_with(kind)) {
                if !earlier.kind.is_apart_from(earlier.agent, (agent, kind)) {
                    continue;
                }
                let rule = if !earlier.is_known(plane, layout.time(agent)) {
                    // In another order the object is not initialised yet, which is found there.
                    if kind == AccessKind::Use || earlier.kind == AccessKind::Initialisation {
                        continue;
                    }
                    Rule::DataRace
                } else if layout.needs_memory_order(earlier.kind)
                    && !earlier.is_known(plane, layout.memory(agent))
                {
                    Rule::MissingFence
                } else {
                    continue;
                };
                found.push((rule, *location, earlier.agent, earlier.kind));
            }
            if kind.is_of_async_proxy() {
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
            if !layout.has_fences() && !kind.is_in_flight() && kind != AccessKind::Use {
                plane.set(layout.memory(agent), now);
            }
        }
        found
    }

    /// What has landed is known from the places of what is pending.
    fn begun(&mut self, layout: Layout, agent: AgentId, _: u16, begun: Begun) -> Vec<Conflict> {
        self.access(layout, agent, begun.0, &[begun.1])
    }

    /// The arrival is about to get a place.
    fn entrust(&mut self, _: Layout, agent: AgentId, _: u16, locations: &[LocationId]) {
        let latest = &self.latest;
        let is_its = |at: &LocationId| {
            let fill = latest.get(at).and_then(|latest| latest.fill.as_ref());
            fill.is_some_and(|fill| fill.begun.actor == agent.0)
        };
        self.entrusted.extend(locations.iter().copied().filter(is_its));
    }

    fn release_lives(&mut self, layout: Layout, _: &Program, agent: AgentId) {
        let Some(lives) = self.lives else { return };
        self.planes[lives].pass(layout.memory(agent), layout.released_far(agent));
    }

    fn finish(&mut self, layout: Layout, agent: AgentId, of: Transfer, locations: &[LocationId]) {
        let now = self.moment(agent.0);
        for location in locations {
            let plane = self.plane_at(*location);
            self.planes[plane].set(layout.memory(agent), now);
            let Some(latest) = self.latest.get_mut(location) else { continue };
            match of {
                Transfer::Store => {
                    latest
                        .stores
                        .iter_mut()
                        .filter(|copy| copy.actor == agent.0)
                        .for_each(|copy| *copy = now);
                }
                Transfer::Fill => {
                    let own = latest.fill.iter_mut().filter(|fill| fill.begun.actor == agent.0);
                    own.for_each(|fill| complete(&mut fill.complete, now));
                }
            }
        }
    }

    fn fence_proxies(&mut self, layout: Layout, program: &Program, agent: AgentId, window: Window) {
        if !layout.asks_for_proxy_fences() {
            return;
        }
        let now = self.moment(agent.0);
        for (location, latest) in &mut self.latest {
            if !layout.is_of_copies(*location) || !program.covers(window, agent, *location) {
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

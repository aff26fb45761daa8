//! The happens-before order along a run, as vector clocks.
//!
//! Along one run, the steps of each agent are numbered from 1. What a holder knows of an agent's accesses is
//! always a prefix of that agent's steps, as far as they touch one storage class: so one number for each
//! agent says it. Who learns what from whom is the model's ([`Knowledge`]); only the bookkeeping is
//! different.

use barcheck_model::barrier::BarrierId;
use barcheck_model::memory::{Conflict, Knowledge, Known, Layout};
use barcheck_model::program::{AccessKind, AgentId, LocationId, Program, Space, Spaces};
use barcheck_model::rule::Rule;
use rustc_hash::FxHashMap;

/// The number of a step among its agent's steps, from 1. Signed, since processors without AVX compare many of
/// these at a time, and no others.
pub(super) type Clock = i32;

/// A step of an agent: who, and its number among the agent's steps, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    pub(super) agent: AgentId,
    pub(super) clock: Clock,
}

/// Steps of several agents, one of each at most.
#[derive(Clone, Debug, Default)]
pub(super) struct Moments(Vec<Clock>);

impl Moments {
    pub(super) fn add(&mut self, moment: Moment) {
        let index = moment.agent.index();
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
        all.map(|(agent, clock)| Moment { agent: AgentId::from_index(agent), clock: *clock })
    }
}

/// What holders know of accesses to one storage class: for each holder, the latest step that it knows of each
/// agent.
#[derive(Clone, Debug)]
pub(super) struct Plane {
    agents: usize,
    /// For each holder, where its row begins, or [`NO_ROW`] if it has never known anything.
    begins: Vec<usize>,
    rows: Vec<Clock>,
}

const NO_ROW: usize = usize::MAX;

impl Plane {
    fn new(agents: usize) -> Self {
        Self { agents, begins: Vec::new(), rows: Vec::new() }
    }

    fn row(&self, holder: usize) -> &[Clock] {
        match self.begins.get(holder) {
            Some(begin) if *begin != NO_ROW => &self.rows[*begin..begin + self.agents],
            _ => &[],
        }
    }

    fn begin(&mut self, holder: usize) -> usize {
        if self.begins.len() <= holder {
            self.begins.resize(holder + 1, NO_ROW);
        }
        if self.begins[holder] == NO_ROW {
            self.begins[holder] = self.rows.len();
            self.rows.resize(self.rows.len() + self.agents, 0);
        }
        self.begins[holder]
    }

    fn set(&mut self, holder: usize, now: Moment) {
        let begin = self.begin(holder);
        self.rows[begin + now.agent.index()] = now.clock;
    }

    fn knows(&self, holder: usize, moment: Moment) -> bool {
        self.row(holder).get(moment.agent.index()).is_some_and(|clock| *clock >= moment.clock)
    }
}

impl Known for Plane {
    fn pass(&mut self, from: usize, to: usize) {
        let Some(begin) = self.begins.get(from).copied().filter(|begin| *begin != NO_ROW) else { return };
        let into = self.begin(to);
        let agents = self.agents;
        // Two rows never overlap: one of them ends before the other begins.
        let (source, target) = if begin < into {
            let (low, high) = self.rows.split_at_mut(into);
            (&low[begin..begin + agents], &mut high[..agents])
        } else if into < begin {
            let (low, high) = self.rows.split_at_mut(begin);
            (&high[..agents], &mut low[into..into + agents])
        } else {
            return;
        };
        for (known, learnt) in target.iter_mut().zip(source) {
            *known = (*known).max(*learnt);
        }
    }

    fn forget(&mut self, holder: usize) {
        if let Some(begin) = self.begins.get(holder).copied().filter(|begin| *begin != NO_ROW) {
            self.rows[begin..begin + self.agents].fill(0);
        }
    }
}

/// The latest accesses to a location.
#[derive(Clone, Debug, Default)]
struct Latest {
    write: Option<Moment>,
    reads: Vec<Moment>,
    atomics: Vec<Moment>,
}

impl Latest {
    /// By kind.
    fn all(&self) -> [(AccessKind, &[Moment]); 3] {
        [
            (AccessKind::Write, self.write.as_slice()),
            (AccessKind::Read, &self.reads),
            (AccessKind::Atomic, &self.atomics),
        ]
    }

    /// What is not among the latest any more once this access is made.
    fn replace(&mut self, kind: AccessKind, now: Moment) {
        let of_kind = match kind {
            AccessKind::Write => {
                self.write = Some(now);
                self.reads.clear();
                self.atomics.clear();
                return;
            }
            AccessKind::Read => &mut self.reads,
            AccessKind::Atomic => &mut self.atomics,
        };
        match of_kind.iter_mut().find(|m| m.agent == now.agent) {
            Some(earlier) => *earlier = now,
            None => of_kind.push(now),
        }
    }
}

/// What everybody knows, along one run.
#[derive(Clone, Debug)]
pub(super) struct Clocks {
    /// Steps that each agent has made.
    now: Vec<Clock>,
    /// For each storage class: shared, global. Only the first, if nothing is stored in global memory.
    planes: Vec<Plane>,
    /// The first location of each array, and where the array is stored.
    arrays: Vec<(LocationId, Space)>,
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
        Self {
            now: vec![0; agents],
            planes: vec![Plane::new(agents); planes],
            arrays,
            latest: FxHashMap::default(),
            layout,
        }
    }

    /// The plane in which accesses to a location are kept.
    fn plane_at(&self, location: LocationId) -> usize {
        let after = self.arrays.partition_point(|(first, _)| *first <= location);
        self.arrays[..after].last().map_or(0, |(_, space)| plane_of(*space))
    }

    /// An agent makes its next step.
    pub(super) fn tick(&mut self, agent: AgentId) {
        self.now[agent.index()] += 1;
        let now = self.moment(agent);
        for plane in &mut self.planes {
            plane.set(self.layout.time(agent), now);
        }
    }

    /// The latest step of an agent.
    pub(super) fn moment(&self, agent: AgentId) -> Moment {
        Moment { agent, clock: self.now[agent.index()] }
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
        let mut facts = Vec::new();
        let mut locations: Vec<_> = self.latest.keys().copied().collect();
        locations.sort_unstable();
        for location in locations {
            for (kind, moments) in self.latest[&location].all() {
                let mut moments = moments.to_vec();
                moments.sort_unstable_by_key(|moment| moment.agent);
                for moment in moments {
                    facts.extend([u64::from(location.0), kind as u64, u64::from(moment.agent.0)]);
                    knowers(&self.planes[self.plane_at(location)], moment, &mut facts);
                }
            }
        }
        for (mark, moment) in marks {
            facts.extend([mark, u64::from(moment.agent.0)]);
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
        let now = self.moment(agent);
        let mut found = Vec::new();
        for location in locations {
            let plane = self.plane_at(*location);
            let plane = &mut self.planes[plane];
            let latest = self.latest.entry(*location).or_default();
            let conflicting = latest.all().into_iter().filter(|(earlier, _)| earlier.conflicts_with(kind));
            for (earlier, moment) in conflicting.flat_map(|(kind, all)| all.iter().map(move |m| (kind, *m))) {
                if moment.agent == agent {
                    continue;
                }
                let rule = if !plane.knows(layout.time(agent), moment) {
                    Rule::DataRace
                } else if layout.needs_memory_order(earlier) && !plane.knows(layout.memory(agent), moment) {
                    Rule::MissingFence
                } else {
                    continue;
                };
                found.push((rule, *location, moment.agent, earlier));
            }
            latest.replace(kind, now);
            if !layout.has_fences() {
                plane.set(layout.memory(agent), now);
            }
        }
        found
    }

    fn publish(&mut self, layout: Layout, _: &Program, agent: AgentId, spaces: Spaces) {
        let now = self.moment(agent);
        for space in [Space::Shared, Space::Global].into_iter().filter(|space| spaces.includes(*space)) {
            if let Some(plane) = self.planes.get_mut(plane_of(space)) {
                plane.set(layout.memory(agent), now);
            }
        }
    }

    fn forget_settled(&mut self, _: Layout, _: &[AgentId]) {}
}

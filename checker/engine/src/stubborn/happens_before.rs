//! Happens-before, besides accesses to memory: who knows which generations of barriers are complete, and
//! which waits have been made.
//!
//! It is part of the state, as knowledge of accesses is, and travels with it: through the same arrivals and
//! releases ([`Knowledge`]). A holder of a completed generation knows of *all* arrivals in it, since it was
//! released or notified by its completion, or has learnt from somebody who was. Where nobody was, because
//! nobody waits, each arrival has to be known by itself.

use barcheck_model::barrier::BarrierId;
use barcheck_model::machine::{Event, Machine, State};
use barcheck_model::memory::{Conflict, Holders, Knowledge, Layout, Memory};
use barcheck_model::program::{AccessKind, AgentId, Begun, LocationId, Program, Spaces, Transfer, Window};

/// What is known of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Mark {
    /// The arrivals in the generation that is gathering. Whoever its completion reaches will know of them.
    Gathering,
    /// An arrival in it by an agent that does not wait.
    Arrived(AgentId),
    /// The latest generation that is complete.
    Complete,
    /// An arrival in it, if its completion has reached nobody.
    CompleteArrival(AgentId),
    /// The landing that completed it, if that has reached nobody: then nobody will know of it.
    Landed,
    /// An agent's wait for it (`nbarrier`, `xegpu`).
    Waited(AgentId),
    /// The phase before the latest that is complete; this and what follows is about barriers with phases.
    Before,
    /// The first wait of an agent that has seen the latest complete phase.
    Observer(AgentId),
    /// Its last one, or an arrival of its that must not complete the present phase, if that is in the past of
    /// nothing else in that phase.
    Unsettled(AgentId),
    /// An announcement of bytes that is in the past of no arrival.
    Announced(AgentId),
    /// A landing that is in the past of no exit.
    InFlight,
    /// Something has been taken from a pool: whoever knows of any such step.
    Taken,
    /// A step of an agent that concerned another CTA, which has so many agents, in the past of no exit
    /// there; at the barrier of the cluster.
    Remote(AgentId, u32, u32),
}

/// Something known, and by whom.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Fact {
    barrier: BarrierId,
    mark: Mark,
    known: Holders,
}

impl Fact {
    /// Bytes in use, roughly.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Self>() + self.known.bytes_beside()
    }
}

/// What everybody knows: of accesses, of generations, of waits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct HappensBefore {
    pub(super) memory: Memory,
    /// By barrier and mark. What every live agent knows of complete generations is left out.
    facts: Vec<Fact>,
}

impl HappensBefore {
    /// What is known of accesses, and of each barrier in order.
    pub(super) fn of<'f>(memory: Memory, by_barrier: impl Iterator<Item = &'f [Fact]>) -> Self {
        Self { memory, facts: by_barrier.flatten().cloned().collect() }
    }

    /// What is known of each barrier, in order.
    pub(super) fn by_barrier(&self) -> impl Iterator<Item = &[Fact]> {
        self.facts.chunk_by(|one, next| one.barrier == next.barrier)
    }

    /// Whether an agent knows that the barrier's latest generation is complete, if it has had one.
    pub(super) fn knows_complete(&self, layout: Layout, agent: AgentId, barrier: BarrierId) -> bool {
        let of_it = |t: &&Fact| matches!(t.mark, Mark::Complete | Mark::CompleteArrival(_) | Mark::Landed);
        let mut facts = self.facts.iter().filter(|t| t.barrier == barrier).filter(of_it);
        facts.all(|fact| fact.known.has(layout.time(agent)))
    }

    /// Whether an agent knows of every wait for the barrier's latest generation.
    pub(super) fn knows_waits(&self, layout: Layout, agent: AgentId, barrier: BarrierId) -> bool {
        let mut waits =
            self.facts.iter().filter(|t| t.barrier == barrier && matches!(t.mark, Mark::Waited(_)));
        waits.all(|fact| fact.known.has(layout.time(agent)))
    }

    /// An agent is about to arrive at a barrier that others may use.
    pub(super) fn gather(&mut self, layout: Layout, barrier: BarrierId) {
        self.set(barrier, Mark::Gathering, layout.gathering(barrier));
    }

    /// A landing has completed a generation, and nobody has learnt of it.
    fn land_unseen(&mut self, barrier: BarrierId) {
        let fact = Fact { barrier, mark: Mark::Landed, known: Holders::default() };
        let at = self.facts.partition_point(|other| (other.barrier, other.mark) < (barrier, Mark::Landed));
        self.facts.insert(at, fact);
    }

    /// The marks of a barrier.
    pub(super) fn marks(&self, barrier: BarrierId) -> impl Iterator<Item = Mark> + '_ {
        self.facts.iter().filter(move |fact| fact.barrier == barrier).map(|fact| fact.mark)
    }

    /// The marks of all barriers.
    pub(super) fn all_marks(&self) -> impl Iterator<Item = (BarrierId, Mark)> + '_ {
        self.facts.iter().map(|fact| (fact.barrier, fact.mark))
    }

    /// Whether an agent knows all that is marked so at a barrier.
    pub(super) fn knows_marks(
        &self,
        layout: Layout,
        agent: AgentId,
        barrier: BarrierId,
        wanted: &dyn Fn(Mark) -> bool,
    ) -> bool {
        let mut facts = self.facts.iter().filter(|fact| fact.barrier == barrier && wanted(fact.mark));
        facts.all(|fact| fact.known.has(layout.time(agent)))
    }

    /// Whether an agent knows some of what is marked so at a barrier.
    pub(super) fn knows_some(
        &self,
        layout: Layout,
        agent: AgentId,
        barrier: BarrierId,
        wanted: impl Fn(Mark) -> bool,
    ) -> bool {
        let mut facts = self.facts.iter().filter(|fact| fact.barrier == barrier && wanted(fact.mark));
        facts.any(|fact| fact.known.has(layout.time(agent)))
    }

    /// Forgets what an agent knows of what is marked so at a barrier.
    pub(super) fn forget_known(
        &mut self,
        layout: Layout,
        barrier: BarrierId,
        agent: AgentId,
        forgotten: impl Fn(Mark) -> bool,
    ) {
        self.facts.retain(|fact| {
            let is_it = fact.barrier == barrier && forgotten(fact.mark);
            !(is_it && fact.known.has(layout.time(agent)))
        });
    }

    /// Forgets facts of all barriers.
    pub(super) fn forget_everywhere(&mut self, forgotten: impl Fn(Mark, &Holders) -> bool) {
        self.facts.retain(|fact| !forgotten(fact.mark, &fact.known));
    }

    /// Gives the facts of a barrier other marks, or forgets them.
    pub(super) fn remark(&mut self, barrier: BarrierId, to: impl Fn(Mark) -> Option<Mark>) {
        self.facts.retain_mut(|fact| {
            let mark = if fact.barrier == barrier { to(fact.mark) } else { Some(fact.mark) };
            fact.mark = mark.unwrap_or(fact.mark);
            mark.is_some()
        });
        self.facts.sort_unstable_by_key(|fact| (fact.barrier, fact.mark));
    }

    /// One more holder knows something.
    pub(super) fn add(&mut self, barrier: BarrierId, mark: Mark, holder: usize) {
        match self.facts.binary_search_by_key(&(barrier, mark), |t| (t.barrier, t.mark)) {
            Ok(at) => self.facts[at].known.add(holder),
            Err(_) => self.set(barrier, mark, holder),
        }
    }

    /// Something that only one holder knows.
    pub(super) fn set(&mut self, barrier: BarrierId, mark: Mark, holder: usize) {
        let mut known = Holders::default();
        known.add(holder);
        match self.facts.binary_search_by_key(&(barrier, mark), |t| (t.barrier, t.mark)) {
            Ok(at) => self.facts[at].known = known,
            Err(at) => self.facts.insert(at, Fact { barrier, mark, known }),
        }
    }

    /// A generation is complete: whoever knows of its arrivals has learnt of them from its completion, if
    /// that has reached anybody.
    fn complete(&mut self, layout: Layout, barrier: BarrierId, reached: bool) {
        let is_past =
            |mark| matches!(mark, Mark::Complete | Mark::CompleteArrival(_) | Mark::Landed | Mark::Waited(_));
        self.facts.retain(|t| t.barrier != barrier || !is_past(t.mark));
        for fact in self.facts.iter_mut().filter(|t| t.barrier == barrier) {
            fact.mark = match fact.mark {
                Mark::Gathering => Mark::Complete,
                Mark::Arrived(agent) => Mark::CompleteArrival(agent),
                mark => mark,
            };
        }
        self.facts.retain(|t| t.barrier != barrier || reached == (t.mark == Mark::Complete));
        self.facts.sort_unstable_by_key(|t| (t.barrier, t.mark));
        debug_assert!(
            !self.facts.iter().any(|t| t.known.has(layout.gathering(barrier)) && t.barrier == barrier)
        );
    }

    /// The same with agents renamed: agent `i` becomes `to[i]`.
    pub(super) fn renamed(&self, layout: Layout, to: &[AgentId]) -> Self {
        let renamed = self.facts.iter().map(|fact| Fact {
            barrier: fact.barrier,
            mark: match fact.mark {
                Mark::Arrived(agent) => Mark::Arrived(to[agent.index()]),
                Mark::CompleteArrival(agent) => Mark::CompleteArrival(to[agent.index()]),
                Mark::Waited(agent) => Mark::Waited(to[agent.index()]),
                Mark::Observer(agent) => Mark::Observer(to[agent.index()]),
                Mark::Unsettled(agent) => Mark::Unsettled(to[agent.index()]),
                Mark::Announced(agent) => Mark::Announced(to[agent.index()]),
                // Agents are renamed among those of a CTA.
                Mark::Remote(agent, cta, agents) => Mark::Remote(to[agent.index()], cta, agents),
                Mark::Gathering
                | Mark::Complete
                | Mark::Landed
                | Mark::Before
                | Mark::InFlight
                | Mark::Taken => fact.mark,
            },
            known: fact.known.renamed(layout, to),
        });
        let mut facts: Vec<Fact> = renamed.collect();
        facts.sort_unstable();
        Self { memory: self.memory.renamed(layout, to), facts }
    }

    /// What an agent knows of generations and waits: for each barrier and kind of marks, how many there are
    /// of others that it knows and does not know, and of its own. Equal for interchangeable agents whose
    /// roles are equal.
    pub(super) fn profile(&self, layout: Layout, agent: AgentId) -> Vec<(BarrierId, u8, [u32; 4])> {
        let mut profile: Vec<(BarrierId, u8, [u32; 4])> = Vec::new();
        for fact in &self.facts {
            let (kind, whose) = match fact.mark {
                Mark::Gathering => (0, None),
                Mark::Arrived(whose) => (1, Some(whose)),
                Mark::Complete => (2, None),
                Mark::CompleteArrival(whose) => (3, Some(whose)),
                Mark::Waited(whose) => (4, Some(whose)),
                Mark::Landed => (5, None),
                Mark::Before => (6, None),
                Mark::Observer(whose) => (7, Some(whose)),
                Mark::Unsettled(whose) => (8, Some(whose)),
                Mark::Announced(whose) => (9, Some(whose)),
                Mark::InFlight => (10, None),
                Mark::Remote(whose, ..) => (11, Some(whose)),
                Mark::Taken => (12, None),
            };
            let at = 2 * usize::from(whose == Some(agent)) + usize::from(fact.known.has(layout.time(agent)));
            // Marks of one kind follow one another.
            match profile.last_mut().filter(|last| (last.0, last.1) == (fact.barrier, kind)) {
                Some((.., counts)) => counts[at] += 1,
                None => {
                    let mut counts = [0; 4];
                    counts[at] = 1;
                    profile.push((fact.barrier, kind, counts));
                }
            }
        }
        profile
    }
}

/// What has happened at a step makes what is to be known. Waits are followed only if somebody asks for them.
pub(super) fn follow(
    machine: &Machine,
    state: &mut State<HappensBefore>,
    agent: AgentId,
    events: &[Event],
    follows_waits: bool,
) {
    let layout = machine.layout();
    let mut changed = false;
    for event in events {
        match event {
            // See [`super::phases`].
            Event::Arrived(barrier) | Event::Passed(barrier) | Event::Released(_, barrier)
                if layout.has_phases(*barrier) => {}
            Event::Completed(barrier, _) if layout.has_phases(*barrier) => changed = true,
            // See [`super::pools`].
            Event::Completed(barrier, _) if machine.program().is_pool(*barrier) => {}
            Event::Arrived(barrier) if !events.contains(&Event::Blocked(*barrier)) => {
                state.memory.set(*barrier, Mark::Arrived(agent), layout.time(agent));
            }
            Event::Completed(barrier, _) => {
                let reaches = |event: &Event| match event {
                    Event::Released(_, reached) | Event::Notified(_, reached) => reached == barrier,
                    _ => false,
                };
                let reached = events.iter().any(reaches);
                state.memory.complete(layout, *barrier, reached);
                if !reached && events.iter().any(|event| matches!(event, Event::Landed(_))) {
                    state.memory.land_unseen(*barrier);
                }
                changed = true;
            }
            // It has waited before the completion; in another order it might wait after it.
            Event::Released(released, barrier) if follows_waits => {
                state.memory.set(*barrier, Mark::Waited(*released), layout.time(*released));
            }
            Event::Passed(barrier) if follows_waits => {
                state.memory.set(*barrier, Mark::Waited(agent), layout.time(agent));
                changed = true;
            }
            _ => {}
        }
    }
    if changed {
        settle(machine, state);
    }
}

/// Forgets what every live agent knows.
pub(super) fn settle(machine: &Machine, state: &mut State<HappensBefore>) {
    let live: Vec<AgentId> =
        machine.agents().filter(|agent| !machine.config(state, *agent).has_exited()).collect();
    state.memory.forget_settled(machine.layout(), &live);
}

impl Knowledge for HappensBefore {
    type Known = Holders;

    fn settles(&self) -> bool {
        self.memory.settles() || !self.facts.is_empty()
    }

    fn each(&mut self, mut f: impl FnMut(&mut Holders)) {
        self.memory.each(&mut f);
        self.facts.iter_mut().for_each(|fact| f(&mut fact.known));
    }

    fn each_in(&mut self, program: &Program, spaces: Spaces, f: impl FnMut(&mut Holders)) {
        self.memory.each_in(program, spaces, f);
    }

    fn access(
        &mut self,
        layout: Layout,
        agent: AgentId,
        kind: AccessKind,
        locations: &[LocationId],
    ) -> Vec<Conflict> {
        self.memory.access(layout, agent, kind, locations)
    }

    fn begun(&mut self, layout: Layout, agent: AgentId, slot: u16, begun: Begun) -> Vec<Conflict> {
        self.memory.begun(layout, agent, slot, begun)
    }

    fn entrust(&mut self, layout: Layout, agent: AgentId, slot: u16, locations: &[LocationId]) {
        self.memory.entrust(layout, agent, slot, locations);
    }

    fn release_lives(&mut self, layout: Layout, program: &Program, agent: AgentId) {
        self.memory.release_lives(layout, program, agent);
    }

    fn finish(&mut self, layout: Layout, agent: AgentId, of: Transfer, locations: &[LocationId]) {
        self.memory.finish(layout, agent, of, locations);
    }

    fn fence_proxies(&mut self, layout: Layout, program: &Program, agent: AgentId, window: Window) {
        self.memory.fence_proxies(layout, program, agent, window);
    }

    fn publish(&mut self, layout: Layout, program: &Program, agent: AgentId, spaces: Spaces) {
        self.memory.publish(layout, program, agent, spaces);
    }

    fn forget_settled(&mut self, layout: Layout, live: &[AgentId]) {
        self.memory.forget_settled(layout, live);
        let gathers = |mark: Mark| {
            matches!(
                mark,
                Mark::Gathering
                    | Mark::Arrived(_)
                    | Mark::Observer(_)
                    | Mark::Announced(_)
                    | Mark::InFlight
                    | Mark::Taken
            )
        };
        let matters = |t: &Fact| match t.mark {
            // One exit that comes later is enough.
            Mark::Remote(_, cta, agents) => {
                let mut there = live.iter().filter(|agent| agent.0 / agents.max(1) == cta);
                !there.any(|agent| t.known.has(layout.time(*agent)))
            }
            _ => live.iter().any(|agent| !t.known.has(layout.time(*agent))),
        };
        self.facts.retain(|t| gathers(t.mark) || matters(t));
    }
}

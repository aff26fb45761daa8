//! What a step does to memory, whatever memory holds.
//!
//! Nothing but accesses looks at what is known, and each access that is remembered is treated by itself. So
//! what a step does to memory can be written down once, and done to the accesses to some locations without
//! looking at those to others.

use super::layout::Layout;
use super::{Conflict, Knowledge, Known, Memory};
use crate::program::{AccessKind, AgentId, Begun, LocationId, Program, Spaces, Transfer, Window};

/// One thing that a step does to memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Doing {
    /// A holder learns what another one knows: of accesses to these spaces, if there are any.
    Pass(Option<Spaces>, usize, usize),
    /// A holder knows nothing any more.
    Forget(Option<Spaces>, usize),
    Access(AgentId, AccessKind, Vec<LocationId>),
    Publish(AgentId, Spaces),
    /// The agent begins a copy, in a slot.
    Begun(AgentId, u16, Begun),
    /// What the agent's `cp.async` write at these locations goes with what is in flight in a slot.
    Entrust(AgentId, u16, Vec<LocationId>),
    /// What the agent knows of objects that are initialised goes with its later arrivals.
    ReleaseLives(AgentId),
    /// The copies of a kind that the agent has begun at these locations have finished.
    Finish(AgentId, Transfer, Vec<LocationId>),
    /// A fence between the proxies.
    FenceProxies(AgentId, Window),
    /// What these agents know is settled.
    Settle(Vec<AgentId>),
}

/// What a step does to memory, in order: [`Machine::advance`](crate::machine::Machine::advance) writes it
/// down where memory is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flow {
    doings: Vec<Doing>,
    passing: Passing,
}

/// What happens to each access of some spaces.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Passing {
    spaces: Option<Spaces>,
    doings: Vec<Doing>,
}

impl Known for Passing {
    fn pass(&mut self, from: usize, to: usize) {
        self.doings.push(Doing::Pass(self.spaces, from, to));
    }

    fn forget(&mut self, holder: usize) {
        self.doings.push(Doing::Forget(self.spaces, holder));
    }
}

impl Flow {
    /// Whether nothing is done but that what is known by everybody is forgotten.
    #[must_use]
    pub fn only_settles(&self) -> bool {
        self.doings.iter().all(|doing| matches!(doing, Doing::Settle(_)))
    }

    /// Bytes in use, roughly.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let of = |doing: &Doing| match doing {
            Doing::Access(_, _, locations)
            | Doing::Finish(_, _, locations)
            | Doing::Entrust(_, _, locations) => locations.capacity() * size_of::<LocationId>(),
            Doing::Settle(live) => live.capacity() * size_of::<AgentId>(),
            Doing::Pass(..)
            | Doing::Forget(..)
            | Doing::Publish(..)
            | Doing::FenceProxies(..)
            | Doing::ReleaseLives(_)
            | Doing::Begun(..) => 0,
        };
        self.doings.capacity() * size_of::<Doing>() + self.doings.iter().map(of).sum::<usize>()
    }

    /// The locations accessed.
    pub fn accessed(&self) -> impl Iterator<Item = LocationId> {
        let accessed = self.doings.iter().map(|doing| match doing {
            Doing::Access(_, _, locations) => &locations[..],
            Doing::Begun(_, _, (_, location)) => std::slice::from_ref(location),
            _ => &[],
        });
        accessed.flatten().copied()
    }

    /// Does it to the accesses to some locations, if nothing is in conflict with them; `false` otherwise.
    #[must_use]
    pub fn apply(
        &self,
        (layout, program): (Layout, &Program),
        memory: &mut Memory,
        mut among: impl FnMut(LocationId) -> bool,
    ) -> bool {
        for doing in &self.doings {
            match doing {
                Doing::Pass(None, from, to) => memory.each(|known| known.pass(*from, *to)),
                Doing::Pass(Some(spaces), from, to) => {
                    memory.each_in(program, *spaces, |known| known.pass(*from, *to));
                }
                Doing::Forget(None, holder) => memory.each(|known| known.forget(*holder)),
                Doing::Forget(Some(spaces), holder) => {
                    memory.each_in(program, *spaces, |known| known.forget(*holder));
                }
                Doing::Access(agent, kind, locations) => {
                    let here: Vec<_> = locations.iter().copied().filter(|l| among(*l)).collect();
                    if !memory.access(layout, *agent, *kind, &here).is_empty() {
                        return false;
                    }
                }
                Doing::Publish(agent, spaces) => memory.publish(layout, program, *agent, *spaces),
                Doing::Begun(agent, slot, begun) => {
                    if among(begun.1) && !memory.begun(layout, *agent, *slot, *begun).is_empty() {
                        return false;
                    }
                }
                Doing::Entrust(agent, slot, locations) => memory.entrust(layout, *agent, *slot, locations),
                Doing::ReleaseLives(agent) => memory.release_lives(layout, program, *agent),
                Doing::Finish(agent, of, locations) => memory.finish(layout, *agent, *of, locations),
                Doing::FenceProxies(agent, window) => {
                    memory.fence_proxies(layout, program, *agent, *window);
                }
                Doing::Settle(live) => memory.forget_settled(layout, live),
            }
        }
        true
    }
}

impl Knowledge for Flow {
    type Known = Passing;

    fn settles(&self) -> bool {
        true
    }

    fn each(&mut self, mut f: impl FnMut(&mut Passing)) {
        f(&mut self.passing);
        self.doings.append(&mut self.passing.doings);
    }

    fn each_in(&mut self, _: &Program, spaces: Spaces, f: impl FnMut(&mut Passing)) {
        self.passing.spaces = Some(spaces);
        self.each(f);
        self.passing.spaces = None;
    }

    fn access(
        &mut self,
        _: Layout,
        agent: AgentId,
        kind: AccessKind,
        locations: &[LocationId],
    ) -> Vec<Conflict> {
        self.doings.push(Doing::Access(agent, kind, locations.to_vec()));
        Vec::new()
    }

    fn begun(&mut self, _: Layout, agent: AgentId, slot: u16, begun: Begun) -> Vec<Conflict> {
        self.doings.push(Doing::Begun(agent, slot, begun));
        Vec::new()
    }

    fn entrust(&mut self, _: Layout, agent: AgentId, slot: u16, locations: &[LocationId]) {
        self.doings.push(Doing::Entrust(agent, slot, locations.to_vec()));
    }

    fn release_lives(&mut self, _: Layout, _: &Program, agent: AgentId) {
        self.doings.push(Doing::ReleaseLives(agent));
    }

    fn finish(&mut self, _: Layout, agent: AgentId, of: Transfer, locations: &[LocationId]) {
        self.doings.push(Doing::Finish(agent, of, locations.to_vec()));
    }

    fn fence_proxies(&mut self, _: Layout, _: &Program, agent: AgentId, window: Window) {
        self.doings.push(Doing::FenceProxies(agent, window));
    }

    fn publish(&mut self, _: Layout, _: &Program, agent: AgentId, spaces: Spaces) {
        self.doings.push(Doing::Publish(agent, spaces));
    }

    fn forget_settled(&mut self, _: Layout, live: &[AgentId]) {
        self.doings.push(Doing::Settle(live.to_vec()));
    }
}

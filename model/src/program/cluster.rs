//! Clusters: CTAs that run the same protocol side by side, each with warps, barriers and shared memory of its
//! own. A protocol that says nothing of clusters is one of a single CTA.

use super::{AgentId, Array, ArrayId, LocationId, Program, Space, Window};
use crate::barrier::{BarrierId, mbarrier};

/// Barriers with an id of their own in each CTA.
const NAMED: u32 = 16;

impl Program {
    /// Agents in each CTA.
    #[must_use]
    pub fn agents_per_cta(&self) -> u32 {
        u32::try_from(self.agents.len()).unwrap_or(u32::MAX) / self.ctas.max(1)
    }

    /// The CTA of an agent.
    #[must_use]
    pub fn cta_of(&self, agent: AgentId) -> u32 {
        agent.0 / self.agents_per_cta().max(1)
    }

    /// The index of an agent in its CTA.
    #[must_use]
    pub fn index_in_cta(&self, agent: AgentId) -> u32 {
        agent.0 % self.agents_per_cta().max(1)
    }

    /// What an agent is called: `warp 3`, in a cluster `cta 1 warp 3`.
    #[must_use]
    pub fn agent_name(&self, agent: AgentId) -> String {
        let (noun, index) = (self.target.agent_noun(), self.index_in_cta(agent));
        match self.ctas {
            0 | 1 => format!("{noun} {index}"),
            _ => format!("cta {} {noun} {index}", self.cta_of(agent)),
        }
    }

    /// mbarrier objects in each CTA.
    #[must_use]
    pub fn objects_per_cta(&self) -> u32 {
        self.objects.last().map_or(0, |last| last.first + last.length.unwrap_or(1))
    }

    /// mbarrier objects in all CTAs.
    #[must_use]
    pub fn objects_in_all(&self) -> u32 {
        self.objects_per_cta() * self.ctas
    }

    /// The number among all objects of one that has a number in its CTA.
    #[must_use]
    pub fn object_in(&self, cta: u32, number: u32) -> u32 {
        cta * self.objects_per_cta() + number
    }

    /// The barrier of this id in a CTA. Those of the first CTA have their ids for numbers, then come all
    /// objects, then the barriers of the other CTAs, from a multiple of 16 on.
    #[must_use]
    pub fn named_barrier(&self, cta: u32, id: u32) -> BarrierId {
        match cta {
            0 => BarrierId(id),
            _ => BarrierId(self.others() + (cta - 1) * NAMED + id),
        }
    }

    /// The barrier of the cluster.
    #[must_use]
    pub fn cluster_barrier(&self) -> BarrierId {
        BarrierId(self.others() + self.ctas.saturating_sub(1) * NAMED)
    }

    /// The pool of registers of a CTA.
    #[must_use]
    pub fn register_pool(&self, cta: u32) -> BarrierId {
        BarrierId(self.cluster_barrier().0 + 1 + cta)
    }

    /// Whether a barrier is none of generations, but a pool of which some give and others take.
    #[must_use]
    pub fn is_pool(&self, barrier: BarrierId) -> bool {
        self.registers > 0 && barrier >= self.register_pool(0)
    }

    /// The first number after those of all barriers.
    #[must_use]
    pub fn barrier_numbers(&self) -> u32 {
        self.register_pool(self.ctas).0
    }

    /// The first number after those of the first CTA's barriers and of all objects.
    fn others(&self) -> u32 {
        mbarrier::id(self.objects_in_all()).0.next_multiple_of(NAMED)
    }

    /// The CTA to which a barrier belongs, with its id there or the number of the object; `None` for that of
    /// a cluster of several.
    #[must_use]
    pub fn home(&self, barrier: BarrierId) -> Option<Home> {
        if self.ctas <= 1 {
            return Some(Home { cta: 0, barrier });
        }
        if let Some(cta) = barrier.0.checked_sub(self.register_pool(0).0) {
            return Some(Home { cta, barrier: self.register_pool(0) });
        }
        if let Some(number) = mbarrier::number(barrier).filter(|number| *number < self.objects_in_all()) {
            let of_each = self.objects_per_cta();
            return Some(Home { cta: number / of_each, barrier: mbarrier::id(number % of_each) });
        }
        if barrier.0 < NAMED {
            return Some(Home { cta: 0, barrier });
        }
        let number = barrier.0.checked_sub(self.others())?;
        let cta = number / NAMED + 1;
        (cta < self.ctas).then_some(Home { cta, barrier: BarrierId(number % NAMED) })
    }

    /// Whether an agent belongs to those that share a barrier.
    #[must_use]
    pub fn shares(&self, agent: AgentId, barrier: BarrierId) -> bool {
        self.ctas <= 1 || self.home(barrier).is_none_or(|home| home.cta == self.cta_of(agent))
    }

    /// Memory locations that are declared.
    pub(super) fn declared_locations(&self) -> u32 {
        self.arrays.last().map_or(0, |last| last.first.0 + last.length.unwrap_or(1))
    }

    /// Number of memory locations, those of all CTAs.
    #[must_use]
    pub fn locations(&self) -> usize {
        self.declared_locations() as usize * self.ctas as usize
    }

    /// An element of an array in a CTA; `global` memory belongs to all.
    #[must_use]
    pub fn location_in(&self, cta: u32, array: ArrayId, element: u32) -> LocationId {
        let array = &self.arrays[array.index()];
        let before = match array.space {
            Space::Shared => cta * self.declared_locations(),
            Space::Global => 0,
        };
        LocationId(before + array.first.0 + element)
    }

    /// The CTA of a location; `None` for one that belongs to all.
    #[must_use]
    pub fn home_of(&self, location: LocationId) -> Option<u32> {
        match self.array_of(location).space {
            Space::Shared => Some(location.0 / self.declared_locations().max(1)),
            Space::Global => None,
        }
    }

    /// Whether a fence between the proxies that an agent executes is for a location.
    // clause: ptx.proxy-syntax
    #[must_use]
    pub fn covers(&self, window: Window, agent: AgentId, location: LocationId) -> bool {
        match window {
            Window::All => true,
            Window::OwnCta => self.home_of(location) == Some(self.cta_of(agent)),
            Window::Cluster => self.home_of(location).is_some(),
            Window::Global => self.home_of(location).is_none(),
        }
    }

    /// The array that `location` belongs to.
    #[must_use]
    pub fn array_of(&self, location: LocationId) -> &Array {
        let location = LocationId(location.0 % self.declared_locations().max(1));
        let after = self.arrays.partition_point(|a| a.first <= location);
        &self.arrays[after - 1]
    }

    /// How the protocol writes `location`: `buf[3]`, or `flag` for a scalar; in a cluster with its CTA.
    #[must_use]
    pub fn location_name(&self, location: LocationId) -> String {
        let array = self.array_of(location);
        let number = location.0 % self.declared_locations().max(1);
        let name = match array.length {
            Some(_) => format!("{}[{}]", array.name, number - array.first.0),
            None => array.name.clone(),
        };
        match self.home_of(location) {
            Some(cta) if self.ctas > 1 => format!("{name} of cta {cta}"),
            _ => name,
        }
    }
}

/// Where a barrier belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Home {
    /// The CTA.
    pub cta: u32,
    /// The barrier that has its name in the first CTA.
    pub barrier: BarrierId,
}

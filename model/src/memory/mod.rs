//! Order in time and order in memory: what each agent knows of the latest accesses to each location.
//!
//! Source: the semantics page, section 3.6, and each specification's clauses on memory. The state is
//! kept by access: for each access that may still matter, who knows it, and which barrier
//! generations and notifications carry that knowledge. When a newer access replaces one, all
//! knowledge of it goes with it.

mod flow;
mod layout;
mod proxies;
mod recorded;

pub use crate::barrier::Arrival;
pub use flow::{Conflict, Knowledge, Known};
pub use layout::Layout;
pub use recorded::{Flow, Passing};

use crate::barrier::BarrierId;
use crate::program::{AccessKind, AgentId, Begun, LocationId, Program, Spaces, Transfer, Window};
use crate::rule::Rule;

/// One access that may still matter.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Access {
    /// The location.
    pub location: LocationId,
    /// Read, write or atomic.
    pub kind: AccessKind,
    /// Who made it.
    pub agent: AgentId,
    /// What is known of it.
    about: About,
    /// Who or what knows it.
    known: Holders,
}

/// What is known of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum About {
    /// That it has been made.
    Made,
    /// That somebody who knew of it has executed a fence between the proxies since.
    Fenced,
}

/// Sets are copied with every state, at every step: a few holders take no memory of their own.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Words {
    /// A bit for each holder.
    Few([u64; FEW]),
    /// More words than that, the last of which is not 0.
    Many(Vec<u64>),
}

/// Words of a set that takes no memory of its own.
const FEW: usize = 2;

/// A set of holders of knowledge, numbered by [`Layout`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Holders(Words);

impl Default for Holders {
    fn default() -> Self {
        Self(Words::Few([0; FEW]))
    }
}

impl Holders {
    fn words(&self) -> &[u64] {
        match &self.0 {
            Words::Few(words) => words,
            Words::Many(words) => words,
        }
    }

    /// Bytes in use besides its own size, roughly.
    #[must_use]
    pub fn bytes_beside(&self) -> usize {
        match &self.0 {
            Words::Few(_) => 0,
            // Small pieces of memory come with some bytes beside them.
            Words::Many(words) => words.capacity() * size_of::<u64>() + 16,
        }
    }

    /// Whether a holder is among them.
    #[must_use]
    pub fn has(&self, holder: usize) -> bool {
        self.words().get(holder / 64).is_some_and(|word| word >> (holder % 64) & 1 == 1)
    }

    /// Whether all of them are among others.
    fn is_within(&self, others: &Self) -> bool {
        let missing = |(at, word): (usize, &u64)| word & !others.words().get(at).copied().unwrap_or(0) != 0;
        !self.words().iter().enumerate().any(missing)
    }

    /// Adds a holder.
    pub fn add(&mut self, holder: usize) {
        let bit = 1 << (holder % 64);
        match &mut self.0 {
            Words::Few(words) if holder / 64 < FEW => words[holder / 64] |= bit,
            Words::Few(words) => {
                let mut words = words.to_vec();
                words.resize(holder / 64 + 1, 0);
                words[holder / 64] = bit;
                self.0 = Words::Many(words);
            }
            Words::Many(words) => {
                words.resize(words.len().max(holder / 64 + 1), 0);
                words[holder / 64] |= bit;
            }
        }
    }

    fn remove(&mut self, holder: usize) {
        let words = match &mut self.0 {
            Words::Few(words) => &mut words[..],
            Words::Many(words) => words,
        };
        if let Some(word) = words.get_mut(holder / 64) {
            *word &= !(1 << (holder % 64));
        }
        // Equal sets are equal in form.
        if let Words::Many(words) = &mut self.0 {
            while words.last() == Some(&0) {
                words.pop();
            }
            if words.len() <= FEW {
                let mut few = [0; FEW];
                few[..words.len()].copy_from_slice(words);
                self.0 = Words::Few(few);
            }
        }
    }

    /// The same holders after agents have been renamed: agent `i` becomes `to[i]`. Agents keep their
    /// subgroup.
    #[must_use]
    pub fn renamed(&self, layout: Layout, to: &[AgentId]) -> Self {
        let mut renamed = Self::default();
        for (index, word) in self.words().iter().enumerate() {
            let mut rest = *word;
            while rest != 0 {
                renamed.add(layout.renamed(index * 64 + rest.trailing_zeros() as usize, to));
                rest &= rest - 1;
            }
        }
        renamed
    }
}

impl Known for Holders {
    fn pass(&mut self, from: usize, to: usize) {
        if self.has(from) {
            self.add(to);
        }
    }

    fn forget(&mut self, holder: usize) {
        self.remove(holder);
    }
}

/// The accesses that may still matter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Memory {
    accesses: Vec<Access>,
}

impl Memory {
    /// An access that these holders know.
    fn touch(
        &mut self,
        layout: Layout,
        (agent, kind): (AgentId, AccessKind),
        locations: &[LocationId],
        known: &Holders,
    ) -> Vec<Conflict> {
        let mut found = Vec::new();
        for earlier in self
            .accesses
            .iter()
            .filter(|a| a.about == About::Made && a.kind.is_apart_from(a.agent, (agent, kind)))
            .filter(|a| locations.contains(&a.location))
        {
            let rule = if !earlier.kind.conflicts_with(kind) {
                continue;
            } else if !earlier.known.has(layout.time(agent)) {
                // In another order the object is not initialised yet, which is found there.
                if kind == AccessKind::Use || earlier.kind == AccessKind::Initialisation {
                    continue;
                }
                // clause: barcheck.data-race, ptx.performed-read
                Rule::DataRace
            } else if layout.needs_memory_order(earlier.kind) && !earlier.known.has(layout.memory(agent)) {
                // clause: barcheck.missing-fence, ptx.performed-write
                Rule::MissingFence
            } else {
                continue;
            };
            found.push((rule, earlier.location, earlier.agent, earlier.kind));
        }
        if kind.is_of_async_proxy() {
            self.unfenced(layout, agent, locations, &mut found);
        }
        if kind == AccessKind::Use {
            return found;
        }
        // clause: barcheck.knowledge-replaced
        self.accesses.retain(|a| {
            let is_newer = (a.agent, a.kind) == (agent, kind) && !kind.is_one_of_several();
            !((kind.overwrites() || is_newer) && locations.contains(&a.location))
        });
        for location in locations {
            let made = Access { location: *location, kind, agent, about: About::Made, known: known.clone() };
            if kind.is_generic_write() && layout.is_of_copies(*location) {
                let known = Holders::default();
                self.accesses.push(Access { about: About::Fenced, known, ..made.clone() });
            }
            self.accesses.push(made);
        }
        self.accesses.sort_unstable();
        found
    }

    /// Of several that an agent has begun at a location, leaves out those of which all know that know of
    /// another one: who knows of that one knows of them, from now on too.
    fn leave_out_implied(&mut self) {
        if !self.accesses.iter().any(|a| a.kind.is_one_of_several()) {
            return;
        }
        let of = |a: &Access| (a.location, a.kind, a.agent);
        let all = self.accesses.clone();
        let mut at = 0;
        self.accesses.retain(|access| {
            let own = at;
            at += 1;
            let is_implied = |(other, by): (usize, &Access)| {
                let is_first = by.known != access.known || other < own;
                other != own && of(by) == of(access) && by.known.is_within(&access.known) && is_first
            };
            !(access.kind.is_one_of_several() && all.iter().enumerate().any(is_implied))
        });
    }

    /// Whether nothing is remembered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.accesses.is_empty()
    }

    /// Bytes in use, roughly.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let beside = self.accesses.iter().map(|access| access.known.bytes_beside());
        self.accesses.capacity() * size_of::<Access>() + beside.sum::<usize>()
    }

    /// The accesses that may still matter.
    #[must_use]
    pub fn accesses(&self) -> &[Access] {
        &self.accesses
    }

    /// What is remembered of accesses to locations from one on, up to another one, exclusive.
    #[must_use]
    pub fn within(&self, first: LocationId, end: LocationId) -> Self {
        let from = self.accesses.partition_point(|access| access.location < first);
        let to = self.accesses.partition_point(|access| access.location < end);
        Self { accesses: self.accesses.get(from..to).unwrap_or_default().to_vec() }
    }

    /// Adds what is remembered of accesses to locations that come after all those here.
    pub fn append(&mut self, later: &Self) {
        self.accesses.extend_from_slice(&later.accesses);
    }

    /// The same memory with agents renamed: agent `i` becomes `to[i]`. Agents keep their subgroup.
    #[must_use]
    pub fn renamed(&self, layout: Layout, to: &[AgentId]) -> Self {
        let mut accesses: Vec<_> = self
            .accesses
            .iter()
            .map(|access| {
                let known = access.known.renamed(layout, to);
                Access { agent: to[access.agent.index()], known, ..*access }
            })
            .collect();
        accesses.sort_unstable();
        Self { accesses }
    }

    /// What distinguishes an agent in this memory, other agents' names aside: for each access whether it is
    /// its own, and what it knows of it and of fences since. Equal for interchangeable agents whose roles in
    /// memory are equal.
    #[must_use]
    pub fn profile(&self, layout: Layout, agent: AgentId) -> Vec<(LocationId, AccessKind, bool, u8)> {
        let extras = layout.barrier(BarrierId(0), 0) / layout.agents;
        let mut profile: Vec<_> = self
            .accesses
            .iter()
            .map(|access| {
                let knows = (0..extras)
                    .filter(|kind| access.known.has(kind * layout.agents + agent.index()))
                    .map(|kind| 1_u8 << kind)
                    .sum::<u8>();
                let is_fence = u8::from(access.about == About::Fenced) << 7;
                (access.location, access.kind, access.agent == agent, is_fence | knows)
            })
            .collect();
        profile.sort_unstable();
        profile
    }
}

impl Knowledge for Memory {
    type Known = Holders;

    fn settles(&self) -> bool {
        !self.is_empty()
    }

    fn each(&mut self, mut f: impl FnMut(&mut Holders)) {
        self.accesses.iter_mut().for_each(|access| f(&mut access.known));
    }

    fn each_in(&mut self, program: &Program, spaces: Spaces, mut f: impl FnMut(&mut Holders)) {
        // clause: xegpu.memory-kind
        let among = |access: &&mut Access| spaces.includes(program.array_of(access.location).space);
        self.accesses.iter_mut().filter(among).for_each(|access| f(&mut access.known));
    }

    fn access(
        &mut self,
        layout: Layout,
        agent: AgentId,
        kind: AccessKind,
        locations: &[LocationId],
    ) -> Vec<Conflict> {
        let mut known = Holders::default();
        // Not even its agent knows when a copy reads or writes.
        if !kind.is_of_copy() {
            known.add(layout.time(agent));
        }
        // clause: nbarrier.no-memory
        if !layout.has_fences() && !kind.is_of_copy() {
            known.add(layout.memory(agent));
        }
        self.touch(layout, (agent, kind), locations, &known)
    }

    // clause: ptx.bulk-copy-asynchronous
    fn begun(&mut self, layout: Layout, agent: AgentId, slot: u16, begun: Begun) -> Vec<Conflict> {
        let mut known = Holders::default();
        layout.slot(slot).into_iter().for_each(|holder| known.add(holder));
        self.touch(layout, (agent, begun.0), &[begun.1], &known)
    }

    // clause: ptx.cp-async-arrive
    fn entrust(&mut self, layout: Layout, agent: AgentId, slot: u16, locations: &[LocationId]) {
        let is_it = |a: &&mut Access| {
            let Access { about, agent: by, kind, location, .. } = &**a;
            (*about, *by, *kind) == (About::Made, agent, AccessKind::Fill) && locations.contains(location)
        };
        for fill in self.accesses.iter_mut().filter(is_it) {
            layout.slot(slot).into_iter().for_each(|holder| fill.known.add(holder));
        }
    }

    fn publish(&mut self, layout: Layout, program: &Program, agent: AgentId, spaces: Spaces) {
        let includes = |access: &Access| spaces.includes(program.array_of(access.location).space);
        for access in self.accesses.iter_mut().filter(|a| a.agent == agent) {
            if includes(access) {
                access.known.add(layout.memory(agent));
            }
        }
    }

    fn release_lives(&mut self, layout: Layout, program: &Program, agent: AgentId) {
        let released = layout.released_far(agent);
        let lives = self.accesses.iter_mut().filter(|access| program.is_life(access.location));
        lives.for_each(|access| access.known.pass(layout.memory(agent), released));
    }

    fn finish(&mut self, layout: Layout, agent: AgentId, of: Transfer, locations: &[LocationId]) {
        self.has_finished(layout, agent, of.access(), locations);
    }

    fn fence_proxies(&mut self, layout: Layout, program: &Program, agent: AgentId, window: Window) {
        self.fenced(layout, program, agent, window);
    }

    fn forget_settled(&mut self, layout: Layout, live: &[AgentId]) {
        self.leave_out_implied();
        self.accesses.retain(|access| {
            if access.about == About::Fenced {
                return live.iter().any(|agent| !access.known.has(layout.memory(*agent)));
            }
            let needs_memory = layout.needs_memory_order(access.kind);
            live.iter().any(|agent| {
                (access.agent != *agent || access.kind.is_of_copy())
                    && !(access.known.has(layout.time(*agent))
                        && (!needs_memory || access.known.has(layout.memory(*agent))))
            })
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::hash::{DefaultHasher, Hash, Hasher};

    fn hash(holders: &Holders) -> u64 {
        let mut hasher = DefaultHasher::new();
        holders.hash(&mut hasher);
        hasher.finish()
    }

    /// Also beyond the words that take no memory of their own, and back.
    #[test]
    fn equal_sets_of_holders_are_equal_in_form_however_they_came_about() {
        let (mut holders, mut expected) = (Holders::default(), BTreeSet::new());
        let mut random = 1_u64;
        for round in 0..5000_usize {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let most = if round / 100 % 2 == 0 { 400 } else { 130 };
            let holder = (random >> 33) as usize % most;
            if round % 100 < 20 {
                holders.add(holder);
                expected.insert(holder);
            } else {
                let gone = expected.iter().copied().rev().nth(holder % 3).unwrap_or(holder);
                holders.remove(gone);
                expected.remove(&gone);
            }
            assert!((0..500).all(|holder| holders.has(holder) == expected.contains(&holder)));
            let mut anew = Holders::default();
            expected.iter().for_each(|holder| anew.add(*holder));
            assert_eq!(holders, anew);
            assert_eq!(hash(&holders), hash(&anew));
        }
    }

    #[test]
    fn a_memory_takes_more_bytes_the_more_it_remembers() {
        let access = |known| Access {
            location: LocationId(0),
            kind: AccessKind::Write,
            agent: AgentId(0),
            about: About::Made,
            known,
        };
        let mut many = Holders::default();
        many.add(64 * FEW);
        let bytes = |known: &[&Holders]| {
            let mut accesses = Vec::with_capacity(known.len());
            accesses.extend(known.iter().map(|known| access((*known).clone())));
            Memory { accesses }.bytes()
        };
        let few = Holders::default();
        assert_eq!(bytes(&[]), 0);
        assert_eq!(bytes(&[&few, &few]), 2 * size_of::<Access>());
        assert!(bytes(&[&few, &many]) >= bytes(&[&few, &few]) + 8 * (FEW + 1));
    }
}

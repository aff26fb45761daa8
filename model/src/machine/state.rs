//! One state of the whole group.

use super::ConfigId;
use crate::barrier::{BarrierId, Seat, bcu, nbarrier, ptx, split};
use crate::memory::Memory;
use crate::program::AgentId;
use smallvec::SmallVec;
use std::collections::VecDeque;

/// A state of the group. Equal states have equal futures.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State<K = Memory> {
    /// The agents.
    pub agents: Vec<AgentState>,
    /// The barriers that are not as they were in the beginning, by id.
    pub barriers: Vec<(BarrierId, AnyBarrier)>,
    /// What everybody knows of the accesses that may still matter.
    pub memory: K,
    /// The decisions that all agents make alike, as far as some agent has yet to make them.
    pub sequences: Vec<Sequence>,
    /// `xegpu`: the number of barriers that subgroups have allocated.
    pub allocated: Option<u32>,
}

/// One agent in a state.
#[derive(Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AgentState {
    /// Its configuration.
    pub config: ConfigId,
    /// What it has to do with barriers, by id; barriers with which it has nothing to do are left out.
    pub seats: SmallVec<[(BarrierId, Seat); 2]>,
}

impl Clone for AgentState {
    // Every step copies the states of all agents, and seats are copied at once.
    fn clone(&self) -> Self {
        Self { config: self.config, seats: SmallVec::from_slice(&self.seats) }
    }
}

impl AgentState {
    /// What the agent has to do with a barrier.
    #[must_use]
    pub fn seat(&self, barrier: BarrierId) -> Seat {
        match self.seats.binary_search_by_key(&barrier, |(id, _)| *id) {
            Ok(at) => self.seats[at].1,
            Err(_) => Seat::default(),
        }
    }

    pub(super) fn set_seat(&mut self, barrier: BarrierId, seat: Seat) {
        match (self.seats.binary_search_by_key(&barrier, |(id, _)| *id), seat.is_vacant()) {
            (Ok(at), true) => drop(self.seats.remove(at)),
            (Ok(at), false) => self.seats[at].1 = seat,
            (Err(_), true) => {}
            (Err(at), false) => self.seats.insert(at, (barrier, seat)),
        }
    }
}

/// A barrier of any of the five systems (`xegpu` uses those of `nbarrier`).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AnyBarrier {
    /// PTX.
    Ptx(ptx::Barrier),
    /// BCU.
    Bcu(bcu::Barrier),
    /// vISA and XeGPU.
    Nbarrier(nbarrier::Barrier),
    /// Split barriers.
    Split(split::Barrier),
}

impl AnyBarrier {
    fn is_initial(&self) -> bool {
        match self {
            Self::Ptx(b) => *b == ptx::Barrier::default(),
            Self::Bcu(b) => *b == bcu::Barrier::default(),
            Self::Nbarrier(b) => *b == nbarrier::Barrier::default(),
            Self::Split(b) => *b == split::Barrier::default(),
        }
    }
}

macro_rules! accessor {
    ($(#[$doc:meta])* $name:ident, $variant:ident, $type:ty) => {
        $(#[$doc])*
        #[must_use]
        pub fn $name(&self, barrier: BarrierId) -> $type {
            match self.barrier(barrier) {
                Some(AnyBarrier::$variant(state)) => state.clone(),
                _ => <$type>::default(),
            }
        }
    };
}

impl<K> State<K> {
    pub(super) fn new(agents: Vec<AgentState>, sequences: usize, group: usize, memory: K) -> Self {
        Self {
            agents,
            barriers: Vec::new(),
            memory,
            sequences: vec![Sequence { ahead: VecDeque::new(), position: vec![0; group] }; sequences],
            allocated: None,
        }
    }

    /// A barrier's state, `None` while it is as it was in the beginning.
    #[must_use]
    pub fn barrier(&self, barrier: BarrierId) -> Option<&AnyBarrier> {
        let at = self.barriers.binary_search_by_key(&barrier, |(id, _)| *id).ok()?;
        Some(&self.barriers[at].1)
    }

    accessor!(
        /// A PTX barrier.
        ptx,
        Ptx,
        ptx::Barrier
    );
    accessor!(
        /// A BCU barrier.
        bcu,
        Bcu,
        bcu::Barrier
    );
    accessor!(
        /// A named barrier of vISA or XeGPU.
        nbarrier,
        Nbarrier,
        nbarrier::Barrier
    );
    accessor!(
        /// A split barrier.
        split,
        Split,
        split::Barrier
    );

    pub(super) fn set_barrier(&mut self, barrier: BarrierId, state: AnyBarrier) {
        match (self.barriers.binary_search_by_key(&barrier, |(id, _)| *id), state.is_initial()) {
            (Ok(at), true) => drop(self.barriers.remove(at)),
            (Ok(at), false) => self.barriers[at].1 = state,
            (Err(_), true) => {}
            (Err(at), false) => self.barriers.insert(at, (barrier, state)),
        }
    }
}

/// A sequence of decisions that all agents make alike: those that some agent has made and another has yet to make.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Sequence {
    /// The decisions, oldest first.
    pub ahead: VecDeque<bool>,
    /// For each agent, how many of them it has made; 0 for one that will not consult the sequence again.
    pub position: Vec<u32>,
}

impl Sequence {
    /// The decision that the agent has to make, if another has made it already.
    #[must_use]
    pub fn forced(&self, agent: AgentId) -> Option<bool> {
        self.ahead.get(self.position[agent.index()] as usize).copied()
    }

    pub(super) fn decide(&mut self, agent: AgentId, decision: bool) {
        let position = &mut self.position[agent.index()];
        if *position as usize == self.ahead.len() {
            self.ahead.push_back(decision);
        }
        *position += 1;
    }

    /// Forgets decisions that nobody has yet to make.
    pub(super) fn forget(&mut self, may_consult: impl Fn(AgentId) -> bool) {
        let consults: Vec<bool> =
            (0..self.position.len()).map(|agent| may_consult(AgentId::from_index(agent))).collect();
        let positions = || self.position.iter().zip(&consults);
        let behind = positions().filter(|(_, consults)| **consults).map(|(position, _)| *position).min();
        let done = behind.map_or(self.ahead.len(), |n| n as usize);
        self.ahead.drain(..done);
        let done = u32::try_from(done).unwrap_or(u32::MAX);
        for (position, consults) in self.position.iter_mut().zip(consults) {
            *position = if consults { *position - done } else { 0 };
        }
    }
}

//! One state of the whole group.

use super::ConfigId;
use super::choice::Choice;
use crate::barrier::{AnyBarrier, AnyOperation, BarrierId, Seat, Token};
use crate::memory::Memory;
use crate::program::{AgentId, Pc};
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
    /// What is pending, in order.
    pub pending: Vec<Pending>,
}

/// What an agent has left pending: it lands at any later time, as a step of its own. Equal ones are
/// interchangeable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Pending {
    /// The agent.
    pub agent: AgentId,
    /// Its instruction.
    pub pc: Pc,
    /// What lands.
    pub operation: AnyOperation,
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
    #[inline]
    pub fn seat(&self, barrier: BarrierId) -> Seat {
        match self.seats.iter().find(|(id, _)| *id == barrier) {
            Some((_, seat)) => *seat,
            None => Seat::default(),
        }
    }

    #[inline]
    pub(super) fn set_seat(&mut self, barrier: BarrierId, seat: Seat) {
        let at = self.seats.iter().position(|(id, _)| *id >= barrier);
        match at {
            Some(at) if self.seats[at].0 == barrier => self.set_seat_at(at, seat),
            _ if seat.is_vacant() => {}
            Some(at) => self.seats.insert(at, (barrier, seat)),
            None => self.seats.push((barrier, seat)),
        }
    }

    /// Changes one of the seats that are taken.
    #[inline]
    pub(super) fn set_seat_at(&mut self, at: usize, seat: Seat) {
        if seat.is_vacant() {
            self.seats.remove(at);
        } else {
            self.seats[at].1 = seat;
        }
    }
}

/// Where a state keeps a barrier, or would keep it, until one that is kept is kept no more, or the other
/// way round.
#[derive(Clone, Copy)]
pub(super) struct Site {
    pub(super) id: BarrierId,
    place: Result<usize, usize>,
}

impl<K> State<K> {
    pub(super) fn new(agents: Vec<AgentState>, sequences: usize, group: usize, memory: K) -> Self {
        Self {
            agents,
            barriers: Vec::new(),
            memory,
            sequences: vec![Sequence { ahead: VecDeque::new(), position: vec![0; group] }; sequences],
            allocated: None,
            pending: Vec::new(),
        }
    }

    /// What an agent has left pending, in order.
    #[must_use]
    pub fn pending_of(&self, agent: AgentId) -> &[Pending] {
        let first = self.pending.partition_point(|pending| pending.agent < agent);
        let count = self.pending[first..].partition_point(|pending| pending.agent == agent);
        &self.pending[first..first + count]
    }

    /// The landings that are possible, of equal ones the first.
    pub fn landings(&self) -> impl Iterator<Item = Choice> + '_ {
        let agents = self.pending.chunk_by(|a, b| a.agent == b.agent);
        agents.flat_map(|left| {
            let is_first = |index: &usize| *index == 0 || left[index - 1] != left[*index];
            let indices = (0..left.len()).filter(is_first);
            indices.map(|index| Choice::landing(left[0].agent, u32::try_from(index).unwrap_or(u32::MAX)))
        })
    }

    /// Something is pending from now on.
    pub(super) fn leave(&mut self, pending: Pending) {
        let at = self.pending.partition_point(|other| *other <= pending);
        self.pending.insert(at, pending);
    }

    /// What an agent has left pending at a position is so no more.
    pub(super) fn take_pending(&mut self, agent: AgentId, index: u32) -> Option<Pending> {
        let first = self.pending.partition_point(|pending| pending.agent < agent);
        let at = first + index as usize;
        self.pending.get(at).filter(|pending| pending.agent == agent)?;
        self.pending.drain(at..=at).next()
    }

    /// A barrier's state, `None` while it is as it was in the beginning.
    #[must_use]
    pub fn barrier(&self, barrier: BarrierId) -> Option<&AnyBarrier> {
        self.at(self.site(barrier))
    }

    /// The life of a barrier begins or ends: nobody can wait for what a token of it names.
    pub(super) fn outdate_tokens(&mut self, barrier: BarrierId) {
        for agent in &mut self.agents {
            let seat = agent.seat(barrier);
            if seat.token != Token::None {
                agent.set_seat(barrier, Seat { token: Token::Stale, ..seat });
            }
        }
    }

    /// Where a barrier is kept.
    pub(super) fn site(&self, id: BarrierId) -> Site {
        Site { id, place: self.barriers.binary_search_by_key(&id, |(id, _)| *id) }
    }

    pub(super) fn at(&self, site: Site) -> Option<&AnyBarrier> {
        Some(&self.barriers[site.place.ok()?].1)
    }

    pub(super) fn set_barrier(&mut self, site: Site, state: AnyBarrier) {
        match (site.place, state.is_initial()) {
            (Ok(at), true) => drop(self.barriers.remove(at)),
            (Ok(at), false) => self.barriers[at].1 = state,
            (Err(_), true) => {}
            (Err(at), false) => self.barriers.insert(at, (site.id, state)),
        }
    }
}

/// A sequence of decisions that all agents make alike: those that some agent has made and another has yet
/// to make.
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

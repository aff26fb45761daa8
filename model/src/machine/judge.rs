//! The rules about states: deadlock, arrival races, dangling arrivals.

use super::{Detail, Finding, Machine, State};
use crate::agent::{Action, BarrierAction};
use crate::barrier::{BarrierId, ptx};
use crate::machine::AnyBarrier;
use crate::program::{AgentId, Pc, Target};
use crate::rule::Rule;

/// The counts that an arrival announces, as far as room is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Announced {
    /// Threads (`ptx`; `bcu`, where 0 stands for every live warp).
    Threads(u32),
    /// Producers and consumers.
    Sides(u32, u32),
}

/// An agent, or a fragment of one, that stands at an arrival.
struct Standing {
    barrier: BarrierId,
    announced: Announced,
    agent: AgentId,
    pc: Pc,
    produces: bool,
    consumes: bool,
}

impl Machine {
    /// The rules about states. A deadlock, if any, comes last: it ends the path.
    #[must_use]
    pub fn judge(&self, state: &State) -> Vec<Finding> {
        let mut found = self.arrival_races(state);
        found.extend(self.dangling_arrivals(state));
        found.extend(self.deadlock(state));
        found
    }

    /// No agent has a step and not all have exited. // clause: barcheck.deadlock
    fn deadlock(&self, state: &State) -> Option<Finding> {
        if self.agents().any(|agent| !self.moves(state, agent).is_empty()) {
            return None;
        }
        let stuck: Vec<_> = self.agents().filter(|a| !self.config(state, *a).has_exited()).collect();
        let agent = *stuck.first()?;
        let pc = self.stands_at(state, agent);
        let config = self.config(state, agent);
        let parked = || config.fragments.iter().find_map(|f| f.parked).map(|p| p.what.id);
        let barrier = config.waiting.map(|w| w.barrier).or_else(parked);
        Some(Finding { rule: Rule::Deadlock, agent, pc, agents: stuck, barrier, detail: Detail::None })
    }

    /// Every agent has exited and a barrier still holds arrivals. // clause: barcheck.dangling-arrival
    fn dangling_arrivals(&self, state: &State) -> Vec<Finding> {
        if !Rule::DanglingArrival.holds_for(self.program.target)
            || self.agents().any(|agent| !self.config(state, agent).has_exited())
        {
            return Vec::new();
        }
        let holds_arrivals = |barrier: &AnyBarrier| match barrier {
            AnyBarrier::Ptx(b) => *b != ptx::Barrier::Idle,
            AnyBarrier::Bcu(b) => b.live.is_some_and(|live| live.arrivals > 0),
            AnyBarrier::Nbarrier(b) => b.gathering.is_some(),
            AnyBarrier::Split(_) => false,
        };
        let dangling = state.barriers.iter().filter(|(_, barrier)| holds_arrivals(barrier));
        dangling
            .map(|(id, _)| {
                let agents: Vec<_> =
                    self.agents().filter(|a| state.agents[a.index()].seat(*id).arrived).collect();
                Finding {
                    rule: Rule::DanglingArrival,
                    agent: agents.first().copied().unwrap_or_default(),
                    pc: Pc(0),
                    agents,
                    barrier: Some(*id),
                    detail: Detail::None,
                }
            })
            .collect()
    }

    /// More agents stand at an arrival than the generation has room for. // clause: barcheck.arrival-race
    fn arrival_races(&self, state: &State) -> Vec<Finding> {
        if self.program.target == Target::SplitBarrier {
            return Vec::new();
        }
        let mut standing: Vec<Standing> =
            self.agents().flat_map(|agent| self.standing(state, agent)).collect();
        if standing.len() < 2 {
            return Vec::new();
        }
        standing.sort_by_key(|s| (s.barrier, s.announced, s.agent));
        let mut found = Vec::new();
        for group in standing.chunk_by(|a, b| (a.barrier, a.announced) == (b.barrier, b.announced)) {
            let Some((side, room)) = self.overfull(state, group) else { continue };
            let mut agents: Vec<_> = side.iter().map(|s| s.agent).collect();
            agents.dedup();
            found.push(Finding {
                rule: Rule::ArrivalRace,
                agent: side[0].agent,
                pc: side[0].pc,
                agents,
                barrier: Some(side[0].barrier),
                detail: Detail::Room { standing: u32::try_from(side.len()).unwrap_or(u32::MAX), room },
            });
        }
        found
    }

    /// Those of a group of equal announcements that are too many for the barrier, and the room there is.
    fn overfull<'s>(&self, state: &State, group: &'s [Standing]) -> Option<(Vec<&'s Standing>, u32)> {
        let room = self.room(state, group[0].barrier, group[0].announced)?;
        let exceeds =
            |side: Vec<&'s Standing>, room: u32| (side.len() > room as usize).then_some((side, room));
        exceeds(group.iter().filter(|s| s.produces).collect(), room.0)
            .or_else(|| exceeds(group.iter().filter(|s| s.consumes).collect(), room.1))
    }

    /// Room for producers and for consumers (the same for targets that do not tell them apart) among those that
    /// announce these counts. `None` if the barrier always has room, or is active with other counts.
    fn room(&self, state: &State, barrier: BarrierId, announced: Announced) -> Option<(u32, u32)> {
        match announced {
            Announced::Threads(threads) if self.program.target == Target::Ptx => {
                let whole = threads / crate::program::WARP_SIZE;
                match state.ptx(barrier) {
                    ptx::Barrier::Idle => Some((whole, whole)),
                    ptx::Barrier::Active { expected, all, arrived, .. } => {
                        (expected == threads && !all).then(|| (whole - arrived, whole - arrived))
                    }
                }
            }
            // Count 0 waits for every live warp: there is always room.
            Announced::Threads(0) => None,
            Announced::Threads(threads) => {
                let whole = threads / crate::program::WARP_SIZE;
                match state.bcu(barrier).live {
                    None => Some((whole, whole)),
                    Some(live) => {
                        let left = whole.saturating_sub(live.arrivals);
                        (live.count == threads).then_some((left, left))
                    }
                }
            }
            Announced::Sides(producers, consumers) => match state.nbarrier(barrier).gathering {
                None => Some((producers, consumers)),
                Some(now) => ((now.producers, now.consumers) == (producers, consumers))
                    .then(|| (producers - now.produced, consumers - now.consumed)),
            },
        }
    }

    /// The arrivals at which an agent stands: one at most, except for the fragments of a BCU warp.
    fn standing(&self, state: &State, agent: AgentId) -> Vec<Standing> {
        let moves = self.moves(state, agent).iter();
        moves
            .filter_map(|made| {
                let both = |barrier, announced| Standing {
                    barrier,
                    announced,
                    agent,
                    pc: made.pc,
                    produces: true,
                    consumes: true,
                };
                match &made.action {
                    Action::Barrier(BarrierAction::Ptx(what, ..)) | Action::Exit(Some((what, _))) => {
                        Some(both(what.id, Announced::Threads(what.expected)))
                    }
                    Action::Barrier(BarrierAction::Bcu(what, ..)) => {
                        Some(both(what.id, Announced::Threads(what.count)))
                    }
                    Action::Barrier(BarrierAction::Signal(what)) => Some(Standing {
                        barrier: what.id,
                        announced: Announced::Sides(what.producers, what.consumers),
                        agent,
                        pc: made.pc,
                        produces: what.kind.produces(),
                        consumes: what.kind.consumes(),
                    }),
                    _ => None,
                }
            })
            .collect()
    }
}

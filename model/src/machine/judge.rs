//! The rules about states: deadlock, arrival races, dangling arrivals.

use super::{Detail, Finding, Machine, State};
use crate::agent::{Action, BarrierAction};
use crate::barrier::nbarrier::Kind;
use crate::barrier::{BarrierId, ptx};
use crate::machine::AnyBarrier;
use crate::program::{AgentId, Pc, Target, WARP_SIZE};
use crate::rule::Rule;

/// The counts that an arrival announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Announced {
    /// Threads (`ptx`).
    Ptx(u32),
    /// Threads, or 0 for every live warp (`bcu`).
    Bcu(u32),
    /// Producers and consumers (`nbarrier`, `xegpu`).
    Sides(u32, u32),
}

/// An arrival at which an agent could stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Standing {
    /// The barrier.
    pub barrier: BarrierId,
    /// The counts announced.
    pub announced: Announced,
    /// Takes room among the producers; where a target does not tell sides apart, both are taken.
    pub produces: bool,
    /// Takes room among the consumers.
    pub consumes: bool,
}

impl Standing {
    /// The arrival that a move with this action would be, if it would be one.
    #[must_use]
    #[inline]
    pub fn of(action: &Action) -> Option<Self> {
        let (barrier, announced, kind) = match action {
            Action::Barrier(BarrierAction::Ptx(what, ..)) | Action::Exit(Some((what, _))) => {
                (what.id, Announced::Ptx(what.expected), Kind::Both)
            }
            Action::Barrier(BarrierAction::Bcu(what, ..)) => {
                (what.id, Announced::Bcu(what.count), Kind::Both)
            }
            Action::Barrier(BarrierAction::Signal(what)) => {
                (what.id, Announced::Sides(what.producers, what.consumers), what.kind)
            }
            _ => return None,
        };
        Some(Self { barrier, announced, produces: kind.produces(), consumes: kind.consumes() })
    }
}

/// Room for producers and for consumers (the same for targets that do not tell them apart) among agents that make
/// this announcement at a barrier. `None` if there is always room, or if the barrier is active with other counts.
#[must_use]
pub fn room(barrier: Option<&AnyBarrier>, announced: Announced) -> Option<(u32, u32)> {
    match announced {
        Announced::Ptx(threads) => {
            let whole = threads / WARP_SIZE;
            match barrier {
                Some(AnyBarrier::Ptx(ptx::Barrier::Active { expected, all, arrived, .. })) => {
                    (*expected == threads && !all).then(|| (whole - arrived, whole - arrived))
                }
                _ => Some((whole, whole)),
            }
        }
        // Count 0 waits for every live warp: there is always room.
        Announced::Bcu(0) => None,
        Announced::Bcu(threads) => {
            let whole = threads / WARP_SIZE;
            let live = match barrier {
                Some(AnyBarrier::Bcu(b)) => b.live,
                _ => None,
            };
            let Some(live) = live else { return Some((whole, whole)) };
            let left = whole.saturating_sub(live.arrivals);
            (live.count == threads).then_some((left, left))
        }
        Announced::Sides(producers, consumers) => {
            let gathering = match barrier {
                Some(AnyBarrier::Nbarrier(b)) => b.gathering,
                _ => None,
            };
            let Some(now) = gathering else { return Some((producers, consumers)) };
            ((now.producers, now.consumers) == (producers, consumers))
                .then(|| (producers - now.produced, consumers - now.consumed))
        }
    }
}

/// An agent, or a fragment of one, and the arrival at which it stands.
type Stander = (Standing, AgentId, Pc);

impl Machine {
    /// The rules about states. A deadlock, if any, comes last: it ends the path.
    #[must_use]
    pub fn judge<K>(&self, state: &State<K>) -> Vec<Finding> {
        let mut found = self.arrival_races(state);
        found.extend(self.dangling_arrivals(state));
        found.extend(self.deadlock(state));
        found
    }

    /// No agent has a step and not all have exited.
    // clause: barcheck.deadlock
    fn deadlock<K>(&self, state: &State<K>) -> Option<Finding> {
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

    /// Every agent has exited and a barrier still holds arrivals.
    // clause: barcheck.dangling-arrival
    fn dangling_arrivals<K>(&self, state: &State<K>) -> Vec<Finding> {
        if !Rule::DanglingArrival.holds_for(self.program.target)
            || self.agents().any(|agent| !self.config(state, agent).has_exited())
        {
            return Vec::new();
        }
        let holds_arrivals = |barrier: &AnyBarrier| match barrier {
            AnyBarrier::Ptx(b) => *b != ptx::Barrier::Idle,
            AnyBarrier::Bcu(b) => b.live.is_some(),
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

    /// More agents stand at an arrival than the generation has room for.
    // clause: barcheck.arrival-race
    fn arrival_races<K>(&self, state: &State<K>) -> Vec<Finding> {
        if self.program.target == Target::SplitBarrier {
            return Vec::new();
        }
        let mut standing: Vec<Stander> =
            self.agents().flat_map(|agent| self.standing(state, agent)).collect();
        standing.sort_by_key(|(s, agent, _)| (s.barrier, s.announced, *agent));
        let mut found = Vec::new();
        let same = |a: &Stander, b: &Stander| (a.0.barrier, a.0.announced) == (b.0.barrier, b.0.announced);
        for group in standing.chunk_by(same) {
            let Some((side, room)) = overfull(state, group) else { continue };
            let mut agents: Vec<_> = side.iter().map(|s| s.1).collect();
            agents.dedup();
            let (at, agent, pc) = *side[0];
            found.push(Finding {
                rule: Rule::ArrivalRace,
                agent,
                pc,
                agents,
                barrier: Some(at.barrier),
                detail: Detail::Room { standing: u32::try_from(side.len()).unwrap_or(u32::MAX), room },
            });
        }
        found
    }

    /// The arrivals at which an agent stands: one at most, except for the fragments of a BCU warp.
    fn standing<K>(&self, state: &State<K>, agent: AgentId) -> Vec<Stander> {
        let moves = self.moves(state, agent).iter();
        moves.filter_map(|made| Some((Standing::of(&made.action)?, agent, made.pc))).collect()
    }
}

/// Those of a group with equal announcements that are too many for the barrier, and the room there is.
fn overfull<'s, K>(state: &State<K>, group: &'s [Stander]) -> Option<(Vec<&'s Stander>, u32)> {
    let at = group[0].0;
    let (producers, consumers) = room(state.barrier(at.barrier), at.announced)?;
    let exceeds = |side: Vec<&'s Stander>, room: u32| (side.len() > room as usize).then_some((side, room));
    exceeds(group.iter().filter(|s| s.0.produces).collect(), producers)
        .or_else(|| exceeds(group.iter().filter(|s| s.0.consumes).collect(), consumers))
}

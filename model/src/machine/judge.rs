//! The rules about states: deadlock, arrival races, dangling arrivals.

use super::{Detail, Finding, Machine, State};
use crate::barrier::{Standing, room};
use crate::program::{AgentId, Pc};
use crate::rule::Rule;

/// An agent, or a fragment of one, and the arrival at which it stands.
type Stander = (Standing, AgentId, Pc);

impl Machine {
    /// The rules about states. A deadlock, if any, comes last: it ends the path.
    #[must_use]
    pub fn judge<K>(&self, state: &State<K>) -> Vec<Finding> {
        let mut found = self.arrival_races(state);
        found.extend(self.dangling_arrivals(state));
        found.extend([false, true].into_iter().filter_map(|commits| self.in_flight_at_exit(state, commits)));
        found.extend(self.deadlock(state));
        found
    }

    /// No agent has a step, nothing is pending, and not all have exited.
    // clause: barcheck.deadlock
    fn deadlock<K>(&self, state: &State<K>) -> Option<Finding> {
        if !state.pending.is_empty() || self.agents().any(|agent| !self.moves(state, agent).is_empty()) {
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

    /// Every agent has exited, nothing is pending, and a barrier still holds arrivals.
    // clause: barcheck.dangling-arrival
    fn dangling_arrivals<K>(&self, state: &State<K>) -> Vec<Finding> {
        if !Rule::DanglingArrival.holds_for(self.program.target)
            || !state.pending.is_empty()
            || self.agents().any(|agent| !self.config(state, agent).has_exited())
        {
            return Vec::new();
        }
        let dangling = state.barriers.iter().filter(|(_, barrier)| barrier.holds_arrivals());
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

    /// Every agent of a CTA has exited, and a copy of its own, or a commit, is pending there.
    // clause: barcheck.in-flight-at-exit
    // clause: barcheck.commit-at-exit
    fn in_flight_at_exit<K>(&self, state: &State<K>, commits: bool) -> Option<Finding> {
        let rule = Rule::at_exit(commits);
        if !rule.holds_for(self.program.target) {
            return None;
        }
        let left = state.pending.iter().find(|left| {
            let cta = self.program.cta_of(left.agent);
            left.operation.is_arrival() == commits
                && self.program.shares(left.agent, left.operation.barrier())
                && self.agents_of(cta).all(|agent| self.config(state, agent).has_exited())
        })?;
        let agents = vec![left.agent];
        let barrier = Some(left.operation.barrier());
        Some(Finding { rule, agent: left.agent, pc: left.pc, agents, barrier, detail: Detail::None })
    }

    /// More agents stand at an arrival than the generation has room for.
    // clause: barcheck.arrival-race
    fn arrival_races<K>(&self, state: &State<K>) -> Vec<Finding> {
        if !self.program.target.facts().has_room {
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
        moves.filter_map(|made| Some((made.action.standing()?, agent, made.pc))).collect()
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

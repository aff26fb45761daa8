//! Every agent and every barrier along the time.

use std::collections::BTreeMap;

use serde::Serialize;

use super::generations::{Generation, generations};
use crate::names;
use crate::objects::{Flight, Phase, flights, phases};
use crate::render::events;
use crate::trace::{AgentState, BarrierState, Event, Step, Trace};

/// The states of one thing and the times from which they are in force, in order.
type History<'t, T> = Vec<(usize, &'t T)>;

/// The state in force at a time.
fn at<'t, T>(history: &[(usize, &'t T)], time: usize) -> Option<&'t T> {
    let count = history.partition_point(|(from, _)| *from <= time);
    history[..count].last().map(|(_, state)| *state)
}

/// Agents of one role.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Group<'t> {
    /// The role; `None` for those without.
    pub role: Option<&'t str>,
    /// The agents, in order.
    pub agents: Vec<u32>,
}

/// A trace along its time.
#[derive(Clone, Debug)]
pub struct Timeline<'t> {
    trace: &'t Trace,
    agents: Vec<History<'t, AgentState>>,
    barriers: BTreeMap<u32, (History<'t, BarrierState>, Vec<Generation>)>,
    groups: Vec<Group<'t>>,
    phases: BTreeMap<u32, Vec<Phase>>,
    flights: Vec<Flight>,
    violation: usize,
}

impl<'t> Timeline<'t> {
    /// Goes once through a trace. The agents of a trace that has been read or built are all there.
    #[must_use]
    pub fn of(trace: &'t Trace) -> Self {
        let mut agents: Vec<History<'t, AgentState>> = vec![Vec::new(); trace.agents.len()];
        let mut barriers: BTreeMap<u32, (History<'t, BarrierState>, Vec<Generation>)> = BTreeMap::new();
        let named = trace.barriers.iter().map(|barrier| barrier.barrier);
        for barrier in named.chain(trace.steps.iter().flat_map(Step::barriers)) {
            barriers.entry(barrier).or_default();
        }
        let moments = std::iter::once(&trace.initial).chain(trace.steps.iter().map(|step| &step.changes));
        for (time, changes) in moments.enumerate() {
            for state in &changes.agents {
                if let Some(history) = agents.get_mut(state.agent as usize) {
                    history.push((time, state));
                }
            }
            for state in &changes.barriers {
                barriers.entry(state.barrier).or_default().0.push((time, state));
            }
        }
        for (barrier, gathered) in generations(trace) {
            barriers.entry(barrier).or_default().1 = gathered;
        }
        Self {
            trace,
            agents,
            barriers,
            groups: groups(trace),
            phases: phases(trace),
            flights: flights(trace),
            violation: violation(trace),
        }
    }

    /// The trace.
    #[must_use]
    pub fn trace(&self) -> &'t Trace {
        self.trace
    }

    /// The time at the end: the number of steps.
    #[must_use]
    pub fn last(&self) -> usize {
        self.trace.steps.len()
    }

    /// When the outcome shows: after the last step that says so, or at the end.
    #[must_use]
    pub fn violation(&self) -> usize {
        self.violation
    }

    /// For a run without end, the time before its cycle.
    #[must_use]
    pub fn cycle(&self) -> Option<usize> {
        self.trace.outcome.cycle_from
    }

    /// The step that leads to a time; none does to the beginning.
    #[must_use]
    pub fn step(&self, time: usize) -> Option<&'t Step> {
        time.checked_sub(1).and_then(|index| self.trace.steps.get(index))
    }

    /// What happened at the step that leads to a time, in words, one for each event.
    #[must_use]
    pub fn words(&self, time: usize) -> Vec<String> {
        let events = self.step(time).map(|step| step.events.as_slice()).unwrap_or_default();
        events.iter().map(|event| events::in_words(self.trace, event)).collect()
    }

    /// An agent at a time.
    #[must_use]
    pub fn agent(&self, agent: u32, time: usize) -> Option<&'t AgentState> {
        at(self.agents.get(agent as usize)?, time)
    }

    /// A barrier at a time; `None` while it is as in the beginning: idle, without a complete generation.
    #[must_use]
    pub fn barrier(&self, barrier: u32, time: usize) -> Option<&'t BarrierState> {
        at(&self.barriers.get(&barrier)?.0, time)
    }

    /// The barriers that occur, in order.
    pub fn barriers(&self) -> impl DoubleEndedIterator<Item = u32> + '_ {
        self.barriers.keys().copied()
    }

    /// A barrier's generations, in order.
    #[must_use]
    pub fn generations(&self, barrier: u32) -> &[Generation] {
        self.barriers.get(&barrier).map_or(&[], |(_, generations)| generations)
    }

    /// A barrier's generations that reach into an interval of time, both ends included.
    #[must_use]
    pub fn generations_within(&self, barrier: u32, from: usize, to: usize) -> &[Generation] {
        let all = self.generations(barrier);
        // They follow one another.
        let first = all.partition_point(|g| g.completed.is_some_and(|time| time < from));
        let count = all[first..].partition_point(|g| g.begins() <= to);
        &all[first..first + count]
    }

    /// The mbarrier objects on which something happens, and their phases, in order.
    pub fn objects(&self) -> impl Iterator<Item = (u32, &[Phase])> + '_ {
        self.phases.iter().map(|(barrier, phases)| (*barrier, phases.as_slice()))
    }

    /// An object's phases, in order; none of any other barrier.
    #[must_use]
    pub fn phases(&self, barrier: u32) -> &[Phase] {
        self.phases.get(&barrier).map_or(&[], Vec::as_slice)
    }

    /// Copies and arrivals in flight, in the order in which they begin.
    #[must_use]
    pub fn flights(&self) -> &[Flight] {
        &self.flights
    }

    /// The agents by role, in the order in which roles first occur.
    #[must_use]
    pub fn groups(&self) -> &[Group<'t>] {
        &self.groups
    }

    /// What agents are called: `warp`.
    #[must_use]
    pub fn noun(&self) -> &'static str {
        names::noun(self.trace).word()
    }

    /// An agent's name: `warp 3`.
    #[must_use]
    pub fn agent_name(&self, agent: u32) -> &'t str {
        self.trace.agents.get(agent as usize).map_or("", |agent| agent.name.as_str())
    }

    /// Agents, sorted, in words: `warps 0-3`; one by its name.
    #[must_use]
    pub fn agents_in_words(&self, sorted: &[u32]) -> String {
        match sorted {
            [only] => self.agent_name(*only).to_owned(),
            several => names::agents(names::noun(self.trace), several),
        }
    }

    /// Agents, sorted, in a column's width: `w0-3,6`.
    #[must_use]
    pub fn agents_in_short(&self, sorted: &[u32]) -> String {
        names::agents_in_short(names::noun(self.trace), sorted)
    }

    /// A barrier's name: `barrier 1`.
    #[must_use]
    pub fn barrier_name(&self, barrier: u32) -> String {
        let named = self.trace.barriers.iter().find(|known| known.barrier == barrier);
        named.map_or_else(|| format!("barrier {barrier}"), |known| known.name.clone())
    }

    /// A barrier's name in a column's width: `b1`.
    #[must_use]
    pub fn barrier_short(&self, barrier: u32) -> String {
        names::short(self.trace, barrier)
    }

    /// File, target, sizes and definitions, in a line.
    #[must_use]
    pub fn facts(&self) -> String {
        names::facts(self.trace)
    }

    /// Lanes, given as a bit mask, as people read them: `lanes 0-7`.
    #[must_use]
    pub fn lanes_in_words(&self, mask: &str) -> String {
        names::lanes_of(mask)
    }

    /// The first time after a time whose step passes a test; with `back`, the last before it.
    pub fn seek(&self, time: usize, back: bool, test: impl Fn(usize, &Step) -> bool) -> Option<usize> {
        let passes = |time: &usize| self.step(*time).is_some_and(|step| test(*time, step));
        if back { (1..time).rev().find(passes) } else { (time.saturating_add(1)..=self.last()).find(passes) }
    }
}

fn groups(trace: &Trace) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut places: BTreeMap<Option<&str>, usize> = BTreeMap::new();
    for agent in &trace.agents {
        let role = agent.role.as_deref();
        let place = *places.entry(role).or_insert_with(|| {
            groups.push(Group { role, agents: Vec::new() });
            groups.len() - 1
        });
        groups[place].agents.push(agent.index);
    }
    groups
}

fn violation(trace: &Trace) -> usize {
    let about = trace.outcome.rule.as_ref();
    let says = |event: &Event| matches!(event, Event::Violated { rule, .. } if Some(rule) == about);
    let found = trace.steps.iter().rposition(|step| step.events.iter().any(says));
    found.map_or(trace.steps.len(), |index| index + 1)
}

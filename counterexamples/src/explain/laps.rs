//! Waits by parity that came too late: a phase had passed in between, and the parity looked the same.
//!
//! A parity tells the next phase from the last one, and no more. Whoever waits for a phase after which
//! another one is complete sees what it would have seen had neither happened. Whoever waits again with the
//! parity of the phase that it saw complete last does not wait at all.

use std::collections::BTreeMap;

use barcheck_model::rule::Rule;

use super::case::{Case, sentence};
use super::place::Did;
use super::words::Words;
use crate::objects::is_object;
use crate::trace::{Detail, Event, Step};

/// How a trace calls a read.
const READ: &str = "read";

/// Sentences about laps, at most, beside those about waits that go on in the end.
const MOST: usize = 2;

/// A wait by parity that was late.
pub(super) struct Lap<'t> {
    pub(super) agent: u32,
    pub(super) barrier: u32,
    step: &'t Step,
    /// The phase whose parity was waited with; none is the one before the first.
    pub(super) phase: Option<u32>,
    /// Whether the agent had seen that phase complete before.
    seen: bool,
    /// How many phases had begun after it; with one, the wait was for what the agent knew already.
    later: u32,
    /// Whether the wait goes on in the end.
    lasts: bool,
}

/// What is known of an object at a time.
#[derive(Default)]
struct Object {
    /// How many phases of its present life are complete.
    complete: u32,
    /// Of those, how many were when an agent last saw one complete; none if it has seen none.
    seen: BTreeMap<u32, u32>,
}

impl Object {
    fn sees(&mut self, agent: u32) {
        self.seen.insert(agent, self.complete);
    }

    /// The phase that an agent waits for by a parity that has come, or has not, if it is late for it: its
    /// number, whether the agent has seen it complete, and how many have begun after it. One is the present
    /// phase: the wait let the agent pass though nothing had come since.
    fn late(&self, agent: u32, passes: bool) -> Option<(Option<u32>, bool, u32)> {
        // Before the first phase there is nothing to be seen.
        let next = self.seen.get(&agent).copied().unwrap_or(0);
        let missed = self.complete.checked_sub(next)?;
        // The present phase has the parity that has not come.
        let is_for_next = (missed % 2 == 0) != passes;
        match is_for_next {
            true if missed >= 2 => Some((Some(next), false, missed)),
            // Who has never waited may find the phase before the first complete, and be meant to.
            false => {
                let knew = self.seen.contains_key(&agent) || next > 0;
                Some((next.checked_sub(1), knew, missed + 1))
            }
            true => None,
        }
    }
}

/// All waits of a trace that were late, in order. Of an excerpt it is not known what anybody has seen.
pub(super) fn of<'t>(case: &Case<'t>) -> Vec<Lap<'t>> {
    if case.trace.is_excerpt() {
        return Vec::new();
    }
    let named = case.trace.barriers.iter().map(|named| named.barrier);
    let mut objects: BTreeMap<u32, Object> =
        named.filter(|id| is_object(case.trace, *id)).map(|id| (id, Object::default())).collect();
    let mut laps = Vec::new();
    for step in &case.trace.steps {
        for event in &step.events {
            let lap = take(&mut objects, &mut laps, step, event);
            laps.extend(lap);
        }
    }
    laps
}

/// Follows an event; a wait that is late is a lap.
fn take<'t>(
    objects: &mut BTreeMap<u32, Object>,
    laps: &mut [Lap<'t>],
    step: &'t Step,
    event: &Event,
) -> Option<Lap<'t>> {
    let agent = step.agent;
    let (barrier, passes) = match event {
        Event::Passed { barrier } | Event::Asked { barrier, complete: true } => (*barrier, true),
        Event::Blocked { barrier } => (*barrier, false),
        Event::Begun { barrier } => {
            *objects.get_mut(barrier)? = Object::default();
            return None;
        }
        Event::Completed { barrier, .. } => {
            let object = objects.get_mut(barrier)?;
            object.complete = object.complete.saturating_add(1);
            return None;
        }
        Event::Released { barrier, agents } => {
            let object = objects.get_mut(barrier)?;
            agents.iter().for_each(|agent| object.sees(*agent));
            let goes_on = |lap: &Lap<'_>| lap.barrier == *barrier && agents.contains(&lap.agent);
            laps.iter_mut().filter(|lap| goes_on(lap)).for_each(|lap| lap.lasts = false);
            return None;
        }
        _ => return None,
    };
    let object = objects.get_mut(&barrier)?;
    let late = if is_by_token(step) { None } else { object.late(agent, passes) };
    if passes {
        object.sees(agent);
    }
    let (phase, seen, later) = late?;
    Some(Lap { agent, barrier, step, phase, seen, later, lasts: !passes })
}

/// A token names one phase.
fn is_by_token(step: &Step) -> bool {
    step.instruction.contains("mbarrier.") && !step.instruction.contains(".parity")
}

impl Lap<'_> {
    /// The wait was for what had been complete before, and nothing had come since.
    fn is_idle(&self) -> bool {
        self.later == 1
    }

    /// That such a wait passed.
    fn says_idle(&self, case: &Case<'_>) -> String {
        let (who, on) = (sentence(&case.agent(self.agent)), case.barrier(self.barrier));
        let (step, at) = (Case::step_name(self.step), case.at(self.step.location));
        match self.phase {
            Some(phase) => format!(
                "{who} passed its wait on {on}{at} ({step}) too early: the parity is that of phase {phase}, which it \
                 had seen complete before, and no other had been complete since."
            ),
            None => format!(
                "{who} passed its wait on {on}{at} ({step}) too early: no phase of it was complete. Of a fresh \
                 object the phase before the first counts as complete, and its parity is 1."
            ),
        }
    }

    fn says(&self, case: &Case<'_>) -> String {
        if self.is_idle() {
            return self.says_idle(case);
        }
        let on = case.barrier(self.barrier);
        let phase = match self.phase {
            Some(phase) => format!("phase {phase} of {on}"),
            None => format!("the phase before the first of {on}"),
        };
        let seen = if self.seen && self.phase.is_some() { "it had seen complete and which " } else { "" };
        let later = match self.later {
            2 => "two".to_owned(),
            3 => "three".to_owned(),
            more => more.to_string(),
        };
        format!(
            "{} waited for {phase}{} ({}), which {seen}had already been followed by {later} more: the parity \
             looked the same.",
            sentence(&case.agent(self.agent)),
            case.at(self.step.location),
            Case::step_name(self.step),
        )
    }
}

/// That the wait of an agent that goes on in the end is late.
pub(super) fn lasting(case: &Case<'_>, agent: u32, barrier: u32) -> Option<String> {
    let laps = of(case);
    let lap = laps.iter().find(|lap| lap.lasts && (lap.agent, lap.barrier) == (agent, barrier))?;
    Some(lap.says(case))
}

/// Names the laps that came before a violation which they may have caused.
pub(super) fn tell(case: &Case<'_>, rule: Rule, words: &mut Words) {
    let may_follow = matches!(
        rule,
        Rule::Deadlock
            | Rule::StuckAgent
            | Rule::DataRace
            | Rule::MissingFence
            | Rule::Assertion
            | Rule::UnobservedPhase
            | Rule::OverArrival
            | Rule::OverDelivery
            | Rule::StaleCompletion
            | Rule::InFlightAtExit
    );
    if !may_follow {
        return;
    }
    if let Some(lap) = idle_before(case, rule) {
        words.sentences.push(lap.says(case));
        words.related.push(Case::did(lap.step, Did::PassedTooEarly(case.barrier(lap.barrier))));
    }
    // Of one wait in a loop the first time that it was late says enough.
    let mut told = Vec::new();
    for lap in of(case).iter().filter(|lap| !lap.lasts && !lap.is_idle()) {
        let key = (lap.agent, lap.barrier);
        if told.len() < MOST && !told.contains(&key) {
            told.push(key);
            words.sentences.push(lap.says(case));
        }
    }
}

/// The wait that let an agent pass though nothing had come, before it did what it must not.
fn idle_before<'t>(case: &Case<'t>, rule: Rule) -> Option<Lap<'t>> {
    let outcome = case.outcome;
    let (agent, reads) = match (&outcome.detail, rule) {
        (Some(Detail::Conflict { access, .. }), _) if access == READ => (outcome.agent, true),
        (Some(Detail::Conflict { earlier, earlier_access, .. }), _) if earlier_access == READ => {
            (*earlier, true)
        }
        (_, Rule::UnobservedPhase | Rule::OverArrival | Rule::StaleCompletion) => (outcome.agent, false),
        _ => return None,
    };
    // Of a read, the wait before the read; otherwise that before the end.
    let last = match (reads, &outcome.detail) {
        (true, Some(Detail::Conflict { location, .. })) => {
            case.back(usize::MAX, |step| step.accesses(agent, READ, location)).map_or(usize::MAX, |s| s.index)
        }
        _ => usize::MAX,
    };
    let waits = |step: &Step| {
        let waited = step.events.iter().any(|event| {
            matches!(
                event,
                Event::Passed { .. } | Event::Asked { complete: true, .. } | Event::Blocked { .. }
            )
        });
        step.agent == agent && step.index <= last && waited
    };
    let wait = case.back(usize::MAX, waits)?;
    of(case).into_iter().find(|lap| {
        // A writer that waits for a place that is free in the beginning is meant to pass.
        let is_meant = lap.phase.is_none() && !lap.seen && !reads;
        lap.is_idle() && !lap.lasts && lap.step.index == wait.index && !is_meant
    })
}

/// Those waits that go on in the end and are late.
pub(super) fn that_last<'l, 't>(laps: &'l [Lap<'t>], barriers: &[u32]) -> Vec<&'l Lap<'t>> {
    laps.iter().filter(|lap| lap.lasts && barriers.contains(&lap.barrier)).collect()
}

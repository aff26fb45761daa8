//! Waits by parity that came too late: a phase had passed in between, and the parity looked the same.
//!
//! A parity tells the next phase from the last one, and no more. Whoever waits for a phase after which
//! another one is complete sees what it would have seen had neither happened. Whoever waits again with the
//! parity of the phase that it saw complete last does not wait at all.

use std::collections::BTreeMap;

use barcheck_model::rule::Rule;

use super::case::{Case, completes, sentence, verb};
use super::culprit::Blame;
use super::place::{Did, Place, Remark};
use super::words::Words;
use crate::names;
use crate::objects::is_object;
use crate::trace::{Detail, Event, Status, Step};

/// How a trace calls a read.
const READ: &str = "read";

/// Sentences about laps, at most, beside those about waits that go on in the end.
const MOST: usize = 2;

/// A wait by parity that was late.
#[derive(Clone)]
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
    /// Whether it let the agent pass at once.
    passed: bool,
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
    Some(Lap { agent, barrier, step, phase, seen, later, lasts: !passes, passed: passes })
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
    fn says_idle(&self, case: &Case<'_>, who: &[u32]) -> String {
        let (their, they) = (verb(who, "its", "their"), verb(who, "it", "they"));
        let (who, on) = (sentence(&case.agents(who)), case.barrier(self.barrier));
        let (step, at) = (Case::step_name(self.step), case.at(self.step.location));
        match self.phase {
            Some(phase) => format!(
                "{who} passed {their} wait on {on}{at} ({step}) too early: the parity is that of phase {phase}, which \
                 {they} had seen complete before, and no other had been complete since."
            ),
            None => format!(
                "{who} passed {their} wait on {on}{at} ({step}) too early: no phase of it was complete. Of a fresh \
                 object the phase before the first counts as complete, and its parity is 1."
            ),
        }
    }

    /// That a wait for a place that is free in the beginning passed, as it may be meant to.
    fn says_free(&self, case: &Case<'_>) -> String {
        format!(
            "{} passed its wait on {}{} ({}) at once: no phase of it was complete, and of a fresh object the phase \
             before the first, whose parity is 1, counts as complete.",
            sentence(&case.agent(self.agent)),
            case.barrier(self.barrier),
            case.at(self.step.location),
            Case::step_name(self.step)
        )
    }

    /// That a wait was late, of all who were so alike.
    fn says(&self, case: &Case<'_>, who: &[u32]) -> String {
        if self.is_idle() {
            return self.says_idle(case, who);
        }
        let Some(phase) = self.phase else { return self.says_never(case, who) };
        let phase = format!("phase {phase} of {}", case.barrier(self.barrier));
        let they = verb(who, "it", "they");
        let seen = if self.seen { format!("{they} had seen complete and which ") } else { String::new() };
        let later = match self.later {
            2 => "two".to_owned(),
            3 => "three".to_owned(),
            more => more.to_string(),
        };
        format!(
            "{} waited for {phase}{} ({}), which {seen}had already been followed by {later} more: the parity \
             looked the same.",
            sentence(&case.agents(who)),
            case.at(self.step.location),
            Case::step_name(self.step),
        )
    }

    /// That a wait comes after phases that were never waited for. What was meant is not known: a wait may
    /// have been left out, or the parity be the wrong one.
    fn says_never(&self, case: &Case<'_>, who: &[u32]) -> String {
        let (on, complete) = (case.barrier(self.barrier), self.later - 1);
        let (phases, were) = match complete {
            1 => ("phase 0".to_owned(), "was"),
            more => (format!("phases 0 to {}", more - 1), "were"),
        };
        // Whoever passed waited with the parity of the last that is complete.
        let of = if self.passed { complete - 1 } else { complete };
        format!(
            "{} waited{} ({}) with parity {}, that of phase {of}, and had not waited before for {phases} of {on}, \
             which {were} complete by then: either a wait is left out, or the parity is not the one of the \
             round.",
            sentence(&case.agents(who)),
            case.at(self.step.location),
            Case::step_name(self.step),
            of & 1,
        )
    }

    /// Whether another wait was late in the same way.
    fn is_like(&self, other: &Self) -> bool {
        let how = |lap: &Self| (lap.barrier, lap.phase, lap.seen, lap.later, lap.passed, lap.step.location);
        how(self) == how(other)
    }
}

/// Those whose wait goes on in the end for a phase after ones that they never waited for.
pub(super) fn skipped(case: &Case<'_>, barriers: &[u32]) -> Option<Blame> {
    let laps = of(case);
    let lasting = that_last(&laps, barriers);
    let first = *lasting.iter().find(|lap| lap.phase.is_none() && !lap.seen && !lap.is_idle())?;
    let who = names::distinct(lasting.iter().filter(|lap| lap.is_like(first)).map(|lap| lap.agent));
    let state = case.state(first.barrier)?;
    if state.missing.iter().any(|agent| case.end.status(*agent) == Status::Exited) {
        return None;
    }
    let (on, complete) = (case.barrier(first.barrier), first.later - 1);
    let (phases, is) = if complete == 1 {
        ("phase 0".to_owned(), "is")
    } else {
        (format!("phases 0 to {}", complete - 1), "are")
    };
    let says = format!(
        "{} came{} to wait for phase {complete} of {on} and never waited for {phases}, which {is} complete",
        case.agents(&who),
        case.at(first.step.location),
    );
    let did = Remark::Did(who.clone(), Did::Waits(on));
    let places = vec![Place { agent: first.agent, location: first.step.location, remark: did }];
    Some(Blame { agents: who, says, barrier: first.barrier, others: String::new(), places })
}

/// Those whose wait goes on in the end, with the parity of a phase that they had seen complete before.
pub(super) fn again(case: &Case<'_>, laps: &[&Lap<'_>]) -> Option<Blame> {
    let first = *laps.iter().find(|lap| lap.seen && !lap.is_idle())?;
    let phase = first.phase?;
    let who = names::distinct(laps.iter().filter(|lap| lap.is_like(first)).map(|lap| lap.agent));
    let on = case.barrier(first.barrier);
    let says = format!(
        "{} waited for {on} with parity {} again{}, that of phase {phase}, which {} had seen complete",
        case.agents(&who),
        phase & 1,
        case.at(first.step.location),
        verb(&who, "it", "they"),
    );
    let others =
        format!("The parity changes with each phase: {} of {on} has come and gone.", next_phases(first));
    let did = Remark::Did(who.clone(), Did::Waits(on));
    let places = vec![Place { agent: first.agent, location: first.step.location, remark: did }];
    Some(Blame { agents: who, says, barrier: first.barrier, others, places })
}

/// The phases that a wait missed, after the one whose parity it had.
fn next_phases(lap: &Lap<'_>) -> String {
    let from = lap.phase.map_or(0, |phase| phase + 1);
    match lap.later.saturating_sub(2) {
        0 => format!("phase {from}"),
        more => format!("what came in phases {from} to {}", from + more),
    }
}

/// That the waits of agents that go on in the end are late.
pub(super) fn lasting(case: &Case<'_>, agents: &[u32], barrier: u32) -> Vec<String> {
    let laps = of(case);
    let is_meant = |lap: &&Lap<'_>| lap.lasts && lap.barrier == barrier && agents.contains(&lap.agent);
    let mut groups: Vec<Vec<&Lap<'_>>> = Vec::new();
    for lap in laps.iter().filter(is_meant) {
        match groups.iter_mut().find(|group| group[0].is_like(lap)) {
            Some(group) => group.push(lap),
            None => groups.push(vec![lap]),
        }
    }
    let who = |group: &[&Lap<'_>]| names::distinct(group.iter().map(|lap| lap.agent));
    groups.iter().take(MOST).map(|group| group[0].says(case, &who(group))).collect()
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
        // The cause comes before what follows from it.
        words.sentences.insert(0, lap.says(case, &[lap.agent]));
        words.related.push(Case::did(lap.step, Did::PassedTooEarly(case.barrier(lap.barrier))));
    } else if let Some(laps) = early_twice(case, rule) {
        let (first, who) = (&laps[0], names::distinct(laps.iter().map(|lap| lap.agent)));
        let (their, on) = (verb(&who, "its", "their"), case.barrier(first.barrier));
        words.message += &format!("; {} passed {their} wait on {on} too early", case.agents(&who));
        words.sentences.insert(0, first.says(case, &who));
        let early = Did::PassedTooEarly(on);
        words.related.extend(laps.iter().map(|lap| Case::did(lap.step, early.clone())));
    } else if let Some(lap) = free_before(case, rule) {
        words.sentences.push(lap.says_free(case));
    }
    // Of one wait in a loop the first time that it was late says enough.
    let mut told = Vec::new();
    for lap in of(case).iter().filter(|lap| !lap.lasts && !lap.is_idle()) {
        let key = (lap.agent, lap.barrier);
        if told.len() < MOST && !told.contains(&key) {
            told.push(key);
            words.sentences.push(lap.says(case, &[lap.agent]));
        }
    }
}

/// Whether an access, or what else broke a rule, came behind a wait that was passed too early.
pub(super) fn is_too_early(case: &Case<'_>, rule: Rule) -> bool {
    !case.trace.is_excerpt() && idle_before(case, rule).is_some()
}

/// The wait that let an agent pass though nothing had come, before it did what it must not.
fn idle_before<'t>(case: &Case<'t>, rule: Rule) -> Option<Lap<'t>> {
    let (agent, last, reads) = told_by(case, rule)?;
    let laps = of(case);
    // A writer that waits for a place that is free in the beginning is meant to pass.
    let is_meant =
        |lap: &Lap<'_>| lap.phase.is_none() && !lap.seen && !reads && !reads_behind(case, lap.step);
    let found = |wait: &Step| {
        laps.iter().find(|lap| lap.is_idle() && !lap.lasts && lap.step.index == wait.index && !is_meant(lap))
    };
    let any = case.back(usize::MAX, |step| step.index <= last && waits(step, agent).is_some());
    let copy = copy_to(case).filter(|_| reads);
    let own = copy
        .and_then(|on| case.back(usize::MAX, |step| step.index <= last && waits(step, agent) == Some(on)));
    // Whoever waited in vain for what it knew has not waited for what should have come.
    let earlier = || {
        let mut idle = laps.iter().filter(|lap| lap.agent == agent && lap.is_idle() && lap.passed);
        idle.rfind(|lap| !reads && lap.step.index <= last && !is_meant(lap))
    };
    let lap = any.and_then(found).or_else(|| own.and_then(found)).or_else(earlier)?;
    Some(lap.clone())
}

/// Waits by which agents came twice to an arrival on the object that a finding is about, in one phase: they
/// passed between the two though nothing had come. So the phase was complete before others had arrived in it,
/// who broke the rule.
fn early_twice<'t>(case: &Case<'t>, rule: Rule) -> Option<Vec<Lap<'t>>> {
    let is_meant = matches!(rule, Rule::UnobservedPhase | Rule::OverArrival) && !case.trace.is_excerpt();
    let barrier = case.outcome.barrier.filter(|_| is_meant)?;
    let (last, is_end) = (case.before_last(), |step: &Step| completes(step, barrier));
    let until = if rule == Rule::UnobservedPhase { case.back(last, is_end)?.index } else { last };
    let phase = case.gathered(barrier, until).into_iter();
    let phase: Vec<&Step> = phase.chain(case.trace.steps.get(until).filter(|step| is_end(step))).collect();
    let made = |agent: u32| phase.iter().filter(move |step| step.agent == agent).map(|step| step.index);
    let early = |lap: &&Lap<'_>| {
        let is_between =
            |at: usize| made(lap.agent).any(|first| first < at) && made(lap.agent).any(|again| at < again);
        // A writer that waits for a place that is free in the beginning is meant to pass.
        let is_free = lap.phase.is_none() && !lap.seen && !reads_behind(case, lap.step);
        lap.passed && lap.is_idle() && !is_free && is_between(lap.step.index)
    };
    let laps = of(case);
    let first = laps.iter().find(early)?;
    let mut alike: Vec<Lap<'t>> = Vec::new();
    for lap in laps.iter().filter(early).filter(|lap| lap.is_like(first)) {
        if alike.iter().all(|known| known.agent != lap.agent) {
            alike.push(lap.clone());
        }
    }
    Some(alike)
}

/// The last wait of whoever broke a rule, if it passed as one for a place that is free in the beginning.
fn free_before<'t>(case: &Case<'t>, rule: Rule) -> Option<Lap<'t>> {
    if rule != Rule::UnobservedPhase || case.trace.is_excerpt() {
        return None;
    }
    let agent = case.outcome.agent;
    let last = case.back(usize::MAX, |step| waits(step, agent).is_some())?;
    let is_it = |lap: &Lap<'_>| lap.step.index == last.index && lap.phase.is_none() && lap.is_idle();
    of(case).into_iter().find(is_it)
}

/// Whose wait may be the cause, the last step that it may have come before, and whether what came then is a
/// read.
fn told_by(case: &Case<'_>, rule: Rule) -> Option<(u32, usize, bool)> {
    let outcome = case.outcome;
    let (agent, location) = match (&outcome.detail, rule) {
        (Some(Detail::Conflict { access, location, .. }), _) if access == READ => {
            (outcome.agent, Some(location))
        }
        (Some(Detail::Conflict { earlier, earlier_access, location, .. }), _) if earlier_access == READ => {
            (*earlier, Some(location))
        }
        (_, Rule::UnobservedPhase | Rule::OverArrival | Rule::StaleCompletion) => (outcome.agent, None),
        _ => return None,
    };
    // Of a read, the wait before the read; otherwise that before the end.
    let read = location.and_then(|of| case.back(usize::MAX, |step| step.accesses(agent, READ, of)));
    Some((agent, read.map_or(usize::MAX, |step| step.index), location.is_some()))
}

/// The object that an agent waits for by a step, or asks.
fn waits(step: &Step, agent: u32) -> Option<u32> {
    let waited = step.events.iter().find_map(|event| match event {
        Event::Passed { barrier } | Event::Asked { barrier, complete: true } | Event::Blocked { barrier } => {
            Some(*barrier)
        }
        _ => None,
    });
    waited.filter(|_| step.agent == agent)
}

/// The object on which the copy lands that is the first of two accesses.
fn copy_to(case: &Case<'_>) -> Option<u32> {
    let Some(Detail::Conflict { location, earlier, earlier_access, .. }) = &case.outcome.detail else {
        return None;
    };
    let copy = case.back(case.before_last(), |step| step.accesses(*earlier, earlier_access, location))?;
    copy.events.iter().find_map(|event| match event {
        Event::Issued { barrier, bytes: Some(_), .. } => Some(*barrier),
        _ => None,
    })
}

/// Whether an agent reads behind a wait, before it waits again: then it waited for what is there.
fn reads_behind(case: &Case<'_>, wait: &Step) -> bool {
    let own = case.trace.steps.iter().filter(|step| step.agent == wait.agent && step.index > wait.index);
    let reads = |step: &Step| {
        let is_read = |event: &Event| matches!(event, Event::Accessed { access, .. } if access == READ);
        step.events.iter().any(is_read)
    };
    own.take_while(|step| waits(step, wait.agent).is_none()).any(reads)
}

/// Those waits that go on in the end and are late.
pub(super) fn that_last<'l, 't>(laps: &'l [Lap<'t>], barriers: &[u32]) -> Vec<&'l Lap<'t>> {
    laps.iter().filter(|lap| lap.lasts && barriers.contains(&lap.barrier)).collect()
}

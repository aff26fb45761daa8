//! Accesses that come after the arrival that was to announce their end.
//!
//! An arrival covers what its agent did before. Whoever gives a stage back and reads it afterwards races with
//! whoever fills it again, and what is to be mended is the arrival, not a wait.

use super::blocks::key;
use super::case::{Case, completes, sentence};
use super::place::{Did, Place};
use crate::trace::{Event, Step};

/// An arrival before an access, by which another agent went on to the access that conflicts.
pub(super) struct Early<'t> {
    arrival: &'t Step,
    barrier: u32,
    /// The step with which the other one's wait was over.
    passed: &'t Step,
    /// Who made the access, and who went on.
    agents: [u32; 2],
    /// What the access is called.
    access: &'t str,
    /// The access is a copy, whose bytes the phase of the arrival should have waited for.
    is_copy: bool,
}

/// Whether one of two accesses that conflict came after such an arrival.
pub(super) fn of<'t>(
    case: &Case<'t>,
    before: (&'t Step, &'t str),
    last: (&'t Step, &'t str),
) -> Option<Early<'t>> {
    if case.trace.is_excerpt() || before.0.agent == last.0.agent {
        return None;
    }
    given_back(case, last, before.0).or_else(|| given_back(case, before, last.0))
}

/// Whether the one access came after such an arrival, and the other by way of it.
fn given_back<'t>(
    case: &Case<'t>,
    (access, called): (&'t Step, &'t str),
    other: &'t Step,
) -> Option<Early<'t>> {
    let steps = &case.trace.steps;
    let own = steps[..access.index].iter().rev().take_while(|step| !goes_on(step, access.agent));
    let arrivals = own.filter(|step| step.agent == access.agent).flat_map(|step| {
        let on = step.events.iter().filter_map(|event| match event {
            Event::Arrived { barrier } => Some(*barrier),
            _ => None,
        });
        on.map(move |barrier| (step, barrier))
    });
    // Of an arrival behind the access, in the round before, it is the wait that is missing.
    let mut arrivals = arrivals.filter(|(step, _)| key(step.location) < key(access.location));
    arrivals.find_map(|(arrival, barrier)| {
        let since = steps.get(arrival.index..other.index)?;
        let complete = since.iter().position(|step| completes(step, barrier))?;
        let passed = since[complete..].iter().find(|step| sees(step, other.agent, barrier))?;
        let lands_on = access.events.iter().find_map(|event| match event {
            Event::Issued { barrier, .. } => Some(*barrier),
            _ => None,
        });
        let early = Early {
            arrival,
            barrier,
            passed,
            agents: [access.agent, other.agent],
            access: called,
            is_copy: lands_on.is_some(),
        };
        // What comes of a copy that lands elsewhere is told there, and of a phase that had its copies that is
        // not what is wrong.
        let has_copies = || since[..complete].iter().any(|step| issues(step, barrier));
        lands_on.is_none_or(|on| on == barrier && !has_copies()).then_some(early)
    })
}

/// Whether a copy for a barrier is begun with a step.
fn issues(step: &Step, barrier: u32) -> bool {
    step.events.iter().any(|event| match event {
        Event::Issued { barrier: on, .. } => *on == barrier,
        _ => false,
    })
}

/// Whether an agent's wait is over with a step.
fn goes_on(step: &Step, agent: u32) -> bool {
    step.events.iter().any(|event| match event {
        Event::Passed { .. } | Event::Asked { complete: true, .. } => step.agent == agent,
        Event::Released { agents, .. } => agents.contains(&agent),
        _ => false,
    })
}

/// The same for one barrier.
fn sees(step: &Step, agent: u32, barrier: u32) -> bool {
    step.events.iter().any(|event| match event {
        Event::Passed { barrier: on } | Event::Asked { barrier: on, complete: true } => {
            *on == barrier && step.agent == agent
        }
        Event::Released { barrier: on, agents } => *on == barrier && agents.contains(&agent),
        _ => false,
    })
}

impl Early<'_> {
    /// What is wrong, beside the two accesses.
    pub(super) fn says(&self, case: &Case<'_>) -> String {
        let [who, other] = self.agents.map(|agent| case.agent(agent));
        let before =
            if self.is_copy { "without its bytes".to_owned() } else { format!("before its {}", self.access) };
        format!("{who} had arrived on {} {before}, and {other} went on by that", case.barrier(self.barrier))
    }

    pub(super) fn explains(&self, case: &Case<'_>) -> String {
        let [who, other] = self.agents.map(|agent| case.agent(agent));
        let (arrival, passed, access) = (self.arrival, self.passed, self.access);
        let fix = if self.is_copy {
            "the phase did not wait for the bytes of the copy. Announce them with the arrival: \
             `mbarrier.arrive.expect_tx`."
                .to_owned()
        } else {
            format!(
                "an arrival covers what came before it, and the {access} came after. To fix it, let {who} arrive \
                 after its {access}."
            )
        };
        format!(
            "{} arrived on {}{} ({}), and by that {other} went on ({}): {fix}",
            sentence(&who),
            case.barrier(self.barrier),
            case.at(arrival.location),
            Case::step_name(arrival),
            Case::step_name(passed),
        )
    }

    pub(super) fn place(&self, case: &Case<'_>) -> Place {
        Case::did(self.arrival, Did::ArrivedOn(case.barrier(self.barrier)))
    }
}

//! Phases that were completed before all had arrived who arrive in a round: their count is too small.
//!
//! Which arrivals belong to one round is told by what came before them: those that follow the same phase of
//! another object do.

use std::collections::BTreeMap;

use barcheck_model::rule::Rule;

use super::case::{Case, arrives, completes, sentence};
use super::culprit::Blame;
use super::given;
use super::laps::Lap;
use super::place::{Did, Place, Remark};
use crate::names;
use crate::objects::is_object;
use crate::trace::{Event, Step};

/// An arrival on an object.
struct Arrival<'t> {
    agent: u32,
    step: &'t Step,
    /// The phase in which it was made.
    phase: u32,
    /// The object on which its agent saw a phase complete before, as the agent calls it, and which phase.
    follows: Option<(String, u32)>,
}

/// The arrivals on an object, the one that breaks a rule at last among them.
fn arrivals<'t>(case: &Case<'t>, barrier: u32) -> Vec<Arrival<'t>> {
    let mut complete: BTreeMap<u32, u32> = BTreeMap::new();
    let mut seen: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
    let mut found = Vec::new();
    for step in &case.trace.steps {
        let refused =
            |event: &Event| matches!(event, Event::Violated { barrier: Some(on), .. } if *on == barrier);
        if arrives(step, barrier) || step.events.iter().any(refused) {
            let follows = seen.get(&step.agent).filter(|(on, _)| *on != barrier);
            found.push(Arrival {
                agent: step.agent,
                step,
                phase: complete.get(&barrier).copied().unwrap_or(0),
                follows: follows.map(|(on, phase)| (case.own_name(step.agent, *on), *phase)),
            });
        }
        for event in &step.events {
            let mut sees = |agent: u32, on: u32| {
                let phase = complete.get(&on).copied().unwrap_or(0).checked_sub(1);
                if let Some(phase) = phase.filter(|_| is_object(case.trace, on)) {
                    seen.insert(agent, (on, phase));
                }
            };
            match event {
                Event::Passed { barrier } | Event::Asked { barrier, complete: true } => {
                    sees(step.agent, *barrier);
                }
                Event::Released { barrier, agents } => agents.iter().for_each(|agent| sees(*agent, *barrier)),
                Event::Completed { barrier, .. } => *complete.entry(*barrier).or_default() += 1,
                Event::Begun { barrier } => drop(complete.remove(barrier)),
                _ => {}
            }
        }
    }
    found
}

/// That a phase of the object that a finding is about was completed with some of the arrivals of a round, and
/// others came in the next: in a clause, in full, and where the count is given.
pub(super) fn split(case: &Case<'_>, rule: Rule) -> Option<(String, String, Option<Place>)> {
    let may_follow = matches!(
        rule,
        Rule::OverArrival | Rule::UnobservedPhase | Rule::StaleCompletion | Rule::RemoteAfterExit
    );
    let barrier = case.outcome.barrier.filter(|on| may_follow && is_object(case.trace, *on))?;
    if case.trace.is_excerpt() {
        return None;
    }
    let all = arrivals(case, barrier);
    for first in &all {
        let Some((other, seen)) = first.follows.as_ref() else { continue };
        let round: Vec<&Arrival<'_>> =
            all.iter().filter(|arrival| arrival.follows == first.follows).collect();
        let (with, after): (Vec<&Arrival<'_>>, Vec<&Arrival<'_>>) =
            round.iter().partition(|arrival| arrival.phase == first.phase);
        let late = names::distinct(after.iter().map(|arrival| arrival.agent));
        let is_one_each = names::distinct(round.iter().map(|arrival| arrival.agent)).len() == round.len();
        let Some(next) = after.first().filter(|_| is_one_each) else { continue };
        let count = given::to(case, barrier);
        let given = count.as_ref().map(|place| case.at(place.location)).unwrap_or_default();
        let cause =
            format!("phase {} was complete with {} of the arrivals of a round", first.phase, with.len());
        let told = format!(
            "Phase {} of {} was complete with {} of the arrivals that follow phase {seen} of {other}: {} \
             arrived after it ({}{}). Its count{given} is too small for a round.",
            first.phase,
            case.barrier(barrier),
            with.len(),
            case.agents(&late),
            Case::step_name(next.step),
            case.at(next.step.location),
        );
        return Some((cause, told, count));
    }
    None
}

/// Why a wait that goes on in the end was late: the phase after the one that it waits for was begun once
/// others alone had let it begin.
pub(super) fn overtaken(case: &Case<'_>, laps: &[&Lap<'_>]) -> Option<Blame> {
    let lap = *laps.first()?;
    let (on, missed) = (lap.barrier, lap.phase?);
    let late = names::distinct(laps.iter().filter(|other| other.barrier == on).map(|lap| lap.agent));
    let again = arrivals(case, on).into_iter().find(|arrival| arrival.phase == missed + 1)?;
    let (let_begin, phase) = begun_after(case, &again)?;
    let with: Vec<Arrival<'_>> =
        arrivals(case, let_begin).into_iter().filter(|arrival| arrival.phase == phase).collect();
    let who = names::distinct(with.iter().map(|arrival| arrival.agent));
    if with.is_empty() || late.iter().any(|agent| who.contains(agent)) {
        return None;
    }
    let (name, arrivals) = (case.barrier(let_begin), if with.len() == 1 { "arrival" } else { "arrivals" });
    let says = format!(
        "phase {phase} of {name} was complete with {} {arrivals}, of {}, before {} had seen phase {missed} of {}",
        with.len(),
        case.agents(&who),
        case.agents(&late),
        case.barrier(on),
    );
    let others = format!(
        "So {} arrived on {} for the next phase ({}{}), and {} missed what came then.",
        case.agent(again.agent),
        case.barrier(on),
        Case::step_name(again.step),
        case.at(again.step.location),
        case.agents(&late),
    );
    let mut places: Vec<Place> = given::to(case, let_begin).into_iter().collect();
    let last = with.last().map(|arrival| Place {
        agent: arrival.agent,
        location: arrival.step.location,
        remark: Remark::Did(who.clone(), Did::ArrivedOn(name)),
    });
    places.extend(last);
    Some(Blame { agents: Vec::new(), says, barrier: on, others: sentence(&others), places })
}

/// The object of which an agent saw a phase complete before an arrival, and which phase.
fn begun_after(case: &Case<'_>, arrival: &Arrival<'_>) -> Option<(u32, u32)> {
    let (name, phase) = arrival.follows.as_ref()?;
    let known = case.trace.barriers.iter().map(|known| known.barrier);
    let on = known.into_iter().find(|known| case.own_name(arrival.agent, *known) == *name)?;
    let is_complete = case.trace.steps.iter().any(|step| completes(step, on));
    is_complete.then_some((on, *phase))
}

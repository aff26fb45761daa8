//! Who waits for an object in other phases than the one in which something is left in flight.

use super::blocks::key;
use super::case::{Case, arrives, completes, sentence, verb};
use super::place::{Did, Place, Remark};
use super::words::Words;
use crate::names;
use crate::trace::{Event, Location, Status, Step};

/// Those who have waited for an object and have exited, where they did so last, and how often each has.
struct Readers {
    agents: Vec<u32>,
    location: Location,
    times: usize,
}

fn of(case: &Case<'_>, barrier: u32, issuer: u32) -> Option<Readers> {
    if case.trace.is_excerpt() {
        return None;
    }
    let waits = |step: &&Step| {
        step.agent != issuer
            && step.events.iter().any(|event| match event {
                Event::Passed { barrier: on } | Event::Blocked { barrier: on } => *on == barrier,
                _ => false,
            })
    };
    let all: Vec<&Step> = case.trace.steps.iter().filter(waits).collect();
    let last = *all.last()?;
    let agents = names::distinct(all.iter().filter(|step| step.location == last.location).map(|s| s.agent));
    let times = |agent: u32| all.iter().filter(|step| step.agent == agent).count();
    let same = agents.iter().all(|agent| times(*agent) == times(last.agent));
    let have_left = agents.iter().all(|agent| case.end.status(*agent) == Status::Exited);
    (same && have_left).then(|| Readers { agents, location: last.location, times: times(last.agent) })
}

/// That the phase in which a copy was begun, or in which whoever begins it had arrived for it, was complete
/// without its bytes.
fn without(case: &Case<'_>, barrier: u32) -> Option<String> {
    let (outcome, steps) = (&case.outcome, &case.trace.steps);
    let is_copy = |event: &Event| match event {
        Event::Issued { barrier: on, bytes: Some(_), .. } => *on == barrier,
        _ => false,
    };
    let issues = |step: &Step| {
        let is_there = step.agent == outcome.agent && step.location == outcome.location;
        is_there && step.events.iter().any(is_copy)
    };
    let issue = steps.iter().rev().find(|step| issues(step)).filter(|_| !case.trace.is_excerpt())?;
    let (on, who) = (case.barrier(barrier), case.agent(outcome.agent));
    if let Some(complete) = steps[issue.index..].iter().skip(1).find(|step| completes(step, barrier)) {
        return Some(format!(
            "The phase of {on} in which the copy was begun ({}) was complete without it ({}): fewer bytes are \
             announced for a phase than are copied for it.",
            Case::step_name(issue),
            Case::step_name(complete),
        ));
    }
    // Since its last wait, so that it is for this copy that it has arrived.
    let own = steps[..issue.index].iter().rev().take_while(|step| !waits(step, outcome.agent));
    let arrival = own.into_iter().find(|step| step.agent == outcome.agent && arrives(step, barrier))?;
    let complete = steps[arrival.index..issue.index].iter().find(|step| completes(step, barrier))?;
    (key(arrival.location) < key(issue.location)).then(|| {
        format!(
            "{} arrived on {on}{} ({}), and with that the phase was complete ({}) before the bytes of the copy were \
             announced: announce them before the arrival, or with it, by `mbarrier.arrive.expect_tx`.",
            sentence(&who),
            case.at(arrival.location),
            Case::step_name(arrival),
            Case::step_name(complete),
        )
    })
}

/// Whether an agent's wait is over with a step.
fn waits(step: &Step, agent: u32) -> bool {
    step.events.iter().any(|event| match event {
        Event::Passed { .. } | Event::Asked { complete: true, .. } => step.agent == agent,
        Event::Released { agents, .. } => agents.contains(&agent),
        _ => false,
    })
}

/// Says of what is left in flight who waited for such things before, and went.
pub(super) fn tell(case: &Case<'_>, words: &mut Words) {
    let outcome = &case.outcome;
    let Some(barrier) = outcome.barrier else { return };
    if let Some(passed_by) = without(case, barrier) {
        words.sentences.push(passed_by);
        return;
    }
    let Some(Readers { agents, location, times }) = of(case, barrier, outcome.agent) else { return };
    let (who, on) = (case.agents(&agents), case.barrier(barrier));
    let exit = agents.iter().filter_map(|agent| case.exit(*agent)).max_by_key(|step| step.index);
    let exited = exit.map(|step| case.at(step.location)).unwrap_or_default();
    let each = if agents.len() > 1 { " each" } else { "" };
    let times = match times {
        1 => format!("once{each}"),
        times => format!("{times} times{each}"),
    };
    words.message.push_str(&format!("; {who} waited for {on} {times} and exited"));
    let (makes, begun) = (verb(&agents, "it makes", "they make"), case.agent(outcome.agent));
    words.sentences.push(sentence(&format!(
        "{who} waited for {on}{} {times} and exited{exited}: either {makes} one round less than {begun}, or what \
         {begun} begins last is one too many.",
        case.at(location)
    )));
    let remark = Remark::Did(agents.clone(), Did::Waited(on));
    words.related.extend(agents.first().map(|agent| Place { agent: *agent, location, remark }));
    let remark = Remark::Did(agents, Did::Exited);
    words.related.extend(exit.map(|step| Place { agent: step.agent, location: step.location, remark }));
}

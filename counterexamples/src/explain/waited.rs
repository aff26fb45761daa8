//! Who waits for an object in other phases than the one in which something is left in flight.

use super::case::{Case, sentence, verb};
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

/// Says of what is left in flight who waited for such things before, and went.
pub(super) fn tell(case: &Case<'_>, words: &mut Words) {
    let outcome = &case.outcome;
    let Some(barrier) = outcome.barrier else { return };
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

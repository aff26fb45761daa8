//! Barriers that nothing can complete any more, whoever waits for whom: the cause comes before the waiting.

use super::case::{Case, has_phases, is_pool};
use crate::names;
use crate::trace::{Awaits, BarrierState, Event, Step};

/// Why what agents await on a barrier never comes, whatever the others do, if that is to be seen in the end:
/// the beginning of a message.
pub(super) fn why(case: &Case<'_>, agents: &[u32], (barrier, awaits): (u32, Awaits)) -> Option<String> {
    if awaits == Awaits::Lanes {
        return lanes(case, *agents.first()?);
    }
    let state = case.state(barrier)?;
    if is_pool(state) {
        return None;
    }
    past_its_count(case, state).or_else(|| bytes(case, state))
}

/// Lanes of one warp that stand apart, each for the others.
fn lanes(case: &Case<'_>, agent: u32) -> Option<String> {
    let fragments = &case.end.agents.get(&agent)?.fragments;
    let parts = fragments
        .iter()
        .map(|fragment| format!("{} {}", names::lanes_of(&fragment.lanes), case.fragment(fragment)));
    let parts: Vec<String> = parts.collect();
    (parts.len() > 1).then(|| format!("lanes of {} are apart: {}", case.agent(agent), names::list(&parts)))
}

/// Only equality releases.
fn past_its_count(case: &Case<'_>, state: &BarrierState) -> Option<String> {
    let count = state.counts.iter().find(|count| count.arrived > count.expected)?;
    let on = case.barrier(state.barrier);
    Some(format!("{on} is past its count, {} > {} {}", count.arrived, count.expected, count.of))
}

/// Everybody has arrived, and less has been copied than was announced.
fn bytes(case: &Case<'_>, state: &BarrierState) -> Option<String> {
    let short = bytes_short(case, state)?;
    let on = case.barrier(state.barrier);
    let all = state.counts.iter().find(|count| count.of == "bytes")?.expected;
    let elsewhere = copies_elsewhere(case, state).map(|(says, _)| format!(": {says}")).unwrap_or_default();
    Some(format!("{short} of {all} bytes are missing on {on}, and nothing is in flight{elsewhere}"))
}

/// Where the copies went of those who have arrived on an object, if they brought the bytes to the same object
/// of other CTAs alone, and the latest of them.
pub(super) fn copies_elsewhere<'t>(case: &Case<'t>, state: &BarrierState) -> Option<(String, &'t Step)> {
    let on = case.barrier(state.barrier);
    let own = on.rsplit_once(" of cta ")?.0.to_owned();
    let begun = |step: &Step| {
        step.events.iter().find_map(|event| match event {
            Event::Issued { barrier, bytes: Some(_), .. } => Some(*barrier),
            _ => None,
        })
    };
    let by_them = case.trace.steps.iter().filter(|step| state.arrived.contains(&step.agent));
    let copies: Vec<(&Step, u32)> = by_them.filter_map(|step| Some((step, begun(step)?))).collect();
    let is_namesake = |barrier: u32| {
        barrier != state.barrier
            && case.barrier(barrier).rsplit_once(" of cta ").is_some_and(|(name, _)| name == own)
    };
    let astray: Vec<(&Step, u32)> = copies.iter().copied().filter(|(_, on)| is_namesake(*on)).collect();
    let (step, to) = *astray.last()?;
    let is_alone = copies.iter().all(|(_, on)| *on != state.barrier);
    is_alone.then(|| {
        let says = format!(
            "the copy of {}{} goes to {} alone",
            case.agent(step.agent),
            case.at(step.location),
            case.barrier(to)
        );
        (says, step)
    })
}

/// How many bytes a phase lacks whose arrivals have all been made, where nothing is in flight to it.
pub(super) fn bytes_short(case: &Case<'_>, state: &BarrierState) -> Option<u32> {
    if !has_phases(state) {
        return None;
    }
    let lacks = |of: &str| {
        let count = state.counts.iter().find(|count| count.of == of);
        count.map_or(0, |count| count.expected.saturating_sub(count.arrived))
    };
    let is_in_flight =
        case.end.agents.values().any(|agent| agent.pending.iter().any(|left| left.barrier == state.barrier));
    let short = lacks("bytes");
    (lacks("arrivals") == 0 && short > 0 && !is_in_flight).then_some(short)
}

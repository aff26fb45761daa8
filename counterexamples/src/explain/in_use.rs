//! What is in flight to an object that is given up, or who waits on it.

use super::case::{Case, Whereabouts, sentence};
use super::place::{Place, Remark};
use crate::names;
use crate::objects::flights;
use crate::trace::Step;

/// Why an object is in use.
pub(super) struct Use {
    /// As a clause: `the commit of warp 1 is in flight to it`.
    pub(super) what: String,
    /// How that came about.
    pub(super) how: Option<String>,
    pub(super) place: Option<Place>,
}

/// What an object is in use for at the last step, if the trace shows it.
pub(super) fn of(case: &Case<'_>, barrier: u32) -> Option<Use> {
    let trace = case.trace;
    let mut open =
        flights(trace).into_iter().filter(|flight| flight.barrier == barrier && flight.landed.is_none());
    if let Some(flight) = open.next_back() {
        let by = case.agent(flight.agent);
        let begun = flight.issued.and_then(|issued| trace.steps.get(issued.checked_sub(1)?));
        let how = |step: &Step| {
            let name = Case::step_name(step);
            let at = case.at(step.location);
            sentence(&format!("{by} began it by `{}`{at} ({name}).", step.instruction))
        };
        let place = |step: &Step| {
            Case::here(step, Remark::Executed { instruction: step.instruction.clone(), by: step.agent })
        };
        return Some(Use {
            what: format!("{} of {by} is in flight to it", flight.what),
            how: begun.map(how),
            place: begun.map(place),
        });
    }
    let waits = |agent: &u32| match case.whereabouts(*agent) {
        Whereabouts::Waits { barrier: on, .. } => on == barrier,
        _ => false,
    };
    let waiting = names::distinct(case.end.agents.keys().copied().filter(waits));
    let several = waiting.len() > 1;
    (!waiting.is_empty()).then(|| Use {
        what: format!("{} {} on it", case.agents(&waiting), if several { "wait" } else { "waits" }),
        how: None,
        place: None,
    })
}

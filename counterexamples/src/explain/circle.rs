//! Barriers whose waiters wait for one another in a circle.

use super::case::Case;
use super::waiters::Waiters;
use crate::names;
use crate::trace::Awaits;

/// The barriers whose waiters wait for one another in a circle.
pub(super) fn of(case: &Case<'_>, groups: &[Waiters]) -> Option<Vec<u32>> {
    // Follow, from the first group, somebody who is missing and blocked elsewhere.
    let mut order = vec![groups.first()?.barrier];
    loop {
        let here = case.state(*order.last()?)?;
        let next = here.missing.iter().find_map(|a| {
            let state = case.end.agents.get(a)?;
            state.waits.filter(|w| w.awaits == Awaits::Agents && w.barrier != here.barrier)
        })?;
        if let Some(from) = order.iter().position(|b| *b == next.barrier) {
            return Some(order.split_off(from));
        }
        order.push(next.barrier);
    }
}

/// The same in a sentence.
pub(super) fn in_words(case: &Case<'_>, groups: &[Waiters]) -> Option<String> {
    let names: Vec<String> = of(case, groups)?.into_iter().map(|b| case.barrier(b)).collect();
    Some(format!(
        "They wait for one another in a cycle: whoever {} still {} waits on another of them.",
        names::list(&names),
        if names.len() == 1 { "needs" } else { "need" }
    ))
}

//! The clauses that findings rest on which are about something that has clauses of its own.

use barcheck_model::rule::Rule;

use super::case::{Case, is_pool};
use super::counts;
use super::waiters::waiters;
use crate::objects::is_object;
use crate::trace::{COPY, Detail, FILL, STORE};

/// The clause that a finding rests on, where it is not the first of its rule.
pub(super) fn of(case: &Case<'_>) -> Option<&'static str> {
    let outcome = &case.outcome;
    let rule = outcome.rule.as_deref().and_then(Rule::from_name)?;
    let (earlier, later) = match &outcome.detail {
        Some(Detail::Conflict { earlier_access, access, .. }) => (earlier_access.as_str(), access.as_str()),
        _ => ("", ""),
    };
    match rule {
        Rule::CountRange => counts::clause_of_count(case),
        Rule::Deadlock | Rule::StuckAgent => of_wait(case),
        Rule::InFlightAtExit if outcome.barrier.is_none() => Some("ptx.bulk-source-lifetime"),
        Rule::MissingFence if later == STORE => Some("ptx.proxies"),
        Rule::DataRace if earlier == STORE => Some("ptx.bulk-wait-group"),
        Rule::DataRace if later == STORE => Some("ptx.bulk-store"),
        Rule::DataRace if earlier == FILL => Some("ptx.cp-async-wait-group"),
        Rule::DataRace if earlier == COPY => Some("ptx.bulk-copy-asynchronous"),
        _ => None,
    }
}

/// What the first of those who wait without end wait for.
fn of_wait(case: &Case<'_>) -> Option<&'static str> {
    let barrier = waiters(case).first()?.barrier;
    if case.state(barrier).is_some_and(is_pool) {
        return Some("ptx.registers-inc");
    }
    if is_object(case.trace, barrier) {
        return Some("ptx.mbarrier-phase-complete");
    }
    (case.barrier(barrier) == "the cluster barrier").then_some("ptx.cluster-wait")
}

//! The clauses that findings rest on which are about something that has clauses of its own.

use barcheck_model::rule::Rule;

use super::case::{Case, is_pool};
use super::counts;
use super::race;
use super::waiters::waiters;
use crate::objects::is_object;
use crate::trace::{COPY, Detail, FILL, INITIALISATION, REDUCTION, SOURCE, STORE, Step, USE};

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
        Rule::MissingFence if later == USE || later == INITIALISATION => Some("ptx.mbarrier-init-order"),
        Rule::MissingFence if race::crosses(earlier, later) => of_arrival(case).or(Some("ptx.proxies")),
        Rule::MissingFence => of_arrival(case),
        Rule::DataRace if earlier == SOURCE || later == SOURCE => Some("ptx.bulk-copy-across"),
        Rule::DataRace if earlier == REDUCTION || later == REDUCTION => Some("ptx.red-async"),
        Rule::DataRace if earlier == STORE => Some("ptx.bulk-wait-group"),
        Rule::DataRace if later == STORE => Some("ptx.bulk-store"),
        Rule::DataRace if earlier == FILL => of_fill(case),
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

/// How a `cp.async` is waited for, where it is that which is missing.
fn of_fill(case: &Case<'_>) -> Option<&'static str> {
    let (before, last, location) = conflict(case)?;
    race::refilled_early(case, before, last, location).is_none().then_some("ptx.cp-async-wait-group")
}

/// The steps of a conflict, and its location.
fn conflict<'c>(case: &Case<'c>) -> Option<(&'c Step, &'c Step, &'c str)> {
    let Some(Detail::Conflict { location, earlier, earlier_access, .. }) = &case.outcome.detail else {
        return None;
    };
    let before = case.back(case.before_last(), |step| step.accesses(*earlier, earlier_access, location))?;
    Some((before, case.last()?, location))
}

/// What an arrival publishes that is relaxed, or whose scope ends at its own CTA.
fn of_arrival(case: &Case<'_>) -> Option<&'static str> {
    let (before, last, _) = conflict(case)?;
    let arrival = race::weak_arrival(case, before, last)?;
    Some(match arrival.instruction.as_str() {
        text if text.contains("cluster.arrive") => "ptx.cluster-relaxed",
        text if text.contains(".release.cta") => "ptx.mbarrier-scope",
        _ => "ptx.mbarrier-relaxed",
    })
}

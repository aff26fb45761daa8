//! The two accesses of a race.

use serde::Serialize;

use crate::explain;
use crate::objects::{Flight, flights};
use crate::trace::{COPY, Detail, Trace};

/// Two accesses that nothing orders.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Conflict<'t> {
    /// The location, as the protocol writes it.
    pub location: &'t str,
    /// The one that came first.
    pub earlier: Access<'t>,
    /// The one at which the trace ends.
    pub later: Access<'t>,
    /// What there is not between them.
    pub missing: &'static str,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Access<'t> {
    /// Who makes it.
    pub agent: u32,
    /// `read`, `write`, `atomic`, `copy` or `store`.
    pub access: &'t str,
    /// The step, counted from 1, if it can be found.
    pub step: Option<usize>,
    /// What becomes of a copy; `None` for any other access.
    pub copy: Option<Copied>,
}

/// What becomes of a copy that is one of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Copied {
    /// The object on which it lands.
    pub barrier: u32,
    /// The step at which it does, if it does.
    pub landed: Option<usize>,
}

/// The two accesses that a trace is about, if it is about two.
#[must_use]
pub fn conflict(trace: &Trace) -> Option<Conflict<'_>> {
    let outcome = &trace.outcome;
    let Some(Detail::Conflict { location, earlier, earlier_access, access }) = &outcome.detail else {
        return None;
    };
    let (last, before) = trace.steps.split_last()?;
    let found = before.iter().rev().find(|step| step.accesses(*earlier, earlier_access, location));
    let number = |index: usize| index + 1;
    let copies = if [earlier_access.as_str(), access].contains(&COPY) { flights(trace) } else { Vec::new() };
    let copy = |agent: u32, kind: &str, step: Option<usize>| {
        let is_it = |flight: &&Flight| {
            flight.agent == agent && flight.issued == step && flight.writes.as_deref() == Some(location)
        };
        let found = copies.iter().filter(|_| kind == COPY && step.is_some()).find(is_it)?;
        Some(Copied { barrier: found.barrier, landed: found.landed })
    };
    let (before_it, itself) = (found.map(|step| number(step.index)), Some(number(last.index)));
    Some(Conflict {
        location,
        earlier: Access {
            agent: *earlier,
            access: earlier_access,
            step: before_it,
            copy: copy(*earlier, earlier_access, before_it),
        },
        later: Access { agent: last.agent, access, step: itself, copy: copy(last.agent, access, itself) },
        missing: explain::what_is_missing(outcome.rule.as_deref(), [earlier_access, access]),
    })
}

//! The two accesses of a race.

use serde::Serialize;

use crate::explain;
use crate::trace::{Detail, Trace};

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
    /// `read`, `write` or `atomic`.
    pub access: &'t str,
    /// The step, counted from 1, if it can be found.
    pub step: Option<usize>,
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
    Some(Conflict {
        location,
        earlier: Access {
            agent: *earlier,
            access: earlier_access,
            step: found.map(|step| number(step.index)),
        },
        later: Access { agent: last.agent, access, step: Some(number(last.index)) },
        missing: explain::what_is_missing(outcome.rule.as_deref()),
    })
}

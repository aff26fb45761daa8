//! What the page needs beside the trace: words, and what it would take a second look at the trace to find.

use serde::Serialize;

use super::notes::Notes;
use crate::explain;
use crate::generations::{Generation, generations};
use crate::happening;
use crate::labels::{PlaceLabel, labels};
use crate::names;
use crate::read::TraceError;
use crate::trace::{Barrier, Detail, Event, Trace};

/// The page's data. Steps are counted from 1, as people count them; 0 is the beginning.
#[derive(Serialize)]
pub(super) struct View<'t> {
    /// What agents are called: `warp`.
    noun: &'static str,
    /// The file's name for people.
    file: &'t str,
    /// File, target and sizes, in a line.
    facts: String,
    notes: &'t Notes,
    /// What happened at each step, in words.
    words: Vec<Vec<String>>,
    barriers: Vec<BarrierView<'t>>,
    /// Places that matter, by line.
    labels: Vec<PlaceLabel>,
    conflict: Option<Conflict<'t>>,
    /// The last: the page takes the text of it from the end of its data.
    trace: &'t Trace,
}

/// A barrier and its generations.
#[derive(Serialize)]
struct BarrierView<'t> {
    barrier: u32,
    name: &'t str,
    short: String,
    generations: Vec<Generation>,
}

/// Two accesses that nothing orders.
#[derive(Serialize)]
struct Conflict<'t> {
    location: &'t str,
    earlier: Access<'t>,
    later: Access<'t>,
    /// What there is not between them.
    missing: &'static str,
}

/// One of them.
#[derive(Serialize)]
struct Access<'t> {
    agent: u32,
    access: &'t str,
    /// The step, if it can be found.
    step: Option<usize>,
}

impl<'t> View<'t> {
    /// The data of a page.
    pub(super) fn of(trace: &'t Trace, notes: &'t Notes) -> Self {
        let say = |event: &Event| happening::event(trace, event);
        Self {
            noun: names::noun(trace),
            file: names::file(trace),
            facts: names::facts(trace),
            notes,
            words: trace.steps.iter().map(|step| step.events.iter().map(say).collect()).collect(),
            barriers: barriers(trace),
            labels: labels(trace),
            conflict: conflict(trace),
            trace,
        }
    }

    /// The data as JSON.
    pub(super) fn to_json(&self) -> Result<String, TraceError> {
        serde_json::to_string(self).map_err(|error| TraceError::from_json(&error))
    }
}

/// Barriers, those included that only a step names.
fn barriers(trace: &Trace) -> Vec<BarrierView<'_>> {
    let mut gathered = generations(trace);
    for Barrier { barrier, .. } in &trace.barriers {
        gathered.entry(*barrier).or_default();
    }
    let view = |(barrier, generations)| {
        let named = trace.barriers.iter().find(|b| b.barrier == barrier);
        let name = named.map_or("", |named| named.name.as_str());
        BarrierView { barrier, name, short: names::short(trace, barrier), generations }
    };
    gathered.into_iter().map(view).collect()
}

fn conflict(trace: &Trace) -> Option<Conflict<'_>> {
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

//! The rows: steps, those alike taken together.

use std::ops::Range;

use crate::names::{self, short};
use crate::render::events;
use crate::render::harmless::harmless;
use crate::trace::{BarrierState, Event, Situation, Status, Step, Trace};

use super::paint::Sign;

/// Rows shown of a long trace: at its beginning and at its end.
pub(crate) const FIRST_ROWS: usize = 12;
pub(crate) const LAST_ROWS: usize = 28;

/// One row: a step, or several that different agents make alike, one after the other.
pub(crate) struct Row<'t> {
    pub(crate) steps: Vec<&'t Step>,
    /// How many steps each of them makes.
    pub(crate) parts: usize,
}

impl Row<'_> {
    pub(crate) fn first(&self) -> usize {
        self.steps.first().map_or(0, |s| s.index)
    }

    pub(crate) fn last(&self) -> usize {
        self.steps.last().map_or(0, |s| s.index)
    }

    pub(crate) fn last_step(&self) -> Option<&Step> {
        self.steps.last().copied()
    }

    /// `4`, or `4-6`: steps are counted from 1.
    pub(crate) fn numbers(&self) -> String {
        let (first, last) = (self.first() + 1, self.last() + 1);
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    }
}

/// Takes together consecutive steps in which different agents do the same without consequence for others.
pub(crate) fn rows(trace: &Trace) -> Vec<Row<'_>> {
    let mut rows: Vec<Row<'_>> = Vec::new();
    for step in &trace.steps {
        let starts_cycle = trace.outcome.cycle_from == Some(step.index);
        let follows = |row: &Row<'_>| row.last() + 1 == step.index;
        let joined = rows.last_mut().filter(|row| !starts_cycle && follows(row) && joins(row, step));
        match joined {
            Some(row) => row.steps.push(step),
            None => rows.push(Row { steps: vec![step], parts: 1 }),
        }
    }
    rows
}

fn joins(row: &Row<'_>, step: &Step) -> bool {
    row.steps.iter().all(|other| other.agent != step.agent && alike(other, step))
}

/// Whether agents do the same by two steps, without consequence for others.
pub(super) fn alike(one: &Step, other: &Step) -> bool {
    let quiet = |s: &Step| {
        s.events.iter().all(|e| matches!(e, Event::Arrived { .. } | Event::Blocked { .. } | Event::Exited {}))
    };
    (one.location, &one.resolved, &one.lanes) == (other.location, &other.resolved, &other.lanes)
        && quiet(one)
        && quiet(other)
        && one.events == other.events
}

/// What stands in an agent's column of a row, given the state after it.
pub(crate) fn sign(row: &Row<'_>, after: &Situation, agent: u32) -> Sign {
    if let Some(at) = row.steps.iter().rposition(|s| s.agent == agent) {
        let step = row.steps[at];
        let has = |test: fn(&Event) -> bool| step.events.iter().any(test);
        let released = step
            .events
            .iter()
            .any(|e| matches!(e, Event::Released { agents, .. } if agents.contains(&agent)));
        return if has(|e| matches!(e, Event::Failed { .. } | Event::Cut { .. })) || ends(step) {
            Sign::Fails
        } else if has(|e| matches!(e, Event::Exited {})) && after.status(agent) == Status::Exited {
            Sign::Exits
        } else if released {
            Sign::Acts
        } else if releases(&row.steps[at + 1..], agent) {
            Sign::Released
        } else if has(|e| matches!(e, Event::Blocked { .. } | Event::Parked { .. })) {
            Sign::Blocks
        } else {
            Sign::Acts
        };
    }
    match after.status(agent) {
        _ if releases(&row.steps, agent) => Sign::Released,
        Status::Blocked => Sign::Waiting,
        Status::Exited => Sign::Gone,
        Status::Running | Status::Failed => Sign::Idle,
    }
}

fn releases(steps: &[&Step], agent: u32) -> bool {
    let mut events = steps.iter().flat_map(|step| &step.events);
    events.any(|e| matches!(e, Event::Released { agents, .. } if agents.contains(&agent)))
}

/// The step violates a rule that ends the path: nothing happens besides.
fn ends(step: &Step) -> bool {
    matches!(step.events.as_slice(), [Event::Violated { .. }])
}

/// What a row has to say besides its instruction.
pub(crate) struct Remarks {
    /// Barrier counters after the row.
    pub(crate) counters: String,
    /// Completions, releases and notifications.
    pub(crate) happened: Vec<String>,
    /// Violations.
    pub(crate) violated: Vec<String>,
}

/// The same in few words: of counters that of the barrier that the row is about, and nothing of those
/// released, whom the columns show.
pub(super) fn compact(trace: &Trace, row: &Row<'_>, after: &Situation) -> Remarks {
    let of = |event: &Event| !matches!(event, Event::Released { .. });
    let about = |barrier: &BarrierState| {
        let operands = row.steps.iter().filter_map(|step| step.operands.as_ref());
        operands.map(|operands| operands.barrier).any(|id| id == barrier.barrier)
    };
    told(trace, row, after, of, about)
}

/// What a row has to say.
pub(crate) fn remarks(trace: &Trace, row: &Row<'_>, after: &Situation) -> Remarks {
    told(trace, row, after, |_| true, |_| true)
}

fn told(
    trace: &Trace,
    row: &Row<'_>,
    after: &Situation,
    tells: impl Fn(&Event) -> bool,
    counts: impl Fn(&BarrierState) -> bool,
) -> Remarks {
    let mut happened = Vec::new();
    let mut violated = Vec::new();
    let events = row.last_step().map(|s| s.events.as_slice()).unwrap_or_default();
    for event in events.iter().filter(|event| tells(event)) {
        match event {
            Event::Completed { .. }
            | Event::Released { .. }
            | Event::Notified { .. }
            | Event::Passed { .. }
            | Event::Parked { .. }
            | Event::Issued { .. }
            | Event::Landed { .. }
            | Event::Spun {} => happened.push(events::in_words(trace, event)),
            Event::Violated { .. } | Event::Failed { .. } | Event::Cut { .. } => {
                violated.push(events::in_words(trace, event));
            }
            _ => {}
        }
    }
    // The barrier that the row is about comes first.
    let about = row.last_step().and_then(|s| s.operands.as_ref()).map(|o| o.barrier);
    let mut active: Vec<&BarrierState> = after.barriers.values().filter(|b| b.active && counts(b)).collect();
    active.sort_by_key(|b| (Some(b.barrier) != about, b.barrier));
    let counters: Vec<String> =
        active.iter().map(|b| format!("{} {}", short(trace, b.barrier), b.counter())).collect();
    Remarks { counters: counters.join("  "), happened, violated }
}

/// Of so many rows those left out, if the first and the last are kept; none, if that would save nothing.
pub(crate) fn left_out(rows: usize, first: usize, last: usize) -> Range<usize> {
    if rows <= first + last + 1 { 0..0 } else { first..rows - last }
}

/// A row's instruction, lanes included.
pub(crate) fn text_of(row: &Row<'_>) -> String {
    let Some(step) = row.steps.first() else { return String::new() };
    let lanes = step.lanes.as_ref().map(|l| format!(" [{}]", names::lanes_of(l))).unwrap_or_default();
    harmless(&format!("{}{lanes}", step.resolved))
}

//! The rows: steps, those alike taken together.

use crate::names::short;
use crate::render::events;
use crate::trace::{BarrierState, Event, Situation, Status, Step, Trace};

use super::paint::Sign;

/// One row: a step, or several that different agents make alike, one after the other.
pub(crate) struct Row<'t> {
    pub(crate) steps: Vec<&'t Step>,
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
        let joined = rows.last_mut().filter(|row| !starts_cycle && follows(row) && alike(row, step));
        match joined {
            Some(row) => row.steps.push(step),
            None => rows.push(Row { steps: vec![step] }),
        }
    }
    rows
}

fn alike(row: &Row<'_>, step: &Step) -> bool {
    let quiet = |s: &Step| {
        s.events.iter().all(|e| matches!(e, Event::Arrived { .. } | Event::Blocked { .. } | Event::Exited {}))
    };
    row.steps.iter().all(|s| {
        s.agent != step.agent
            && (s.location, &s.resolved, &s.lanes) == (step.location, &step.resolved, &step.lanes)
            && quiet(s)
            && quiet(step)
            && s.events == step.events
    })
}

/// What stands in an agent's column of a row, given the state after it.
pub(crate) fn sign(row: &Row<'_>, after: &Situation, agent: u32) -> Sign {
    if let Some(step) = row.steps.iter().find(|s| s.agent == agent) {
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
        } else if has(|e| matches!(e, Event::Blocked { .. } | Event::Parked { .. })) {
            Sign::Blocks
        } else {
            Sign::Acts
        };
    }
    let released = row
        .steps
        .iter()
        .flat_map(|s| &s.events)
        .any(|e| matches!(e, Event::Released { agents, .. } if agents.contains(&agent)));
    match after.status(agent) {
        _ if released => Sign::Released,
        Status::Blocked => Sign::Waiting,
        Status::Exited => Sign::Gone,
        Status::Running | Status::Failed => Sign::Idle,
    }
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

/// What a row has to say.
pub(crate) fn remarks(trace: &Trace, row: &Row<'_>, after: &Situation) -> Remarks {
    let mut happened = Vec::new();
    let mut violated = Vec::new();
    for event in row.last_step().map(|s| s.events.as_slice()).unwrap_or_default() {
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
    let mut active: Vec<&BarrierState> = after.barriers.values().filter(|b| b.active).collect();
    active.sort_by_key(|b| (Some(b.barrier) != about, b.barrier));
    let counters: Vec<String> =
        active.iter().map(|b| format!("{} {}", short(trace, b.barrier), b.counter())).collect();
    Remarks { counters: counters.join("  "), happened, violated }
}

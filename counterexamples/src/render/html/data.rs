//! What the page needs beside the trace: words, and what it would take a second look at the trace to find.

use serde::Serialize;

use super::notes::Notes;
use crate::explain::labels::{PlaceLabel, labels};
use crate::names;
use crate::objects::{Flight, Phase};
use crate::render::events;
use crate::timeline::{Act, Conflict, Figure, Generation, Group, Timeline, conflict};
use crate::trace::{Event, Trace};

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
    /// The values given to parameters, `N=4,M=-1`: numbers of a page hold less than those of a trace.
    defines: String,
    /// What happened at each step, in words.
    words: Vec<Vec<String>>,
    /// What each step is.
    acts: Vec<Act>,
    /// The number of the step after which the outcome shows.
    violation: usize,
    /// Agents by role.
    groups: &'t [Group<'t>],
    barriers: Vec<BarrierView<'t>>,
    /// Places that matter, by line.
    labels: Vec<PlaceLabel>,
    conflict: Option<Conflict<'t>>,
    figure: Option<Figure>,
    /// What is in flight, and when.
    flights: &'t [Flight],
    /// Whether the trace's outcome says anything: a run under way may have shown nothing so far.
    shows: bool,
    /// The last: the page takes the text of it from the end of its data.
    trace: &'t Trace,
}

/// A barrier and its generations.
#[derive(Serialize)]
struct BarrierView<'t> {
    barrier: u32,
    name: String,
    short: String,
    generations: &'t [Generation],
    /// Of an mbarrier object.
    phases: &'t [Phase],
}

impl<'t> View<'t> {
    /// The data of a page.
    pub(super) fn of(timeline: &'t Timeline<'t>, notes: &'t Notes, shows: bool) -> Self {
        let trace = timeline.trace();
        let defines: Vec<String> =
            trace.protocol.defines.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let say = |event: &Event| events::in_words(trace, event);
        Self {
            noun: names::noun(trace).word(),
            file: names::file(trace),
            facts: names::facts(trace),
            notes,
            defines: defines.join(","),
            words: trace.steps.iter().map(|step| step.events.iter().map(say).collect()).collect(),
            acts: trace.steps.iter().map(|step| timeline.act(step)).collect(),
            violation: timeline.violation(),
            groups: timeline.groups(),
            barriers: timeline.barriers().map(|barrier| BarrierView::of(timeline, barrier)).collect(),
            labels: labels(trace),
            conflict: conflict(trace),
            figure: timeline.figure(),
            flights: timeline.flights(),
            shows,
            trace,
        }
    }

    /// The data as JSON.
    pub(super) fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }
}

impl<'t> BarrierView<'t> {
    fn of(timeline: &'t Timeline<'t>, barrier: u32) -> Self {
        Self {
            barrier,
            name: timeline.barrier_name(barrier),
            short: timeline.barrier_short(barrier),
            generations: timeline.generations(barrier),
            phases: timeline.phases(barrier),
        }
    }
}

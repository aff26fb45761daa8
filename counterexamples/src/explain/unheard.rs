//! Data that is announced to nobody: a write, the arrival that announces it, and a generation for which no
//! one ever waits.
//!
//! Whether an arrival that is left over is harmless cannot be told from barriers alone: a ring whose
//! consumers say of the last stages that they are free leaves as much behind as one whose consumers leave out
//! the last tile. The difference is what the arrival announces.

use super::case::{Case, sentence};
use super::place::{Did, Place, Remark};
use super::words::Words;
use crate::names;
use crate::trace::{Event, Step, Trace};
use barcheck_model::rule::Rule;

const WRITE: &str = "write";
const READ: &str = "read";

/// A write that nobody has heard of.
pub(super) struct Unheard<'t> {
    write: &'t Step,
    location: &'t str,
    /// Who reads the array otherwise, in order.
    readers: Vec<u32>,
}

/// Whether what a trace of `dangling-arrival` leaves on its barrier announces data: its agent's latest
/// arrival comes first after a write, nobody accesses what was written from then on, and other agents do read
/// that array in other rounds. `false` where the steps that would tell are left out.
#[must_use]
pub fn announces_unread_data(trace: &Trace) -> bool {
    trace.outcome.rule.as_deref() == Some(Rule::DanglingArrival.name()) && of(&Case::of(trace)).is_some()
}

/// The same of arrivals of some agents that the trace leaves on another barrier.
#[must_use]
pub fn leaves_unread_data(trace: &Trace, barrier: u32, agents: &[u32]) -> bool {
    left_on(&Case::of(trace), barrier, agents).is_some()
}

/// The latest such write before an arrival that is left over.
pub(super) fn of<'t>(case: &Case<'t>) -> Option<Unheard<'t>> {
    let outcome = &case.outcome;
    left_on(case, outcome.barrier?, &outcome.agents)
}

fn left_on<'t>(case: &Case<'t>, barrier: u32, agents: &[u32]) -> Option<Unheard<'t>> {
    let arrivals = agents.iter().filter_map(|agent| case.arrival(*agent, barrier, usize::MAX));
    let found = arrivals.filter_map(|arrival| announced_by(case.trace, arrival));
    found.max_by_key(|unheard| unheard.write.index)
}

fn announced_by<'t>(trace: &'t Trace, arrival: &Step) -> Option<Unheard<'t>> {
    let steps = &trace.steps;
    let position = steps.partition_point(|step| step.index < arrival.index);
    let own = steps.get(..position)?.iter().rev().filter(|step| step.agent == arrival.agent);
    let announced = own.take_while(|step| !arrives(step));
    let mut writes = announced.flat_map(|step| accessed(step, WRITE).map(move |location| (step, location)));
    writes.find_map(|(write, location)| {
        let after = steps.get(steps.partition_point(|step| step.index <= write.index)..)?;
        let all_are_there = steps.last()?.index - write.index == after.len();
        let is_touched = after.iter().any(|step| touches(step, location));
        let readers = readers(steps, array(location), write.agent);
        let is_unheard = all_are_there && !is_touched && !readers.is_empty();
        is_unheard.then_some(Unheard { write, location, readers })
    })
}

fn arrives(step: &Step) -> bool {
    step.events.iter().any(|event| matches!(event, Event::Arrived { .. }))
}

/// The locations of a step's accesses of one kind.
fn accessed<'s>(step: &'s Step, kind: &'s str) -> impl Iterator<Item = &'s str> {
    step.events
        .iter()
        .flat_map(move |event| match event {
            Event::Accessed { access, locations } if access == kind => &locations[..],
            _ => &[],
        })
        .map(String::as_str)
}

fn touches(step: &Step, location: &str) -> bool {
    step.events.iter().any(|event| match event {
        Event::Accessed { locations, .. } => locations.iter().any(|other| other == location),
        Event::Issued { writes, .. } => writes.as_deref() == Some(location),
        _ => false,
    })
}

/// The name of the array that a location is in.
fn array(location: &str) -> &str {
    location.split('[').next().unwrap_or(location)
}

/// Other agents that read an array.
fn readers(steps: &[Step], of: &str, but: u32) -> Vec<u32> {
    let reads =
        |step: &&Step| step.agent != but && accessed(step, READ).any(|location| array(location) == of);
    names::distinct(steps.iter().filter(reads).map(|step| step.agent))
}

impl Unheard<'_> {
    /// What is left, with the data first.
    pub(super) fn headline(&self, case: &Case<'_>, left: &str) -> String {
        format!(
            "nobody waits for {}'s write of {}{}, and {left}",
            case.agent(self.write.agent),
            self.location,
            case.at(self.write.location)
        )
    }

    pub(super) fn tell(&self, case: &Case<'_>, words: &mut Words) {
        let by = case.agent(self.write.agent);
        words.sentences.push(format!(
            "{} wrote {}{} ({}) before that, and nobody accesses it any more.",
            sentence(&by),
            self.location,
            case.at(self.write.location),
            Case::step_name(self.write)
        ));
        let readers = case.agents(&self.readers);
        let exit = self.readers.iter().filter_map(|agent| case.exit(*agent)).max_by_key(|step| step.index);
        let exited = exit.map(|step| format!(" and exited{}", case.at(step.location))).unwrap_or_default();
        words.sentences.push(format!(
            "{} read {} in other rounds{exited}: either {} one round less than {by}, or that write is one \
             too many.",
            sentence(&readers),
            array(self.location),
            if self.readers.len() == 1 { "it makes" } else { "they make" }
        ));
        let (access, location) = (WRITE.to_owned(), self.location.to_owned());
        words.related.push(Case::here(self.write, Remark::Access { by: self.write.agent, access, location }));
        if let Some(exit) = exit {
            let together: Vec<u32> = self
                .readers
                .iter()
                .copied()
                .filter(|agent| case.exit(*agent).is_some_and(|step| step.location == exit.location))
                .collect();
            let agent = together.first().copied().unwrap_or(exit.agent);
            let remark = Remark::Did(together, Did::Exited);
            words.related.push(Place { agent, location: exit.location, remark });
        }
    }
}

//! What completes phase after phase, and what is in flight for it: mbarrier objects, copies and commits.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::names::object_in_short;
use crate::trace::{Barrier, Event, Location, Step, Trace};
use crate::wording;

/// A phase of an object, from the completion of the one before to its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Phase {
    /// Its number in the object's life, from 0; its last bit is the parity.
    pub number: u32,
    /// When it begins.
    pub begins: usize,
    /// When something first happens in it: an arrival, an announcement, a copy, somebody who waits.
    pub stirs: Option<usize>,
    /// When it ends; it is open if it does not.
    pub ends: Option<usize>,
    /// It ends by being complete, and not with the object's life.
    pub complete: bool,
}

/// A copy, or arrivals, in flight: from the step that began it to the one at which it lands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Flight {
    /// Who began it.
    pub agent: u32,
    /// Where it lands.
    pub barrier: u32,
    /// What it is: `the copy of 2048 bytes`, `the commit`.
    pub what: String,
    /// The bytes of a copy.
    pub bytes: Option<u32>,
    /// The location that a copy writes.
    pub writes: Option<String>,
    /// The line of the instruction that began it.
    pub line: u32,
    /// When it was begun, if that is known.
    pub issued: Option<usize>,
    /// When it lands; never, if it does not.
    pub landed: Option<usize>,
    /// It lands where it must not.
    pub fails: bool,
    #[serde(skip)]
    from: Location,
}

/// Whether a barrier is an object that the protocol itself names, and not one of those with a number.
pub(crate) fn is_object(trace: &Trace, barrier: u32) -> bool {
    let named = trace.barriers.iter().find(|known| known.barrier == barrier);
    let is_named = |known: &Barrier| [&known.name, &object_in_short(&known.name)].contains(&&known.short);
    trace.protocol.target == "ptx" && named.is_some_and(is_named)
}

/// Every object's phases, in order. Objects on which nothing happens have none.
pub(crate) fn phases(trace: &Trace) -> BTreeMap<u32, Vec<Phase>> {
    let objects: Vec<u32> = trace.barriers.iter().map(|named| named.barrier).collect();
    let mut lives: BTreeMap<u32, Life> = BTreeMap::new();
    for barrier in objects.into_iter().filter(|barrier| is_object(trace, *barrier)) {
        lives.insert(barrier, Life::default());
    }
    for step in &trace.steps {
        for event in &step.events {
            if let Some((barrier, happens)) = happens(step, event)
                && let Some(life) = lives.get_mut(&barrier)
            {
                life.take(step.index + 1, happens);
            }
        }
    }
    lives.into_iter().map(|(barrier, life)| (barrier, life.phases)).filter(|(_, p)| !p.is_empty()).collect()
}

/// What an event is to an object.
enum Happens {
    /// Its life begins, or ends.
    Lives(bool),
    /// Its phase has so much as been touched.
    Stirs,
    /// It is asked for a phase, which changes nothing.
    Asked,
    /// The phase is complete: the generation of that number.
    Completes(u32),
}

fn happens(step: &Step, event: &Event) -> Option<(u32, Happens)> {
    let operation = step.operands.as_ref().map(|operands| operands.operation.as_str());
    Some(match event {
        Event::Begun { barrier } => (*barrier, Happens::Lives(operation != Some("inval"))),
        Event::Arrived { barrier }
        | Event::Counted { barrier }
        | Event::Issued { barrier, .. }
        | Event::Landed { barrier }
        | Event::Blocked { barrier } => (*barrier, Happens::Stirs),
        Event::Passed { barrier } | Event::Asked { barrier, .. } => (*barrier, Happens::Asked),
        Event::Completed { barrier, generation, .. } => (*barrier, Happens::Completes(*generation)),
        _ => return None,
    })
}

/// An object along the time.
#[derive(Default)]
struct Life {
    phases: Vec<Phase>,
    /// Generations that were complete before its present life.
    before: u32,
    complete: u32,
}

impl Life {
    fn take(&mut self, time: usize, happens: Happens) {
        match happens {
            Happens::Lives(begins) => {
                self.end(time, false);
                self.before = self.complete;
                if begins {
                    self.begin(time);
                }
            }
            Happens::Asked => drop(self.open(time)),
            Happens::Stirs => {
                self.open(time).stirs.get_or_insert(time);
            }
            Happens::Completes(generation) => {
                let before = self.before;
                let phase = self.open(time);
                phase.stirs.get_or_insert(time);
                // Where steps are left out, phases are too.
                phase.number = generation.saturating_sub(before + 1);
                self.complete = generation;
                self.end(time, true);
                self.begin(time);
            }
        }
    }

    /// The phase that is open.
    fn open(&mut self, time: usize) -> &mut Phase {
        match self.phases.last() {
            None => self.begin(0),
            Some(last) if last.ends.is_some() => self.begin(time),
            Some(_) => {}
        }
        let last = self.phases.len() - 1;
        &mut self.phases[last]
    }

    fn begin(&mut self, time: usize) {
        let number = self.complete.saturating_sub(self.before);
        self.phases.push(Phase { number, begins: time, stirs: None, ends: None, complete: false });
    }

    fn end(&mut self, time: usize, complete: bool) {
        if let Some(last) = self.phases.last_mut().filter(|last| last.ends.is_none()) {
            (last.ends, last.complete) = (Some(time), complete);
        }
    }
}

/// Everything that is ever in flight, in the order in which it begins.
pub(crate) fn flights(trace: &Trace) -> Vec<Flight> {
    let mut flights: Vec<Flight> = Vec::new();
    // Those that have not landed, by who began them: equal ones are interchangeable.
    let mut open: BTreeMap<(u32, u32), Vec<usize>> = BTreeMap::new();
    for step in &trace.steps {
        for event in &step.events {
            if let Event::Issued { barrier, bytes, writes } = event {
                open.entry((step.agent, *barrier)).or_default().push(flights.len());
                let issued = Some(step.index + 1);
                flights.push(Flight { writes: writes.clone(), issued, ..flight(step, *barrier, *bytes) });
            }
        }
        let Some((barrier, fails)) = lands(trace, step) else { continue };
        let mine = open.entry((step.agent, barrier)).or_default();
        let found = mine.iter().position(|at| flights[*at].from == step.location);
        let at = match found {
            Some(position) => mine.remove(position),
            None => {
                flights.push(flight(step, barrier, None));
                flights.len() - 1
            }
        };
        (flights[at].landed, flights[at].fails) = (Some(step.index + 1), fails);
    }
    flights
}

fn flight(step: &Step, barrier: u32, bytes: Option<u32>) -> Flight {
    Flight {
        agent: step.agent,
        barrier,
        what: wording::in_flight(&step.instruction, bytes),
        bytes,
        writes: None,
        line: step.location.line,
        issued: None,
        landed: None,
        fails: false,
        from: step.location,
    }
}

/// Where a step lets something land, and whether it must not.
fn lands(trace: &Trace, step: &Step) -> Option<(u32, bool)> {
    let landed = step.events.iter().find_map(|event| match event {
        Event::Landed { barrier } => Some((*barrier, false)),
        _ => None,
    });
    let failed = || {
        let violated = step.events.iter().find_map(|event| match event {
            Event::Violated { barrier, .. } => *barrier,
            _ => None,
        });
        violated.or(trace.outcome.barrier).map(|barrier| (barrier, true))
    };
    if !step.choice.lands {
        return None;
    }
    landed.or_else(failed)
}

//! The generations of barriers, as a trace tells them.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::trace::{Event, Trace};

/// A generation: arrivals up to the one that completes it. The last may be incomplete.
#[derive(Default, Serialize)]
pub(crate) struct Generation {
    /// Its number, from 1; 0 while it is incomplete.
    pub(crate) generation: u32,
    /// Who arrived, and at which step.
    pub(crate) arrivals: Vec<(u32, usize)>,
    /// The step that completed it.
    pub(crate) completed: Option<usize>,
    /// What its reduction came to.
    pub(crate) result: Option<u32>,
}

/// The generations of each barrier that somebody arrived on, in order. Steps are counted from 1.
pub(crate) fn generations(trace: &Trace) -> BTreeMap<u32, Vec<Generation>> {
    let mut all: BTreeMap<u32, Vec<Generation>> = BTreeMap::new();
    for step in &trace.steps {
        let number = step.index + 1;
        for event in &step.events {
            match event {
                Event::Arrived { barrier } => {
                    gathering(all.entry(*barrier).or_default()).arrivals.push((step.agent, number));
                }
                Event::Completed { barrier, generation, result } => {
                    let now = gathering(all.entry(*barrier).or_default());
                    now.generation = *generation;
                    now.completed = Some(number);
                    now.result = *result;
                }
                _ => {}
            }
        }
    }
    all
}

/// The generation that is not complete; a new one if all are.
fn gathering(generations: &mut Vec<Generation>) -> &mut Generation {
    if generations.last().is_none_or(|last| last.completed.is_some()) {
        generations.push(Generation::default());
    }
    let last = generations.len() - 1;
    &mut generations[last]
}

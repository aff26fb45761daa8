//! The generations of barriers.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::trace::{Event, Trace};

/// A generation: arrivals up to the one that completes it. The last may be incomplete.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Generation {
    /// Its number, from 1; 0 while it is incomplete.
    pub generation: u32,
    /// Who arrived, and at which step, in order.
    pub arrivals: Vec<(u32, usize)>,
    /// The step that completed it.
    pub completed: Option<usize>,
    /// What its reduction came to.
    pub result: Option<u32>,
}

impl Generation {
    /// When it began.
    #[must_use]
    pub fn begins(&self) -> usize {
        self.arrivals.first().map(|(_, time)| *time).or(self.completed).unwrap_or(0)
    }
}

/// Every barrier's generations, in order.
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

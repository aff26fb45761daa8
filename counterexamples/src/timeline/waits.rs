//! Who waits for whom.

use std::collections::BTreeSet;

use super::history::Timeline;
use crate::trace::{Awaits, Status, Waits};

/// Agents that wait, or are waited for, in the same position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiter {
    /// The agents, in order.
    pub agents: Vec<u32>,
    /// What they wait for, if they wait.
    pub waits: Option<Waits>,
    /// The barriers that miss them, in order.
    pub missed: Vec<u32>,
    /// What they are doing.
    pub status: Status,
    /// The line where those stand who do not wait.
    pub line: Option<u32>,
}

/// Who waits for whom: a graph of [`Waiter`]s.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    /// The agents, by position.
    pub waiters: Vec<Waiter>,
    /// From those that wait to those that their barrier misses, by position; and whether it is part of a
    /// cycle.
    pub edges: Vec<(usize, usize, bool)>,
}

impl Timeline<'_> {
    /// Who waits for whom at a time.
    #[must_use]
    pub fn waiting(&self, time: usize) -> Waiting {
        let states = || self.trace().agents.iter().filter_map(|agent| self.agent(agent.index, time));
        let awaited: BTreeSet<u32> = states()
            .filter_map(|s| s.waits)
            .filter(|w| w.awaits == Awaits::Agents)
            .map(|w| w.barrier)
            .collect();
        let missing: Vec<(u32, BTreeSet<u32>)> = awaited
            .into_iter()
            .filter_map(|barrier| {
                Some((barrier, self.barrier(barrier, time)?.missing.iter().copied().collect()))
            })
            .collect();
        let mut waiters: Vec<Waiter> = Vec::new();
        for state in states() {
            let waits = state.waits.filter(|_| state.status == Status::Blocked);
            let missed: Vec<u32> =
                missing.iter().filter(|(_, who)| who.contains(&state.agent)).map(|(b, _)| *b).collect();
            if waits.is_none() && missed.is_empty() {
                continue;
            }
            let line =
                state.location.filter(|place| waits.is_none() && place.line > 0).map(|place| place.line);
            let alike = waiters.iter_mut().find(|known| {
                (known.waits, &known.missed, known.status, known.line) == (waits, &missed, state.status, line)
            });
            match alike {
                Some(known) => known.agents.push(state.agent),
                None => waiters.push(Waiter {
                    agents: vec![state.agent],
                    waits,
                    missed,
                    status: state.status,
                    line,
                }),
            }
        }
        let edges = edges(&waiters);
        Waiting { waiters, edges }
    }
}

fn edges(waiters: &[Waiter]) -> Vec<(usize, usize, bool)> {
    let targets = |(position, waiter): (usize, &Waiter)| match waiter.waits {
        Some(Waits { awaits: Awaits::Lanes, .. }) => vec![position],
        Some(Waits { barrier, .. }) => {
            let missed = waiters.iter().enumerate().filter(|(_, to)| to.missed.contains(&barrier));
            missed.map(|(to, _)| to).collect()
        }
        None => Vec::new(),
    };
    let targets: Vec<Vec<usize>> = waiters.iter().enumerate().map(targets).collect();
    let mut edges = Vec::new();
    for (to, _) in waiters.iter().enumerate() {
        let reached = reached(&targets, to);
        let sources = targets.iter().enumerate().filter(|(_, targets)| targets.contains(&to));
        edges.extend(sources.map(|(from, _)| (from, to, reached[from])));
    }
    edges.sort_unstable();
    edges
}

/// What edges lead to from a start, itself included.
fn reached(targets: &[Vec<usize>], start: usize) -> Vec<bool> {
    let mut reached = vec![false; targets.len()];
    let mut open = vec![start];
    while let Some(node) = open.pop() {
        if !std::mem::replace(&mut reached[node], true) {
            open.extend(targets[node].iter().copied());
        }
    }
    reached
}

//! Excerpts: traces of which only some steps are written down.
//!
//! A path of a million steps is replayed in little time and no room; to write each of its states down takes
//! much of both, and nobody reads the middle. An excerpt has the first and the last steps, and of those in
//! between the latest that words may have to go back to. It is a trace whose steps keep their indices, so
//! that it shows where some are left out. The words of a wait without end go back over all steps: for them,
//! and until they are found, those that are left out are sketched.

use std::collections::{BTreeSet, HashMap};

use barcheck_model::barrier::BarrierId;
use barcheck_model::machine::{Choice, Event, Path};
use barcheck_model::program::AgentId;
use barcheck_model::rule::Rule;

use crate::trace::Trace;

/// Of the first steps, and of the last, so many are kept for each agent: more than the rows of a narrative,
/// of which each has a step of every agent at most …
const FIRST_OF_AGENT: usize = 12;
const LAST_OF_AGENT: usize = 28;
/// … but at least so many, which is what other reports show, and no more than so many.
const LEAST: usize = 500;
const MOST: usize = 4000;
/// Steps kept in between, at most: the latest.
const MOST_BETWEEN: usize = 2000;

/// Bytes of sketches, at most; where they would take more, words do without.
pub(super) const MOST_SKETCHED: u64 = 384 << 20;

/// Whether the words of a violation go back over all that agents did: who is to blame for a wait without end
/// is told by how often each has come. Other words name the values of operands, which a sketch has not.
pub(super) fn asks_who_came(rule: Rule) -> bool {
    matches!(rule, Rule::Deadlock | Rule::StuckAgent)
}

/// What is kept of a path.
pub(crate) struct Kept {
    first: usize,
    last: usize,
    latest: HashMap<Key, usize>,
    between: BTreeSet<usize>,
    /// The access that another is in conflict with: whose it is.
    earlier: Option<AgentId>,
}

/// What words may ask for the latest of.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    Step(AgentId),
    Arrived(AgentId, BarrierId),
    Ended(AgentId, BarrierId),
    Completed(BarrierId),
    Exited(AgentId),
    Moved(AgentId),
    Accessed(AgentId),
}

impl Kept {
    /// Of a path by so many agents, before anything is known of its middle.
    pub(super) fn of(path: &Path, agents: usize, earlier: Option<AgentId>) -> Self {
        let steps = path.steps.len();
        let last = agents.saturating_mul(LAST_OF_AGENT).clamp(LEAST, MOST);
        let mut kept = Self {
            first: agents.saturating_mul(FIRST_OF_AGENT).clamp(LEAST, MOST),
            last: steps.saturating_sub(last),
            latest: HashMap::new(),
            between: BTreeSet::new(),
            earlier,
        };
        // A cycle is shown by how it begins.
        kept.between.extend(path.cycle_from.into_iter().flat_map(|from| from..(from + LEAST).min(steps)));
        kept
    }

    /// Whether a step is written down.
    pub(super) fn holds(&self, index: usize) -> bool {
        index < self.first || index >= self.last || self.between.contains(&index)
    }

    /// Takes in what happens at a step that may be left out.
    pub(crate) fn follow(&mut self, index: usize, choice: Choice, events: &[Event]) {
        if index < self.first || index >= self.last {
            return;
        }
        let agent = choice.agent();
        self.latest.insert(Key::Step(agent), index);
        for event in events {
            let key = match event {
                Event::Arrived(barrier) => Key::Arrived(agent, *barrier),
                Event::Blocked(barrier) | Event::Passed(barrier) => Key::Ended(agent, *barrier),
                Event::Completed(barrier, _) => Key::Completed(*barrier),
                Event::Exited => Key::Exited(agent),
                Event::StateMoved => Key::Moved(agent),
                Event::Accessed(_) if self.earlier == Some(agent) => Key::Accessed(agent),
                _ => continue,
            };
            self.latest.insert(key, index);
        }
    }

    /// All steps have been followed.
    pub(super) fn settle(&mut self) {
        let mut latest: Vec<usize> = self.latest.drain().map(|(_, index)| index).collect();
        latest.sort_unstable_by_key(|index| std::cmp::Reverse(*index));
        latest.truncate(MOST_BETWEEN);
        self.between.extend(latest);
    }
}

impl Trace {
    /// The number of steps of the run, those that are left out of an excerpt included.
    #[must_use]
    pub fn length(&self) -> usize {
        self.steps.last().map_or(0, |step| step.index + 1)
    }

    /// Whether steps are left out: the trace is an excerpt, and cannot be replayed by itself.
    #[must_use]
    pub fn is_excerpt(&self) -> bool {
        self.length() > self.steps.len()
    }
}

//! What a step changes.

use std::collections::{BTreeMap, BTreeSet};

use super::history::Timeline;
use crate::trace::{AgentState, Awaits, BarrierState, Status};

/// Something that a step changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// What: `warps 0-3`, `warp 2, n`, `barrier 1, generations`.
    pub what: String,
    /// What it was.
    pub before: String,
    /// What it is now.
    pub after: String,
}

impl Timeline<'_> {
    /// What the step that leads to a time changes. Agents that change alike share an entry.
    #[must_use]
    pub fn changes(&self, time: usize) -> Vec<Change> {
        let Some(step) = self.step(time) else { return Vec::new() };
        // By what they change, and in the order in which changes first occur.
        let mut alike: Vec<((String, String, String), Vec<u32>)> = Vec::new();
        let mut places: BTreeMap<(String, String, String), usize> = BTreeMap::new();
        for after in &step.changes.agents {
            let Some(before) = self.agent(after.agent, time - 1) else { continue };
            for change in self.changes_of_agent(before, after) {
                let place = *places.entry(change.clone()).or_insert(alike.len());
                match alike.get_mut(place) {
                    Some((_, agents)) => agents.push(after.agent),
                    None => alike.push((change, vec![after.agent])),
                }
            }
        }
        let mut changes: Vec<Change> = alike
            .into_iter()
            .map(|((what, before, after), mut agents)| {
                agents.sort_unstable();
                Change { what: format!("{}{what}", self.agents_in_words(&agents)), before, after }
            })
            .collect();
        for after in &step.changes.barriers {
            let name = self.barrier_name(after.barrier);
            let before = facts(self.barrier(after.barrier, time - 1));
            let now = facts(Some(after));
            for ((what, before), after) in ["", ", class", ", generations"].iter().zip(before).zip(now) {
                if before != after {
                    changes.push(Change { what: format!("{name}{what}"), before, after });
                }
            }
        }
        changes
    }

    fn changes_of_agent(&self, before: &AgentState, after: &AgentState) -> Vec<(String, String, String)> {
        let mut changes = Vec::new();
        let mut differ = |what: String, before: String, after: String| {
            if before != after {
                changes.push((what, before, after));
            }
        };
        let (old, new) = (self.doing(before), self.doing(after));
        if old == new {
            // Within a line the words for its place are the same.
            differ(", next".to_owned(), self.next(before), self.next(after));
        }
        differ(String::new(), old, new);
        let notified = |state: &AgentState| {
            let names: Vec<String> =
                state.notified.iter().map(|barrier| self.barrier_short(*barrier)).collect();
            if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
        };
        differ(", notified of".to_owned(), notified(before), notified(after));
        let (old, new) = (self.locals(before), self.locals(after));
        let value = |locals: &BTreeMap<String, String>, name| locals.get(name).map_or("-", |v| v).to_owned();
        for name in old.keys().chain(new.keys()).collect::<BTreeSet<_>>() {
            differ(format!(", {name}"), value(&old, name), value(&new, name));
        }
        changes
    }

    /// Where an agent is and what it does, in few words: `blocked on b1 at line 3`.
    #[must_use]
    pub fn doing(&self, state: &AgentState) -> String {
        let place = state.location.filter(|place| place.line > 0);
        let place = place.map(|place| format!(" at line {}", place.line)).unwrap_or_default();
        match (state.status, state.waits) {
            (Status::Exited, _) => "exited".to_owned(),
            (Status::Blocked, Some(waits)) => {
                let barrier = self.barrier_short(waits.barrier);
                match waits.awaits {
                    Awaits::Lanes => format!("waits for its own lanes at {barrier}{place}"),
                    Awaits::Agents => format!("blocked on {barrier}{place}"),
                }
            }
            (Status::Blocked, None) => format!("blocked{place}"),
            (Status::Running, _) => format!("running{place}"),
            (Status::Failed, _) => format!("failed{place}"),
        }
    }

    /// The instruction at which an agent stands.
    #[must_use]
    pub fn next(&self, state: &AgentState) -> String {
        match state.instruction.as_str() {
            "}" => "the end of its block".to_owned(),
            instruction => instruction.to_owned(),
        }
    }

    /// An agent's locals, without those that loops keep for themselves; those of lanes that have separated
    /// are told apart.
    #[must_use]
    pub fn locals(&self, state: &AgentState) -> BTreeMap<String, String> {
        let named = |(name, _): &(&String, &String)| !name.starts_with('.');
        match state.fragments.as_slice() {
            [together] => together.locals.iter().filter(named).map(|(n, v)| (n.clone(), v.clone())).collect(),
            fragments => fragments
                .iter()
                .flat_map(|fragment| {
                    let lanes = self.lanes_in_words(&fragment.lanes);
                    let told = move |(name, value): (&String, &String)| {
                        (format!("{name} of {lanes}"), value.clone())
                    };
                    fragment.locals.iter().filter(named).map(told)
                })
                .collect(),
        }
    }
}

/// Counts, class and complete generations.
fn facts(state: Option<&BarrierState>) -> [String; 3] {
    let active = state.filter(|state| state.active);
    [
        active.map_or_else(|| "idle".to_owned(), BarrierState::counter),
        state.and_then(|state| state.class.clone()).unwrap_or_else(|| "none".to_owned()),
        state.map_or(0, |state| state.generation).to_string(),
    ]
}

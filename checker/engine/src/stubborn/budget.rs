//! How far an exploration has come, when it has to end, and what it may not have seen.

use super::explore::Exploration;
use super::node::{Node, NodeId};
use super::proviso::Cycles;
use super::states::Key;
use crate::settings::Progress;
use crate::verdict::Inconclusive;
use crate::verdict::answer::Ending;
use crate::verdict::blow_up::{backlog, blow_up};
use barcheck_model::rule::{Level, Rule};
use std::cmp::Reverse;

impl Exploration<'_> {
    /// Something may be violated besides what has been found, or in other places: some agent may be stuck
    /// before a deadlock, as another cycles; and of configurations merged in several places one was looked
    /// at.
    pub(super) fn hides(&self) -> bool {
        let Some(merges) = self.merges.as_ref().filter(|merges| merges.decides_late) else { return false };
        let mut rules = self.violations.keys().map(|(rule, ..)| *rule);
        let deadlocks = rules.clone().any(|rule| rule == Rule::Deadlock);
        deadlocks && (self.has_cycle() || merges.has_cycle)
            || self.machine.merges_places() && rules.any(|rule| self.level(rule) >= Level::Warning)
    }

    pub(super) fn bytes(&self) -> u64 {
        let key = self.nodes.first().map_or(0, |node| node.key.len() * 4) + 32;
        // A table that doubles holds the old entries and the new ones for a moment.
        let full = |len: usize, capacity: usize| if len * 8 > capacity * 7 { 2 * capacity } else { 0 };
        let (nodes, numbers) = (self.nodes.capacity(), self.numbers.capacity());
        let tables = (nodes + full(self.nodes.len(), nodes)) * size_of::<Node>()
            + (numbers + full(self.numbers.len(), numbers)) * (size_of::<(Key, NodeId)>() * 8 / 7 + 1);
        let cycles: u64 = self.cycles.iter().map(Cycles::bytes).sum();
        (tables + self.nodes.len() * key + self.machine.bytes()) as u64
            + self.components.bytes()
            + cycles
            + self.graph_bytes
    }

    /// What has blown up: the automata, or else the choices.
    fn blow_up(&self, states: u64) -> Option<String> {
        let backlog = || backlog(&self.machine, self.components.latest_sequences());
        blow_up(&self.machine, states).or_else(backlog).or_else(|| {
            let (place, _) = self.opened.iter().max_by_key(|(place, states)| (**states, Reverse(**place)))?;
            Some(format!("the outcomes of choices, most of them from line {} on", place.line))
        })
    }

    /// Looks at the budgets, now and then.
    pub(super) fn look(&mut self, node: NodeId) -> Result<(), Ending> {
        self.looks += 1;
        if !self.looks.is_multiple_of(self.between_looks) {
            return Ok(());
        }
        let states = self.nodes.len() as u64;
        if let Some(most) = self.settings.budgets.max_states.filter(|most| states > *most) {
            return Err(Ending::GaveUp(Inconclusive::States(most, self.blow_up(states))));
        }
        self.look_on(states - u64::from(node)).map_err(Ending::GaveUp)
    }

    /// Looks at the budgets that may be used up whether or not there are new states; so many states are still
    /// to be gone through.
    pub(super) fn look_on(&mut self, frontier: u64) -> Result<(), Inconclusive> {
        let (states, bytes) = (self.nodes.len() as u64, self.bytes());
        self.peak_bytes = self.peak_bytes.max(bytes);
        let budgets = self.settings.budgets;
        let blow_up = || self.blow_up(states);
        let is_over = budgets.memory().is_some_and(|most| bytes > most);
        if let Some(most) = budgets.max_memory.filter(|_| is_over) {
            return Err(Inconclusive::Memory(most, blow_up()));
        }
        if let Some(limit) = budgets.timeout.filter(|limit| self.started.elapsed() >= *limit) {
            return Err(Inconclusive::Time(limit, blow_up()));
        }
        let progress = Progress {
            states,
            transitions: self.transitions,
            depth: self.depth,
            frontier,
            memory_bytes: bytes,
            percent: None,
        };
        if self.control.goes_on(progress) { Ok(()) } else { Err(Inconclusive::Interrupted) }
    }

    pub(super) fn level(&self, rule: Rule) -> Level {
        self.settings.levels.of(rule, self.machine.program().target)
    }

    /// Choices are made late.
    pub(super) fn decides_late(&self) -> bool {
        self.merges.as_ref().is_some_and(|merges| merges.decides_late)
    }

    /// Some agent has closed a cycle.
    pub(super) fn has_cycle(&self) -> bool {
        self.cycles.iter().any(Cycles::has_cycle)
    }

    pub(super) fn has_error(&self) -> bool {
        self.violations.values().any(|s| self.level(s.finding.rule) == Level::Error)
    }
}

//! Looks at the budgets: when a search has used up its time, memory or states.

use super::Search;
use super::position::{BETWEEN_LOOKS_AT_MOST, MOST_STATES};
use crate::paths::backlog;
use crate::settings::{Budgets, Note, Progress};
use crate::verdict::Inconclusive;
use crate::verdict::blow_up::{self, blow_up, no_end};
use crate::visited::{Room, StateId, Store};
use std::time::Instant;

/// States from which on it is looked for whether there is an end to them.
const FIRST_LOOK_FOR_AN_END: u64 = 1 << 18;
/// Decisions that somebody has yet to make for which it is looked for then …
const FEW_DECISIONS: u64 = 10;
/// … and for which it is looked for at once.
const MANY_DECISIONS: u64 = 256;
/// Residuals in which is looked for what grew.
const LATEST: usize = 1000;

impl Search<'_> {
    pub(crate) fn seconds(&self) -> f64 {
        self.clock.started.elapsed().as_secs_f64()
    }

    /// Whether time is up, what is known beside the states has outgrown memory, or the user ends it.
    pub(crate) fn is_out_of_time(&mut self) -> bool {
        self.clock.last_look = Instant::now();
        let late = self.budgets().timeout.filter(|limit| self.clock.started.elapsed() >= *limit);
        if let Some(limit) = late {
            self.violations.inconclusive =
                Some(Inconclusive::Time(limit, self.blow_up(self.clock.progress.states)));
            return true;
        }
        if self.is_out_of_memory() {
            return true;
        }
        self.clock.progress =
            Progress { transitions: self.at.transitions, depth: self.at.depth, ..self.clock.progress };
        let goes_on = self.clock.control.goes_on(self.clock.progress);
        if !goes_on {
            self.violations.inconclusive = Some(Inconclusive::Interrupted);
        }
        !goes_on
    }

    /// Whether what is known beside the states has outgrown memory: between two looks at the states a single
    /// one may lead to thousands of configurations.
    pub(crate) fn is_out_of_memory(&mut self) -> bool {
        let most = self.budgets().memory().unwrap_or(u64::MAX);
        let is_over = self.table_bytes() > most;
        if is_over {
            let most = self.budgets().max_memory.unwrap_or(most);
            let grew = self.blow_up(self.clock.progress.states);
            self.violations.inconclusive = Some(Inconclusive::Memory(most, grew));
        }
        is_over
    }

    pub(crate) fn note_progress<const W: usize>(&mut self, store: &Store<W>) {
        let states = store.len() as u64;
        let memory_bytes = store.bytes() + self.table_bytes() + self.usage.threads;
        self.usage.peak = self.usage.peak.max(memory_bytes);
        self.clock.progress = Progress {
            states,
            transitions: self.at.transitions,
            depth: self.at.depth,
            frontier: states - u64::from(self.at.next),
            memory_bytes,
            percent: None,
        };
    }

    pub(crate) fn is_over_budget<const W: usize>(&mut self, store: &mut Store<W>) -> bool {
        self.make_room(store);
        self.note_progress(store);
        let (states, budgets, progress) = (store.len() as u64, self.budgets(), self.clock.progress);
        let over = if let Some(error) = store.failed() {
            Inconclusive::Disk(error)
        } else if let Some(endless) = self.endless(store) {
            endless
        } else if budgets.max_states.is_some_and(|most| states > most) {
            Inconclusive::States(budgets.max_states.unwrap_or(0), self.blow_up(states))
        } else if budgets.memory().is_some_and(|most| self.bytes_soon(store) > most) {
            Inconclusive::Memory(budgets.max_memory.unwrap_or(0), self.blow_up(states))
        } else if states >= MOST_STATES {
            Inconclusive::States(states, self.blow_up(states))
        } else if let Some(limit) = budgets.timeout.filter(|limit| self.clock.started.elapsed() >= *limit) {
            Inconclusive::Time(limit, self.blow_up(states))
        } else if !self.clock.control.goes_on(progress) {
            Inconclusive::Interrupted
        } else {
            return false;
        };
        self.violations.inconclusive = Some(over);
        true
    }

    /// Why there is no end to the states, if the path to the latest of them shows it.
    fn endless<const W: usize>(&mut self, store: &Store<W>) -> Option<Inconclusive> {
        let states = store.len() as u64;
        if self.settings.compact || self.retraces.is_some() {
            return None;
        }
        let residuals = &self.tables.residuals;
        let latest = residuals.from(residuals.len().saturating_sub(LATEST));
        let decisions = latest.flat_map(|residual| &residual.sequences).map(|sequence| sequence.ahead.len());
        let decisions = decisions.max().unwrap_or(0) as u64;
        let (many_states, many_decisions) = self.looked_for_end_at;
        let is_due = decisions >= MANY_DECISIONS.max(2 * many_decisions)
            || decisions >= FEW_DECISIONS && states >= FIRST_LOOK_FOR_AN_END.max(2 * many_states);
        if !is_due {
            return None;
        }
        self.looked_for_end_at = (states, decisions);
        let (steps, _) = self.path_to(store, StateId::try_from(states - 1).ok()?);
        let ahead = backlog::without_end(&mut self.tables.machine, &steps)?;
        Some(Inconclusive::Endless(no_end(self.tables.machine.program(), ahead)))
    }

    /// Bytes of memory in use once the next looks are due, a table that moves included.
    fn bytes_soon<const W: usize>(&self, store: &Store<W>) -> u64 {
        store.bytes_with(BETWEEN_LOOKS_AT_MOST) + self.table_bytes()
    }

    /// Moves old states to disk if memory is short and there is a folder for them.
    fn make_room<const W: usize>(&mut self, store: &mut Store<W>) {
        let Some(room) = self.room() else { return };
        if self.bytes_soon(store) <= room.most_bytes + self.table_bytes() {
            return;
        }
        let before = store.states_spilled();
        store.keep_within(&room, BETWEEN_LOOKS_AT_MOST);
        if before == 0 && store.states_spilled() > 0 {
            self.clock.control.notes(Note::MovesToDisk(&room.folder));
        }
    }

    /// What states may take of memory, and a folder for those that have no room, if there is one.
    pub(crate) fn room(&self) -> Option<Room> {
        let most_bytes = self.settings.budgets.memory()?.saturating_sub(self.table_bytes());
        self.settings.spill.clone().map(|folder| Room { folder, most_bytes })
    }

    /// The local whose values are most numerous among an automaton's configurations, if the automata are
    /// large against the search as a whole.
    fn blow_up(&self, states: u64) -> Option<String> {
        let residuals = &self.tables.residuals;
        let latest = residuals.from(residuals.len().saturating_sub(LATEST)).map(|r| &r.sequences[..]);
        blow_up(&self.tables.machine, states).or_else(|| blow_up::backlog(&self.tables.machine, latest))
    }

    pub(crate) fn budgets(&self) -> Budgets {
        if self.retraces.is_some() { Budgets::default() } else { self.settings.budgets }
    }

    pub(crate) fn table_bytes(&self) -> u64 {
        self.tables.bytes() + self.swift.bytes() as u64
    }
}

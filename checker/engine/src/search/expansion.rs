//! The successors of the next state, and what is found on the way.

use super::Search;
use super::position::{BETWEEN_CLOCKS, BETWEEN_SUMS, Pause};
use crate::packed::batch::Batch;
use crate::packed::layout::Packed;
use crate::packed::numbering::to_u32;
use crate::successors::expand::{Opened, Successor};
use crate::successors::swift::Scratch;
use crate::verdict::Inconclusive;
use crate::visited::{StateId, Store};
use barcheck_model::machine::{Choice, End, Finding};
use barcheck_model::program::AgentId;

impl Search<'_> {
    /// Explores the next state.
    #[inline]
    pub(crate) fn explore<const W: usize>(
        &mut self,
        store: &Store<W>,
        (opened, scratch): (&mut Opened, &mut Scratch),
        batch: &mut Batch<W>,
    ) -> Option<Pause> {
        if self.limit.most.is_some_and(|most| self.at.transitions + self.limit.undone >= most) {
            self.violations.inconclusive = Some(Inconclusive::States(store.len() as u64, None));
            return Some(Pause::Stopped);
        }
        let words = store.get(self.at.next);
        if let Some(pause) = self.look_out(&words) {
            return Some(pause);
        }
        let before = batch.len();
        // Local computation may fail before the first step: states in which it did are not entered later.
        if self.at.next > 0 {
            let mut made = self.swift.successors(&words, scratch, batch);
            while made.is_none()
                && let Some(transformer) = scratch.missing()
                && let Some(fits) = self.tables.learn_transformer(&self.layout, &words, transformer)
            {
                if !fits {
                    return Some(Pause::Widen);
                }
                if !self.swift.learn_transformer(&self.tables, &words, transformer) {
                    break;
                }
                self.times_learnt += 1;
                made = self.swift.successors(&words, scratch, batch);
            }
            if made.is_some() && self.canonicalise(batch, before) {
                self.at.transitions += (batch.len() - before) as u64;
                // The states of many agents, sorted, take long until the next look.
                let is_late = |search: &mut Self| {
                    search.clock.last_look.elapsed() > BETWEEN_CLOCKS && search.is_out_of_time()
                };
                return (!self.symmetry.is_trivial() && is_late(self)).then_some(Pause::Stopped);
            }
        }
        batch.truncate(before);
        let traces = self.saving.checkpoint.is_some().then(|| self.traces());
        let pause = self.explore_by_tables(&words, opened, batch);
        if traces.is_some_and(|traces| traces != self.traces()) {
            self.saving.asked.push(self.at.next);
        }
        if pause.is_none() {
            self.times_learnt += 1;
            self.swift.learn(&self.tables, &self.layout, &words);
        }
        pause
    }

    /// What only ever grows when the model is asked something new.
    fn traces(&self) -> (usize, usize, [bool; 3]) {
        let ends = [
            self.violations.fault.is_some(),
            self.violations.cut.is_some(),
            self.violations.inconclusive.is_some(),
        ];
        (self.tables.numbers(), self.violations.found.len(), ends)
    }

    /// Explores a state with what the tables say, or the model.
    pub(crate) fn explore_by_tables<const W: usize>(
        &mut self,
        words: &Packed<W>,
        opened: &mut Opened,
        batch: &mut Batch<W>,
    ) -> Option<Pause> {
        self.tables.open(&self.layout, words, opened);
        let before = batch.len();
        let failed = self.at.next == 0 && self.fails_at_once(words, opened);
        let is_done = failed
            || !opened.is_last
                && self.tables.swift_successors(&self.layout, words, opened, batch)
                && self.canonicalise(batch, before);
        if is_done {
            self.at.transitions += (batch.len() - before) as u64;
            return None;
        }
        batch.truncate(before);
        self.explore_slowly(words, opened, batch)
    }

    /// Judges a state, and makes its successors one by one.
    fn explore_slowly<const W: usize>(
        &mut self,
        words: &Packed<W>,
        opened: &mut Opened,
        batch: &mut Batch<W>,
    ) -> Option<Pause> {
        let mut pause = None;
        if opened.is_last
            || self.tables.may_leave_behind(opened)
            || self.tables.exceeds(&self.layout, words, opened)
        {
            let state = opened.state(&self.tables, &self.layout, words).clone();
            for finding in self.tables.machine.judge(&state) {
                pause = pause.or(self.record(finding, self.at.next, None));
            }
        }
        if pause.is_none() {
            let before = (self.at.transitions, batch.len());
            pause = self.expand(words, opened, batch);
            if pause == Some(Pause::Widen) {
                // The state is explored anew with the wider layout.
                self.limit.undone += self.at.transitions - before.0;
                self.at.transitions = before.0;
                batch.truncate(before.1);
            }
        }
        pause
    }

    /// Brings the states in a batch, from some place on, into canonical form; `false` if the layout has no
    /// room for one.
    #[inline]
    fn canonicalise<const W: usize>(&mut self, batch: &mut Batch<W>, from: usize) -> bool {
        if self.symmetry.is_trivial() {
            return true;
        }
        for words in &mut batch.states_mut()[from..] {
            let Some(sorted) = self.symmetry.canonical(&mut self.tables, &self.layout, *words, None) else {
                return false;
            };
            *words = sorted;
        }
        true
    }

    /// Whether local computation has failed in the initial state; its path ends there.
    fn fails_at_once<const W: usize>(&mut self, words: &Packed<W>, opened: &mut Opened) -> bool {
        let state = opened.state(&self.tables, &self.layout, words);
        let machine = &self.tables.machine;
        let Some((agent, fault)) = machine.fault(state).map(|(agent, fault)| (agent, fault.clone())) else {
            return false;
        };
        let end = machine.end_of_fault(agent, &fault, Vec::new());
        self.end(end, 0, None);
        true
    }

    fn expand<const W: usize>(
        &mut self,
        words: &Packed<W>,
        opened: &mut Opened,
        batch: &mut Batch<W>,
    ) -> Option<Pause> {
        let id = self.at.next;
        for agent in 0..opened.slots.len() {
            let count = self.tables.slot(agent, opened.slots[agent]).moves.len();
            for index in 0..count {
                let picks = self.tables.picks(&self.layout, words, opened, agent, index);
                for pick in picks {
                    // A decision among billions is a search of its own: look at the budgets within it.
                    if pick % (1 << 16) == (1 << 16) - 1 && self.is_out_of_time() {
                        return Some(Pause::Stopped);
                    }
                    let Ok(pick) = u32::try_from(pick) else {
                        self.violations.inconclusive.get_or_insert(Inconclusive::States(
                            u64::from(u32::MAX),
                            Some("the values of an `any`".to_owned()),
                        ));
                        return Some(Pause::Stopped);
                    };
                    let choice = Choice::of(AgentId::from_index(agent), to_u32(index), pick);
                    if let Some(pause) = self.make_step(words, opened, choice, id, batch) {
                        return Some(pause);
                    }
                }
            }
        }
        let landings = self.tables.landings(&self.layout, words, opened);
        landings.into_iter().find_map(|choice| self.make_step(words, opened, choice, id, batch))
    }

    fn make_step<const W: usize>(
        &mut self,
        words: &Packed<W>,
        opened: &mut Opened,
        choice: Choice,
        id: StateId,
        batch: &mut Batch<W>,
    ) -> Option<Pause> {
        let is_due = self.clock.is_often_due || self.clock.last_look.elapsed() > BETWEEN_CLOCKS;
        let is_full = self.at.transitions.is_multiple_of(BETWEEN_SUMS) && self.is_out_of_memory();
        if is_full || is_due && self.is_out_of_time() {
            return Some(Pause::Stopped);
        }
        let mut noted = Vec::new();
        let successor = self.tables.successor(&self.layout, words, opened, choice, &mut |f| noted.push(f));
        let mut pause = None;
        for finding in noted {
            pause = pause.or(self.record(finding, id, Some(choice)));
        }
        self.at.transitions += 1;
        match successor {
            Successor::State(next) => {
                if !self.push(next, batch) {
                    return Some(Pause::Widen);
                }
            }
            Successor::TooWide => return Some(Pause::Widen),
            Successor::Same => {}
            Successor::None => self.at.transitions -= 1,
            Successor::End(end) => pause = pause.or(self.end(end, id, Some(choice))),
        }
        pause
    }

    /// Adds a successor to the batch; `false` if the layout has no room for it.
    fn push<const W: usize>(&mut self, next: Packed<W>, batch: &mut Batch<W>) -> bool {
        batch.push(next);
        let last = batch.len() - 1;
        self.canonicalise(batch, last)
    }

    /// Keeps a finding, if it is the first of its rule and place.
    fn record(&mut self, finding: Finding, state: StateId, step: Option<Choice>) -> Option<Pause> {
        let about = (&self.tables.machine, self.settings);
        self.violations.record(about, finding, (state, step))
    }

    /// A path ends.
    fn end(&mut self, end: End, state: StateId, step: Option<Choice>) -> Option<Pause> {
        let about = (&self.tables.machine, self.settings);
        self.violations.end(about, end, (state, step))
    }
}

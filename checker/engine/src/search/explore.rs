//! A search, level after level, with a look at the budgets now and then.

use super::Search;
use super::position::{BETWEEN_LOOKS, Pause};
use crate::packed::batch::BATCH;
use crate::packed::batch::Batch;
use crate::packed::numbering::to_u32;
use crate::search::checkpoint::{Checkpoint, REHEARSAL};
use crate::search::pipeline::Pipeline;
use crate::settings::Progress;
use crate::successors::expand::Opened;
use crate::successors::rehearsal;
use crate::successors::swift::Scratch;
use crate::visited::{Growth, Store};

impl Search<'_> {
    /// Explores until there is a reason to pause.
    pub(crate) fn run<const W: usize>(&mut self, store: &mut Store<W>) -> Pause {
        let mut batch = Batch::<W>::default();
        let (mut opened, mut scratch) = (Opened::default(), Scratch::default());
        let pipeline = Pipeline::new(self.settings);
        let mut first = self.at.next;
        store.growth = Growth::within(self.budgets().memory());
        if store.len() > 0 {
            store.expect(self.at.level_end - self.at.next);
        }
        loop {
            // Looks come at the same states however many threads there are, and find the same.
            let looks = self.at.next % BETWEEN_LOOKS == BETWEEN_LOOKS - 1;
            // Where states are forgotten, each has to know from where it was found.
            let alone = store.is_compact();
            if self.at.next == self.at.level_end || batch.len() >= BATCH || looks || alone {
                store.insert_batch(&mut batch, first);
                if self.begins_level(store) {
                    return Pause::Complete;
                }
                if let Some(pause) = looks.then(|| self.look(store)).flatten() {
                    return pause;
                }
                if pipeline.begins(self, store.len()) {
                    return self.explore_in_pipeline(store, pipeline);
                }
                first = self.at.next;
            }
            match self.explore(store, (&mut opened, &mut scratch), &mut batch) {
                Some(pause) => {
                    store.insert_batch(&mut batch, first);
                    return pause;
                }
                None => self.at.next += 1,
            }
        }
    }

    /// Goes on to the next level where one is at its end; `true` if there is none.
    pub(crate) fn begins_level<const W: usize>(&mut self, store: &mut Store<W>) -> bool {
        let found = to_u32(store.len());
        if self.at.next == found {
            self.usage.peak = self.usage.peak.max(store.bytes() + self.table_bytes() + self.usage.threads);
            return true;
        }
        if self.at.next == self.at.level_end {
            self.at.depth += u64::from(self.at.level_end > 0);
            self.at.level_end = found;
            store.expect(found - self.at.next);
        }
        false
    }

    /// Looks at the budgets, and at whether the search has turned out to be large.
    pub(crate) fn look<const W: usize>(&mut self, store: &mut Store<W>) -> Option<Pause> {
        store.forget_before(self.at.next);
        if self.retraces.is_some_and(|last| self.at.next >= last) {
            return Some(Pause::Stopped);
        }
        if self.is_over_budget(store) {
            self.save(store);
            return Some(Pause::Stopped);
        }
        self.save_if_due(store);
        if self.has_rehearsed || store.len() < rehearsal::LARGE {
            return None;
        }
        self.rehearse();
        (self.tables.sizes().layout() != self.layout).then_some(Pause::Widen)
    }

    /// Makes a few random runs, see [`rehearsal`].
    pub(crate) fn rehearse(&mut self) {
        self.has_rehearsed = true;
        self.saving.asked.push(REHEARSAL);
        let (settings, started, control) = (self.settings, self.clock.started, self.clock.control);
        let in_time = || settings.budgets.timeout.is_none_or(|limit| started.elapsed() < limit);
        let goes_on = || in_time() && control.goes_on(Progress::default());
        if !rehearsal::rehearse(&mut self.tables, &goes_on) {
            // It cannot be made once more just as far.
            self.saving.checkpoint.iter_mut().for_each(Checkpoint::stop);
        }
    }
}

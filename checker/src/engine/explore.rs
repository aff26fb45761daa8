//! The course of a search: level after level, with a look at the budgets now and then.

use super::crew::Crew;
use super::expand::Opened;
use super::layout::Packed;
use super::numbering::to_u32;
use super::rehearsal;
use super::search::{BATCH, BETWEEN_LOOKS, Pause, Search};
use super::store::Store;
use super::swift::Scratch;
use crate::settings::Progress;

impl Search<'_> {
    /// Explores until there is a reason to pause.
    pub(super) fn run<const W: usize>(&mut self, store: &mut Store<W>) -> Pause {
        let mut batch: Vec<Packed<W>> = Vec::with_capacity(2 * BATCH);
        let (mut opened, mut scratch, mut crew) =
            (Opened::default(), Scratch::default(), Crew::new(self.settings));
        let (mut first, mut together) = (self.next, false);
        loop {
            // Looks come at the same states however many threads there are, and find the same.
            let looks = self.next % BETWEEN_LOOKS == BETWEEN_LOOKS - 1;
            if self.next == self.level_end || batch.len() >= BATCH || looks || together {
                store.insert_all(&mut batch, first);
                if self.begins_level(store) {
                    return Pause::Complete;
                }
                if let Some(pause) = looks.then(|| self.look(store)).flatten() {
                    return pause;
                }
                together = match self.explore_together(store, &mut crew) {
                    Ok(some) => some,
                    Err(pause) => return pause,
                };
                if together && self.has_to_stop(store) {
                    return Pause::Stopped;
                }
                first = self.next;
                if together {
                    continue;
                }
            }
            match self.explore(store, (&mut opened, &mut scratch), &mut batch) {
                Some(pause) => {
                    store.insert_all(&mut batch, first);
                    return pause;
                }
                None => self.next += 1,
            }
        }
    }

    /// Goes on to the next level where one is at its end; `true` if there is none.
    fn begins_level<const W: usize>(&mut self, store: &Store<W>) -> bool {
        let found = to_u32(store.len());
        if self.next == found {
            self.peak_bytes = self.peak_bytes.max(store.bytes() + self.table_bytes() + self.crew_bytes);
            return true;
        }
        if self.next == self.level_end {
            self.depth += u64::from(self.level_end > 0);
            self.level_end = found;
        }
        false
    }

    /// Looks at the budgets, and at whether the search has turned out to be large.
    fn look<const W: usize>(&mut self, store: &Store<W>) -> Option<Pause> {
        if self.is_over_budget(store) {
            return Some(Pause::Stopped);
        }
        if self.has_rehearsed || store.len() < rehearsal::LARGE {
            return None;
        }
        self.has_rehearsed = true;
        let (settings, started, control) = (self.settings, self.started, self.control);
        let in_time = || settings.budgets.timeout.is_none_or(|limit| started.elapsed() < limit);
        rehearsal::rehearse(&mut self.tables, &|| in_time() && control.goes_on(Progress::default()));
        (self.tables.layout() != self.layout).then_some(Pause::Widen)
    }

    /// Whether time is up. Which states were found until then is for a later look to judge.
    fn has_to_stop<const W: usize>(&mut self, store: &Store<W>) -> bool {
        self.note_progress(store);
        self.is_out_of_time()
    }
}

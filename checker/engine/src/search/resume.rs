//! From a checkpoint back to a search that goes on.

use crate::packed::batch::Batch;
use crate::packed::numbering::to_u32;
use crate::packed::residual::Residual;
use crate::search::Search;
use crate::search::checkpoint::{Checkpoint, REHEARSAL, Reached, Saved};
use crate::settings::Note;
use crate::successors::expand::Opened;
use crate::verdict::Inconclusive;
use crate::visited::{StateId, Store};

/// So many states are tried to see whether what was read fits.
const TRIED: usize = 64;

/// Why a checkpoint cannot be used whose files are in order.
const OTHER: &str = "it was made by another version, or of another protocol";

/// Why a search does not go on from a checkpoint.
pub(crate) enum Unusable {
    /// What is there does not fit, for this reason.
    Unfit(String),
    /// Time was up, or the user ended it, before all was read: nothing is wrong with it.
    Unread,
}

impl From<String> for Unusable {
    fn from(why: String) -> Self {
        Self::Unfit(why)
    }
}

impl From<&str> for Unusable {
    fn from(why: &str) -> Self {
        Self::Unfit(why.to_owned())
    }
}

impl Search<'_> {
    /// Writes down how far the search has come, if that was asked for and it is time. All successors of the
    /// states explored are in the store.
    pub(crate) fn save_if_due<const W: usize>(&mut self, store: &Store<W>) {
        if self.saving.checkpoint.as_ref().is_some_and(Checkpoint::is_due) {
            self.save(store);
        }
    }

    /// Writes down how far the search has come, if that was asked for.
    pub(crate) fn save<const W: usize>(&mut self, store: &Store<W>) {
        // Where local computation was ended, states are missing that nobody would look for again.
        let is_whole = store.failed().is_none() && !self.tables.machine.patience().has_run_out();
        let Some(mut checkpoint) = self.saving.checkpoint.take().filter(|_| is_whole) else {
            return;
        };
        let reached = Reached {
            laid_out: self.laid_out.clone(),
            sizes: self.tables.sizes(),
            at: self.at,
            peak_bytes: self.usage.peak,
            has_rehearsed: self.has_rehearsed,
        };
        match checkpoint.save(
            reached,
            store,
            (&self.tables.residuals, &self.tables.location_classes, &self.saving.asked),
        ) {
            Ok(()) => self.saving.checkpoint = Some(checkpoint),
            Err(error) => self.clock.control.notes(Note::NoCheckpoint(&error.to_string())),
        }
    }

    /// Brings a search that has not begun to where it was when this was saved, and gives the states found.
    /// After an error neither is of use.
    pub(crate) fn restore<const W: usize>(&mut self, saved: Saved) -> Result<Store<W>, Unusable> {
        for residual in saved.residuals()? {
            self.tables.number_residual(&residual, Residual::clone);
        }
        let values = saved.values()?;
        if self.tables.sizes().location_classes.len() != saved.reached().sizes.location_classes.len() {
            return Err(OTHER.into());
        }
        for (location_class, value) in values {
            self.tables.location_classes.number(location_class, &value);
        }
        self.start::<1>();
        self.lay_out(saved.reached().laid_out.clone());
        let store = saved.states(self.room().as_ref())?;
        if self.is_out_of_time() {
            return Err(Unusable::Unread);
        }
        self.ask_again(&store, &saved.asked()?)?;
        let reached = saved.reached();
        if self.tables.sizes() != reached.sizes || self.has_rehearsed != reached.has_rehearsed {
            return Err(OTHER.into());
        }
        self.at.next = reached.at.next;
        self.try_some(&store)?;
        self.at = reached.at;
        self.usage.peak = reached.peak_bytes;
        self.saving.checkpoint = Some(saved.into_checkpoint());
        Ok(store)
    }

    /// Asks the model what it was asked before.
    fn ask_again<const W: usize>(&mut self, store: &Store<W>, asked: &[StateId]) -> Result<(), Unusable> {
        let (mut opened, mut batch) = (Opened::default(), Batch::default());
        for id in asked {
            if *id == REHEARSAL {
                self.rehearse();
                if self.is_out_of_time() {
                    return Err(Unusable::Unread);
                }
                continue;
            }
            if *id as usize >= store.len() {
                return Err(OTHER.into());
            }
            let words = store.get(*id);
            if !self.tables.sizes().hold(&self.layout, &words) {
                return Err(OTHER.into());
            }
            self.at.next = *id;
            batch.clear();
            if self.explore_by_tables(&words, &mut opened, &mut batch).is_some() {
                let is_over = matches!(
                    self.violations.inconclusive,
                    Some(Inconclusive::Time(..) | Inconclusive::Interrupted)
                );
                return Err(if is_over { Unusable::Unread } else { OTHER.into() });
            }
            self.saving.asked.push(*id);
        }
        Ok(())
    }

    /// Makes the successors of some states that have been explored: all of them must be in the store.
    fn try_some<const W: usize>(&mut self, store: &Store<W>) -> Result<(), Unusable> {
        let explored = self.at.next as usize;
        for id in (0..explored).step_by((explored / TRIED).max(1)) {
            let edges = self.edges(&store.get(to_u32(id)));
            if edges.iter().any(|edge| store.find(&edge.to).is_none()) {
                return Err(OTHER.into());
            }
        }
        Ok(())
    }
}

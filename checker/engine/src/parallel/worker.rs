//! What threads know of successors, and how they make them beside the search.
//!
//! Successors that a thread has just met are dropped. Each thread takes its states in order, so it has met them as successors of
//! an earlier state, and they are added unless what comes from that state is forgotten.

use crate::packed::batch::Batch;
use crate::packed::layout::{Layout, Packed};
use crate::parallel::block::Share;
use crate::search::BATCH;
use crate::successors::canonical::Symmetry;
use crate::successors::swift::{Scratch, Swift};
use crate::visited::StateId;
use crate::visited::filter::Recent;

/// What is known of successors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known<'k> {
    pub(crate) swift: &'k Swift,
    pub(crate) symmetry: &'k Symmetry,
    pub(crate) layout: &'k Layout,
}

/// What a thread keeps.
#[derive(Debug, Default)]
pub(crate) struct Hand<const W: usize> {
    pub(crate) recent: Recent<W>,
    /// Successors before those met lately are dropped. Other threads read what is in a share, and to write where they have read is slow:
    /// so only what is left goes there.
    batch: Batch<W>,
    scratch: Scratch,
}

impl<const W: usize> Hand<W> {
    /// Bytes in use.
    pub(crate) fn bytes(&self) -> usize {
        self.recent.bytes() + self.batch.bytes()
    }
}

impl Known<'_> {
    /// Adds to a share the successors of some states, from one up to another, as far as they are known, and leaves holes for
    /// the others. Ends early when it is told to, and returns the state that is next.
    #[inline]
    pub(crate) fn explore<const W: usize>(
        self,
        Hand { recent, batch, scratch }: &mut Hand<W>,
        share: &mut Share<W>,
        (mut next, end): (StateId, StateId),
        state: impl Fn(StateId) -> Packed<W>,
        mut ends: impl FnMut() -> bool,
    ) -> StateId {
        let mut is_over = false;
        while next < end && !is_over {
            let (from, parent) = (share.made.len(), next);
            let mut hole = None;
            batch.clear();
            while next < end && hole.is_none() && !is_over && batch.len() < BATCH {
                let before = batch.len();
                let made = self.swift.successors(&state(next), scratch, batch);
                if made.is_none() || !self.sort(batch, before) {
                    batch.truncate(before);
                    hole = Some(next);
                }
                next += 1;
                is_over = ends();
            }
            share.transitions += batch.len() as u64;
            recent.drop_met(batch);
            share.made.extend(batch.states());
            share.end_run(from, parent);
            hole.into_iter().for_each(|state| share.leave_hole(state));
        }
        next
    }

    /// Sorts the agents of the states in a batch from some place on; `false` if memory tells them apart.
    #[inline]
    fn sort<const W: usize>(self, batch: &mut Batch<W>, from: usize) -> bool {
        let made = &mut batch.states_mut()[from..];
        if self.symmetry.is_trivial() {
            return true;
        }
        if made.iter().any(|words| self.layout.remembers(words)) {
            return false;
        }
        made.iter_mut().for_each(|words| self.symmetry.sort_slots(self.layout, words));
        true
    }
}

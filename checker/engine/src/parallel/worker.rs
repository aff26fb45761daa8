//! What threads know of successors, and how they make them beside the search.
//!
//! Successors that a thread has just met are dropped. Each thread takes its states in order, so it has met
//! them as successors of an earlier state, and they are added unless what comes from that state is forgotten.

use crate::packed::batch::{BATCH, Batch};
use crate::packed::layout::{Layout, Packed};
use crate::parallel::block::Output;
use crate::successors::canonical::Symmetry;
use crate::successors::swift::{Scratch, Swift};
use crate::visited::StateId;
use crate::visited::filter::DuplicateFilter;

/// What is known of successors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expander<'k> {
    pub(crate) swift: &'k Swift,
    pub(crate) symmetry: &'k Symmetry,
    pub(crate) layout: &'k Layout,
}

/// What a worker of the pool keeps from block to block.
#[derive(Debug, Default)]
pub(crate) struct Worker<const W: usize> {
    pub(crate) filter: DuplicateFilter<W>,
    /// Successors before those met lately are dropped. Other threads read what is in an output, and to write
    /// where they have read is slow: so only what is left goes there.
    batch: Batch<W>,
    scratch: Scratch,
}

impl<const W: usize> Worker<W> {
    /// Bytes in use.
    pub(crate) fn bytes(&self) -> usize {
        self.filter.bytes() + self.batch.bytes()
    }
}

impl Expander<'_> {
    /// Adds to an output the successors of some states, from one up to another, as far as they are known, and
    /// defers the others. Ends early when it is told to, and returns the state that is next.
    #[inline]
    pub(crate) fn explore<const W: usize>(
        self,
        Worker { filter, batch, scratch }: &mut Worker<W>,
        output: &mut Output<W>,
        (mut next, end): (StateId, StateId),
        state: impl Fn(StateId) -> Packed<W>,
        mut ends: impl FnMut() -> bool,
    ) -> StateId {
        let mut is_over = false;
        while next < end && !is_over {
            let (from, parent) = (output.made.len(), next);
            let mut deferred_state = None;
            batch.clear();
            while next < end && deferred_state.is_none() && !is_over && batch.len() < BATCH {
                let before = batch.len();
                let made = self.swift.successors(&state(next), scratch, batch);
                if made.is_none() || !self.canonicalise(batch, before) {
                    batch.truncate(before);
                    deferred_state = Some(next);
                }
                next += 1;
                is_over = ends();
            }
            output.transitions += batch.len() as u64;
            filter.drop_met(batch);
            output.made.extend(batch.states());
            output.end_run(from, parent);
            deferred_state.into_iter().for_each(|state| output.defer(state));
        }
        next
    }

    /// Brings the states in a batch, from some place on, into canonical form; `false` if memory tells them
    /// apart.
    #[inline]
    fn canonicalise<const W: usize>(self, batch: &mut Batch<W>, from: usize) -> bool {
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

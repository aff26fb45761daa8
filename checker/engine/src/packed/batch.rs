//! Packed states that have been made, in order.

use super::layout::Packed;
use std::cell::Cell;

/// Successors made before they are inserted.
pub(crate) const BATCH: usize = 1024;

/// States made, in order.
#[derive(Debug, Default)]
pub(crate) struct Batch<const W: usize> {
    /// Those behind the first `len` mean nothing.
    states: Vec<Packed<W>>,
    len: usize,
}

impl<const W: usize> Batch<W> {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = len.min(self.len);
    }

    /// Makes room for so many states more.
    #[inline(always)]
    pub(crate) fn reserve(&mut self, more: usize) {
        if self.states.len() < self.len + more {
            self.states.resize((self.len + more).next_power_of_two(), [0; W]);
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, words: Packed<W>) {
        self.reserve(1);
        self.states[self.len] = words;
        self.len += 1;
    }

    /// Room for so many states, which are to be written and then added.
    #[inline(always)]
    pub(crate) fn room(&mut self, states: usize) -> &mut [Packed<W>] {
        self.reserve(states);
        &mut self.states[self.len..self.len + states]
    }

    /// Adds states that have been written.
    #[inline(always)]
    pub(crate) fn add(&mut self, states: usize) {
        self.len += states;
    }

    /// Appends states.
    #[inline]
    pub(crate) fn extend(&mut self, states: &[Packed<W>]) {
        self.room(states.len()).copy_from_slice(states);
        self.add(states.len());
    }

    /// Keeps the states for which `keep` holds. It is asked in order, of each once.
    #[inline(always)]
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&Packed<W>) -> bool) {
        let states = Cell::from_mut(&mut self.states[..self.len]).as_slice_of_cells();
        let mut kept = 0;
        for words in states {
            let words = words.get();
            // Written in any case: whether a state is kept is as good as random, and not to be waited for.
            states[kept].set(words);
            kept += usize::from(keep(&words));
        }
        self.len = kept;
    }

    pub(crate) fn states(&self) -> &[Packed<W>] {
        &self.states[..self.len]
    }

    pub(crate) fn states_mut(&mut self) -> &mut [Packed<W>] {
        &mut self.states[..self.len]
    }

    /// Bytes in use.
    pub(crate) fn bytes(&self) -> usize {
        self.states.capacity() * size_of::<Packed<W>>()
    }
}

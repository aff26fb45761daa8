//! Several threads explore a level, and the search goes as if one had done it.
//!
//! A stretch of the states to explore is cut into chunks. Threads make the successors of the states of each as far as
//! [`Swift`] can: for that, nothing is written that another thread reads. Then one thread goes through the chunks in order
//! and completes those in which a state was met that takes more. So the model is asked the same questions in the same
//! order as by one thread alone, and what is found by the way is found in that order; that a chunk behind has been explored
//! before makes no difference, since what is known of a step never changes. Where the search has to pause, what comes behind
//! that state is forgotten. Successors are then inserted in the order of the chunks, see [`Store::insert_with`].
//!
//! Budgets are looked at where one thread alone would: a stretch ends before a state at which a look might find that one is
//! used up, and one thread goes on from there.
//!
//! Successors that a thread has just met are dropped. Each thread takes chunks in order, so it has met them as
//! successors of an earlier state of this stretch, and that one is not forgotten unless these are.

use super::expand::Opened;
use super::layout::{Layout, Packed};
use super::numbering::to_u32;
use super::search::{BATCH, BETWEEN_LOOKS, MOST_STATES, Pause, Search};
use super::store::{Recent, StateId, Store};
use super::swift::{Scratch, Swift};
use super::symmetry::Symmetry;
use super::tables::Tables;
use crate::settings::Settings;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Levels of fewer states than this are explored by one thread.
const FEW: StateId = 1 << 13;
/// States explored together at most.
const MANY: StateId = 1 << 17;
/// States of a chunk at most.
const CHUNK: StateId = 256;

/// How states are explored by several threads, and what they need for each stretch anew.
#[derive(Debug)]
pub(super) struct Crew<const W: usize> {
    threads: usize,
    /// Fewer states than this are left to one thread.
    few: StateId,
    /// Even before the search has turned out to be large.
    from_the_start: bool,
    /// No stretch begins before this state.
    not_before: StateId,
    /// States for which to leave it at one thread, should the next stretch take the model too often.
    pause: StateId,
    /// For each thread.
    recent: Vec<Recent<W>>,
    /// For the successors of each chunk.
    chunks: Vec<Vec<Packed<W>>>,
    /// For all of them.
    made: Vec<Packed<W>>,
}

impl<const W: usize> Crew<W> {
    pub(super) fn new(settings: &Settings) -> Self {
        let few = settings.many_states.unwrap_or(FEW).max(1);
        Self {
            // Who found a state has to be known to the state, and not to the chunk, where states are forgotten.
            threads: if settings.compact { 1 } else { settings.threads() },
            few,
            from_the_start: settings.many_states.is_some(),
            not_before: 1,
            pause: few,
            recent: Vec::new(),
            chunks: Vec::new(),
            made: Vec::new(),
        }
    }

    /// Bytes in use.
    fn bytes(&self) -> usize {
        let recent: usize = self.recent.iter().map(Recent::bytes).sum();
        let made: usize = self.chunks.iter().chain([&self.made]).map(Vec::capacity).sum();
        recent + made * size_of::<Packed<W>>()
    }

    /// How far a stretch goes, if there is one worth it.
    fn stretch(&self, search: &Search<'_>, states: usize) -> Option<StateId> {
        let first = search.next;
        if self.threads < 2 || first < self.not_before || !search.has_rehearsed && !self.from_the_start {
            return None;
        }
        // What is added should be little against what there is.
        let mut end = search.level_end.min(first + MANY.min(to_u32(states) / 8));
        if !search.has_rehearsed {
            // The next look may find that the search is large.
            end = end.min((first + 1) | (BETWEEN_LOOKS - 1));
        }
        (end.saturating_sub(first) >= self.few).then_some(end)
    }

    /// Adds the successors in order.
    fn insert(&mut self, store: &mut Store<W>, chunks: &mut [Chunk<W>]) {
        let mut from = Vec::with_capacity(chunks.len());
        self.made.clear();
        for chunk in &*chunks {
            from.push((self.made.len(), chunk.first));
            self.made.extend_from_slice(&chunk.made);
        }
        if self.made.len() < self.few as usize || !store.insert_with(self.threads, &self.made, &from) {
            for chunk in chunks {
                store.insert_all(&mut chunk.made, chunk.first);
            }
        }
    }
}

/// A chunk of states and their successors.
struct Chunk<const W: usize> {
    first: StateId,
    /// The first that is not explored yet.
    next: StateId,
    end: StateId,
    transitions: u64,
    made: Vec<Packed<W>>,
}

impl Search<'_> {
    /// Explores some of the states up to the end of the level, if they are many; `false` if it was none. An error is a
    /// reason to pause.
    pub(super) fn explore_together<const W: usize>(
        &mut self,
        store: &mut Store<W>,
        crew: &mut Crew<W>,
    ) -> Result<bool, Pause> {
        let first = self.next;
        let Some(end) = crew.stretch(self, store.len()) else { return Ok(false) };
        let size = ((end - first) / 32).clamp(1, CHUNK);
        let mut buffers = std::mem::take(&mut crew.chunks).into_iter();
        let chunk = |at| Chunk::new(at, end.min(at + size), buffers.next().unwrap_or_default());
        let mut chunks: Vec<Chunk<W>> = (first..end).step_by(size as usize).map(chunk).collect();
        crew.recent.resize_with(crew.threads, Recent::default);
        let Search { tables, swift, symmetry, layout, .. } = &*self;
        Known { tables, swift, symmetry, layout, store }.explore_all(&mut crew.recent, &mut chunks);
        let incomplete = chunks.iter().filter(|chunk| chunk.next < chunk.end).count();
        let (kept, pause) = self.complete_chunks(store, &mut chunks);
        if incomplete * 4 > chunks.len() {
            crew.not_before = self.next + crew.pause;
            crew.pause = crew.pause.saturating_mul(2).min(1 << 24);
        } else {
            crew.pause = crew.few;
        }
        if self.next < end {
            // One thread has to see where a budget ends.
            crew.not_before = crew.not_before.max(self.next + crew.few);
        }
        crew.insert(store, &mut chunks[..kept]);
        crew.chunks = chunks.into_iter().map(|chunk| chunk.made).collect();
        self.crew_bytes = self.crew_bytes.max(crew.bytes() as u64);
        match pause {
            Some(pause) => Err(pause),
            None => Ok(self.next > first),
        }
    }

    /// Explores the rest of each chunk, in order, up to where the search has to pause; says how many chunks are to be kept.
    fn complete_chunks<const W: usize>(
        &mut self,
        store: &Store<W>,
        chunks: &mut [Chunk<W>],
    ) -> (usize, Option<Pause>) {
        let (mut opened, mut scratch) = (Opened::default(), Scratch::default());
        let mut made = 0;
        for (number, chunk) in chunks.iter_mut().enumerate() {
            if self.may_be_over_budget(store, made + chunk.made.len()) {
                return (number, None);
            }
            self.transitions += chunk.transitions;
            self.next = chunk.next;
            while self.next < chunk.end {
                if self.may_be_over_budget(store, made + chunk.made.len()) {
                    return (number + 1, None);
                }
                let pause = self.explore(store, (&mut opened, &mut scratch), &mut chunk.made);
                if pause.is_some() {
                    return (number + 1, pause);
                }
                self.next += 1;
            }
            made += chunk.made.len();
        }
        (chunks.len(), None)
    }

    /// Whether a budget might be used up once so many states are added: one thread alone has to see where.
    fn may_be_over_budget<const W: usize>(&self, store: &Store<W>, more: usize) -> bool {
        let budgets = self.settings.budgets;
        let soon = store.most_bytes_until(more, BATCH * BETWEEN_LOOKS as usize) + self.table_bytes();
        let most = budgets.max_states.unwrap_or(u64::MAX).min(MOST_STATES);
        // With more states than there are now, what is said of memory does not hold.
        more > store.len()
            || (store.len() + more) as u64 > most
            || budgets.max_memory.is_some_and(|most| soon > most)
    }
}

/// What is known of successors, and the states found.
struct Known<'k, const W: usize> {
    tables: &'k Tables,
    swift: &'k Swift,
    symmetry: &'k Symmetry,
    layout: &'k Layout,
    store: &'k Store<W>,
}

impl<const W: usize> Known<'_, W> {
    /// Makes the successors of states, in each chunk as far as they are known, with a thread for each that remembers recent
    /// states.
    fn explore_all(&self, recent: &mut [Recent<W>], chunks: &mut [Chunk<W>]) {
        let work = Mutex::new(chunks.iter_mut());
        let take = || work.lock().unwrap_or_else(PoisonError::into_inner).next();
        let explore = |recent: &mut Recent<W>| {
            let mut scratch = Scratch::default();
            recent.forget(self.store.get(0));
            while let Some(chunk) = take() {
                self.explore(recent, &mut scratch, chunk);
            }
        };
        let explore = &explore;
        thread::scope(|scope| {
            let (mine, others) = recent.split_at_mut(1);
            for recent in others {
                scope.spawn(move || explore(recent));
            }
            mine.iter_mut().for_each(explore);
        });
    }

    fn explore(&self, recent: &mut Recent<W>, scratch: &mut Scratch, chunk: &mut Chunk<W>) {
        let made = &mut chunk.made;
        made.reserve(4 * CHUNK as usize);
        while chunk.next < chunk.end {
            let before = made.len();
            let words = self.store.get(chunk.next);
            if !self.swift.successors((self.tables, self.layout), &words, scratch, made) {
                break;
            }
            chunk.transitions += (made.len() - before) as u64;
            if !self.symmetry.is_trivial() {
                made[before..].iter_mut().for_each(|words| self.symmetry.sort_slots(self.layout, words));
            }
            recent.keep_new(made, before);
            chunk.next += 1;
        }
    }
}

impl<const W: usize> Chunk<W> {
    fn new(first: StateId, end: StateId, mut made: Vec<Packed<W>>) -> Self {
        made.clear();
        Self { first, next: first, end, transitions: 0, made }
    }
}

//! The visited set: exact states in the order of their discovery, found again by open addressing.

mod chunks;
mod compaction;
pub(crate) mod disk;
pub(crate) mod filter;
pub(crate) mod index;
mod pages;
mod relocation;
mod spill;

use crate::packed::batch::Batch;
use crate::packed::layout::{Packed, hash};
use crate::packed::numbering::to_u32;
use crate::visited::filter::DuplicateFilter;
use crate::visited::index::{Free, HashIndex};
pub(crate) use crate::visited::index::{Growth, StateId};
use barcheck_prefetch::prefetch;
use chunks::Chunks;
pub(crate) use chunks::SpareStates;
use compaction::Compact;
pub(crate) use compaction::odds_of_omission;
pub(crate) use spill::Room;
use spill::Spill;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

/// So many states are looked up together.
const TOGETHER: usize = 64;

/// The index grows with the help of other threads once it has so many states: less is done before they are
/// there.
const WITH_HELP: usize = 1 << 19;

/// Of so many states in a row, the parent of the first is kept.
pub(crate) const FAMILY: usize = 64;

/// The states found so far. Indices follow the order of discovery, so that the breadth-first queue is
/// the store itself.
#[derive(Debug)]
pub(crate) struct Store<const W: usize> {
    /// The states that are in memory, from `base` on.
    states: Chunks<W>,
    /// So many states are on disk.
    base: usize,
    spill: Option<Box<Spill<W>>>,
    /// Only hashes are kept, and the states that have yet to be explored.
    compact: Option<Box<Compact<W>>>,
    len: usize,
    failed: Option<String>,
    misread: Option<String>,
    /// A state was asked for that is not there.
    forgotten: AtomicBool,
    /// Of the first state of each family, one from which on its parent is to be looked for. States are
    /// explored in order, so that the parents of consecutive states never decrease.
    parents: Vec<StateId>,
    index: HashIndex,
    /// How the index grows.
    pub(crate) growth: Growth,
    /// Threads that may work on the index when it grows, the calling one included.
    pub(crate) threads: usize,
    /// Drops most states that are there already.
    filter: DuplicateFilter<W>,
}

impl<const W: usize> Store<W> {
    pub(crate) fn new() -> Self {
        Self {
            states: Chunks::default(),
            base: 0,
            spill: None,
            compact: None,
            len: 0,
            failed: None,
            misread: None,
            forgotten: AtomicBool::new(false),
            parents: Vec::new(),
            index: HashIndex::new(),
            growth: Growth::default(),
            threads: 1,
            filter: DuplicateFilter::default(),
        }
    }

    /// A store that keeps of states that have been explored nothing but hashes, except of those that are
    /// wanted.
    pub(crate) fn compact(wanted: Vec<StateId>) -> Self {
        Self { compact: Some(Box::new(Compact::new(wanted))), ..Self::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Whether states are forgotten.
    pub(crate) fn is_compact(&self) -> bool {
        self.compact.is_some()
    }

    /// Forgets the states before one, if this is a store that does.
    pub(crate) fn forget_before(&mut self, id: StateId) {
        if self.compact.is_none() {
            return;
        }
        // The state to explore has not been forgotten.
        let full = (id as usize - self.base) / Chunks::<W>::CHUNK;
        self.remove_first(full.min(self.states.removable()));
    }

    /// Removes states from memory, in so many chunks.
    fn remove_first(&mut self, chunks: usize) {
        self.base += chunks * Chunks::<W>::CHUNK;
        self.states.remove_first(chunks);
    }

    /// A state.
    #[inline]
    pub(crate) fn get(&self, id: StateId) -> Packed<W> {
        match (id as usize).checked_sub(self.base) {
            Some(at) => *self.states.get(at),
            None => self.get_spilled(id),
        }
    }

    /// Appends states, from one up to another.
    pub(crate) fn read(&self, ids: Range<StateId>, into: &mut Vec<Packed<W>>) {
        match (ids.start as usize).checked_sub(self.base) {
            Some(from) => self.states.read(from..ids.end as usize - self.base, into),
            None => into.extend(ids.map(|id| self.get(id))),
        }
    }

    #[cold]
    fn get_spilled(&self, id: StateId) -> Packed<W> {
        match (&self.spill, &self.compact) {
            (Some(spill), _) => spill.get(id),
            (None, Some(compact)) => compact.kept(id).unwrap_or_else(|| {
                self.forgotten.store(true, Ordering::Relaxed);
                [0; W]
            }),
            (None, None) => [0; W],
        }
    }

    /// The state with this number in the index.
    #[inline(always)]
    fn listed(&self, at: StateId) -> &Packed<W> {
        self.states.get(at as usize)
    }

    /// States among which this one's parent is the first that leads to it. Empty for the initial state.
    pub(crate) fn possible_parents(&self, id: StateId) -> Range<StateId> {
        let Some(first) = self.parents.get(id as usize / FAMILY).filter(|_| id > 0) else { return 0..0 };
        match &self.compact {
            None => *first..id,
            Some(compact) => {
                let parent = compact.parent((id - id % to_u32(FAMILY), *first), id);
                parent..parent + 1
            }
        }
    }

    /// A state, the one it was found from, and so on to the initial one, if this is a store that forgets.
    pub(crate) fn line(&self, id: StateId) -> Vec<StateId> {
        let parent = |id: &StateId| self.possible_parents(*id).next();
        std::iter::successors(Some(id), parent).collect()
    }

    /// Of the first state of each family, one from which on its parent is to be looked for.
    pub(crate) fn first_parents(&self) -> &[StateId] {
        &self.parents
    }

    /// Every state, in order, each with its parent or an earlier state: so [`Store::insert`] will have them.
    pub(crate) fn states(&self) -> impl Iterator<Item = (Packed<W>, StateId)> {
        // States that cannot be read are all alike: there is no use in going on.
        let is_read =
            |id: &usize| *id >= self.base || self.spill.as_ref().is_none_or(|spill| !spill.has_failed());
        let states =
            (0..self.len).map(|id| (id, self.get(to_u32(id)))).take_while(move |(id, _)| is_read(id));
        states.map(|(id, words)| (words, self.parents[id / FAMILY]))
    }

    /// States on disk.
    pub(crate) fn states_spilled(&self) -> usize {
        self.base
    }

    /// States in memory.
    fn here(&self) -> usize {
        self.len - self.base
    }

    /// Bytes of memory in use.
    pub(crate) fn bytes(&self) -> u64 {
        self.states.bytes()
            + self.bytes_beside()
            + self.spill.as_ref().map_or(0, |spill| spill.bytes())
            + self.compact.as_ref().map_or(0, |compact| compact.bytes())
            + self.index.bytes()
    }

    /// Bytes for what comes with the states, wherever they are.
    fn bytes_beside(&self) -> u64 {
        (self.filter.bytes() + self.parents.capacity() * size_of::<StateId>()) as u64
    }

    /// Bytes in use, and those needed for a moment, once `more` further states are added.
    pub(crate) fn bytes_with(&self, more: usize) -> u64 {
        let bytes = self.bytes() + ((more + Chunks::<W>::CHUNK) * size_of::<Packed<W>>()) as u64;
        if let Some(compact) = &self.compact {
            return bytes + compact.growth(more);
        }
        if self.index.has_room(self.here() + more) {
            return bytes;
        }
        let index = HashIndex::bytes_to_make(self.growth, self.here() + more);
        bytes + index.saturating_sub(self.index.bytes())
    }

    /// Why states could not be moved to disk, or read from there, if so: then not every state is found.
    pub(crate) fn failed(&self) -> Option<String> {
        self.failed.clone().or_else(|| self.misread())
    }

    /// Why states that were read need not be those that were found, if so: then nothing that they show
    /// counts.
    pub(crate) fn misread(&self) -> Option<String> {
        let forgotten =
            self.forgotten.load(Ordering::Relaxed).then(|| "a state of a path has been forgotten".to_owned());
        self.misread.clone().or(forgotten).or_else(|| self.spill.as_ref()?.failed())
    }

    /// The same states as in another store, which may have been read wrongly there.
    pub(crate) fn misread_like(self, misread: Option<String>) -> Self {
        Self { misread: misread.or(self.misread), ..self }
    }

    /// The place of a state, or the free place where it belongs.
    #[inline(always)]
    fn look_up(&self, words: &Packed<W>, hash: u64) -> Result<StateId, Free> {
        self.index.look_up(hash, |at| self.listed(at) == words)
    }

    /// The index of a state if it has been found.
    pub(crate) fn find(&self, words: &Packed<W>) -> Option<StateId> {
        let hash = hash(words);
        match self.look_up(words, hash) {
            Ok(at) => Some(at + to_u32(self.base)),
            Err(_) => self.find_spilled(words, hash),
        }
    }

    #[inline]
    fn find_spilled(&self, words: &Packed<W>, hash: u64) -> Option<StateId> {
        self.spill.as_ref().and_then(|spill| spill.find(words, hash))
    }

    /// Adds a state unless it has been found before; `true` if it is new. Parents must not decrease.
    pub(crate) fn insert(&mut self, words: Packed<W>, parent: StateId) -> bool {
        let before = self.len;
        self.insert_all(&[words], parent);
        self.len > before
    }

    /// So many states will be explored next: the filter is made to fit.
    pub(crate) fn expect(&mut self, states: StateId) {
        let mut filter = std::mem::take(&mut self.filter);
        filter.fit(states as usize, || self.get(0));
        self.filter = filter;
    }

    /// As [`Store::insert_all`], and empties the batch.
    pub(crate) fn insert_batch(&mut self, batch: &mut Batch<W>, from: StateId) {
        self.filter.drop_met(batch);
        self.insert_all(batch.states(), from);
        batch.clear();
    }

    /// Adds the states that have not been found before. No parent of theirs comes before `from`, which must
    /// not decrease.
    pub(crate) fn insert_all(&mut self, made: &[Packed<W>], from: StateId) {
        if let Some(mut compact) = self.compact.take() {
            self.insert_compact(&mut compact, made, from);
            self.compact = Some(compact);
            return;
        }
        // What will be looked at is fetched before any of it is needed, so that the misses of the cache
        // overlap: while some states are entered, where the next ones may be in the index.
        let mut later = made.chunks(TOGETHER);
        let (mut hashes, mut next_hashes) = ([0; TOGETHER], [0; TOGETHER]);
        let mut next = later.next().unwrap_or_default();
        self.prepare(next, &mut next_hashes);
        while !next.is_empty() {
            let chunk = std::mem::replace(&mut next, later.next().unwrap_or_default());
            std::mem::swap(&mut hashes, &mut next_hashes);
            self.prepare(next, &mut next_hashes);
            self.make_room(chunk.len());
            let hashes = &hashes[..chunk.len()];
            for hash in hashes {
                if let Some(id) = self.index.guess(*hash) {
                    prefetch(&self.listed(id)[0]);
                }
            }
            let mut done = self.enter(chunk, hashes, from);
            while done < chunk.len() {
                self.grow();
                done += self.enter(&chunk[done..], &hashes[done..], from);
            }
        }
    }

    /// Hashes some states, and has fetched where they may be in the index.
    #[inline(always)]
    fn prepare(&self, some: &[Packed<W>], hashes: &mut [u64; TOGETHER]) {
        for (code, words) in hashes.iter_mut().zip(some) {
            *code = hash(words);
            self.index.prefetch(*code);
        }
    }

    /// Adds those of some states that have not been found before, as far as there are places in the index.
    /// Returns how many have been looked up.
    fn enter(&mut self, some: &[Packed<W>], hashes: &[u64], from: StateId) -> usize {
        // Kept at hand: nothing that is written here can change where the index and the states are.
        let (states, spill, here) = (&self.states, self.spill.as_deref(), self.here());
        let mut index = self.index.whole();
        let (mut new, mut count) = ([[0; W]; TOGETHER], 0);
        let mut done = some.len();
        for (at, (words, hash)) in some.iter().zip(hashes).enumerate() {
            let is_it = |id: StateId| match (id as usize).checked_sub(here) {
                None => states.get(id as usize) == words,
                Some(at) => new[at] == *words,
            };
            match index.look_up(*hash, is_it) {
                Ok(_) => {}
                Err(Free::Nowhere) => {
                    done = at;
                    break;
                }
                Err(Free::At(_)) if spill.is_some_and(|spill| spill.find(words, *hash).is_some()) => {}
                Err(Free::At(place)) => {
                    #[expect(
                        clippy::cast_possible_truncation,
                        reason = "the search ends before indices run out"
                    )]
                    index.put(place, (here + count) as StateId, *hash);
                    new[count] = *words;
                    count += 1;
                }
            }
        }
        self.append(&new[..count], from);
        done
    }

    /// Appends states, with their parent.
    fn append(&mut self, states: &[Packed<W>], parent: StateId) {
        self.states.extend(states);
        self.len += states.len();
        self.parents.resize(self.len.div_ceil(FAMILY), parent);
    }

    /// As [`Store::insert_all`], where only hashes are kept. The states were found from `parent`.
    fn insert_compact(&mut self, compact: &mut Compact<W>, made: &[Packed<W>], parent: StateId) {
        made.iter().for_each(|words| compact.prefetch(words));
        for words in made {
            if compact.meet(words) {
                compact.push(words, parent);
                self.push(*words, parent);
            }
        }
    }

    fn push(&mut self, words: Packed<W>, parent: StateId) {
        self.append(&[words], parent);
    }

    /// Sees to it that so many states can be added without growing.
    fn make_room(&mut self, more: usize) {
        while !self.index.has_room(self.here() + more) {
            self.grow();
        }
    }

    /// Whether memory for more states should be prepared: most of the time that states take goes into pages
    /// that are touched for the first time.
    pub(crate) fn wants_spare(&self) -> bool {
        self.states.wants_spare()
    }

    /// Memory for more states has been prepared.
    pub(crate) fn keep_spare(&mut self, spare: SpareStates<W>) {
        self.states.keep_spare(spare);
    }

    fn grow(&mut self) {
        let threads = if self.here() >= WITH_HELP { self.threads } else { 1 };
        let states = &self.states;
        self.index.grow(threads, self.growth, self.here(), || states.iter().map(hash));
    }

    /// States that differ from one another, each with its parent or, as [`Store::states`] gives it, an
    /// earlier state.
    pub(crate) fn filled(states: impl Iterator<Item = (Packed<W>, StateId)>, room: Option<&Room>) -> Self {
        let mut store = Self::new();
        for (words, parent) in states {
            store.push(words, parent);
            if store.len.is_multiple_of(Chunks::<W>::CHUNK) {
                room.iter().for_each(|room| store.keep_within(room, Chunks::<W>::CHUNK));
            }
        }
        // None of them had to be looked for.
        store.index = HashIndex::of(store.here(), || store.states.iter().map(hash));
        store
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_found_once_and_again_whatever_the_number() {
        let mut store = Store::<2>::new();
        for n in 0..5000_u64 {
            let words = [n / 7, n % 7];
            assert!(store.insert(words, 0));
            assert!(!store.insert(words, 0));
        }
        assert_eq!(store.len(), 5000);
        for n in 0..5000_u64 {
            assert_eq!(store.find(&[n / 7, n % 7]), Some(n as u32));
        }
        assert_eq!(store.find(&[9999, 0]), None);
    }

    #[test]
    fn repacking_keeps_order_and_parents() {
        let mut store = Store::<1>::new();
        for n in 0..2000_u64 {
            store.insert([n], n as u32 / 2);
        }
        let wide = Store::filled(store.states().map(|(w, parent)| ([0, w[0], 1], parent)), None);
        assert_eq!(wide.len(), 2000);
        assert_eq!(wide.get(77), [0, 77, 1]);
        for n in 1..2000 {
            assert!(wide.possible_parents(n).contains(&(n / 2)));
            assert!(n - wide.possible_parents(n).start <= n / 2 + FAMILY as u32);
        }
        assert_eq!(wide.possible_parents(0).count(), 0);
    }
}

//! The visited set: exact states in the order of their discovery, found again by open addressing.

mod threads;

use super::layout::Packed;
pub(super) use super::table::StateId;
use super::table::{Free, Table};
use std::ops::Range;

/// So many states are looked up together.
const TOGETHER: usize = 64;

/// So many states are remembered as met lately: few enough for the second level of the caches.
const RECENT: usize = 1 << 16;

/// Of so many states in a row, the parent of the first is kept.
const FAMILY: usize = 64;

/// States are kept in pieces of this many: growing moves none of them, and leaves little unused.
const PIECE: usize = 1 << 16;

/// States met lately, by bits of their hash. Most successors have been met by way of another interleaving just before:
/// they are dropped here, without a look at the table, which is far larger than the caches.
#[derive(Debug, Default)]
pub(super) struct Recent<const W: usize>(Vec<Packed<W>>);

impl<const W: usize> Recent<W> {
    /// From now on only one state is known to have been met.
    pub(super) fn forget(&mut self, met: Packed<W>) {
        self.0.clear();
        self.0.resize(RECENT, met);
    }

    /// Drops states that have been met lately, from some place on.
    #[inline]
    pub(super) fn keep_new(&mut self, made: &mut Vec<Packed<W>>, from: usize) {
        if self.0.is_empty() {
            return;
        }
        let mut kept = from;
        for at in from..made.len() {
            let words = made[at];
            #[expect(clippy::cast_possible_truncation, reason = "the low bits are wanted")]
            let met = &mut self.0[hash(&words) as usize & (RECENT - 1)];
            // Written in any case: whether a state is kept is as good as random, and not to be waited for.
            made[kept] = words;
            kept += usize::from(*met != words);
            *met = words;
        }
        made.truncate(kept);
    }

    /// Bytes in use.
    pub(super) fn bytes(&self) -> usize {
        self.0.len() * size_of::<Packed<W>>()
    }
}

/// The states found so far. Indices follow the order of discovery, so that the breadth-first queue is
/// the store itself.
#[derive(Debug)]
pub(super) struct Store<const W: usize> {
    pieces: Vec<Vec<Packed<W>>>,
    len: usize,
    /// Of the first state of each family, one from which on its parent is to be looked for. States are explored in order,
    /// so that the parents of consecutive states never decrease.
    parents: Vec<StateId>,
    table: Table,
    recent: Recent<W>,
}

/// A hash of the words: of each product both halves are used, so that high and low bits are good.
#[inline]
pub(super) fn hash<const W: usize>(words: &Packed<W>) -> u64 {
    let mut h = 0x243f_6a88_85a3_08d3_u64;
    for word in words {
        let product = u128::from(h.rotate_left(23) ^ word) * 0x9e37_79b9_7f4a_7c15_u128;
        #[expect(clippy::cast_possible_truncation, reason = "both halves are used")]
        let folded = product as u64 ^ (product >> 64) as u64;
        h = folded;
    }
    h
}

impl<const W: usize> Store<W> {
    pub(super) fn new() -> Self {
        Self {
            pieces: vec![Vec::new()],
            len: 0,
            parents: Vec::new(),
            table: Table::new(),
            recent: Recent(Vec::new()),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(super) fn get(&self, id: StateId) -> &Packed<W> {
        &self.pieces[id as usize / PIECE][id as usize % PIECE]
    }

    /// States among which this one's parent is the first that leads to it. Empty for the initial state.
    pub(super) fn possible_parents(&self, id: StateId) -> Range<StateId> {
        if id == 0 { 0..0 } else { self.parents[id as usize / FAMILY]..id }
    }

    /// Every state, in order, each with its parent or an earlier state: so [`Store::insert`] will have them.
    pub(super) fn states(&self) -> impl Iterator<Item = (&Packed<W>, StateId)> {
        let states = self.pieces.iter().flatten();
        states.enumerate().map(|(id, words)| (words, self.parents[id / FAMILY]))
    }

    /// Bytes in use.
    pub(super) fn bytes(&self) -> u64 {
        let last = self.pieces.last().map_or(0, Vec::capacity);
        let states = ((self.pieces.len() - 1) * PIECE + last) * size_of::<Packed<W>>();
        (states + self.recent.bytes() + self.parents.capacity() * size_of::<StateId>()) as u64
            + self.table.bytes()
    }

    /// Bytes in use, and those needed for a moment, once `more` further states are added.
    pub(super) fn bytes_with(&self, more: usize) -> u64 {
        let bytes = self.bytes() + ((more + PIECE) * size_of::<Packed<W>>()) as u64;
        bytes + self.growth(self.len + more)
    }

    /// No less than what `bytes_with(ahead)` says at any time until `more` further states are added, if these are no
    /// more than there are.
    pub(super) fn most_bytes_until(&self, more: usize, ahead: usize) -> u64 {
        // The parents may move once, to a place of twice the size.
        self.bytes_with(more + ahead + PIECE) + (self.parents.capacity() * size_of::<StateId>()) as u64
    }

    /// Bytes by which the table has to grow to take so many states.
    fn growth(&self, states: usize) -> u64 {
        let mut doubled = 0;
        while !self.table.has_room(states >> doubled) {
            doubled += 1;
        }
        (self.table.bytes() << doubled) - self.table.bytes()
    }

    /// The place of a state, or the free place where it belongs.
    #[inline(always)]
    fn look_up(&self, words: &Packed<W>, hash: u64) -> Result<StateId, Free> {
        self.table.look_up(hash, |id| self.get(id) == words)
    }

    /// The index of a state if it has been found.
    pub(super) fn find(&self, words: &Packed<W>) -> Option<StateId> {
        self.look_up(words, hash(words)).ok()
    }

    /// Adds a state unless it has been found before; `true` if it is new. Parents must not decrease.
    pub(super) fn insert(&mut self, words: Packed<W>, parent: StateId) -> bool {
        let before = self.len;
        self.insert_all(&mut vec![words], parent);
        self.len > before
    }

    /// Adds the states that have not been found before, and empties the list. No parent of theirs comes before `from`,
    /// which must not decrease.
    pub(super) fn insert_all(&mut self, made: &mut Vec<Packed<W>>, from: StateId) {
        self.recent.keep_new(made, 0);
        let mut touched = 0;
        for chunk in made.chunks(TOGETHER) {
            self.make_room(chunk.len());
            // What will be looked at is read before any of it is needed, so that the misses of the cache overlap.
            let mut hashes = [0; TOGETHER];
            for (code, words) in hashes.iter_mut().zip(chunk) {
                *code = hash(words);
                touched ^= self.table.touch(*code);
            }
            for hash in &hashes[..chunk.len()] {
                if let Some(id) = self.table.guess(*hash) {
                    touched ^= u32::from(self.get(id)[0] == 0);
                }
            }
            for (words, hash) in chunk.iter().zip(&hashes) {
                loop {
                    match self.look_up(words, *hash) {
                        Ok(_) => break,
                        Err(Free::Nowhere) => self.grow(),
                        Err(Free::At(place)) => {
                            #[expect(
                                clippy::cast_possible_truncation,
                                reason = "the search ends before indices run out"
                            )]
                            self.table.put(place, self.len as StateId, *hash);
                            self.push(*words, from);
                            break;
                        }
                    }
                }
            }
        }
        std::hint::black_box(touched);
        made.clear();
    }

    #[inline]
    fn push(&mut self, words: Packed<W>, parent: StateId) {
        if self.len.is_multiple_of(FAMILY) {
            self.parents.push(parent);
            if self.len.is_multiple_of(PIECE) && self.len > 0 {
                self.pieces.push(Vec::with_capacity(PIECE));
            }
        }
        self.pieces[self.len / PIECE].push(words);
        self.len += 1;
    }

    /// Sees to it that so many states can be added without growing.
    fn make_room(&mut self, more: usize) {
        while !self.table.has_room(self.len + more) {
            self.grow();
        }
    }

    fn grow(&mut self) {
        if self.recent.0.is_empty() {
            self.recent.forget(self.pieces[0][0]);
        }
        self.table.grow(self.pieces.iter().flatten().map(hash));
    }

    /// The same states, differently packed, in the same order.
    pub(super) fn repacked<const V: usize>(&self, repack: impl Fn(&Packed<W>) -> Packed<V>) -> Store<V> {
        self.states().map(|(words, parent)| (repack(words), parent)).collect()
    }
}

/// States that differ from one another, each with its parent or, as [`Store::states`] gives it, an earlier state.
impl<const W: usize> FromIterator<(Packed<W>, StateId)> for Store<W> {
    fn from_iter<I: IntoIterator<Item = (Packed<W>, StateId)>>(states: I) -> Self {
        let mut store = Self::new();
        let (mut made, mut from) = (Vec::with_capacity(TOGETHER), 0);
        for (words, parent) in states {
            if made.len() == TOGETHER || parent != from {
                store.insert_all(&mut made, from);
                from = parent;
            }
            made.push(words);
        }
        store.insert_all(&mut made, from);
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
        let wide = store.repacked(|w| [0, w[0], 1]);
        assert_eq!(wide.len(), 2000);
        assert_eq!(wide.get(77), &[0, 77, 1]);
        for n in 1..2000 {
            assert!(wide.possible_parents(n).contains(&(n / 2)));
            assert!(n - wide.possible_parents(n).start <= n / 2 + FAMILY as u32);
        }
        assert_eq!(wide.possible_parents(0).count(), 0);
    }
}

//! The visited set: exact states in the order of their discovery, found again by open addressing.

use super::layout::Packed;
use std::ops::RangeInclusive;

/// The index of a state in its store.
pub(super) type StateId = u32;

/// An empty place in the table.
const NONE: StateId = StateId::MAX;

/// A state to be added, its hash, and the state it was made from.
pub(super) type Made<const W: usize> = (Packed<W>, u64, StateId);

/// So many states are looked up together.
const TOGETHER: usize = 32;

/// Of so many states in a row, the parent of the first is kept.
const FAMILY: usize = 64;

/// States are kept in pieces of this many: growing moves none of them, and leaves little unused.
const PIECE: usize = 1 << 16;

/// The states found so far. Indices follow the order of discovery, so that the breadth-first queue is
/// the store itself.
#[derive(Debug)]
pub(super) struct Store<const W: usize> {
    pieces: Vec<Vec<Packed<W>>>,
    len: usize,
    /// The parents of states, as far as they are kept. States are explored in order, so the parents of consecutive states
    /// never decrease, and the others lie between those kept.
    parents: Vec<StateId>,
    /// A power of two of entries. Each holds a state's index in its low bits, as many as the table's length
    /// has, and bits of the state's hash in the others, so that most states that differ are told apart
    /// without being looked at. At most three quarters of the entries are used, so no index has all bits set.
    table: Vec<u32>,
}

/// A multiplicative hash of the words; the high bits are the good ones.
#[inline]
pub(super) fn hash<const W: usize>(words: &Packed<W>) -> u64 {
    let mut h = 0_u64;
    for word in words {
        h = (h.rotate_left(29) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        h ^= h >> 32;
    }
    h.wrapping_mul(0xd6e8_feb8_6659_fd93)
}

impl<const W: usize> Store<W> {
    pub(super) fn new() -> Self {
        Self { pieces: vec![Vec::new()], len: 0, parents: Vec::new(), table: vec![NONE; 1 << 10] }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(super) fn get(&self, id: StateId) -> &Packed<W> {
        &self.pieces[id as usize / PIECE][id as usize % PIECE]
    }

    /// The states from one of which this one was found first: its parent is the first that leads to it. Empty for
    /// the initial state.
    pub(super) fn possible_parents(&self, id: StateId) -> RangeInclusive<StateId> {
        let family = id as usize / FAMILY;
        let last = self.parents.get(family + 1).copied().unwrap_or(id);
        if id == 0 { RangeInclusive::new(1, 0) } else { self.parents[family]..=last.min(id - 1) }
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
        let numbers = (self.parents.capacity() + self.table.len()) * size_of::<StateId>();
        (states + numbers) as u64
    }

    /// Bytes in use, and those needed for a moment, once `more` further states are added.
    pub(super) fn bytes_with(&self, more: usize) -> u64 {
        let mut bytes = self.bytes() + ((more + PIECE) * size_of::<Packed<W>>()) as u64;
        if (self.len + more) * 4 > self.table.len() * 3 {
            bytes += (self.table.len() * 2 * size_of::<StateId>()) as u64;
        }
        bytes
    }

    /// The first place of a hash: its high bits.
    #[inline]
    fn slot(&self, hash: u64) -> usize {
        (hash >> (64 - self.index_bits())) as usize
    }

    #[inline]
    fn index_bits(&self) -> u32 {
        self.table.len().trailing_zeros()
    }

    /// What an entry holds of a hash: its low bits, above the index.
    #[inline]
    fn tag(&self, hash: u64) -> u32 {
        #[expect(clippy::cast_possible_truncation, reason = "the low bits are wanted")]
        let low = hash as u32;
        low & !self.index_mask()
    }

    #[inline]
    fn index_mask(&self) -> u32 {
        (1 << self.index_bits()) - 1
    }

    /// The place of a state, or the free place where it belongs.
    #[inline]
    fn look_up(&self, words: &Packed<W>, hash: u64) -> Result<StateId, usize> {
        let (mask, tag) = (self.index_mask(), self.tag(hash));
        let table = &self.table[..];
        let mut slot = self.slot(hash);
        loop {
            let entry = table[slot];
            if entry & !mask == tag && entry != NONE && self.get(entry & mask) == words {
                return Ok(entry & mask);
            }
            if entry == NONE {
                return Err(slot);
            }
            slot = (slot + 1) & mask as usize;
        }
    }

    /// The index of a state if it has been found.
    pub(super) fn find(&self, words: &Packed<W>) -> Option<StateId> {
        self.look_up(words, hash(words)).ok()
    }

    /// Adds a state unless it has been found before; `true` if it is new. Parents must not decrease.
    pub(super) fn insert(&mut self, words: Packed<W>, parent: StateId) -> bool {
        let before = self.len;
        self.insert_all(&[(words, hash(&words), parent)]);
        self.len > before
    }

    /// Adds the states, with their hashes and their parents, that have not been found before. Parents must not
    /// decrease.
    pub(super) fn insert_all(&mut self, made: &[Made<W>]) {
        let mut touched = 0;
        for chunk in made.chunks(TOGETHER) {
            if (self.len + chunk.len()) * 4 > self.table.len() * 3 {
                self.grow();
            }
            // What will be looked at is read before any of it is needed, so that the misses of the cache overlap.
            let mut entries = [0; TOGETHER];
            for (entry, (_, hash, _)) in entries.iter_mut().zip(chunk) {
                *entry = self.table[self.slot(*hash)];
            }
            let mask = self.index_mask();
            for (entry, (_, hash, _)) in entries.iter().zip(chunk) {
                if entry & !mask == self.tag(*hash) && *entry != NONE {
                    touched ^= self.get(entry & mask)[0];
                }
            }
            for (words, hash, parent) in chunk {
                if let Err(slot) = self.look_up(words, *hash) {
                    #[expect(
                        clippy::cast_possible_truncation,
                        reason = "the search ends before indices run out"
                    )]
                    let id = self.len as StateId;
                    self.table[slot] = self.tag(*hash) | id;
                    self.push(*words, *parent);
                }
            }
        }
        std::hint::black_box(touched);
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

    fn grow(&mut self) {
        self.table = vec![NONE; self.table.len() * 2];
        let mask = self.table.len() - 1;
        for (id, words) in self.pieces.iter().flatten().enumerate() {
            let hash = hash(words);
            let mut slot = self.slot(hash);
            while self.table[slot] != NONE {
                slot = (slot + 1) & mask;
            }
            #[expect(clippy::cast_possible_truncation, reason = "indices fit, as when they were made")]
            let id = id as StateId;
            self.table[slot] = self.tag(hash) | id;
        }
    }

    /// The same states, differently packed, in the same order.
    pub(super) fn repacked<const V: usize>(&self, repack: impl Fn(&Packed<W>) -> Packed<V>) -> Store<V> {
        let mut store = Store::new();
        for (words, parent) in self.states() {
            store.insert(repack(words), parent);
        }
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
            assert!(n >= 1984 || wide.possible_parents(n).count() < FAMILY);
        }
        assert_eq!(wide.possible_parents(0).count(), 0);
    }
}

//! The visited set: exact states in the order of their discovery, found again by open addressing.

use super::layout::Packed;
use std::ops::Range;

/// The index of a state in its store.
pub(super) type StateId = u32;

/// An empty place in the table.
const NONE: StateId = StateId::MAX;

/// So many states are looked up together.
const TOGETHER: usize = 64;

/// So many states are remembered as met lately: few enough for the second level of the caches.
const RECENT: usize = 1 << 16;

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
    /// Of the first state of each family, one from which on its parent is to be looked for. States are explored in order,
    /// so that the parents of consecutive states never decrease.
    parents: Vec<StateId>,
    /// A power of two of entries. Each holds a state's index in its low bits, as many as the table's length
    /// has, and bits of the state's hash in the others, so that most states that differ are told apart
    /// without being looked at. At most three quarters of the entries are used, so no index has all bits set.
    table: Vec<u32>,
    /// States met lately, by bits of their hash. Most successors have been met by way of another interleaving just
    /// before: they are dropped here, without a look at the table, which is far larger than the caches.
    recent: Vec<Packed<W>>,
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

/// The first place of a hash in a table whose indices have so many bits: its high bits.
#[inline]
fn slot(hash: u64, bits: u32) -> usize {
    (hash >> (64 - bits)) as usize
}

/// The part of an entry that is an index.
#[inline]
fn mask(bits: u32) -> u32 {
    (1 << bits) - 1
}

/// An entry: an index, and above it the low bits of the hash.
#[inline]
fn tagged(id: StateId, hash: u64, bits: u32) -> u32 {
    #[expect(clippy::cast_possible_truncation, reason = "the low bits are wanted")]
    let low = hash as u32;
    low & !mask(bits) | id
}

/// Whether an entry has the hash's bits.
#[inline]
fn is_tagged(entry: u32, hash: u64, bits: u32) -> bool {
    #[expect(clippy::cast_possible_truncation, reason = "the low bits are wanted")]
    let low = hash as u32;
    (entry ^ low) >> bits == 0
}

impl<const W: usize> Store<W> {
    pub(super) fn new() -> Self {
        Self {
            pieces: vec![Vec::new()],
            len: 0,
            parents: Vec::new(),
            table: vec![NONE; 1 << 10],
            recent: Vec::new(),
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
        let states = states + self.recent.len() * size_of::<Packed<W>>();
        let numbers = (self.parents.capacity() + self.table.len()) * size_of::<StateId>();
        (states + numbers) as u64
    }

    /// Bytes in use, and those needed for a moment, once `more` further states are added.
    pub(super) fn bytes_with(&self, more: usize) -> u64 {
        let mut bytes = self.bytes() + ((more + PIECE) * size_of::<Packed<W>>()) as u64;
        if (self.len + more) * 4 > self.table.len() * 3 {
            bytes += (self.table.len() * size_of::<StateId>()) as u64;
        }
        bytes
    }

    /// Bits of an index into the table.
    fn index_bits(&self) -> u32 {
        self.table.len().trailing_zeros()
    }

    /// The place of a state, or the free place where it belongs.
    #[inline(always)]
    fn look_up(&self, words: &Packed<W>, hash: u64, bits: u32) -> Result<StateId, usize> {
        let table = &self.table[..];
        let mut slot = slot(hash, bits);
        loop {
            let entry = table[slot];
            if is_tagged(entry, hash, bits) && entry != NONE && self.get(entry & mask(bits)) == words {
                return Ok(entry & mask(bits));
            }
            if entry == NONE {
                return Err(slot);
            }
            slot = (slot + 1) & mask(bits) as usize;
        }
    }

    /// The index of a state if it has been found.
    pub(super) fn find(&self, words: &Packed<W>) -> Option<StateId> {
        self.look_up(words, hash(words), self.index_bits()).ok()
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
        self.drop_recent(made);
        let mut touched = 0;
        for chunk in made.chunks(TOGETHER) {
            if (self.len + chunk.len()) * 4 > self.table.len() * 3 {
                self.grow();
            }
            // What will be looked at is read before any of it is needed, so that the misses of the cache overlap.
            let bits = self.index_bits();
            let (mut entries, mut hashes) = ([0; TOGETHER], [0; TOGETHER]);
            for ((entry, code), words) in entries.iter_mut().zip(&mut hashes).zip(chunk) {
                *code = hash(words);
                *entry = self.table[slot(*code, bits)];
            }
            for (entry, hash) in entries.iter().zip(&hashes[..chunk.len()]) {
                if is_tagged(*entry, *hash, bits) && *entry != NONE {
                    touched ^= self.get(entry & mask(bits))[0];
                }
            }
            for (words, hash) in chunk.iter().zip(&hashes) {
                if let Err(slot) = self.look_up(words, *hash, bits) {
                    #[expect(
                        clippy::cast_possible_truncation,
                        reason = "the search ends before indices run out"
                    )]
                    let id = self.len as StateId;
                    self.table[slot] = tagged(id, *hash, bits);
                    self.push(*words, from);
                }
            }
        }
        std::hint::black_box(touched);
        made.clear();
    }

    /// Drops states that have been met lately.
    fn drop_recent(&mut self, made: &mut Vec<Packed<W>>) {
        if self.recent.is_empty() {
            return;
        }
        let mut kept = 0;
        for at in 0..made.len() {
            let words = made[at];
            #[expect(clippy::cast_possible_truncation, reason = "the low bits are wanted")]
            let met = &mut self.recent[hash(&words) as usize & (RECENT - 1)];
            // Written in any case: whether a state is kept is as good as random, and not to be waited for.
            made[kept] = words;
            kept += usize::from(*met != words);
            *met = words;
        }
        made.truncate(kept);
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
        if self.recent.is_empty() {
            self.recent = vec![*self.get(0); RECENT];
        }
        // The old table goes first: the new one is made from the states.
        let len = self.table.len() * 2;
        self.table = Vec::new();
        self.table = vec![NONE; len];
        let bits = self.index_bits();
        let mut id = 0;
        let mut touched = 0;
        for chunk in self.pieces.iter().flat_map(|piece| piece.chunks(TOGETHER)) {
            let mut hashes = [0; TOGETHER];
            for (code, words) in hashes.iter_mut().zip(chunk) {
                *code = hash(words);
                touched ^= self.table[slot(*code, bits)];
            }
            for hash in &hashes[..chunk.len()] {
                let mut slot = slot(*hash, bits);
                while self.table[slot] != NONE {
                    slot = (slot + 1) & mask(bits) as usize;
                }
                self.table[slot] = tagged(id, *hash, bits);
                id += 1;
            }
        }
        std::hint::black_box(touched);
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

//! The visited set: exact states in the order of their discovery, found again by open addressing.

use super::layout::Packed;

/// The index of a state in its store.
pub(super) type StateId = u32;

/// No state: an empty place in the table, or the parent of the initial state.
pub(super) const NONE: StateId = StateId::MAX;

/// The states found so far. Indices follow the order of discovery, so that the breadth-first queue is
/// the store itself.
#[derive(Debug)]
pub(super) struct Store<const W: usize> {
    states: Vec<Packed<W>>,
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
        Self { states: Vec::new(), parents: Vec::new(), table: vec![NONE; 1 << 10] }
    }

    pub(super) fn len(&self) -> usize {
        self.states.len()
    }

    pub(super) fn get(&self, id: StateId) -> &Packed<W> {
        &self.states[id as usize]
    }

    pub(super) fn parent(&self, id: StateId) -> Option<StateId> {
        Some(self.parents[id as usize]).filter(|p| *p != NONE)
    }

    pub(super) fn states(&self) -> &[Packed<W>] {
        &self.states
    }

    pub(super) fn parents(&self) -> &[StateId] {
        &self.parents
    }

    /// Bytes in use.
    pub(super) fn bytes(&self) -> u64 {
        let states = self.states.capacity() * size_of::<Packed<W>>();
        let numbers = (self.parents.capacity() + self.table.len()) * size_of::<StateId>();
        (states + numbers) as u64
    }

    /// Bytes in use, and those needed for a moment, once `more` further states are added.
    pub(super) fn bytes_with(&self, more: usize) -> u64 {
        let mut bytes = self.bytes();
        let per_state = size_of::<Packed<W>>() + size_of::<StateId>();
        if self.states.len() + more > self.states.capacity() {
            // The old and the new copy exist side by side while the states move.
            bytes += ((self.states.len() + self.states.len() / 2) * per_state) as u64;
        }
        if (self.states.len() + more) * 4 > self.table.len() * 3 {
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

    /// Brings the place of a hash into the cache, by reading it.
    #[inline]
    pub(super) fn touch(&self, hash: u64) -> u32 {
        self.table[self.slot(hash)]
    }

    /// Brings the state that an entry stands for into the cache, by reading it, if it may be the one with this hash.
    #[inline]
    pub(super) fn touch_state(&self, entry: u32, hash: u64) -> u64 {
        let mask = self.index_mask();
        if entry & !mask != self.tag(hash) {
            return 0;
        }
        self.states.get((entry & mask) as usize).map_or(0, |words| words[0])
    }

    /// The place of a state, or the free place where it belongs.
    #[inline]
    fn look_up(&self, words: &Packed<W>, hash: u64) -> Result<StateId, usize> {
        let (mask, tag) = (self.index_mask(), self.tag(hash));
        let mut slot = self.slot(hash);
        loop {
            let entry = self.table[slot];
            if entry == NONE {
                return Err(slot);
            }
            if entry & !mask == tag && self.states[(entry & mask) as usize] == *words {
                return Ok(entry & mask);
            }
            slot = (slot + 1) & mask as usize;
        }
    }

    /// The index of a state if it has been found.
    pub(super) fn find(&self, words: &Packed<W>) -> Option<StateId> {
        self.look_up(words, hash(words)).ok()
    }

    /// Adds a state unless it has been found before; `true` if it is new.
    #[inline]
    pub(super) fn insert(&mut self, words: Packed<W>, hash: u64, parent: StateId) -> bool {
        let Err(slot) = self.look_up(&words, hash) else { return false };
        #[expect(clippy::cast_possible_truncation, reason = "the search ends before indices run out")]
        let id = self.states.len() as StateId;
        self.table[slot] = self.tag(hash) | id;
        self.push(words, parent);
        if self.states.len() * 4 > self.table.len() * 3 {
            self.grow();
        }
        true
    }

    fn push(&mut self, words: Packed<W>, parent: StateId) {
        if self.states.len() == self.states.capacity() {
            // Half as much again: doubling would waste up to half of a large search's memory.
            let more = (self.states.len() / 2).max(1 << 10);
            self.states.reserve_exact(more);
            self.parents.reserve_exact(more);
        }
        self.states.push(words);
        self.parents.push(parent);
    }

    fn grow(&mut self) {
        self.table = vec![NONE; self.table.len() * 2];
        let mask = self.table.len() - 1;
        for (id, words) in self.states.iter().enumerate() {
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
        for (words, parent) in self.states.iter().zip(&self.parents) {
            let words = repack(words);
            let hash = hash(&words);
            store.insert(words, hash, *parent);
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
            assert!(store.insert(words, hash(&words), NONE));
            assert!(!store.insert(words, hash(&words), NONE));
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
            store.insert([n], hash(&[n]), if n == 0 { NONE } else { n as u32 / 2 });
        }
        let wide = store.repacked(|w| [0, w[0], 1]);
        assert_eq!(wide.len(), 2000);
        assert_eq!(wide.get(77), &[0, 77, 1]);
        assert_eq!((wide.parent(0), wide.parent(77)), (None, Some(38)));
    }
}

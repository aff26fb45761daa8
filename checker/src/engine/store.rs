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
    table: Vec<StateId>,
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

    #[inline]
    fn slot(&self, hash: u64) -> usize {
        // The table's length is a power of two of at least 2.
        (hash >> (64 - self.table.len().trailing_zeros())) as usize
    }

    /// Brings the place of a hash into the cache, by reading it.
    #[inline]
    pub(super) fn touch(&self, hash: u64) -> StateId {
        self.table[self.slot(hash)]
    }

    /// Brings a state into the cache, by reading it.
    #[inline]
    pub(super) fn touch_state(&self, id: StateId) -> u64 {
        self.states.get(id as usize).map_or(0, |words| words[0])
    }

    /// The index of a state if it has been found.
    pub(super) fn find(&self, words: &Packed<W>) -> Option<StateId> {
        let mut slot = self.slot(hash(words));
        loop {
            match self.table[slot] {
                NONE => return None,
                id if self.states[id as usize] == *words => return Some(id),
                _ => slot = (slot + 1) & (self.table.len() - 1),
            }
        }
    }

    /// Adds a state unless it has been found before; `true` if it is new.
    #[inline]
    pub(super) fn insert(&mut self, words: Packed<W>, hash: u64, parent: StateId) -> bool {
        let mut slot = self.slot(hash);
        loop {
            let id = self.table[slot];
            if id == NONE {
                break;
            }
            if self.states[id as usize] == words {
                return false;
            }
            slot = (slot + 1) & (self.table.len() - 1);
        }
        #[expect(clippy::cast_possible_truncation, reason = "the search ends before indices run out")]
        let id = self.states.len() as StateId;
        self.table[slot] = id;
        self.push(words, parent);
        // Three quarters full at most.
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
        for (id, words) in self.states.iter().enumerate() {
            let mut slot = self.slot(hash(words));
            while self.table[slot] != NONE {
                slot = (slot + 1) & (self.table.len() - 1);
            }
            #[expect(clippy::cast_possible_truncation, reason = "indices fit, as when they were made")]
            let id = id as StateId;
            self.table[slot] = id;
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

//! Hash compaction: of a state that has been explored nothing is kept but 64 bits of hash (Wolper and Leroy,
//! "Reliable hashing without collision detection", CAV 1993).
//!
//! A new state whose hash is that of another is taken for that one, and what follows from it is not searched.
//! The hash of a state of one word is another for every word, so nothing can be missed there; for wider ones
//! [`odds_of_omission`] says how likely it is that anything was.
//!
//! A path needs states that have been forgotten. So it is known of each state from which other one it was
//! found, in a byte, and the search is made once more to find the states on the way.

use crate::packed::layout::Packed;
use crate::visited::index::StateId;
use barcheck_prefetch::prefetch;
use std::collections::HashMap;

/// A difference that has no room in a byte.
const FAR: u8 = u8::MAX;

/// The smallest index, in bits that name a place.
const FEWEST_BITS: u32 = 10;

/// What is kept of the states that have been found.
#[derive(Debug)]
pub(super) struct Compact<const W: usize> {
    /// Hashes by place, 0 where there is none. The high bits name the first place to look at.
    hashes: Vec<u64>,
    bits: u32,
    /// A state with the hash 0 has been met.
    has_zero: bool,
    /// For each state, by how much its parent comes later than that of the state before.
    steps: Vec<u8>,
    /// The parents for which [`FAR`] is written.
    far: HashMap<StateId, StateId>,
    /// States to keep, in order.
    wanted: Vec<StateId>,
    kept: HashMap<StateId, Packed<W>>,
    last_parent: StateId,
}

/// The probability, at most, that among so many states some were taken for others: of each pair, one in 2^64.
pub(crate) fn odds_of_omission<const W: usize>(states: u64) -> f64 {
    if W == 1 {
        return 0.0;
    }
    #[expect(clippy::cast_precision_loss, reason = "it is an estimate")]
    let states = states as f64;
    (states * (states - 1.0) / 2.0 / 2_f64.powi(64)).min(1.0)
}

/// Each step is one to one, so that different words have different hashes if there is only one.
fn hash<const W: usize>(words: &Packed<W>) -> u64 {
    words.iter().fold(0x6a09_e667_f3bc_c909, |hash, word| {
        let mut h: u64 = hash ^ word;
        h = (h ^ h >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
        h = (h ^ h >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
        (h ^ h >> 32).wrapping_add(0x9e37_79b9_7f4a_7c15)
    })
}

impl<const W: usize> Compact<W> {
    /// Nothing has been found. Of what will be, certain states are to be kept.
    pub(super) fn new(mut wanted: Vec<StateId>) -> Self {
        wanted.sort_unstable();
        wanted.dedup();
        Self {
            hashes: vec![0; 1 << FEWEST_BITS],
            bits: FEWEST_BITS,
            has_zero: false,
            steps: Vec::new(),
            far: HashMap::new(),
            wanted,
            kept: HashMap::new(),
            last_parent: 0,
        }
    }

    /// Notes a state that has been met; `true` if it is new.
    pub(super) fn meet(&mut self, words: &Packed<W>) -> bool {
        if self.steps.len() * 8 >= self.hashes.len() * 7 {
            self.grow();
        }
        match hash(words) {
            0 => !std::mem::replace(&mut self.has_zero, true),
            hash => self.enter(hash),
        }
    }

    /// Enters a hash; `false` if it was there.
    #[inline]
    fn enter(&mut self, hash: u64) -> bool {
        let mut at = self.home(hash);
        loop {
            match self.hashes[at] {
                0 => {
                    self.hashes[at] = hash;
                    return true;
                }
                other if other == hash => return false,
                _ => at = (at + 1) & (self.hashes.len() - 1),
            }
        }
    }

    #[inline]
    fn home(&self, hash: u64) -> usize {
        (hash >> (64 - self.bits)) as usize
    }

    /// Has fetched what will be looked at first for a state.
    #[inline]
    pub(super) fn prefetch(&self, words: &Packed<W>) {
        prefetch(&self.hashes[self.home(hash(words))]);
    }

    fn grow(&mut self) {
        let old = std::mem::take(&mut self.hashes);
        self.bits += 1;
        self.hashes = vec![0; 1 << self.bits];
        for hash in old {
            if hash != 0 {
                self.enter(hash);
            }
        }
    }

    /// Notes where a new state, the next one, was found from.
    pub(super) fn push(&mut self, words: &Packed<W>, parent: StateId) {
        let id = crate::packed::numbering::to_u32(self.steps.len());
        let step = parent - self.last_parent;
        self.last_parent = parent;
        self.steps.push(u8::try_from(step).unwrap_or(FAR));
        if step >= u32::from(FAR) {
            self.far.insert(id, parent);
        }
        if self.wanted.binary_search(&id).is_ok() {
            self.kept.insert(id, *words);
        }
    }

    /// The state from which one was found, given that of an earlier one.
    pub(super) fn parent(&self, (mut at, mut parent): (StateId, StateId), id: StateId) -> StateId {
        while at < id {
            at += 1;
            parent = match self.steps[at as usize] {
                FAR => self.far[&at],
                step => parent + StateId::from(step),
            };
        }
        parent
    }

    /// A state that was to be kept.
    pub(super) fn kept(&self, id: StateId) -> Option<Packed<W>> {
        self.kept.get(&id).copied()
    }

    /// Bytes in use.
    pub(super) fn bytes(&self) -> u64 {
        let kept = self.kept.capacity() * size_of::<(StateId, Packed<W>)>();
        let far = self.far.capacity() * size_of::<(StateId, StateId)>();
        let wanted = self.wanted.capacity() * size_of::<StateId>();
        (self.hashes.capacity() * size_of::<u64>() + self.steps.capacity() + kept + far + wanted) as u64
    }

    /// Bytes needed besides for a moment, once so many states are added.
    pub(super) fn growth(&self, more: usize) -> u64 {
        let states = self.steps.len() + more;
        let mut places = self.hashes.len();
        while states * 8 >= places * 7 {
            places *= 2;
        }
        let index = if places > self.hashes.len() { places * size_of::<u64>() } else { 0 };
        let steps = if states > self.steps.capacity() { 2 * states } else { 0 };
        (index + steps) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Chunks, Store};
    use super::*;

    #[test]
    fn states_are_found_once_and_those_wanted_are_kept_when_others_are_forgotten() {
        let mut store = Store::<2>::compact(vec![3, 70_000]);
        let count = 3 * Chunks::<2>::CHUNK as u64;
        for n in 0..count {
            let parent = if n < 100_000 { n / 2 } else { n - 1000 } as StateId;
            store.insert_all(&[[n, 7], [n, 7], [n / 3, 7]], parent);
        }
        assert_eq!(store.len() as u64, count);
        store.forget_before(count as StateId - 1);
        for id in [3, 70_000, count as StateId - 1] {
            assert_eq!(store.get(id), [u64::from(id), 7]);
        }
        assert_eq!(store.failed(), None);
        assert_eq!(store.possible_parents(99_999), 49_999..50_000);
        assert_eq!(store.possible_parents(100_001), 99_001..99_002);
        assert_eq!(store.line(9), [9, 4, 2, 1, 0]);
        store.get(4);
        assert!(store.failed().is_some());
    }

    #[test]
    fn words_have_hashes_of_their_own() {
        let hashes: std::collections::BTreeSet<u64> = (0..200_000).map(|n| hash(&[n << 20])).collect();
        assert_eq!(hashes.len(), 200_000);
        assert_ne!(hash(&[1, 2]), hash(&[2, 1]));
    }

    #[test]
    fn odds_grow_with_the_square_of_the_number() {
        assert_eq!(odds_of_omission::<1>(1 << 30).to_bits(), 0.0_f64.to_bits());
        let odds = odds_of_omission::<2>(1 << 30);
        assert!((odds - 2_f64.powi(-5)).abs() < 1e-6, "{odds}");
        assert!(odds_of_omission::<2>(u64::MAX) <= 1.0);
    }
}

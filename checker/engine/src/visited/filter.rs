//! A filter before the store.
//!
//! Most successors have been met by way of another interleaving just before. They are dropped as they are
//! made, without a look at the index, which is far larger than the caches.

use crate::packed::batch::Batch;
use crate::packed::layout::Packed;

/// So many bytes of states are remembered at most: few enough for the second level of the caches, even where
/// a thread has two such filters.
const MOST_BYTES: usize = 1 << 19;
/// So many states are remembered at least.
const FEWEST: usize = 1 << 6;
/// A state is made again while states as many as a level has are explored, and each of them has a few
/// successors.
const PER_STATE: usize = 4;

/// States met lately, by bits of a hash: each is in the store, or on its way there.
#[derive(Debug)]
pub(crate) struct DuplicateFilter<const W: usize> {
    met: Vec<Packed<W>>,
    /// The places in use are named by the bits of a product that are left after a shift by so many.
    shift: u32,
    /// Nothing counts as met.
    is_off: bool,
}

impl<const W: usize> Default for DuplicateFilter<W> {
    fn default() -> Self {
        Self { met: vec![[0; W]; 2], shift: 63, is_off: true }
    }
}

impl<const W: usize> DuplicateFilter<W> {
    /// Remembers as many states as do good while so many are explored. Nothing is known from before but one
    /// state that has been met, if this was off.
    pub(crate) fn fit(&mut self, states: usize, met: impl FnOnce() -> Packed<W>) {
        let most = 1 << (MOST_BYTES / size_of::<Packed<W>>()).max(FEWEST).ilog2();
        let places = (states.min(most) * PER_STATE).next_power_of_two().clamp(FEWEST, most);
        if self.is_off || self.met.len() < places {
            // A state is wherever it was put: it has been met all the same.
            let known = if self.is_off { met() } else { self.met[0] };
            if self.is_off {
                self.met.clear();
            }
            self.met.resize(places, known);
        }
        (self.shift, self.is_off) = (64 - places.ilog2(), false);
    }

    /// Neighbouring states, whose fields differ by little, are to be far from one another: the highest bits
    /// of products.
    #[inline(always)]
    fn place(&self, words: &Packed<W>) -> usize {
        const FACTORS: [u64; 4] =
            [0x9e37_79b9_7f4a_7c15, 0xd1b5_4a32_d192_ed03, 0xaef1_7502_108e_f2d9, 0x8cb9_2ba7_2f3d_8dd7];
        let sum = words.iter().enumerate().fold(0_u64, |sum, (at, word)| {
            let sum = if at % FACTORS.len() == 0 { sum.rotate_left(7) } else { sum };
            sum.wrapping_add(word.wrapping_mul(FACTORS[at % FACTORS.len()]))
        });
        #[expect(clippy::cast_possible_truncation, reason = "the high bits are wanted")]
        let place = (sum >> self.shift) as usize;
        place
    }

    /// Notes a state, which will be added to the store unless it is there; `false` if it is known to have
    /// been met.
    #[inline(always)]
    pub(crate) fn meet(&mut self, words: &Packed<W>) -> bool {
        let place = self.place(words);
        let met = &mut self.met[place];
        // Written in any case, so that there is nothing to wait for.
        let is_new = (*met != *words) | self.is_off;
        *met = *words;
        is_new
    }

    /// Drops the states of a batch that have been met lately.
    #[inline(never)]
    pub(crate) fn drop_met(&mut self, batch: &mut Batch<W>) {
        batch.retain(|words| self.meet(words));
    }

    /// Bytes in use.
    pub(crate) fn bytes(&self) -> usize {
        self.met.capacity() * size_of::<Packed<W>>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_met_lately_are_dropped() {
        let (mut filter, mut batch) = (DuplicateFilter::<2>::default(), Batch::default());
        let all: Vec<Packed<2>> = (0..100).map(|n| [n % 50, n % 50 * 7]).collect();
        let mut add = |filter: &mut DuplicateFilter<2>| {
            batch.clear();
            all.iter().for_each(|words| batch.push(*words));
            filter.drop_met(&mut batch);
            batch.states().to_vec()
        };
        assert_eq!(add(&mut filter).len(), 100);
        filter.fit(1000, || [0, 0]);
        let first = add(&mut filter);
        // Those that share a place with another one may come twice.
        assert!((49..55).contains(&first.len()), "{}", first.len());
        assert!(!first.contains(&[0, 0]));
        assert!(add(&mut filter).len() < 10);
        filter = DuplicateFilter::default();
        filter.fit(1000, || [1, 7]);
        assert!(!add(&mut filter)[..49].contains(&[1, 7]));
    }
}

//! States in a row, in chunks: growing moves none of them, and leaves little unused.

use crate::packed::layout::Packed;
use crate::visited::pages::{LARGE_PAGE, Pages};
use std::ops::Range;

/// Bytes of a usual page, at least.
const USUAL_PAGE: usize = 1 << 12;

/// States in the order in which they were added.
#[derive(Debug, Default)]
pub(crate) struct Chunks<const W: usize> {
    chunks: Vec<Pages<Packed<W>>>,
    len: usize,
    /// The next chunk.
    spare: Option<SpareStates<W>>,
}

/// A chunk whose pages have been touched.
#[derive(Debug)]
pub(crate) struct SpareStates<const W: usize>(Pages<Packed<W>>);

impl<const W: usize> SpareStates<W> {
    pub(crate) fn new() -> Self {
        let mut chunk = Pages::new(Chunks::<W>::CHUNK).with_large_pages();
        // Of each usual page something.
        let page = (USUAL_PAGE / size_of::<Packed<W>>()).max(1);
        chunk.iter_mut().step_by(page).for_each(|state| *state = [0; W]);
        Self(chunk)
    }
}

impl<const W: usize> Chunks<W> {
    /// States of a chunk: a power of two, and as many as fill large pages.
    pub(super) const CHUNK: usize = (LARGE_PAGE / size_of::<u64>()) >> W.trailing_zeros();

    /// The state at a place at which there is one.
    #[inline(always)]
    pub(super) fn get(&self, at: usize) -> &Packed<W> {
        debug_assert!(at < self.len);
        &self.chunks[at / Self::CHUNK][at % Self::CHUNK]
    }

    /// Appends the states at some places.
    pub(super) fn read(&self, mut places: Range<usize>, into: &mut Vec<Packed<W>>) {
        while !places.is_empty() {
            let (chunk, from) = (places.start / Self::CHUNK, places.start % Self::CHUNK);
            let end = (from + places.len()).min(Self::CHUNK);
            into.extend_from_slice(&self.chunks[chunk][from..end]);
            places.start += end - from;
        }
    }

    /// Appends states.
    #[inline]
    pub(super) fn extend(&mut self, mut states: &[Packed<W>]) {
        while !states.is_empty() {
            let (chunk, at) = (self.len / Self::CHUNK, self.len % Self::CHUNK);
            if at == 0 {
                self.add_chunk();
            }
            let room = &mut self.chunks[chunk][at..];
            let (now, later) = states.split_at(states.len().min(room.len()));
            room[..now.len()].copy_from_slice(now);
            self.len += now.len();
            states = later;
        }
    }

    /// Whether a spare chunk will be of use soon.
    pub(super) fn wants_spare(&self) -> bool {
        let left = self.chunks.len() * Self::CHUNK - self.len;
        self.spare.is_none() && self.chunks.len() > 1 && left < Self::CHUNK / 2
    }

    pub(super) fn keep_spare(&mut self, spare: SpareStates<W>) {
        self.spare = Some(spare);
    }

    #[cold]
    fn add_chunk(&mut self) {
        if let Some(SpareStates(spare)) = self.spare.take() {
            self.chunks.push(spare);
            return;
        }
        let chunk = Pages::new(Self::CHUNK);
        // Most protocols have few states: these are to take no more than they need.
        self.chunks.push(if self.chunks.is_empty() { chunk } else { chunk.with_large_pages() });
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Packed<W>> + Clone {
        let full = self.len / Self::CHUNK;
        let last = self.chunks.get(full).map_or(&[][..], |last| &last[..self.len % Self::CHUNK]);
        self.chunks[..full].iter().flat_map(|chunk| chunk.iter()).chain(last)
    }

    /// How many of the chunks may be removed: all but the one that was begun last.
    pub(super) fn removable(&self) -> usize {
        self.chunks.len().saturating_sub(1)
    }

    /// The states of the first chunks, so many of which may be removed.
    pub(super) fn first(&self, chunks: usize) -> impl Iterator<Item = &Packed<W>> + Clone {
        self.chunks[..chunks].iter().flat_map(|chunk| chunk.iter())
    }

    /// Removes the states of the first chunks. The places of the others begin at 0 again.
    pub(super) fn remove_first(&mut self, chunks: usize) {
        debug_assert!(chunks <= self.removable());
        self.chunks.drain(..chunks);
        self.len -= chunks * Self::CHUNK;
    }

    /// Bytes in use.
    pub(super) fn bytes(&self) -> u64 {
        let touched = if self.chunks.len() > 1 { self.chunks.len() * Self::CHUNK } else { self.len };
        (touched * size_of::<Packed<W>>()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<const W: usize>() {
        let chunk = Chunks::<W>::CHUNK;
        assert!(chunk.is_power_of_two() && (chunk * size_of::<Packed<W>>()).is_multiple_of(LARGE_PAGE));
        let count = 2 * chunk as u64 + 10;
        let states: Vec<Packed<W>> = (0..count).map(|n| [n; W]).collect();
        let (mut one_by_one, mut together) = (Chunks::default(), Chunks::default());
        assert_eq!((one_by_one.removable(), one_by_one.iter().count()), (0, 0));
        for (number, states) in states.chunks(1000).enumerate() {
            together.extend(states);
            if one_by_one.wants_spare() {
                one_by_one.keep_spare(SpareStates::new());
            }
            states.iter().for_each(|words| one_by_one.extend(&[*words]));
            assert!(number % 50 != 0 || one_by_one.iter().eq(together.iter()));
        }
        assert!(one_by_one.spare.is_none() || chunk < 2000, "it has been used");
        for chunks in [&mut one_by_one, &mut together] {
            assert!(chunks.iter().eq(&states));
            assert_eq!((chunks.get(chunk), chunks.removable()), (&[chunk as u64; W], 2));
            let mut read = vec![[7; W]];
            chunks.read(chunk - 3..2 * chunk + 1, &mut read);
            assert_eq!((read[0], &read[1..]), ([7; W], &states[chunk - 3..2 * chunk + 1]));
            assert!(chunks.first(1).eq(&states[..chunk]));
            chunks.remove_first(1);
            assert!(chunks.iter().eq(&states[chunk..]));
            assert_eq!((chunks.len, chunks.get(9)), (chunk + 10, &[chunk as u64 + 9; W]));
        }
    }

    #[test]
    fn states_stay_in_order_whatever_their_width_and_however_they_come_and_go() {
        check::<1>();
        check::<2>();
        check::<3>();
        check::<16>();
        check::<1024>();
    }
}

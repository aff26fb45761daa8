//! States in a row, in pieces: growing moves none of them, and leaves little unused.

use crate::packed::layout::Packed;
use crate::visited::block::{Block, LARGE_PAGE};
use std::ops::Range;

/// Bytes of a usual page, at least.
const USUAL_PAGE: usize = 1 << 12;

/// States in the order in which they were added.
#[derive(Debug, Default)]
pub(crate) struct Pieces<const W: usize> {
    pieces: Vec<Block<Packed<W>>>,
    len: usize,
    /// The next piece.
    spare: Option<SpareStates<W>>,
}

/// A piece whose pages have been touched.
#[derive(Debug)]
pub(crate) struct SpareStates<const W: usize>(Block<Packed<W>>);

impl<const W: usize> SpareStates<W> {
    pub(crate) fn new() -> Self {
        let mut piece = Block::new(Pieces::<W>::PIECE).with_large_pages();
        // Of each usual page something.
        let page = (USUAL_PAGE / size_of::<Packed<W>>()).max(1);
        piece.iter_mut().step_by(page).for_each(|state| *state = [0; W]);
        Self(piece)
    }
}

impl<const W: usize> Pieces<W> {
    /// States of a piece: a power of two, and as many as fill large pages.
    pub(super) const PIECE: usize = (LARGE_PAGE / size_of::<u64>()) >> W.trailing_zeros();

    /// The state at a place at which there is one.
    #[inline(always)]
    pub(super) fn get(&self, at: usize) -> &Packed<W> {
        debug_assert!(at < self.len);
        &self.pieces[at / Self::PIECE][at % Self::PIECE]
    }

    /// Appends the states at some places.
    pub(super) fn read(&self, mut places: Range<usize>, into: &mut Vec<Packed<W>>) {
        while !places.is_empty() {
            let (piece, from) = (places.start / Self::PIECE, places.start % Self::PIECE);
            let end = (from + places.len()).min(Self::PIECE);
            into.extend_from_slice(&self.pieces[piece][from..end]);
            places.start += end - from;
        }
    }

    /// Appends states.
    #[inline]
    pub(super) fn extend(&mut self, mut states: &[Packed<W>]) {
        while !states.is_empty() {
            let (piece, at) = (self.len / Self::PIECE, self.len % Self::PIECE);
            if at == 0 {
                self.add_piece();
            }
            let room = &mut self.pieces[piece][at..];
            let (now, later) = states.split_at(states.len().min(room.len()));
            room[..now.len()].copy_from_slice(now);
            self.len += now.len();
            states = later;
        }
    }

    /// Whether a spare piece will be of use soon.
    pub(super) fn wants_spare(&self) -> bool {
        let left = self.pieces.len() * Self::PIECE - self.len;
        self.spare.is_none() && self.pieces.len() > 1 && left < Self::PIECE / 2
    }

    pub(super) fn keep_spare(&mut self, spare: SpareStates<W>) {
        self.spare = Some(spare);
    }

    #[cold]
    fn add_piece(&mut self) {
        if let Some(SpareStates(spare)) = self.spare.take() {
            self.pieces.push(spare);
            return;
        }
        let piece = Block::new(Self::PIECE);
        // Most protocols have few states: these are to take no more than they need.
        self.pieces.push(if self.pieces.is_empty() { piece } else { piece.with_large_pages() });
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Packed<W>> + Clone {
        let full = self.len / Self::PIECE;
        let last = self.pieces.get(full).map_or(&[][..], |last| &last[..self.len % Self::PIECE]);
        self.pieces[..full].iter().flat_map(|piece| piece.iter()).chain(last)
    }

    /// How many of the pieces may be removed: all but the one that was begun last.
    pub(super) fn removable(&self) -> usize {
        self.pieces.len().saturating_sub(1)
    }

    /// The states of the first pieces, so many of which may be removed.
    pub(super) fn first(&self, pieces: usize) -> impl Iterator<Item = &Packed<W>> + Clone {
        self.pieces[..pieces].iter().flat_map(|piece| piece.iter())
    }

    /// Removes the states of the first pieces. The places of the others begin at 0 again.
    pub(super) fn remove_first(&mut self, pieces: usize) {
        debug_assert!(pieces <= self.removable());
        self.pieces.drain(..pieces);
        self.len -= pieces * Self::PIECE;
    }

    /// Bytes in use.
    pub(super) fn bytes(&self) -> u64 {
        let touched = if self.pieces.len() > 1 { self.pieces.len() * Self::PIECE } else { self.len };
        (touched * size_of::<Packed<W>>()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<const W: usize>() {
        let piece = Pieces::<W>::PIECE;
        assert!(piece.is_power_of_two() && (piece * size_of::<Packed<W>>()).is_multiple_of(LARGE_PAGE));
        let count = 2 * piece as u64 + 10;
        let states: Vec<Packed<W>> = (0..count).map(|n| [n; W]).collect();
        let (mut one_by_one, mut together) = (Pieces::default(), Pieces::default());
        assert_eq!((one_by_one.removable(), one_by_one.iter().count()), (0, 0));
        for (number, states) in states.chunks(1000).enumerate() {
            together.extend(states);
            if one_by_one.wants_spare() {
                one_by_one.keep_spare(SpareStates::new());
            }
            states.iter().for_each(|words| one_by_one.extend(&[*words]));
            assert!(number % 50 != 0 || one_by_one.iter().eq(together.iter()));
        }
        assert!(one_by_one.spare.is_none() || piece < 2000, "it has been used");
        for pieces in [&mut one_by_one, &mut together] {
            assert!(pieces.iter().eq(&states));
            assert_eq!((pieces.get(piece), pieces.removable()), (&[piece as u64; W], 2));
            let mut read = vec![[7; W]];
            pieces.read(piece - 3..2 * piece + 1, &mut read);
            assert_eq!((read[0], &read[1..]), ([7; W], &states[piece - 3..2 * piece + 1]));
            assert!(pieces.first(1).eq(&states[..piece]));
            pieces.remove_first(1);
            assert!(pieces.iter().eq(&states[piece..]));
            assert_eq!((pieces.len, pieces.get(9)), (piece + 10, &[piece as u64 + 9; W]));
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

//! Where states are found again: indices by hash.
//!
//! The high bits of a hash name a place, its home; if that is taken, the next one that is not is used. A
//! search goes the same way and ends at a place that is free. Places are passed over within a section only,
//! the last of which is followed by the first. So sections have nothing to do with one another, and several
//! threads may each have some of them.

use crate::packed::numbering::to_u32;
use crate::visited::pages::Pages;
use barcheck_prefetch::prefetch;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// The index of a state in its store.
pub(crate) type StateId = u32;

/// A free place: in memory that comes from the system all are.
const NONE: u32 = 0;

/// Indexes of fewer places than this are one section, others have [`SECTIONS`].
const MANY_PLACES: usize = 1 << 16;

/// Bits that name the places of indexes that grow by a lot, so that what is in them is moved less often.
const SMALL: [u32; 4] = [10, 13, 16, 20];

/// Bits that name the places of the next index, unless it is passed over.
const MIDDLE: u32 = 22;

/// Bits that name the places of the first index that grows by no more than it must.
const LARGE: u32 = 24;

/// So much memory is plenty for an index, even where it is far too large.
const PLENTY: u64 = 1 << 30;

/// Indexes whose places are named by fewer bits are in the caches, and half full at most.
const CACHED: u32 = 20;

/// Sections of a large index.
const SECTIONS: usize = 64;

/// When an index grows, what is in it is entered region by region, of so many places: few enough for the
/// second level of the caches.
const REGION: usize = 1 << 18;

/// Of so many places as many entries as one are sorted by regions at a time: that takes an eighth of the
/// index's memory.
const PLACES_PER_SORTED: usize = 16;

/// So much is told from what belongs to other parts before it is sorted.
const TOGETHER: usize = 64;

/// How indexes grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Growth {
    /// Step by step.
    #[default]
    Sparing,
    /// Where many entries are about to be moved, to an index so large that they stay there for long.
    Lavish,
}

impl Growth {
    /// What fits a budget in bytes, if there is one.
    pub(crate) fn within(budget: Option<u64>) -> Self {
        if budget.is_none_or(|bytes| bytes >= PLENTY) { Self::Lavish } else { Self::Sparing }
    }

    /// Bits that name the places of indexes, of smaller ones first.
    fn bits(self) -> impl Iterator<Item = u32> {
        let middle = (self == Self::Sparing).then_some(MIDDLE);
        SMALL.into_iter().chain(middle).chain(LARGE..)
    }
}

/// Where there is no such state: a place for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Free {
    /// This one.
    At(usize),
    /// The whole section is full.
    Nowhere,
}

/// How an index of some length is laid out. An entry holds an index in its low bits, as many as it takes to
/// number all places, and bits of the hash in the others, so that most states that differ are told apart
/// without being looked at. Both are held inverted: no index has all bits set, so that no entry is 0.
#[derive(Clone, Copy, Debug)]
struct Shape {
    /// Bits that name a place.
    bits: u32,
}

impl Shape {
    #[inline]
    fn mask(self) -> u32 {
        (1 << self.bits) - 1
    }

    /// The place that a hash names: its high bits.
    #[inline]
    fn home(self, hash: u64) -> usize {
        (hash >> (64 - self.bits)) as usize
    }

    /// The bits of a hash that an entry holds, where it holds them: of the low ones.
    #[inline]
    fn tag(self, hash: u64) -> u32 {
        #[expect(clippy::cast_possible_truncation, reason = "the low bits are wanted")]
        let low = hash as u32;
        !low & !self.mask()
    }

    /// An index, which has no other bits than the mask, as an entry holds it, and the other way round.
    #[inline]
    fn inverted(self, index: u32) -> u32 {
        !index & self.mask()
    }

    /// Places of a section.
    #[inline]
    fn section(self) -> usize {
        let places = 1 << self.bits;
        if places < MANY_PLACES { places } else { places / SECTIONS }
    }
}

/// Some sections of an index, or all.
#[derive(Debug)]
pub(crate) struct Part<E> {
    shape: Shape,
    /// The number of the first of these places.
    first: usize,
    entries: E,
}

impl<E: AsRef<[u32]>> Part<E> {
    /// The entry at a hash's home.
    #[inline(always)]
    fn at_home(&self, hash: u64) -> &u32 {
        &self.entries.as_ref()[self.shape.home(hash) - self.first]
    }

    /// Has fetched what will be looked at first for a hash.
    #[inline(always)]
    pub(crate) fn prefetch(&self, hash: u64) {
        prefetch(self.at_home(hash));
    }

    /// The index at a hash's home, if that may be the one looked for.
    #[inline(always)]
    pub(crate) fn guess(&self, hash: u64) -> Option<StateId> {
        let entry = *self.at_home(hash);
        let may_be = (entry ^ self.shape.tag(hash)) >> self.shape.bits == 0 && entry != NONE;
        may_be.then_some(self.shape.inverted(entry))
    }

    /// The index with this hash for which `is_it` holds, or a free place for it.
    #[inline(always)]
    pub(crate) fn look_up(&self, hash: u64, is_it: impl Fn(StateId) -> bool) -> Result<StateId, Free> {
        let (tag, bits) = (self.shape.tag(hash), self.shape.bits);
        let (entries, within) = (self.entries.as_ref(), self.shape.section() - 1);
        // Parts begin with a section.
        let home = self.shape.home(hash) - self.first;
        let mut at = home;
        loop {
            let entry = entries[at];
            if entry == NONE {
                return Err(Free::At(at + self.first));
            }
            let id = self.shape.inverted(entry);
            if (entry ^ tag) >> bits == 0 && is_it(id) {
                return Ok(id);
            }
            at = at & !within | (at + 1) & within;
            if at == home {
                return Err(Free::Nowhere);
            }
        }
    }
}

impl<E: AsRef<[u32]> + AsMut<[u32]>> Part<E> {
    #[inline(always)]
    fn entry(&mut self, place: usize) -> &mut u32 {
        &mut self.entries.as_mut()[place - self.first]
    }

    /// Enters an index at a free place.
    #[inline(always)]
    pub(crate) fn put(&mut self, place: usize, id: StateId, hash: u64) {
        *self.entry(place) = self.shape.tag(hash) | self.shape.inverted(id);
    }
}

/// All of an index.
pub(crate) type HashIndex = Part<Pages<u32>>;

impl HashIndex {
    pub(crate) fn new() -> Self {
        Self::with_bits(SMALL[0])
    }

    fn with_bits(bits: u32) -> Self {
        Self { shape: Shape { bits }, first: 0, entries: Pages::new(1 << bits).with_large_pages() }
    }

    /// Bytes in use.
    pub(crate) fn bytes(&self) -> u64 {
        (self.entries.len() * size_of::<u32>()) as u64
    }

    /// Whether so many entries fit.
    pub(crate) fn has_room(&self, entries: usize) -> bool {
        entries <= Self::most(self.shape.bits)
    }

    /// So many entries fit: half of the places, for the sake of speed, or three quarters, where there are
    /// many. So no index has all bits set.
    fn most(bits: u32) -> usize {
        if bits < CACHED { 1 << (bits - 1) } else { 3 << (bits - 2) }
    }

    /// An index with these hashes, which are those of 0, 1, 2, … and so many, no larger than it would have
    /// grown.
    pub(crate) fn of<H: Iterator<Item = u64>>(entries: usize, hashes: impl Fn() -> H) -> Self {
        let mut bits = Self::bits_for(Growth::Sparing, entries);
        loop {
            let mut index = Self::with_bits(bits);
            if index.fill(entries, hashes()) {
                return index;
            }
            bits += 1;
        }
    }

    /// Bits that name the places of an index with room for so many entries.
    fn bits_for(growth: Growth, entries: usize) -> u32 {
        growth.bits().find(|bits| entries <= Self::most(*bits)).unwrap_or(u32::BITS)
    }

    /// Bytes of an index with room for so many entries.
    fn bytes_for(growth: Growth, entries: usize) -> u64 {
        (size_of::<u32>() as u64) << Self::bits_for(growth, entries)
    }

    /// The same, and what is needed for a moment to fill it: for each entry that is sorted, its home and
    /// itself, and an eighth to spare.
    pub(crate) fn bytes_to_make(growth: Growth, entries: usize) -> u64 {
        let bytes = Self::bytes_for(growth, entries);
        let sorted = (entries as u64).min(bytes / (size_of::<u32>() * PLACES_PER_SORTED) as u64);
        bytes + sorted * size_of::<(u32, u32)>() as u64 * 9 / 8
    }

    /// All of it as one part.
    #[inline(always)]
    pub(crate) fn whole(&mut self) -> Part<&mut [u32]> {
        Part { shape: self.shape, first: 0, entries: &mut self.entries }
    }

    /// As many parts at most, each of some sections.
    fn parts(&mut self, count: usize) -> Vec<Part<&mut [u32]>> {
        let (shape, section) = (self.shape, self.shape.section());
        let places = (self.entries.len() / section).div_ceil(count) * section;
        let parts = (0..).step_by(places).zip(self.entries.chunks_mut(places));
        parts.map(|(first, entries)| Part { shape, first, entries }).collect()
    }

    /// Makes more places and enters the hashes of 0, 1, 2, …, of which there are so many, anew, with so many
    /// threads. The old index goes first.
    pub(crate) fn grow<H: Iterator<Item = u64>>(
        &mut self,
        threads: usize,
        growth: Growth,
        entries: usize,
        hashes: impl Fn() -> H + Sync,
    ) {
        let bits = growth.bits().find(|bits| *bits > self.shape.bits).unwrap_or(u32::BITS);
        *self = Self::new();
        *self = Self::with_bits(bits);
        let parts = Mutex::new(self.parts(threads));
        let next = || parts.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let fill = || {
            while let Some(mut part) = next() {
                let has_room = part.fill(entries, hashes());
                assert!(has_room, "a table that has just grown has free places in each section");
            }
        };
        thread::scope(|scope| {
            for number in 1..threads {
                // Without them it is as good, but slower.
                let _ = thread::Builder::new().name(format!("search {number}")).spawn_scoped(scope, fill);
            }
            fill();
        });
    }
}

impl<E: AsRef<[u32]> + AsMut<[u32]>> Part<E> {
    /// Enters those of the hashes of 0, 1, 2, …, of which there are so many, that belong here, where there
    /// are none; `false` if there is no place for one.
    fn fill(&mut self, count: usize, hashes: impl Iterator<Item = u64>) -> bool {
        let (shape, first, places) = (self.shape, self.first, self.entries.as_ref().len());
        // Region after region: what is looked at for one of them is in the caches.
        let regions = places.div_ceil(REGION);
        let all = 1_usize << shape.bits;
        let most = all / PLACES_PER_SORTED;
        let each = count.min(most) / (all / REGION).max(1);
        let mut sorted = Vec::new();
        sorted.resize_with(regions, || Vec::with_capacity(each + each / 8));
        let mut hashes = (0..).zip(hashes).peekable();
        while hashes.peek().is_some() {
            let (mut some, mut count) = ([(0, 0); TOGETHER], 0);
            let mut sort = |some: &[(u32, u32)]| {
                some.iter().for_each(|(home, entry)| sorted[*home as usize / REGION].push((*home, *entry)));
            };
            for (id, hash) in hashes.by_ref().take(most) {
                let home = shape.home(hash).wrapping_sub(first);
                // Written in any case: whether a hash belongs here is as good as random, and not to be waited
                // for.
                some[count] = (to_u32(home), shape.tag(hash) | shape.inverted(id));
                count += usize::from(home < places);
                if count == TOGETHER {
                    sort(&some);
                    count = 0;
                }
            }
            sort(&some[..count]);
            for (home, entry) in sorted.iter_mut().flat_map(|region| region.drain(..)) {
                let Some(place) = self.free_from(home as usize) else { return false };
                self.entries.as_mut()[place] = entry;
            }
        }
        true
    }

    /// The free place for what has its home at a place, both counted from the first of the part.
    #[inline(always)]
    fn free_from(&self, home: usize) -> Option<usize> {
        let (entries, within) = (self.entries.as_ref(), self.shape.section() - 1);
        let mut at = home;
        while entries[at] != NONE {
            at = at & !within | (at + 1) & within;
            if at == home {
                return None;
            }
        }
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hashes that crowd some places: their high bits are those of few numbers.
    fn crowded(id: StateId) -> u64 {
        let id = u64::from(id);
        (id % 5) << 61 | id.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 4
    }

    #[test]
    fn indices_are_found_again_however_crowded_places_are_and_however_often_the_table_grows() {
        let mut index = HashIndex::new();
        for id in 0..3000 {
            while !index.has_room(id as usize + 1) {
                index.grow(1 + id as usize % 3, Growth::Sparing, id as usize, || (0..id).map(crowded));
            }
            let Err(Free::At(place)) = index.look_up(crowded(id), |other| other == id) else {
                panic!("{id}")
            };
            index.put(place, id, crowded(id));
        }
        for id in 0..3000 {
            assert_eq!(index.look_up(crowded(id), |other| other == id), Ok(id));
        }
        assert!(matches!(index.look_up(crowded(3000), |_| false), Err(Free::At(_))));
    }

    #[test]
    fn tables_pass_over_a_size_only_where_there_is_plenty_of_memory() {
        let sizes = |growth| [700_000, 800_000, 3_000_000, 4_000_000].map(|n| HashIndex::bits_for(growth, n));
        assert_eq!(sizes(Growth::within(Some(PLENTY - 1))), [20, 22, 22, 24]);
        assert_eq!(sizes(Growth::within(Some(PLENTY))), [20, 24, 24, 24]);
        assert_eq!(Growth::within(None), Growth::Lavish);
    }

    #[test]
    fn a_section_that_is_full_has_no_place() {
        let mut index = HashIndex::new();
        for id in 0..1 << 10 {
            let Err(Free::At(place)) = index.look_up(0, |_| false) else { panic!("{id}") };
            index.put(place, id, 0);
        }
        assert_eq!(index.look_up(0, |_| false), Err(Free::Nowhere));
    }

    #[test]
    fn parts_have_every_place_once_and_whole_sections() {
        let mut index = HashIndex::new();
        for _ in 0..10 {
            index.grow(1, Growth::Sparing, 0, std::iter::empty);
        }
        let (section, places) = (index.shape.section(), index.entries.len());
        for count in [1, 2, 3, 64, 100] {
            let parts = index.parts(count);
            assert!(parts.len() <= count && parts.iter().all(|part| part.entries.len() % section == 0));
            assert_eq!(parts.iter().map(|part| part.entries.len()).sum::<usize>(), places);
            let hash = 0xffff_u64 << 48;
            let has = |part: &Part<&mut [u32]>| {
                (part.first..part.first + part.entries.len()).contains(&part.shape.home(hash))
            };
            assert_eq!(parts.iter().filter(|part| has(part)).count(), 1);
        }
    }
}

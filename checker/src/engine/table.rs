//! Where states are found again: indices by hash, sixteen to a line of the cache.
//!
//! The high bits of a hash name a line, its home; if that is full, the next one that is not is taken. Nothing is ever
//! taken out from between, so a line is filled from its beginning, and a line that is not full has never been passed over: a
//! search ends there. Lines are passed over within a section only, the last of which is followed by the first. So
//! sections have nothing to do with one another, and several threads may each have some of them.

/// The index of a state in its store.
pub(super) type StateId = u32;

/// Entries of a line.
const WIDTH: usize = 16;

/// A free entry.
const NONE: u32 = u32::MAX;

/// Tables of fewer lines than this are one section, others have [`SECTIONS`].
const MANY_LINES: usize = 1 << 12;

/// Sections of a large table.
const SECTIONS: usize = 64;

/// So many hashes are asked for together, so that the misses of the cache overlap.
const TOGETHER: usize = 64;

/// A line of the cache.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Line([u32; WIDTH]);

impl Line {
    const FREE: Self = Self([NONE; WIDTH]);

    /// Entries in use: they come before all that are free.
    #[inline(always)]
    fn used(&self) -> usize {
        // Neither this nor `has_tag` ends early: they are one comparison of all entries at once.
        self.0.iter().map(|entry| usize::from(*entry != NONE)).sum()
    }

    /// Whether some entry, one in use or not, has the tag.
    #[inline(always)]
    fn has_tag(&self, tag: u32, bits: u32) -> bool {
        self.0.iter().fold(false, |found, entry| found | ((entry ^ tag) >> bits == 0))
    }
}

/// Where there is no such state: a place for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Free {
    /// An entry, counted over all lines.
    At(usize),
    /// The whole section is full.
    Nowhere,
}

/// How a table of some length is laid out. An entry holds an index in its low bits, as many as it takes to number all
/// entries. In the others are the bits of the hash that follow those which name the home, so that most states that differ are
/// told apart without being looked at, and so that the table can grow by a bit without asking for most hashes.
#[derive(Clone, Copy, Debug)]
struct Shape {
    /// Bits that name a line.
    naming: u32,
}

impl Shape {
    /// Bits of an index.
    #[inline]
    fn bits(self) -> u32 {
        self.naming + WIDTH.trailing_zeros()
    }

    #[inline]
    fn mask(self) -> u32 {
        (1 << self.bits()) - 1
    }

    /// The line that a hash names.
    #[inline]
    fn home(self, hash: u64) -> usize {
        (hash >> (64 - self.naming)) as usize
    }

    /// The bits of a hash that an entry holds, where it holds them.
    #[inline]
    fn tag(self, hash: u64) -> u32 {
        (hash << self.naming >> 32) as u32 & !self.mask()
    }

    /// Lines of a section.
    #[inline]
    fn section(self) -> usize {
        let lines = 1 << self.naming;
        if lines < MANY_LINES { lines } else { lines / SECTIONS }
    }

    /// The line to look at after this one.
    #[inline]
    fn after(self, line: usize) -> usize {
        let within = self.section() - 1;
        line & !within | (line + 1) & within
    }
}

/// Some sections of a table, or all.
#[derive(Debug)]
pub(super) struct Part<L> {
    shape: Shape,
    /// The number of the first of these lines.
    first: usize,
    lines: L,
}

impl<L: AsRef<[Line]>> Part<L> {
    #[inline(always)]
    fn line(&self, number: usize) -> &Line {
        &self.lines.as_ref()[number - self.first]
    }

    /// Whether a hash belongs here.
    #[inline(always)]
    pub(super) fn has(&self, hash: u64) -> bool {
        self.shape.home(hash).wrapping_sub(self.first) < self.lines.as_ref().len()
    }

    /// Reads from the line that will be looked at for a hash.
    #[inline(always)]
    pub(super) fn touch(&self, hash: u64) -> u32 {
        self.line(self.shape.home(hash)).0[0]
    }

    /// The first index in a hash's home that may be the one looked for.
    #[inline(always)]
    pub(super) fn guess(&self, hash: u64) -> Option<StateId> {
        let (tag, bits) = (self.shape.tag(hash), self.shape.bits());
        let line = self.line(self.shape.home(hash));
        if !line.has_tag(tag, bits) {
            return None;
        }
        let entry = line.0.iter().find(|entry| (*entry ^ tag) >> bits == 0 && **entry != NONE);
        entry.map(|entry| entry & self.shape.mask())
    }

    /// The index with this hash for which `is_it` holds, or a free place for it.
    #[inline(always)]
    pub(super) fn look_up(&self, hash: u64, is_it: impl Fn(StateId) -> bool) -> Result<StateId, Free> {
        let (tag, bits, mask) = (self.shape.tag(hash), self.shape.bits(), self.shape.mask());
        let home = self.shape.home(hash);
        let mut at = home;
        loop {
            let line = self.line(at);
            let used = line.used();
            if line.has_tag(tag, bits) {
                let entries = line.0[..used].iter().filter(|entry| (*entry ^ tag) >> bits == 0);
                if let Some(id) = entries.map(|entry| entry & mask).find(|id| is_it(*id)) {
                    return Ok(id);
                }
            }
            if used < WIDTH {
                return Err(Free::At(at * WIDTH + used));
            }
            at = self.shape.after(at);
            if at == home {
                return Err(Free::Nowhere);
            }
        }
    }
}

impl<L: AsRef<[Line]> + AsMut<[Line]>> Part<L> {
    #[inline(always)]
    fn entry(&mut self, place: usize) -> &mut u32 {
        &mut self.lines.as_mut()[place / WIDTH - self.first].0[place % WIDTH]
    }

    /// Enters an index at a free place.
    #[inline(always)]
    pub(super) fn put(&mut self, place: usize, id: StateId, hash: u64) {
        *self.entry(place) = self.shape.tag(hash) | id;
    }

    /// Gives an entry another index.
    #[inline(always)]
    pub(super) fn renumber(&mut self, place: usize, id: StateId) {
        let mask = self.shape.mask();
        let entry = self.entry(place);
        *entry = *entry & !mask | id;
    }

    /// Takes out what was entered last in its line.
    pub(super) fn take_back(&mut self, place: usize) {
        *self.entry(place) = NONE;
    }
}

/// All of a table.
pub(super) type Table = Part<Vec<Line>>;

impl Table {
    pub(super) fn new() -> Self {
        let shape = Shape { naming: 4 };
        Self { shape, first: 0, lines: vec![Line::FREE; 1 << shape.naming] }
    }

    /// Bytes in use.
    pub(super) fn bytes(&self) -> u64 {
        (self.lines.len() * size_of::<Line>()) as u64
    }

    /// Whether so many entries fit. At most three quarters are used, so no index has all bits set.
    pub(super) fn has_room(&self, entries: usize) -> bool {
        entries * 4 <= self.lines.len() * WIDTH * 3
    }

    /// About so many parts, each of at least a section.
    pub(super) fn parts(&mut self, count: usize) -> Vec<Part<&mut [Line]>> {
        let (shape, section) = (self.shape, self.shape.section());
        let sections = self.lines.len() / section;
        let lines = sections.div_ceil(count) * section;
        let parts = (0..).step_by(lines).zip(self.lines.chunks_mut(lines));
        parts.map(|(first, lines)| Part { shape, first, lines }).collect()
    }

    /// Doubles the lines: each is split by the next bit of the hash, the last line first, so that those written to have
    /// been read. An entry's home is its line, if the line before that is not full; else `hash_of` has to say.
    pub(super) fn grow(&mut self, hash_of: impl Fn(StateId) -> u64) {
        let (old, count) = (self.shape, self.lines.len());
        let full: Vec<bool> = self.lines.iter().map(|line| line.used() == WIDTH).collect();
        self.shape.naming += 1;
        self.lines.resize(2 * count, Line::FREE);
        let mut left = Vec::new();
        for at in (0..count).rev() {
            let line = std::mem::replace(&mut self.lines[at], Line::FREE);
            let entries = &line.0[..line.used()];
            let within = old.section() - 1;
            if full[at & !within | at.wrapping_sub(1) & within] {
                left.extend(entries.iter().map(|entry| entry & old.mask()));
                continue;
            }
            for entry in entries {
                // The bits of the hash that are known: they are all that a table of twice the size needs.
                let known = (at as u64) << 32 | u64::from(entry & !old.mask());
                if !self.enter(entry & old.mask(), known << (32 - old.naming), at) {
                    left.push(entry & old.mask());
                }
            }
        }
        for some in left.chunks(TOGETHER) {
            let mut hashes = [0; TOGETHER];
            for (hash, id) in hashes.iter_mut().zip(some) {
                *hash = hash_of(*id);
            }
            for (hash, id) in hashes.iter().zip(some) {
                self.enter(*id, *hash, 0);
            }
        }
    }

    /// Enters an index, unless that takes a line before `least`.
    fn enter(&mut self, id: StateId, hash: u64, least: usize) -> bool {
        let home = self.shape.home(hash);
        let mut at = home;
        loop {
            if at < least {
                return false;
            }
            let used = self.lines[at].used();
            if used < WIDTH {
                self.put(at * WIDTH + used, id, hash);
                return true;
            }
            at = self.shape.after(at);
            assert_ne!(at, home, "a table that has just grown has free places in each section");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hashes that crowd some lines: their high bits are those of few numbers.
    fn crowded(id: StateId) -> u64 {
        let id = u64::from(id);
        (id % 5) << 61 | id.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 4
    }

    #[test]
    fn indices_are_found_again_however_crowded_lines_are_and_however_often_the_table_grows() {
        let mut table = Table::new();
        for id in 0..3000 {
            while !table.has_room(id as usize + 1) {
                table.grow(crowded);
            }
            let Err(Free::At(place)) = table.look_up(crowded(id), |other| other == id) else {
                panic!("{id}")
            };
            table.put(place, id, crowded(id));
        }
        for id in 0..3000 {
            assert_eq!(table.look_up(crowded(id), |other| other == id), Ok(id));
        }
        assert!(matches!(table.look_up(crowded(3000), |_| false), Err(Free::At(_))));
    }

    #[test]
    fn a_section_that_is_full_has_no_place() {
        let mut table = Table::new();
        for id in 0..(1 << 4) * WIDTH {
            let Err(Free::At(place)) = table.look_up(0, |_| false) else { panic!("{id}") };
            table.put(place, id as StateId, 0);
        }
        assert_eq!(table.look_up(0, |_| false), Err(Free::Nowhere));
    }

    #[test]
    fn parts_have_every_line_once_and_whole_sections() {
        let mut table = Table::new();
        for _ in 0..10 {
            table.grow(|_| 0);
        }
        let (section, lines) = (table.shape.section(), table.lines.len());
        for count in [1, 2, 3, 64, 100] {
            let parts = table.parts(count);
            assert!(parts.len() <= count && parts.iter().all(|part| part.lines.len() % section == 0));
            assert_eq!(parts.iter().map(|part| part.lines.len()).sum::<usize>(), lines);
            let hash = 0xffff_u64 << 48;
            assert_eq!(parts.iter().filter(|part| part.has(hash)).count(), 1);
        }
    }
}

//! Data races on shared memory: for each byte the last writes and what was read since, and for each warp what
//! it knows of the others by the barriers it has passed (Flanagan and Freund, FastTrack, 2009).
//!
//! Warps are the agents: lanes of one warp do not race, and a fence by one of them is one of the warp. Atomic
//! operations order nothing here, nor do exits; bulk and tensor copies move no bytes in the emulator and are
//! left out.

use std::collections::HashMap;

/// How far each warp has come: the number of its releases, from 1. Zero is nothing at all.
pub type Clock = Vec<u32>;

/// How memory is accessed. What is strong does not race with what is strong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum How {
    Read,
    Write,
    StrongRead,
    StrongWrite,
    /// A read and a write.
    Atomic,
    /// A write by `cp.async`, at some time before its lane has waited for it (PTX ISA, cp.async).
    Fill,
}

impl How {
    fn writes(self) -> bool {
        !matches!(self, Self::Read | Self::StrongRead)
    }

    fn is_strong(self) -> bool {
        !matches!(self, Self::Read | Self::Write | Self::Fill)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Access {
    pub warp: usize,
    pub line: usize,
    pub how: How,
}

/// Two accesses to a byte that conflict, and no barrier orders them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Race {
    pub earlier: Access,
    pub later: Access,
    /// The first byte at which they meet.
    pub byte: u64,
}

/// What somebody synchronises by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Through {
    /// One of the sixteen barriers.
    Named(u64),
    /// A phase of an mbarrier that is not over; the last that is.
    Open(u64),
    Over(u64),
}

/// An access to a byte that later ones are held against.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Entry {
    by: Access,
    /// How far the warp had come.
    time: u32,
    /// The lane that has not waited for its copy yet.
    waits: Option<u8>,
    /// What is stored, if it is one value for all lanes.
    value: Option<u8>,
}

const PAGE: u64 = 1024;
/// Pairs of lines that are kept.
const MOST: usize = 64;

/// What is touched by a lane.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    pub lane: u8,
    pub first: u64,
    pub bytes: u32,
    /// What is stored there, if it is one value for all lanes.
    pub value: Option<u64>,
}

/// A copy for which its lane has not waited.
#[derive(Clone, Copy, Debug)]
struct Copy {
    range: Range,
    /// How many groups its lane has made behind its own; none if it is in no group.
    newer: Option<u64>,
}

pub struct Races {
    clocks: Vec<Clock>,
    /// How far each warp knew that all were when it last executed a fence.
    fenced: Vec<Clock>,
    /// Of each warp.
    copies: Vec<Vec<Copy>>,
    released: HashMap<Through, Clock>,
    pages: HashMap<u64, Vec<Vec<Entry>>>,
    pub found: Vec<Race>,
    /// Somebody has asked memory what others have done: the result of an atomic operation, a strong load.
    pub asks: bool,
}

impl Races {
    pub fn new(warps: usize) -> Self {
        let clock = |warp: usize| (0..warps).map(|other| u32::from(other == warp)).collect();
        Self {
            clocks: (0..warps).map(clock).collect(),
            fenced: vec![Clock::new(); warps],
            copies: vec![Vec::new(); warps],
            released: HashMap::new(),
            pages: HashMap::new(),
            found: Vec::new(),
            asks: false,
        }
    }

    /// What a warp has done so far happens before whatever acquires this.
    pub fn release(&mut self, warp: usize, through: Through) {
        let clock = self.leave(warp);
        self.publish(&clock, through);
    }

    /// What a warp has done so far, to be published later.
    pub fn leave(&mut self, warp: usize) -> Clock {
        let clock = self.clocks[warp].clone();
        self.clocks[warp][warp] += 1;
        clock
    }

    /// What a warp has done so far is what its relaxed arrivals publish from here on. There is one group, so
    /// that every fence reaches far enough.
    pub fn fence(&mut self, warp: usize) {
        let clock = self.leave(warp);
        join(&mut self.fenced[warp], &clock);
    }

    /// A relaxed arrival: with the fences before it, it releases what was done before them (PTX ISA, memory
    /// consistency model, release patterns).
    pub fn release_fenced(&mut self, warp: usize, through: Through) {
        join(self.released.entry(through).or_default(), &self.fenced[warp]);
    }

    pub fn publish(&mut self, clock: &Clock, through: Through) {
        join(self.released.entry(through).or_default(), clock);
    }

    pub fn acquire(&mut self, warp: usize, through: Through) {
        if let Some(clock) = self.released.get(&through) {
            join(&mut self.clocks[warp], clock);
        }
    }

    /// A barrier is idle again.
    pub fn forget(&mut self, through: Through) {
        self.released.remove(&through);
    }

    /// A phase of an mbarrier is over.
    pub fn phase_is_over(&mut self, at: u64) {
        let clock = self.released.remove(&Through::Open(at)).unwrap_or_default();
        self.released.insert(Through::Over(at), clock);
    }

    /// The copies of these lanes that are in no group become one.
    pub fn commit(&mut self, warp: usize, lanes: u32) {
        for copy in self.copies[warp].iter_mut().filter(|copy| lanes >> copy.range.lane & 1 == 1) {
            copy.newer = Some(copy.newer.map_or(0, |newer| newer + 1));
        }
    }

    /// These lanes wait for all groups but so many of the newest, or for all copies.
    pub fn wait(&mut self, warp: usize, lanes: u32, but: Option<u64>) {
        let is_over = |copy: &Copy| {
            lanes >> copy.range.lane & 1 == 1
                && but.is_none_or(|but| copy.newer.is_some_and(|newer| newer >= but))
        };
        let (over, left): (Vec<_>, Vec<_>) = self.copies[warp].drain(..).partition(is_over);
        self.copies[warp] = left;
        let now = self.clocks[warp][warp];
        for range in over.into_iter().map(|copy| copy.range) {
            for at in (0..u64::from(range.bytes)).map(|place| range.first.wrapping_add(place)) {
                let page = self.pages.get_mut(&(at / PAGE));
                let entries = page.map(|page| &mut page[(at % PAGE) as usize]);
                let is_it = |entry: &&mut Entry| (entry.by.warp, entry.waits) == (warp, Some(range.lane));
                for entry in entries.into_iter().flatten().filter(is_it) {
                    (entry.waits, entry.time) = (None, now);
                }
            }
        }
    }

    /// A warp touches memory.
    pub fn touch(&mut self, by: Access, ranges: &[Range]) {
        if by.how == How::Fill {
            let copies = ranges.iter().map(|range| Copy { range: *range, newer: None });
            self.copies[by.warp].extend(copies);
        }
        let Self { clocks, pages, found, .. } = self;
        let clock = &clocks[by.warp];
        for range in ranges {
            for place in 0..u64::from(range.bytes) {
                let at = range.first.wrapping_add(place);
                let page = pages.entry(at / PAGE).or_insert_with(|| vec![Vec::new(); PAGE as usize]);
                let value = range.value.map(|value| (value >> (8 * (place & 7))) as u8);
                let waits = (by.how == How::Fill).then_some(range.lane);
                let entry = Entry { by, time: clock[by.warp], waits, value };
                touch(&mut page[(at % PAGE) as usize], entry, clock, |earlier| {
                    let is_known =
                        |race: &Race| (race.earlier.line, race.later.line) == (earlier.line, by.line);
                    if found.len() < MOST && !found.iter().any(is_known) {
                        found.push(Race { earlier, later: by, byte: at });
                    }
                });
            }
        }
    }
}

fn join(clock: &mut Clock, other: &Clock) {
    clock.resize(clock.len().max(other.len()), 0);
    for (mine, theirs) in clock.iter_mut().zip(other) {
        *mine = (*mine).max(*theirs);
    }
}

/// Holds an access against those before it, and keeps it for those behind it.
fn touch(byte: &mut Vec<Entry>, new: Entry, clock: &Clock, mut race: impl FnMut(Access)) {
    if byte.last() == Some(&new) {
        return;
    }
    byte.retain(|old| {
        let is_own = old.by.warp == new.by.warp;
        let is_ordered = match old.waits {
            Some(_) => is_own && new.by.how == How::Fill,
            None => is_own || old.time <= clock[old.by.warp],
        };
        if is_ordered {
            // A write stands for all before it, except that what is strong does not race with all.
            let replaces = (old.by.warp, old.by.how) == (new.by.warp, new.by.how);
            return !(replaces || new.by.how.writes() && (!new.by.how.is_strong() || old.by.how.is_strong()));
        }
        let conflict = old.by.how.writes() || new.by.how.writes();
        let is_same = old.value.is_some() && old.value == new.value;
        if !conflict || old.by.how.is_strong() && new.by.how.is_strong() || is_same {
            return true;
        }
        race(old.by);
        !new.by.how.writes()
    });
    byte.push(new);
}

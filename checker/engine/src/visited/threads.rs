//! Several threads make states and add them, and the store comes out as if one had done it.
//!
//! Each thread makes the states of its share and sorts them by the parts of the table, one for each thread. Then each enters
//! those that belong to its part, share after share, under the numbers that they would have if all were new. So of equal
//! states, which belong to the same part, the first is entered, as by one thread alone. Then the states entered are counted in
//! order, and get the numbers that one thread would have given.

use super::{Away, FAMILY, Pieces, Store, TOGETHER};
use crate::packed::layout::{Packed, hash};
use crate::packed::numbering::to_u32;
use crate::parallel::team::{Meeting, Team};
use crate::visited::filter::Batch;
use crate::visited::index::{Cut, Free, Part, StateId};
use barcheck_prefetch::prefetch;

/// The states that a thread makes, in order.
#[derive(Debug, Default)]
pub(crate) struct Share<const W: usize> {
    pub(crate) made: Batch<W>,
    /// Where each run of them begins, and a state from which on its parents are to be looked for.
    runs: Vec<(u32, StateId)>,
    /// The states whose successors are missing, in order.
    pub(crate) holes: Vec<Hole>,
    /// Transitions from its states, from those with holes aside.
    pub(crate) transitions: u64,
}

/// A part of a share.
pub(crate) enum Made<'s, const W: usize> {
    /// States, and one from which on their parents are to be looked for.
    Run(&'s [Packed<W>], StateId),
    Hole(&'s Hole),
}

/// A state whose successors are missing in a share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hole {
    pub(crate) state: StateId,
    /// The runs that come before.
    runs: usize,
    /// The transitions that come before.
    pub(crate) transitions: u64,
}

impl<const W: usize> Share<W> {
    /// Empties it.
    pub(crate) fn clear(&mut self) {
        self.made.clear();
        self.runs.clear();
        self.holes.clear();
        self.transitions = 0;
    }

    /// All runs and holes in order, until something is returned.
    pub(crate) fn each<T>(&self, mut act: impl FnMut(Made<'_, W>) -> Option<T>) -> Option<T> {
        let mut holes = self.holes.iter().peekable();
        for (number, (from, end, parent)) in self.each_run().enumerate() {
            while let Some(hole) = holes.next_if(|hole| hole.runs <= number) {
                if let Some(end) = act(Made::Hole(hole)) {
                    return Some(end);
                }
            }
            if let Some(end) = act(Made::Run(&self.made.states()[from..end], parent)) {
                return Some(end);
            }
        }
        holes.find_map(|hole| act(Made::Hole(hole)))
    }

    /// What has been made from some place on is a run whose parents are no earlier than a state.
    pub(crate) fn end_run(&mut self, from: usize, parent: StateId) {
        if self.made.len() > from {
            self.runs.push((to_u32(from), parent));
        }
    }

    /// The successors of a state are missing, behind the last run.
    pub(crate) fn leave_hole(&mut self, state: StateId) {
        self.holes.push(Hole { state, runs: self.runs.len(), transitions: self.transitions });
    }

    /// The same states, with what fills each hole. Ends behind a hole for which something is returned, with that.
    pub(crate) fn filled<T>(
        &self,
        mut fill: impl FnMut(&Hole, &mut Batch<W>) -> Option<T>,
    ) -> (Self, Option<T>) {
        let (mut all, mut batch) = (Self::default(), Batch::default());
        let end = self.each(|made| {
            let from = all.made.len();
            let (states, parent, end) = match made {
                Made::Run(states, parent) => (states, parent, None),
                Made::Hole(hole) => {
                    batch.clear();
                    let end = fill(hole, &mut batch);
                    (batch.states(), hole.state, end)
                }
            };
            all.made.extend(states);
            all.end_run(from, parent);
            end
        });
        (all, end)
    }

    /// The runs, each with the first of its states and what lies behind it.
    fn each_run(&self) -> impl Iterator<Item = (usize, usize, StateId)> {
        let ends = self.runs.iter().skip(1).map(|(from, _)| *from as usize).chain([self.made.len()]);
        self.runs.iter().zip(ends).map(|((from, parent), end)| (*from as usize, end, *parent))
    }

    /// The hashes of its states, by the parts of the table that they belong to, and where the states are.
    #[inline(never)]
    fn sorted(&self, cut: &Cut) -> Vec<Vec<(u64, u32)>> {
        let mut parts: Vec<_> =
            (0..cut.parts()).map(|_| Vec::with_capacity(self.made.len() / cut.parts())).collect();
        for (at, words) in (0..).zip(self.made.states()) {
            let hash = hash(words);
            parts[cut.part(hash)].push((hash, at));
        }
        parts
    }

    /// Bytes in use, and those needed for a moment to add its states.
    pub(crate) fn bytes(&self) -> usize {
        let each = 2 * size_of::<Packed<W>>() + size_of::<(u64, u32)>() + size_of::<(u32, u32)>();
        self.made.bytes() + self.made.len() * each + self.runs.capacity() * size_of::<(u32, StateId)>()
    }
}

/// The states that there are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct States<'s, const W: usize> {
    here: &'s Pieces<W>,
    base: usize,
    away: Option<&'s Away<W>>,
}

impl<const W: usize> States<'_, W> {
    #[inline]
    pub(crate) fn get(&self, id: StateId) -> Packed<W> {
        match (id as usize).checked_sub(self.base) {
            Some(at) => *self.here.get(at),
            None => self.away.map_or([0; W], |away| away.get(id)),
        }
    }
}

/// What a thread has entered into its part.
#[derive(Debug, Default)]
struct Entered {
    /// Which of all states made, in order, and where they are in the table.
    states: Vec<(u32, u32)>,
    /// The same, a bit for each state made.
    bits: Vec<u64>,
    /// There was no place for one.
    is_full: bool,
}

/// States that are new, a bit for each of those made.
struct New {
    bits: Vec<u64>,
    /// How many come before each word.
    before: Vec<u32>,
}

impl New {
    #[inline(never)]
    fn of(entered: &[&Entered], count: usize) -> Self {
        let word = |at| entered.iter().filter_map(|one| one.bits.get(at)).fold(0, |bits, more| bits | more);
        let bits: Vec<u64> = (0..count.div_ceil(64)).map(word).collect();
        let ones = bits.iter().map(|bits| bits.count_ones());
        let before = ones.scan(0, |sum, ones| Some(std::mem::replace(sum, *sum + ones))).collect();
        Self { bits, before }
    }

    /// How many come before one.
    fn rank(&self, at: usize) -> u32 {
        self.before[at / 64] + (self.bits[at / 64] & ((1 << (at % 64)) - 1)).count_ones()
    }

    fn has(&self, at: usize) -> bool {
        self.bits[at / 64] >> (at % 64) & 1 == 1
    }
}

/// The states of a share that are new, and how many come before the end of each run, with its parent.
#[derive(Debug, Default)]
struct Fresh<const W: usize> {
    states: Vec<Packed<W>>,
    runs: Vec<(usize, StateId)>,
}

impl<const W: usize> Fresh<W> {
    #[inline(never)]
    fn of(share: &Share<W>, offset: usize, new: &New) -> Self {
        let mut fresh = Self::default();
        fresh.states.reserve(share.made.len());
        for (from, end, parent) in share.each_run() {
            for (at, words) in (offset + from..offset + end).zip(&share.made.states()[from..end]) {
                if new.has(at) {
                    fresh.states.push(*words);
                }
            }
            fresh.runs.push((fresh.states.len(), parent));
        }
        fresh
    }
}

impl<const W: usize> Store<W> {
    /// Adds the states that the threads of a team make, each from a thing of its own, as [`Store::insert_all`] does share after
    /// share, if no share has holes, there are no more than `most` states in all, and the table need not grow. Says whether
    /// it did, and returns the shares.
    pub(crate) fn add_together<T: Send>(
        &mut self,
        team: &Team,
        most: usize,
        things: Vec<T>,
        make: impl Fn(usize, T, States<'_, W>) -> Share<W> + Sync,
    ) -> (Vec<Share<W>>, bool) {
        let (base, threads) = (self.len, team.len());
        let (cut, most) = (self.table.cut(threads), most.min(self.table.room().saturating_sub(base)));
        let (made, sorted) = (Meeting::new(threads), Meeting::new(threads));
        let (entered, fresh) = (Meeting::new(threads), Meeting::new(threads));
        let states = States { here: &self.states, base: self.base, away: self.away.as_deref() };
        let is_here = self.away.is_none();
        let work = |number: usize, thing: T, mut part: Option<Part<&mut [u32]>>| -> Option<()> {
            let shares = made.bring(number, || make(number, thing, states))?;
            let all = All::of(shares, states.here, base);
            if !is_here || all.count > most || all.shares.iter().any(|share| !share.holes.is_empty()) {
                return None;
            }
            let sorted = sorted.bring(number, || all.shares[number].sorted(&cut))?;
            let entered = entered.bring(number, || {
                let enter = |part| all.enter(sorted.iter().map(|parts| &parts[number][..]), part);
                part.as_mut().map(enter).unwrap_or_default()
            })?;
            let mine = part.as_mut().map(|part| (part, &entered[number].states));
            if entered.iter().any(|one| one.is_full) {
                mine.into_iter().for_each(|(part, states)| take_back(part, states));
                return None;
            }
            let new = New::of(&entered, all.count);
            fresh.bring(number, || {
                mine.into_iter().for_each(|(part, states)| renumber(part, states, base, &new));
                Fresh::of(all.shares[number], all.offsets[number], &new)
            })?;
            Some(())
        };
        let mut parts: Vec<_> = self.table.parts(&cut).into_iter().map(Some).collect();
        parts.resize_with(threads, || None);
        team.work(things.into_iter().zip(parts).collect(), |number, (thing, part)| {
            work(number, thing, part);
        });
        let fresh: Vec<Fresh<W>> = fresh.into_all().collect();
        let is_added = !fresh.is_empty();
        if is_added {
            self.push_together(team, fresh);
        }
        (made.into_all().collect(), is_added)
    }

    /// Adds the states of a share that are new; they are not in the table yet.
    pub(crate) fn insert_share(&mut self, share: &Share<W>) {
        for (from, end, parent) in share.each_run() {
            self.insert_all(&share.made.states()[from..end], parent);
        }
    }

    /// Adds states that are in the table, those of each thread after those of the one before.
    fn push_together(&mut self, team: &Team, fresh: Vec<Fresh<W>>) {
        for Fresh { runs, .. } in &fresh {
            let first = self.len;
            for (end, parent) in runs {
                self.len = first + end;
                self.parents.resize(self.len.div_ceil(FAMILY), *parent);
            }
        }
        let rooms = self.states.room_for(fresh.iter().map(|fresh| fresh.states.len()));
        // Most of the time goes into pages that are touched for the first time.
        team.work(fresh.into_iter().zip(rooms).collect(), |_, (fresh, rooms)| {
            let mut states = &fresh.states[..];
            for room in rooms {
                let (now, later) = states.split_at(room.len());
                room.copy_from_slice(now);
                states = later;
            }
        });
    }
}

/// All shares, one after the other.
struct All<'s, const W: usize> {
    shares: Vec<&'s Share<W>>,
    /// How many states come before those of each share.
    offsets: Vec<usize>,
    count: usize,
    here: &'s Pieces<W>,
    /// States that were there before.
    base: usize,
}

impl<'s, const W: usize> All<'s, W> {
    fn of(shares: Vec<&'s Share<W>>, here: &'s Pieces<W>, base: usize) -> Self {
        let lens = shares.iter().map(|share| share.made.len());
        let offsets = lens.scan(0, |sum, len| Some(std::mem::replace(sum, *sum + len))).collect();
        Self { count: shares.iter().map(|share| share.made.len()).sum(), shares, offsets, here, base }
    }

    /// Whether the state with a number is this one.
    #[inline(always)]
    fn is(&self, id: StateId, words: &Packed<W>) -> bool {
        match (id as usize).checked_sub(self.base) {
            None => self.here.get(id as usize) == words,
            Some(at) => {
                let share = self.offsets.partition_point(|offset| *offset <= at) - 1;
                self.shares[share].made.states()[at - self.offsets[share]] == *words
            }
        }
    }

    /// Enters the states that belong to a part and are new.
    #[inline(never)]
    fn enter<'l>(
        &self,
        mine: impl Iterator<Item = &'l [(u64, u32)]>,
        part: &mut Part<&mut [u32]>,
    ) -> Entered {
        let mut entered = Entered { bits: vec![0; self.count.div_ceil(64)], ..Entered::default() };
        for ((share, offset), mine) in self.shares.iter().zip(&self.offsets).zip(mine) {
            let made = share.made.states();
            for some in mine.chunks(TOGETHER) {
                // As in `Store::insert_all`, what will be looked at is fetched before any of it is needed.
                some.iter().for_each(|(hash, _)| part.prefetch(*hash));
                for (hash, _) in some {
                    if let Some(id) = part.guess(*hash).map(|id| id as usize).filter(|id| *id < self.base) {
                        prefetch(&self.here.get(id)[0]);
                    }
                }
                for (hash, at) in some {
                    let words = &made[*at as usize];
                    match part.look_up(*hash, |id| self.is(id, words)) {
                        Ok(_) => {}
                        Err(Free::Nowhere) => return Entered { is_full: true, ..entered },
                        Err(Free::At(place)) => {
                            let at = offset + *at as usize;
                            part.put(place, to_u32(self.base + at), *hash);
                            entered.bits[at / 64] |= 1 << (at % 64);
                            entered.states.push((to_u32(at), to_u32(place)));
                        }
                    }
                }
            }
        }
        entered
    }
}

fn take_back(part: &mut Part<&mut [u32]>, states: &[(u32, u32)]) {
    states.iter().rev().for_each(|(_, place)| part.take_back(*place as usize));
}

fn renumber(part: &mut Part<&mut [u32]>, states: &[(u32, u32)], base: usize, new: &New) {
    for (at, place) in states {
        part.renumber(*place as usize, to_u32(base) + new.rank(*at as usize));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that come again and again, in runs of 100, for some shares.
    fn shares(count: u64, shares: usize) -> Vec<Share<1>> {
        let runs = count / 100;
        let mut all: Vec<Share<1>> = (0..shares).map(|_| Share::default()).collect();
        for run in 0..runs {
            let share = &mut all[(run * shares as u64 / runs) as usize];
            let from = share.made.len();
            (run * 100..run * 100 + 100).for_each(|n| share.made.push([n.wrapping_mul(n) % 70_001 * 3]));
            share.end_run(from, 20_000 + run as StateId / 2);
        }
        all
    }

    #[test]
    fn any_number_of_threads_leaves_the_store_that_one_leaves() {
        let mut alone = Store::<1>::new();
        for n in 0..60_000 {
            alone.insert([n], n as StateId / 3);
        }
        let copy = |store: &Store<1>| Store::filled(store.states(), None);
        let before = copy(&alone);
        alone.insert_share(&shares(120_000, 1)[0]);
        for threads in [2, 3, 5, 64] {
            let team = Team::new(threads).expect("threads");
            let mut store = copy(&before);
            loop {
                let all = shares(120_000, threads);
                let (shares, is_added) = store.add_together(&team, usize::MAX, all, |_, share, _| share);
                assert_eq!(shares.iter().map(|share| share.made.len()).sum::<usize>(), 120_000);
                if is_added {
                    break;
                }
                assert_eq!(store.len(), before.len());
                store.grow();
            }
            assert_eq!(store.states().collect::<Vec<_>>(), alone.states().collect::<Vec<_>>());
            for id in 0..store.len() as StateId {
                assert_eq!(store.find(&alone.get(id)), Some(id));
            }
            assert_eq!(store.find(&[1 << 40]), None);
        }
    }

    #[test]
    fn shares_with_holes_or_too_many_states_are_returned_and_nothing_is_added() {
        let team = Team::new(2).expect("threads");
        for (has_hole, most) in [(true, usize::MAX), (false, 50)] {
            let mut store = Store::<1>::new();
            store.insert([0], 0);
            let make = |number: usize, (): (), states: States<'_, 1>| {
                assert_eq!(states.get(0), [0]);
                let mut share = Share::default();
                (0..100).for_each(|n| share.made.push([n + number as u64]));
                share.end_run(0, 0);
                if has_hole && number == 1 {
                    share.leave_hole(7);
                }
                share
            };
            let (shares, is_added) = store.add_together(&team, most, vec![(); 2], make);
            assert!(!is_added && shares.len() == 2 && store.len() == 1);
            shares.iter().for_each(|share| store.insert_share(share));
            assert_eq!(store.len(), 101);
        }
    }

    #[test]
    fn holes_are_filled_where_they_are() {
        let mut share = Share::<1>::default();
        share.leave_hole(1);
        for n in 0..3 {
            let from = share.made.len();
            (0..2).for_each(|m| share.made.push([10 * n + m]));
            share.end_run(from, n as StateId);
            share.leave_hole(5 + n as StateId);
        }
        let fill = |until: StateId| {
            let (filled, end) = share.filled(|hole, batch| {
                (0..hole.state % 3).for_each(|_| batch.push([u64::from(hole.state) * 100]));
                (hole.state == until).then_some(hole.state)
            });
            let runs: Vec<_> = filled.each_run().collect();
            (filled.made.states().iter().map(|words| words[0]).collect::<Vec<_>>(), runs, end)
        };
        let (made, runs, end) = fill(9);
        assert_eq!(made, [100, 0, 1, 500, 500, 10, 11, 20, 21, 700]);
        assert_eq!(runs, [(0, 1, 1), (1, 3, 0), (3, 5, 5), (5, 7, 1), (7, 9, 2), (9, 10, 7)]);
        assert_eq!(end, None);
        let (made, _, end) = fill(5);
        assert_eq!((made, end), (vec![100, 0, 1, 500, 500], Some(5)));
    }
}

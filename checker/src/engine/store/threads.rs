//! Several threads add states, and the store comes out as if one had done it.
//!
//! Each thread has a part of the table. It goes through all states in order and enters those that belong to its part, under
//! the numbers that they would have if all were new. So of equal states the first is entered, as by one thread alone.
//! Then the states entered are counted in order, and get the numbers that one thread would have given.

use super::{Store, TOGETHER};
use crate::engine::layout::{Packed, hash};
use crate::engine::store::StateId;
use crate::engine::table::{Free, Part};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// States that are new, a bit for each.
struct New(Vec<AtomicU64>);

impl New {
    fn add(&self, at: usize) {
        // Who reads has joined the thread that writes.
        self.0[at / 64].fetch_or(1 << (at % 64), Ordering::Relaxed);
    }

    fn word(&self, at: usize) -> u64 {
        self.0[at].load(Ordering::Relaxed)
    }

    /// How many come before each word.
    fn before(&self) -> Vec<u32> {
        let ones = (0..self.0.len()).map(|at| self.word(at).count_ones());
        ones.scan(0, |sum, ones| Some(std::mem::replace(sum, *sum + ones))).collect()
    }
}

/// What a thread has entered: which of the states, and where.
type Entered = Vec<(u32, usize)>;

impl<const W: usize> Store<W> {
    /// Adds the states as [`Store::insert_all`] does. `from` has, in order, the first state of each run and one from
    /// which on the parents of the run are to be looked for. `false`, and nothing is added, if the table would have to grow.
    pub(in crate::engine) fn insert_with(
        &mut self,
        threads: usize,
        made: &[Packed<W>],
        from: &[(usize, StateId)],
    ) -> bool {
        let base = self.len;
        if threads < 2 || self.away.is_some() || !self.table.has_room(base + made.len()) {
            return false;
        }
        let new = New((0..made.len().div_ceil(64)).map(|_| AtomicU64::new(0)).collect());
        let pieces = &self.pieces;
        let is_it = |id: StateId, words: &Packed<W>| match (id as usize).checked_sub(base) {
            None => pieces[id as usize / super::PIECE][id as usize % super::PIECE] == *words,
            Some(at) => made[at] == *words,
        };
        let mut parts = self.table.parts(threads);
        let entered = each(&mut parts, |_, part| enter(part, made, base, &new, &is_it));
        if entered.iter().any(|(_, all)| !all) {
            for (part, (entered, _)) in parts.iter_mut().zip(&entered) {
                entered.iter().rev().for_each(|(_, place)| part.take_back(*place));
            }
            return false;
        }
        let before = new.before();
        each(&mut parts, |number, part| {
            for (at, place) in &entered[number].0 {
                let earlier = new.word(*at as usize / 64) & ((1 << (at % 64)) - 1);
                let rank = before[*at as usize / 64] + earlier.count_ones();
                part.renumber(*place, to_id(base) + rank);
            }
        });
        self.append(made, &new, from);
        true
    }

    /// Adds the new states; they are in the table.
    fn append(&mut self, made: &[Packed<W>], new: &New, from: &[(usize, StateId)]) {
        let mut runs = from.iter().peekable();
        let mut parent = 0;
        for word in 0..made.len().div_ceil(64) {
            let mut left = new.word(word);
            while left != 0 {
                let at = word * 64 + left.trailing_zeros() as usize;
                left &= left - 1;
                while let Some((_, first)) = runs.next_if(|(begin, _)| *begin <= at) {
                    parent = *first;
                }
                self.push(made[at], parent);
            }
        }
    }
}

/// Does the work for every part, each but the first in a thread of its own.
fn each<T: Send, L: Send>(parts: &mut [Part<L>], work: impl Fn(usize, &mut Part<L>) -> T + Sync) -> Vec<T> {
    let work = &work;
    thread::scope(|scope| {
        let mut parts = parts.iter_mut().enumerate();
        let first = parts.next();
        let others: Vec<_> = parts.map(|(number, part)| scope.spawn(move || work(number, part))).collect();
        let first = first.map(|(number, part)| work(number, part));
        let others = others.into_iter().map(|other| match other.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        first.into_iter().chain(others).collect()
    })
}

/// Enters the states that belong to a part and are new; `false` if there is no place for one.
fn enter<const W: usize>(
    part: &mut Part<&mut [u32]>,
    made: &[Packed<W>],
    base: usize,
    new: &New,
    is_it: &(impl Fn(StateId, &Packed<W>) -> bool + Sync),
) -> (Entered, bool) {
    let mut entered = Vec::new();
    let mut next = 0;
    while next < made.len() {
        // As in `Store::insert_all`, what will be looked at is read before any of it is needed.
        let (mut some, mut count, mut touched) = ([(0, 0); TOGETHER], 0, 0);
        while count < TOGETHER && next < made.len() {
            let hash = hash(&made[next]);
            if part.has(hash) {
                some[count] = (next, hash);
                touched ^= part.touch(hash);
                count += 1;
            }
            next += 1;
        }
        for (_, hash) in &some[..count] {
            if let Some(id) = part.guess(*hash) {
                touched ^= u32::from(is_it(id, &made[0]));
            }
        }
        std::hint::black_box(touched);
        for (at, hash) in &some[..count] {
            match part.look_up(*hash, |id| is_it(id, &made[*at])) {
                Ok(_) => {}
                Err(Free::Nowhere) => return (entered, false),
                Err(Free::At(place)) => {
                    part.put(place, to_id(base + at), *hash);
                    new.add(*at);
                    entered.push((super::super::numbering::to_u32(*at), place));
                }
            }
        }
    }
    (entered, true)
}

fn to_id(index: usize) -> StateId {
    super::super::numbering::to_u32(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that come again and again, in runs of 100.
    fn numbers(count: u64) -> (Vec<Packed<1>>, Vec<(usize, StateId)>) {
        let made = (0..count).map(|n| [n.wrapping_mul(n) % 70_001 * 3]).collect();
        let from = (0..count as usize / 100).map(|run| (run * 100, run as StateId / 2));
        (made, from.collect())
    }

    #[test]
    fn any_number_of_threads_leaves_the_store_that_one_leaves() {
        let (made, from) = numbers(120_000);
        let mut alone = Store::<1>::new();
        for n in 0..60_000 {
            alone.insert([n], n as StateId / 3);
        }
        let states = |store: &Store<1>| store.states().map(|(words, _)| words).collect::<Vec<_>>();
        let copy = |store: &Store<1>| Store::filled(store.states(), None);
        let before = copy(&alone);
        assert!(!alone.insert_with(1, &made, &from));
        alone.insert_all(&mut made.clone(), 60_000 / 3);
        for threads in [2, 3, 5, 64] {
            let mut store = copy(&before);
            while !store.insert_with(threads, &made, &from) {
                assert_eq!(store.len(), before.len());
                store.grow();
            }
            assert_eq!(states(&store), states(&alone));
            for id in 0..store.len() as StateId {
                assert_eq!(store.find(&alone.get(id)), Some(id));
            }
            assert_eq!(store.find(&[1 << 40]), None);
        }
    }
}

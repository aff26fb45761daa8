//! Several threads explore a level, and the search goes as if one had done it.
//!
//! A stretch of the states to explore is cut into as many shares as there are threads. Each makes the successors of the states of
//! its share, as far as [`Swift`](super::swift::Swift) can: for that, nothing is written that another thread reads. If all were
//! made, the threads add them to the store, in the order of the states that they come from, see [`Store::add_together`].
//!
//! If not, the model has to be asked about a state, and what one thread alone finds by the way is found in a certain order. So
//! what comes behind that state is forgotten, and the search goes on there with one thread. That happens less and less
//! often as more is known; stretches are short as long as it is frequent.
//!
//! Budgets are looked at where one thread alone would: a stretch ends before a state at which a look might find that one is
//! used up, and one thread goes on from there.
//!
//! Successors that a thread has just met are dropped. Each thread takes its states in order, so it has met them as successors of
//! an earlier state, and they have been added unless what came from that state was forgotten.

use super::layout::{Layout, Packed};
use super::numbering::to_u32;
use super::recent::Recent;
use super::search::{BATCH, BETWEEN_LOOKS, BETWEEN_LOOKS_AT_MOST, MOST_STATES, Search};
use super::store::{Share, StateId, States, Store};
use super::swift::{Scratch, Swift};
use super::symmetry::Symmetry;
use super::table::Cut;
use super::tables::Tables;
use super::team::Team;
use crate::settings::Settings;
use std::sync::{Arc, Mutex, PoisonError};

/// Levels of fewer states than this are explored by one thread.
const FEW: StateId = 1 << 9;
/// States explored together at most.
const MANY: StateId = 1 << 17;
/// Stretches are no shorter than this if more than this are to be explored.
const SHORT: StateId = 1 << 12;

/// How states are explored by several threads.
#[derive(Debug)]
pub(super) struct Crew<const W: usize> {
    threads: usize,
    team: Option<Arc<Team>>,
    /// Fewer states than this are left to one thread.
    few: StateId,
    /// Even before the search has turned out to be large.
    from_the_start: bool,
    /// No stretch begins before this state.
    not_before: StateId,
    /// States for which to leave it at one thread once a stretch was not made to its end.
    pause: StateId,
    /// States of a stretch at most.
    most: StateId,
    hands: Vec<Mutex<Hand<W>>>,
}

/// What a thread keeps from stretch to stretch.
#[derive(Debug, Default)]
struct Hand<const W: usize> {
    recent: Recent<W>,
    scratch: Scratch,
    share: Share<W>,
    /// The first state that is not explored yet.
    next: StateId,
    transitions: u64,
}

impl<const W: usize> Crew<W> {
    pub(super) fn new(settings: &Settings) -> Self {
        let few = settings.many_states.unwrap_or(FEW).max(1);
        Self {
            // Who found a state has to be known to the state, and not to its run, where states are forgotten.
            threads: if settings.compact { 1 } else { settings.threads() },
            team: None,
            few,
            from_the_start: settings.many_states.is_some(),
            not_before: 1,
            pause: few,
            most: SHORT,
            hands: Vec::new(),
        }
    }

    /// How far a stretch goes, if there is one worth it.
    fn stretch(&self, search: &Search<'_>, states: usize) -> Option<StateId> {
        let first = search.next;
        if self.threads < 2 || first < self.not_before || !search.has_rehearsed && !self.from_the_start {
            return None;
        }
        // What is added should be little against what there is.
        let mut end = search.level_end.min(first + self.most.min(to_u32(states) / 8));
        if !search.has_rehearsed {
            // The next look may find that the search is large.
            end = end.min((first + 1) | (BETWEEN_LOOKS - 1));
        }
        (end.saturating_sub(first) >= self.few).then_some(end)
    }

    /// The threads; none, from now on, if they cannot be had.
    fn team(&mut self) -> Option<Arc<Team>> {
        if self.team.is_none() {
            self.team = Team::new(self.threads).ok().map(Arc::new);
            self.threads = self.team.as_ref().map_or(1, |team| team.len());
            self.hands.resize_with(self.threads, Mutex::default);
        }
        self.team.clone()
    }

    /// What a thread keeps, while no other uses it.
    fn hand(&mut self, number: usize) -> &mut Hand<W> {
        self.hands[number].get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Search<'_> {
    /// Explores some of the states up to the end of the level, if they are many; `false` if it was none.
    pub(super) fn explore_together<const W: usize>(
        &mut self,
        store: &mut Store<W>,
        crew: &mut Crew<W>,
    ) -> bool {
        let first = self.next;
        let Some(end) = crew.stretch(self, store.len()) else { return false };
        let Some(team) = crew.team() else { return false };
        store.team = Some(Arc::clone(&team));
        let most = self.most_to_add(store);
        let Search { tables, swift, symmetry, layout, .. } = &*self;
        let known = Known { tables, swift, symmetry, layout };
        let (hands, threads, length) = (&crew.hands, team.len() as u64, u64::from(end - first));
        #[expect(clippy::cast_possible_truncation, reason = "no more than the length, which is a u32")]
        let bound = |number: usize| first + (length * number as u64 / threads) as StateId;
        let (shares, is_added) = store.add_together(&team, most, |number, states, cut| {
            let mut hand = hands[number].lock().unwrap_or_else(PoisonError::into_inner);
            known.explore(&mut hand, states, (bound(number), bound(number + 1)), cut)
        });
        let count: usize = shares.iter().map(|share| share.made.len()).sum();
        let is_whole = shares.iter().all(|share| share.is_whole);
        for (number, share) in shares.into_iter().enumerate() {
            let is_share_whole = share.is_whole;
            // Nothing comes behind a share that is not whole.
            if self.next == bound(number) && (is_added || count <= most) {
                if !is_added {
                    store.insert_share(&share);
                }
                self.next = crew.hand(number).next;
                self.transitions += crew.hand(number).transitions;
            } else if !is_added {
                // What was met there has not been added.
                crew.hand(number).recent = Recent::default();
            }
            debug_assert!(!is_added || is_share_whole);
            crew.hand(number).share = share;
        }
        if is_whole {
            (crew.pause, crew.most) = (crew.few, (crew.most * 2).min(MANY));
        } else {
            crew.not_before = self.next.max(first + 1).saturating_add(crew.pause);
            crew.pause = crew.pause.saturating_mul(2).min(SHORT);
            crew.most = (crew.most / 2).max(SHORT);
        }
        if self.next == first {
            // One thread has to see where a budget ends, or what the first of these states takes.
            crew.not_before = crew.not_before.max(end);
        }
        let bytes = |hand: &mut Mutex<Hand<W>>| {
            let hand = hand.get_mut().unwrap_or_else(PoisonError::into_inner);
            hand.recent.bytes() + hand.share.bytes()
        };
        let bytes: usize = crew.hands.iter_mut().map(bytes).sum();
        self.crew_bytes = self.crew_bytes.max(bytes as u64);
        self.next > first
    }

    /// How many states may be added so that no budget is used up, with one thread to see where otherwise.
    fn most_to_add<const W: usize>(&self, store: &Store<W>) -> usize {
        let budgets = self.settings.budgets;
        let most = budgets.max_states.unwrap_or(u64::MAX).min(MOST_STATES);
        let fits = |more: usize| {
            let soon = store.most_bytes_until(more, BETWEEN_LOOKS_AT_MOST) + self.table_bytes();
            (store.len() + more) as u64 <= most && budgets.max_memory.is_none_or(|most| soon <= most)
        };
        // With more states than there are now, what is said of memory does not hold.
        let (mut most, mut beyond) = (0, store.len() + 1);
        while most + 1 < beyond {
            let middle = usize::midpoint(most, beyond);
            if fits(middle) { most = middle } else { beyond = middle }
        }
        most
    }
}

/// What is known of successors.
struct Known<'k> {
    tables: &'k Tables,
    swift: &'k Swift,
    symmetry: &'k Symmetry,
    layout: &'k Layout,
}

impl Known<'_> {
    /// Makes the successors of some states, the first and up to a last one, as far as they are known.
    fn explore<const W: usize>(
        &self,
        hand: &mut Hand<W>,
        states: States<'_, W>,
        (first, end): (StateId, StateId),
        cut: &Cut,
    ) -> Share<W> {
        let Hand { recent, scratch, share, next, transitions } = hand;
        share.clear();
        recent.fit((end - first) as usize, || states.get(0));
        (*next, *transitions) = (first, 0);
        share.is_whole = true;
        while *next < end && share.is_whole {
            let (from, parent) = (share.made.len(), *next);
            while *next < end && share.made.len() < from + BATCH {
                let before = share.made.len();
                let words: Packed<W> = states.get(*next);
                let known = (self.tables, self.layout);
                if self.swift.successors(known, &words, scratch, &mut share.made).is_none() {
                    share.is_whole = false;
                    break;
                }
                if !self.symmetry.is_trivial() {
                    let made = &mut share.made.states_mut()[before..];
                    made.iter_mut().for_each(|words| self.symmetry.sort_slots(self.layout, words));
                }
                *transitions += (share.made.len() - before) as u64;
                *next += 1;
            }
            share.made.keep_new(from, recent);
            share.end_run(from, parent, cut);
        }
        std::mem::take(share)
    }
}

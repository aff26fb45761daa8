//! Many threads explore a level side by side, and the search goes as if one had done it. For few threads, and for levels that
//! are not large, see [`crate::search::pipeline`].
//!
//! A stretch of the states to explore is cut into as many shares as there are threads. Each makes the successors of the states of
//! its share, as far as [`Swift`](crate::successors::swift::Swift) can: for that, nothing is written that another thread reads. Where it
//! cannot, it leaves a hole. Then one thread goes through the holes in order. So the model is asked the same questions in the
//! same order as by one thread alone, and what is found by the way is found in that order; that states behind have been
//! explored before makes no difference, since what is known of a step never changes. Where the search has to pause, what comes
//! behind that state is forgotten. At last the threads add all successors to the store, in the order of the states that they
//! come from, see [`Store::add_together`].
//!
//! Budgets are looked at where one thread alone would: a stretch ends before a state at which a look might find that one is
//! used up, and one thread goes on from there.

use crate::packed::numbering::to_u32;
use crate::parallel::team::Team;
use crate::parallel::worker::{Hand, Known};
use crate::search::{BETWEEN_LOOKS, BETWEEN_LOOKS_AT_MOST, MOST_STATES, Pause, Search};
use crate::settings::Settings;
use crate::successors::expand::Opened;
use crate::successors::swift::Scratch;
use crate::visited::{Share, StateId, Store};
use std::sync::Arc;

/// No more threads than this: a table has no more parts, and those who wait for one another must all come to run.
const MOST_THREADS: usize = 64;
/// Fewer threads than this do better in a pipeline.
const FEWEST_THREADS: usize = 4;
/// Levels of fewer states than this are not explored so.
const FEW: StateId = 1 << 13;
/// As many times the states for which a pipeline is made.
const FEW_PER_WAITING: StateId = 1 << 5;
/// States explored together at most: few enough that what is entered into the table is still in the caches when it is renumbered.
const MANY: StateId = 1 << 15;
/// A hole among so many states is one too many: one thread does as well.
const STATES_PER_HOLE: usize = 4;
/// Few holes take more successors than this; where one does, and too many states have come together, the stretch ends there.
const MOST_IN_HOLE: usize = 64;

/// How states are explored by several threads.
#[derive(Debug)]
pub(crate) struct Crew<const W: usize> {
    threads: usize,
    team: Option<Arc<Team>>,
    /// Fewer states than this are left to one thread.
    few: StateId,
    /// Even before the search has turned out to be large.
    from_the_start: bool,
    /// No stretch begins before this state.
    not_before: StateId,
    /// States for which to leave it at one thread, should the next stretch have too many holes.
    pause: StateId,
    places: Vec<Place<W>>,
}

/// What a thread keeps from stretch to stretch.
#[derive(Debug, Default)]
struct Place<const W: usize> {
    hand: Hand<W>,
    share: Share<W>,
    /// Where the share ends.
    end: StateId,
}

impl<const W: usize> Crew<W> {
    pub(crate) fn new(settings: &Settings) -> Self {
        let few = settings.many_states.map_or(FEW, |states| states.saturating_mul(FEW_PER_WAITING)).max(1);
        // Who found a state has to be known to the state, and not to its run, where states are forgotten.
        let threads = if settings.compact { 1 } else { settings.threads().min(MOST_THREADS) };
        Self {
            threads: if threads < FEWEST_THREADS { 1 } else { threads },
            team: None,
            few,
            from_the_start: settings.many_states.is_some(),
            not_before: 1,
            pause: few,
            places: Vec::new(),
        }
    }

    /// States that a level has to have.
    pub(crate) fn few(&self) -> StateId {
        if self.threads > 1 { self.few } else { StateId::MAX }
    }

    /// How far a stretch goes, if there is one worth it.
    fn stretch(&self, search: &Search<'_>, states: usize) -> Option<StateId> {
        let first = search.next;
        if self.threads < 2 || first < self.not_before || !search.has_rehearsed && !self.from_the_start {
            return None;
        }
        // What is added should be little against what there is.
        let mut end = search.level_end.min(first + MANY.min(to_u32(states) / 8));
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
            self.places.resize_with(self.threads, Place::default);
        }
        self.team.clone()
    }

    /// What threads from this one on have met counts no more: it has not been added.
    fn forget_from(&mut self, number: usize) {
        self.places[number..].iter_mut().for_each(|place| place.hand = Hand::default());
    }

    /// Bytes in use.
    fn bytes(&self, shares: &[Share<W>]) -> usize {
        let hands: usize = self.places.iter().map(|place| place.hand.bytes()).sum();
        hands + shares.iter().map(Share::bytes).sum::<usize>()
    }
}

impl Search<'_> {
    /// Explores some of the states up to the end of the level, if they are many; `false` if it was none. An error is a
    /// reason to pause.
    pub(crate) fn explore_together<const W: usize>(
        &mut self,
        store: &mut Store<W>,
        crew: &mut Crew<W>,
    ) -> Result<bool, Pause> {
        let first = self.next;
        let Some(end) = crew.stretch(self, store.len()) else { return Ok(false) };
        let Some(team) = crew.team() else { return Ok(false) };
        store.team = Some(Arc::clone(&team));
        let most = self.most_to_add(store);
        let Search { swift, symmetry, layout, .. } = &*self;
        let known = Known { swift, symmetry, layout };
        let places: Vec<_> = crew.places.iter_mut().zip(bounds(first, end, team.len())).collect();
        let (shares, is_added) = store.add_together(&team, most, places, |_, (place, bounds), states| {
            let mut share = std::mem::take(&mut place.share);
            share.clear();
            place.hand.recent.fit((bounds.1 - bounds.0) as usize, || states.get(0));
            place.end = known.explore(&mut place.hand, &mut share, bounds, |id| states.get(id), || false);
            share
        });
        self.crew_bytes = self.crew_bytes.max(crew.bytes(&shares) as u64);
        let count: usize = shares.iter().map(|share| share.made.len()).sum();
        let holes: usize = shares.iter().map(|share| share.holes.len()).sum();
        if count + holes * MOST_IN_HOLE > most {
            // One thread has to see where a budget ends.
            crew.forget_from(0);
            crew.not_before = end;
            return Ok(false);
        }
        if holes * STATES_PER_HOLE > (end - first) as usize {
            crew.not_before = end.saturating_add(crew.pause);
            crew.pause = crew.pause.saturating_mul(2).min(1 << 24);
        } else {
            crew.pause = crew.few;
        }
        if is_added {
            self.transitions += shares.iter().map(|share| share.transitions).sum::<u64>();
            self.next = end;
            for (place, share) in crew.places.iter_mut().zip(shares) {
                place.share = share;
            }
            return Ok(true);
        }
        self.fill_holes(store, crew, (&team, most), &shares).map_or(Ok(true), Err)
    }

    /// Fills the holes in order, and adds what was made up to where the search has to pause.
    fn fill_holes<const W: usize>(
        &mut self,
        store: &mut Store<W>,
        crew: &mut Crew<W>,
        (team, most): (&Team, usize),
        shares: &[Share<W>],
    ) -> Option<Pause> {
        let (mut opened, mut scratch) = (Opened::default(), Scratch::default());
        let mut count: usize = shares.iter().map(|share| share.made.len()).sum();
        let mut filled = Vec::with_capacity(shares.len());
        for (number, share) in shares.iter().enumerate() {
            let mut counted = 0;
            let (full, end) = share.filled(|hole, batch| {
                self.transitions += hole.transitions - std::mem::replace(&mut counted, hole.transitions);
                self.next = hole.state;
                let pause = self.explore(store, (&mut opened, &mut scratch), batch);
                self.next += u32::from(pause.is_none());
                count += batch.len();
                (pause.is_some() || count > most).then_some(pause)
            });
            filled.push(full);
            if let Some(pause) = end {
                crew.forget_from(number);
                filled.iter().for_each(|share| store.insert_share(share));
                return pause;
            }
            self.transitions += share.transitions - counted;
            self.next = crew.places[number].end;
        }
        let (shares, is_added) = store.add_together(team, most, filled, |_, share, _| share);
        if !is_added {
            shares.iter().for_each(|share| store.insert_share(share));
        }
        None
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

/// Cuts the states from one up to another into so many shares.
fn bounds(first: StateId, end: StateId, shares: usize) -> impl Iterator<Item = (StateId, StateId)> {
    let length = u64::from(end - first);
    #[expect(clippy::cast_possible_truncation, reason = "no more than the length")]
    let bound = move |number: usize| first + (length * number as u64 / shares as u64) as StateId;
    (0..shares).map(move |number| (bound(number), bound(number + 1)))
}

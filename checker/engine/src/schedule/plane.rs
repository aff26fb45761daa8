//! Steps, and who knows of which of them.

use barcheck_model::memory::Known;

/// The number of a step among its agent's steps, from 1. Signed, since processors without AVX compare many of
/// these at a time, and no others.
pub(super) type Clock = i32;

/// The step of a copy that has not been waited for: nobody knows it.
pub(super) const OPEN: Clock = Clock::MAX;

/// A step of an actor: who, and its number among the actor's steps, from 1. An actor is an agent or, from the
/// number of agents on, a place for what is pending. Landings that have the same place one after another come
/// after one another in every order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    pub(super) actor: u32,
    pub(super) clock: Clock,
}

/// Steps of several actors, one of each at most.
#[derive(Clone, Debug, Default)]
pub(super) struct Moments(pub(super) Vec<Clock>);

impl Moments {
    pub(super) fn add(&mut self, moment: Moment) {
        let index = moment.actor as usize;
        if self.0.len() <= index {
            self.0.resize(index + 1, 0);
        }
        self.0[index] = moment.clock;
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Moment> + '_ {
        let all = self.0.iter().enumerate().filter(|(_, clock)| **clock > 0);
        all.map(|(actor, clock)| Moment { actor: to_u32(actor), clock: *clock })
    }
}

/// What holders know of accesses to one storage class: for each holder, the latest step that it knows of each
/// agent.
#[derive(Clone, Debug)]
pub(super) struct Plane {
    actors: usize,
    /// For each holder, where its row begins, or [`NO_ROW`] if it has never known anything.
    begins: Vec<usize>,
    rows: Vec<Clock>,
}

const NO_ROW: usize = usize::MAX;

impl Plane {
    pub(super) fn new(actors: usize) -> Self {
        Self { actors, begins: Vec::new(), rows: Vec::new() }
    }

    /// The number of those who may know something.
    pub(super) fn holders(&self) -> usize {
        self.begins.len()
    }

    /// In bytes.
    pub(super) fn size(&self) -> usize {
        self.rows.len() * 4 + self.begins.len() * 8
    }

    pub(super) fn row(&self, holder: usize) -> &[Clock] {
        match self.begins.get(holder) {
            Some(begin) if *begin != NO_ROW => &self.rows[*begin..begin + self.actors],
            _ => &[],
        }
    }

    fn begin(&mut self, holder: usize) -> usize {
        if self.begins.len() <= holder {
            self.begins.resize(holder + 1, NO_ROW);
        }
        if self.begins[holder] == NO_ROW {
            self.begins[holder] = self.rows.len();
            self.rows.resize(self.rows.len() + self.actors, 0);
        }
        self.begins[holder]
    }

    pub(super) fn set(&mut self, holder: usize, now: Moment) {
        let begin = self.begin(holder);
        self.rows[begin + now.actor as usize] = now.clock;
    }

    pub(super) fn knows(&self, holder: usize, moment: Moment) -> bool {
        self.row(holder).get(moment.actor as usize).is_some_and(|clock| *clock >= moment.clock)
    }
}

impl Known for Plane {
    fn pass(&mut self, from: usize, to: usize) {
        let Some(begin) = self.begins.get(from).copied().filter(|begin| *begin != NO_ROW) else { return };
        let into = self.begin(to);
        let actors = self.actors;
        // Two rows never overlap: one of them ends before the other begins.
        let (source, target) = if begin < into {
            let (low, high) = self.rows.split_at_mut(into);
            (&low[begin..begin + actors], &mut high[..actors])
        } else if into < begin {
            let (low, high) = self.rows.split_at_mut(begin);
            (&high[..actors], &mut low[into..into + actors])
        } else {
            return;
        };
        for (known, learnt) in target.iter_mut().zip(source) {
            *known = (*known).max(*learnt);
        }
    }

    fn forget(&mut self, holder: usize) {
        if let Some(begin) = self.begins.get(holder).copied().filter(|begin| *begin != NO_ROW) {
            self.rows[begin..begin + self.actors].fill(0);
        }
    }
}

/// An actor's number.
pub(super) fn to_u32(actor: usize) -> u32 {
    u32::try_from(actor).unwrap_or(u32::MAX)
}

//! Things numbered as they occur, and the states of each barrier in use.

use barcheck_model::barrier::BarrierId;
use barcheck_model::machine::AnyBarrier;
use indexmap::{Equivalent, IndexSet};
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::Hash;

/// No number.
pub(crate) const UNKNOWN: u32 = u32::MAX;

/// Things numbered as they occur.
#[derive(Debug)]
pub(crate) struct Numbered<T>(IndexSet<T, FxBuildHasher>);

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Self(IndexSet::default())
    }
}

impl<T: Hash + Eq> Numbered<T> {
    /// The number of a thing, which is made if it is new.
    pub(crate) fn number<Q: Hash + Equivalent<T>>(&mut self, thing: &Q, make: impl FnOnce(&Q) -> T) -> u32 {
        let number = self.0.get_index_of(thing).unwrap_or_else(|| self.0.insert_full(make(thing)).0);
        to_u32(number)
    }

    /// The number of a thing, if it has one.
    pub(crate) fn find<Q: Hash + Equivalent<T>>(&self, thing: &Q) -> Option<u32> {
        self.0.get_index_of(thing).map(to_u32)
    }

    /// The thing with a number that has been given out.
    pub(crate) fn get(&self, number: u32) -> &T {
        &self.0[number as usize]
    }

    /// How many numbers have been given out.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The things from a number on, in order.
    pub(crate) fn from(&self, number: usize) -> impl Iterator<Item = &T> {
        self.0.iter().skip(number)
    }
}

/// The states of one barrier.
#[derive(Debug)]
pub(crate) struct BarrierStates {
    pub(crate) id: BarrierId,
    /// `None` is the initial state, and number 0.
    pub(crate) states: Vec<Option<AnyBarrier>>,
    /// For each state, whether an exit may complete it.
    pub(crate) depends_on_exits: Vec<bool>,
    pub(crate) numbers: FxHashMap<AnyBarrier, u32>,
}

/// The field of a barrier, which gets one when it is first asked for.
pub(crate) fn field_of(barriers: &mut Vec<BarrierStates>, id: BarrierId) -> usize {
    barriers.iter().position(|b| b.id == id).unwrap_or_else(|| {
        barriers.push(BarrierStates {
            id,
            states: vec![None],
            depends_on_exits: vec![false],
            numbers: FxHashMap::default(),
        });
        barriers.len() - 1
    })
}

/// A count as a number; tables stay far below 2^32 entries.
pub(crate) fn to_u32(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

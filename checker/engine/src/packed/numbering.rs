//! Things numbered as they occur, and the states of each barrier in use.

use barcheck_model::barrier::BarrierId;
use barcheck_model::machine::AnyBarrier;
use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::{BuildHasher, Hash};

/// No number.
pub(crate) const UNKNOWN: u32 = u32::MAX;

/// Things numbered as they occur.
#[derive(Debug)]
pub(crate) struct Numbered<T> {
    things: Vec<T>,
    /// The numbers, found by the things' hashes.
    numbers: HashTable<u32>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Self { things: Vec::new(), numbers: HashTable::new() }
    }
}

impl<T: Hash + Eq> Numbered<T> {
    /// The number of a thing, which is made if it is new. It may be asked for by something else that is
    /// hashed as the thing is.
    pub(crate) fn number<Q: Hash + PartialEq<T>>(&mut self, thing: &Q, make: impl FnOnce(&Q) -> T) -> u32 {
        if let Some(number) = self.find(thing) {
            return number;
        }
        let number = to_u32(self.things.len());
        self.things.push(make(thing));
        let things = &self.things;
        self.numbers.insert_unique(hash(thing), number, |number| hash(&things[*number as usize]));
        number
    }

    /// The number of a thing, if it has one.
    pub(crate) fn find<Q: Hash + PartialEq<T>>(&self, thing: &Q) -> Option<u32> {
        self.numbers.find(hash(thing), |number| *thing == self.things[*number as usize]).copied()
    }

    /// The thing with a number that has been given out.
    pub(crate) fn get(&self, number: u32) -> &T {
        &self.things[number as usize]
    }

    /// How many numbers have been given out.
    pub(crate) fn len(&self) -> usize {
        self.things.len()
    }

    /// The things from a number on, in order.
    pub(crate) fn from(&self, number: usize) -> impl Iterator<Item = &T> {
        self.things.iter().skip(number)
    }
}

fn hash<Q: Hash>(thing: &Q) -> u64 {
    FxBuildHasher.hash_one(thing)
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

//! What becomes of rests and of the contents of cells of memory when agents are renamed, as far as known.

use crate::packed::numbering::Numbered;
use rustc_hash::FxHashMap;

/// As many renamings, and orders of agents, are remembered at most.
const MOST: usize = 1 << 20;
/// In the place of a cell's number: it is a rest that is renamed.
pub(crate) const REST: u32 = u32::MAX;

/// What is renamed: the number of the cell, that of its content, and that of where agents go.
type Renamed = (u32, u32, u32);

/// What is known of renamings.
#[derive(Debug, Default)]
pub(crate) struct Renamings {
    /// Where agents go.
    orders: Numbered<Vec<u32>>,
    renamed: FxHashMap<Renamed, u32>,
}

impl Renamings {
    /// The number of where agents go; it holds until it is asked for the next one.
    pub(crate) fn order(&mut self, to: &Vec<u32>) -> u32 {
        if self.renamed.len().max(self.orders.len()) >= MOST {
            *self = Self::default();
        }
        self.orders.number(to, Vec::clone)
    }

    /// The number of what comes of it, if that is known.
    pub(crate) fn get(&self, what: Renamed) -> Option<u32> {
        self.renamed.get(&what).copied()
    }

    /// Remembers the number of what comes of it.
    pub(crate) fn learn(&mut self, what: Renamed, number: u32) {
        self.renamed.insert(what, number);
    }

    /// Bytes in use, roughly.
    pub(crate) fn bytes(&self) -> usize {
        let order =
            self.orders.from(0).next().map_or(0, |order| size_of_val(&order[..]) + 6 * size_of::<u64>());
        self.renamed.capacity() * size_of::<[u32; 4]>() + self.orders.len() * order
    }
}

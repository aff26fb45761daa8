//! What becomes of residuals and of the abstract values of location classes when agents are renamed, as far
//! as known.

use crate::packed::numbering::Numbered;
use rustc_hash::FxHashMap;

/// As many permutations, and orders of agents, are remembered at most.
const MOST: usize = 1 << 20;
/// In the place of the number of a location class: it is a residual that is renamed.
pub(crate) const RESIDUAL: u32 = u32::MAX;

/// What is renamed: the number of the location class, that of its abstract value, and that of where agents
/// go.
type Permuted = (u32, u32, u32);

/// What is known of permutations.
#[derive(Debug, Default)]
pub(crate) struct Permutations {
    /// Where agents go.
    permutations: Numbered<Vec<u32>>,
    renamed: FxHashMap<Permuted, u32>,
}

impl Permutations {
    /// The number of where agents go; it holds until it is asked for the next one.
    pub(crate) fn number(&mut self, to: &Vec<u32>) -> u32 {
        if self.renamed.len().max(self.permutations.len()) >= MOST {
            *self = Self::default();
        }
        self.permutations.number(to, Vec::clone)
    }

    /// The number of what comes of it, if that is known.
    pub(crate) fn get(&self, what: Permuted) -> Option<u32> {
        self.renamed.get(&what).copied()
    }

    /// Remembers the number of what comes of it.
    pub(crate) fn learn(&mut self, what: Permuted, number: u32) {
        self.renamed.insert(what, number);
    }

    /// Bytes in use, roughly.
    pub(crate) fn bytes(&self) -> usize {
        let number = self
            .permutations
            .from(0)
            .next()
            .map_or(0, |number| size_of_val(&number[..]) + 6 * size_of::<u64>());
        self.renamed.capacity() * size_of::<[u32; 4]>() + self.permutations.len() * number
    }
}

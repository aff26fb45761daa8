//! mbarrier objects: barriers that live in shared memory, under names that the protocol gives them.

use super::ArrayId;

/// An array of mbarrier objects, or a single one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Objects {
    /// The name.
    pub name: String,
    /// The number of its first object; the objects of all arrays follow one another without gaps.
    pub first: u32,
    /// Number of objects, at least 1, or `None` for a single one.
    pub length: Option<u32>,
    /// Arrivals expected in each phase, 1 to 2^20 - 1, where the objects are initialised before the first
    /// step.
    pub count: Option<u32>,
    /// The array of locations, one for each object, that stand for whether it is initialised, where somebody
    /// may know of that in time alone. See [`Program::with_lives`](super::Program::with_lives).
    pub lives: Option<ArrayId>,
}

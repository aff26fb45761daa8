//! What is said of whoever, or whatever, is to blame for a wait without end.

use super::place::Place;

/// Who, or what, is to blame.
pub(super) struct Blame {
    /// Nobody where it is a count.
    pub(super) agents: Vec<u32>,
    /// What they did: the beginning of a message.
    pub(super) says: String,
    /// The barrier on which they have left an arrival out, or made one too many.
    pub(super) barrier: u32,
    /// What the others did, in a sentence; empty if there are none to compare with.
    pub(super) others: String,
    /// Theirs first.
    pub(super) places: Vec<Place>,
}

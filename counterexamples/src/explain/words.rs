//! The words that every explanation is made of.

use super::place::Place;

/// The words for an outcome. Places in the message stand between two marks, so that they can be left out.
#[derive(Default)]
pub(super) struct Words {
    pub(super) message: String,
    pub(super) sentences: Vec<String>,
    pub(super) related: Vec<Place>,
    /// Who is to blame; their place is the first that is related.
    pub(super) blamed: Vec<u32>,
}

/// Begins and ends a place in a message.
pub(super) const MARK: char = '\u{1}';

//! The words that every explanation is made of.

use super::place::{Place, Remark};

/// The words for an outcome. Places in the message stand between two marks, so that they can be left out.
#[derive(Default)]
pub(super) struct Words {
    pub(super) message: String,
    pub(super) sentences: Vec<String>,
    pub(super) related: Vec<Place>,
    /// Who is to blame; their place is the first that is related.
    pub(super) blamed: Vec<u32>,
}

impl Words {
    /// Leaves out what is said of agents at a place where the same is said of more of them.
    pub(super) fn fold(&mut self) {
        let all = self.related.clone();
        let says_more = |place: &Place, other: &Place| match (&place.remark, &other.remark) {
            (Remark::Did(few, did), Remark::Did(many, also)) => {
                let is_part = few.len() < many.len() && few.iter().all(|agent| many.contains(agent));
                place.location == other.location && did == also && is_part
            }
            _ => false,
        };
        self.related.retain(|place| !all.iter().any(|other| says_more(place, other)));
    }
}

/// Begins and ends a place in a message.
pub(super) const MARK: char = '\u{1}';

//! Reductions over predicates.

/// How the predicates of a reduction are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedOp {
    /// The number of lanes that brought true.
    Popc,
    /// Whether all did.
    And,
    /// Whether any did.
    Or,
}

/// What a reduction gives to everybody who took part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedResult {
    /// Of [`RedOp::Popc`]: lanes.
    Count(u32),
    /// Of [`RedOp::And`] and [`RedOp::Or`].
    Predicate(bool),
}

/// The predicates brought so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    lanes: u32,
    /// The lanes among them that brought true.
    holding: u32,
}

impl Tally {
    pub(super) fn add(&mut self, lanes: &[bool]) {
        self.lanes += lanes.len() as u32;
        self.holding += lanes.iter().filter(|lane| **lane).count() as u32;
    }

    pub(super) fn result(self, op: RedOp) -> RedResult {
        match op {
            RedOp::Popc => RedResult::Count(self.holding),
            RedOp::And => RedResult::Predicate(self.holding == self.lanes),
            RedOp::Or => RedResult::Predicate(self.holding > 0),
        }
    }
}

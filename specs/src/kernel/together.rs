//! What is known of an access in the rounds of the loops around it.

use std::collections::BTreeSet;

use super::lanes::WIDTH;
use super::value::ValueId;

/// What lanes access in one round, and how far from what is left of the address.
pub(super) type Round = (u32, [i64; WIDTH]);

/// What an access touches in the rounds of the loops directly around it.
#[derive(Clone, Debug)]
pub(super) struct Together {
    pub(super) rounds: Vec<Round>,
    /// The nodes whose branches are known in all of them.
    pub(super) known: BTreeSet<usize>,
    /// Nodes in a loop further out whose branches bring all of these lanes to the access, or none.
    pub(super) exact: BTreeSet<usize>,
    /// It is known in all of them which lanes its guard is for.
    pub(super) is_guard_known: bool,
}

/// Something by which accesses differ from round to round of a loop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Index {
    pub(super) value: ValueId,
    /// It is added to the address; else it is only known by it which lanes access.
    pub(super) is_added: bool,
}

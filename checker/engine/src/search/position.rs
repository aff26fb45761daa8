//! How far a search has come, and why it pauses.

use crate::visited::StateId;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// States explored between two looks at the budgets.
pub(crate) const BETWEEN_LOOKS: StateId = 1024;
/// So many states are added meanwhile, at most; more would be a surprise, and be noticed at the second look.
pub(crate) const BETWEEN_LOOKS_AT_MOST: usize = 512 * BETWEEN_LOOKS as usize;

/// Steps that the model is asked for may take long: the clock is looked at between them, this often.
pub(crate) const BETWEEN_CLOCKS: Duration = Duration::from_millis(100);

/// Transitions between two sums of what is known beside the states: of as many configurations at most.
pub(crate) const BETWEEN_SUMS: u64 = 1024;

/// Indices have 31 bits at most: so many fill a table of 2^31 entries to three quarters, less what two looks
/// may add.
pub(crate) const MOST_STATES: u64 = (3 << 29) - 1024 * BETWEEN_LOOKS_AT_MOST as u64;

/// How far a search has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Position {
    /// The next state to explore.
    pub(crate) next: StateId,
    /// The first state of the next depth.
    pub(crate) level_end: StateId,
    pub(crate) transitions: u64,
    pub(crate) depth: u64,
}

/// Why a search pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pause {
    /// Every state has been explored.
    Complete,
    /// An error was found and no more are wanted, or a budget is used up.
    Stopped,
    /// Numbers have outgrown the layout: repack and go on.
    Widen,
}

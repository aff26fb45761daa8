//! What budgets are measured by: time, memory, transitions.

use crate::settings::{Control, Progress};
use std::time::Instant;

/// The clock of a search, and whoever watches it.
pub(crate) struct Clock<'a> {
    pub(crate) control: &'a dyn Control,
    pub(crate) started: Instant,
    /// How far the search had come at the last look.
    pub(crate) progress: Progress,
    /// When the clock was last looked at.
    pub(crate) last_look: Instant,
    /// A step may take so much memory that a look is due before each.
    pub(crate) is_often_due: bool,
}

impl<'a> Clock<'a> {
    pub(crate) fn new(control: &'a dyn Control, started: Instant, is_often_due: bool) -> Self {
        Self { control, started, progress: Progress::default(), last_look: started, is_often_due }
    }
}

/// Bytes of memory that a search has used.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Usage {
    pub(crate) peak: u64,
    /// What several threads take for themselves.
    pub(crate) threads: u64,
}

/// Transitions after which a search that is not the last word gives up.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Limit {
    /// So many are enough, those included that were made of a state before the layout had to be widened.
    pub(crate) most: Option<u64>,
    pub(crate) undone: u64,
}

//! How a move went.

use crate::barrier::Opaque;

/// How a move went, as far as the agent that made it can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Outcome {
    /// The agent goes on.
    Pass,
    /// The agent blocks.
    Block,
    /// The agent goes on with a barrier's state read.
    Read(Opaque),
    /// The agent goes on, and knows whether a phase is complete.
    Tested(bool),
}

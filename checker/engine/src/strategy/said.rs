//! What engines say.

use crate::verdict::answer::Undecided;
use crate::verdict::{Method, Outcome, ReachedFault, Statistics};

/// What an engine says, asked to decide a protocol.
pub(super) enum Said {
    /// It has decided.
    Yes(Box<Outcome>),
    /// It has found nothing, and nothing follows from that.
    No,
    /// It cannot decide this protocol.
    WhyNot(Declined),
}

/// Why an engine cannot decide a protocol.
pub(super) struct Declined {
    /// The engine, and the reason in words, after those of the engines before.
    pub(super) method: Method,
    /// The reason; none if the engine has found a violation that no path shows.
    pub(super) reason: Option<Undecided>,
    /// An evaluation error that it has reached; a violation may come before it.
    pub(super) fault: Option<(ReachedFault, Statistics)>,
}

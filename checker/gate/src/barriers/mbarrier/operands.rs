//! What instructions on mbarrier objects name.

use super::object::{Awaited, Moment};

/// An mbarrier object: the CTA and the number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Object {
    pub(super) cta: usize,
    pub(super) number: usize,
}

/// The phase of an object that an arrival was made in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    pub(super) object: Object,
    pub(super) moment: Moment,
}

/// What each active lane brings with an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    pub(super) count: i64,
    pub(super) bytes: i64,
    pub(super) drops: bool,
    pub(super) no_complete: bool,
}

/// The phase that a wait is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The present one or the one before, whichever has this parity.
    Parity(i64),
    /// That of a token.
    Of(Token),
}

impl Arrival {
    /// So many arrivals.
    #[must_use]
    pub fn of(count: i64) -> Self {
        Self { count, bytes: 0, drops: false, no_complete: false }
    }

    /// One arrival, before which bytes are announced.
    #[must_use]
    pub fn expecting(bytes: i64) -> Self {
        Self { bytes, ..Self::of(1) }
    }

    /// The same with bytes that are announced before.
    #[must_use]
    pub fn after_expecting(self, bytes: i64) -> Self {
        Self { bytes, ..self }
    }

    /// The same, and from the next phase on as many fewer are expected.
    #[must_use]
    pub fn dropped(self) -> Self {
        Self { drops: true, ..self }
    }

    /// The same, which must not complete the phase.
    #[must_use]
    pub fn without_completing(self) -> Self {
        Self { no_complete: true, ..self }
    }
}

impl Token {
    pub(super) fn awaited_on(self, object: Object) -> Awaited {
        Awaited::Token((self.object == object).then_some(self.moment))
    }
}

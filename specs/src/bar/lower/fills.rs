//! Copies by `cp.async`, and arrivals on mbarrier objects when such copies are done. Copies are modelled that
//! their thread waits for, so that a protocol with both is refused.

use crate::common::span::Span;

/// The first instruction of each kind.
#[derive(Debug, Default)]
pub(in crate::bar) struct Fills {
    begun: Option<Span>,
    arrives: Option<Span>,
}

impl Fills {
    /// A `cp.async`.
    pub(in crate::bar) fn begin(&mut self, span: Span) {
        self.begun.get_or_insert(span);
    }

    /// An arrival when the copies of the thread are done.
    pub(in crate::bar) fn arrive(&mut self, span: Span) {
        self.arrives.get_or_insert(span);
    }

    /// Both, if there are both: the copy, and the arrival.
    pub(super) fn both(&self) -> Option<(Span, Span)> {
        self.begun.zip(self.arrives)
    }
}

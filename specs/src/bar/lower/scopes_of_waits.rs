//! Waits whose scope is the own CTA, on objects on which other CTAs arrive: what these have published is not
//! seen. Waits are modelled that see all that was released to them, so that such a one is refused.

use barcheck_model::program::ObjectsId;
use std::collections::BTreeSet;

use crate::common::span::Span;

/// Waits with the scope of the CTA, and objects on which other CTAs arrive.
#[derive(Debug, Default)]
pub(in crate::bar) struct ScopesOfWaits {
    /// With the instruction.
    within_cta: Vec<(ObjectsId, Span)>,
    arrived_from_afar: BTreeSet<ObjectsId>,
}

impl ScopesOfWaits {
    /// An instruction waits, and its scope is said to be the own CTA.
    pub(in crate::bar) fn wait_within_cta(&mut self, objects: ObjectsId, span: Span) {
        self.within_cta.push((objects, span));
    }

    /// Another CTA arrives.
    pub(in crate::bar) fn arrive_from_afar(&mut self, objects: ObjectsId) {
        self.arrived_from_afar.insert(objects);
    }

    /// The waits that would not see what others have published.
    pub(super) fn too_narrow(&self) -> Vec<(ObjectsId, Span)> {
        let waits = self.within_cta.iter().copied();
        waits.filter(|(objects, _)| self.arrived_from_afar.contains(objects)).collect()
    }
}

//! What lanes may have in common, as far as a term says.

use std::collections::BTreeSet;

use super::lanes::Lanes;
use super::value::{Term, ValueId, Values};

impl Values {
    /// Whether lanes may have the same, without what a term takes from where paths meet; and whether it takes
    /// anything from there.
    pub(super) fn may_be_shared(&self, value: ValueId) -> bool {
        let all = |lanes: &Lanes| lanes.all().is_some();
        let (mut seen, mut work, mut meets) = (BTreeSet::new(), vec![value], false);
        while let Some(value) = work.pop() {
            if !seen.insert(value) {
                continue;
            }
            let is_own = match self.term(value) {
                Term::Known(lanes) => !all(lanes),
                Term::Sum { terms, known, .. } => !all(known) || !terms.iter().all(|(_, factor)| all(factor)),
                Term::Unset | Term::Unknown { of_warp: false, .. } => true,
                _ => false,
            };
            if is_own {
                return false;
            }
            meets |= matches!(self.term(value), Term::Meet { .. });
            work.extend(self.inside(value));
        }
        meets
    }
}

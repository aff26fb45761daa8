//! What lanes may have in common, as far as a term says.

use std::collections::BTreeSet;

use super::code::{Function, Operation, Type};
use super::evaluate::{Evaluation, Evaluator};
use super::lanes::Lanes;
use super::terms::is_truth;
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

impl Evaluator<'_> {
    /// Whether all lanes that come there have something, or any, where it is known of each what of it does
    /// not depend on what lanes have in common: `lane == 0 && k < n` for a `k` that counts rounds.
    pub(super) fn asked_of_lanes(
        &mut self,
        (at, function): (usize, Function),
        arguments: &[ValueId],
        found: &mut Evaluation,
    ) -> Option<ValueId> {
        let is_all = match function {
            Function::All => true,
            Function::Any => false,
            _ => return None,
        };
        let [value] = arguments else { return None };
        let (mut own, mut common) = (vec![true; self.warp.live()], Vec::new());
        for part in self.values.conjuncts(*value) {
            match self.values.as_known(part) {
                Some(known) => {
                    own.iter_mut().enumerate().for_each(|(lane, own)| *own &= known.get(lane) != 0);
                }
                None => common.push(part),
            }
        }
        if own.iter().any(|one| *one != own[0]) {
            found.asked.insert(at);
        }
        let holds = if is_all { own.iter().all(|own| *own) } else { own.contains(&true) };
        if !holds || common.is_empty() {
            return Some(self.values.number(u64::from(holds)));
        }
        if common.as_slice() == [*value] {
            // Nothing is known of lanes.
            return None;
        }
        let truth = Type { bits: 1, signed: false };
        let mut all = self.values.number(1);
        let mut meets = false;
        for part in common {
            let may_be = self.values.may_be_shared(part);
            if !may_be && self.at_lane(part, 0) != Some(part) {
                return None;
            }
            meets |= may_be;
            all = self.values.apply(Operation::And, truth, &[all, part]);
        }
        if meets {
            found.votes.insert(at, all);
        }
        Some(all)
    }
}

impl Values {
    /// The truths of which one is that all hold.
    fn conjuncts(&self, value: ValueId) -> Vec<ValueId> {
        let (mut found, mut work) = (Vec::new(), vec![value]);
        while let Some(value) = work.pop() {
            match self.term(value) {
                Term::Apply { operation: Operation::And, terms, .. }
                    if terms.iter().all(|term| is_truth(self, *term)) =>
                {
                    work.extend(terms);
                }
                _ if !found.contains(&value) => found.push(value),
                _ => {}
            }
        }
        found
    }
}

//! What is asked of the lesser or the greater of two unknown numbers, as what is asked of each:
//! `min(n, m) < 1` where loops count up to n.

use std::collections::{BTreeMap, BTreeSet};

use super::families::{Families, Member};
use super::linear::Asker;
use super::{Formula, Threshold};
use crate::kernel::code::{Comparison, Operation, Type};
use crate::kernel::tree::Decision;
use crate::kernel::value::{Term, ValueId};

/// What the lesser of two numbers is made of, or the greater, and whether it is that.
fn extreme(term: &Term) -> Option<([ValueId; 2], Type, bool)> {
    let Term::Apply { operation, ty, terms } = term else { return None };
    let is_lesser = match operation {
        Operation::Minimum => true,
        Operation::Maximum => false,
        _ => return None,
    };
    Some((terms.as_slice().try_into().ok()?, *ty, is_lesser))
}

impl Asker<'_> {
    /// A comparison of the lesser or the greater of two numbers, of which neither is known, with a third.
    pub(super) fn split(&self, comparison: Comparison, ty: Type, [a, b]: [ValueId; 2]) -> Option<Formula> {
        let values = self.values();
        let (comparison, number, other) = match (extreme(values.term(a)), extreme(values.term(b))) {
            (Some(extreme), None) => (comparison, extreme, b),
            (None, Some(extreme)) => (comparison.swapped(), extreme, a),
            _ => return None,
        };
        let (numbers, of, is_lesser) = number;
        if of != ty || numbers.iter().any(|number| values.as_known(*number).is_some()) {
            return None;
        }
        // The lesser is below a number if one of them is, and the greater if both are.
        let is_below = match comparison {
            Comparison::Less | Comparison::LessOrEqual => true,
            Comparison::Greater | Comparison::GreaterOrEqual => false,
            Comparison::Equal | Comparison::NotEqual => return None,
        };
        let parts = numbers.iter().map(|number| self.comparison(comparison, ty, *number, other));
        let parts = parts.collect::<Option<Vec<_>>>()?;
        Some(if is_below == is_lesser { Formula::Any(parts) } else { Formula::All(parts) })
    }
}

impl Formula {
    /// Whether something is asked in it that loops count up to.
    pub(super) fn is_counted(&self, growing: &Families) -> bool {
        self.thresholds().into_iter().any(|threshold| {
            let mut settled = threshold.clone();
            growing.settle(&mut settled);
            growing.member(&settled).is_some()
        })
    }
}

impl Families {
    /// Of decisions about several numbers, one of which is counted, the others are counted as well.
    pub(super) fn note_beside(&mut self, members: &[(&Decision, &Threshold, Member)]) {
        let mut together: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
        for (decision, _, member) in members {
            together.entry(&decision.key).or_default().insert(member.family);
        }
        while let Some(beside) = together.values().find(|families| {
            let counted = families.iter().filter(|family| self.is_worth_it(**family)).count();
            counted > 0 && counted < families.len()
        }) {
            beside.iter().for_each(|family| self.all[*family].is_beside = true);
        }
    }
}

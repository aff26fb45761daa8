//! Loops of few iterations beside others over the same number: they ask for what is known of it at the
//! beginning, and take nothing off.

use std::collections::{BTreeMap, BTreeSet};

use super::asked::Asked;
use super::families::{Families, MOST, Member, side};
use super::rewrite::{Plan, pass};
use super::sites::Site;
use super::{Formula, Threshold};

/// How a threshold is asked for in a loop that takes nothing off.
pub(super) struct Look {
    pub(super) header: usize,
    /// The position in its first iteration, by how many the next one is further, and that of the last.
    position: i64,
    step: i64,
    pub(super) last: i64,
}

impl Look {
    /// How it is asked, of a variable that holds how much of the number is known.
    pub(super) fn asked(&self, left: &str) -> Asked {
        let Self { header, position, step, .. } = *self;
        let pass = pass(header);
        let times = if step == 1 { pass } else { format!("{step} * {pass}") };
        Asked::Text(if position == 0 {
            format!("{left} > {times}")
        } else {
            format!("{left} > {times} + {position}")
        })
    }
}

impl Plan<'_> {
    /// The headers of loops that take nothing off: of several that count one number those whose iterations
    /// are few.
    pub(super) fn looked(families: &Families, sites: &[Site<'_>]) -> BTreeSet<usize> {
        let mut loops: BTreeMap<_, BTreeMap<usize, Option<i64>>> = BTreeMap::new();
        let formulas = sites.iter().filter_map(|site| site.decision.formula.as_ref());
        for threshold in formulas.flat_map(Formula::thresholds) {
            if let Some(member) = families.member(threshold) {
                let of = loops.entry((member.family, threshold.scope)).or_default();
                of.extend(threshold.side.rounds.iter().map(|(header, _)| (*header, threshold.most)));
            }
        }
        let several = loops.into_values().filter(|of| of.len() > 1).flatten();
        several.filter_map(|(header, most)| most.map(|_| header)).collect()
    }

    /// How a threshold is asked for, if that is in a loop that takes nothing off.
    pub(super) fn look(&self, threshold: &Threshold, member: Member) -> Option<Look> {
        let [(header, growth)] = side(threshold, member).rounds.as_slice() else { return None };
        let most = threshold.most.filter(|_| self.looked.contains(header))?;
        let family = &self.families.all[member.family];
        let (position, step) = (self.families.position(threshold, member)?, family.positions(*growth)?);
        let last = position.checked_add(step.checked_mul(most.checked_sub(1)?)?)?;
        (last < MOST).then_some(Look { header: *header, position, step, last })
    }
}

//! Thresholds of what a number is made of that say the same as those of the number: of `2 * n`, whose loop
//! has so many rounds, compilers ask before the loop whether n is at least 1.

use super::families::{Families, Name, side};
use super::{Side, Sign, Threshold};

impl Families {
    /// Notes of what numbers that loops count up to are made, and which thresholds of that say the same.
    pub(super) fn note_outer(&mut self, thresholds: &[&Threshold]) {
        for threshold in thresholds.iter().filter(|threshold| threshold.grows()) {
            let Some(member) = self.member(threshold).filter(|member| !member.turned) else { continue };
            let what = &side(threshold, member).what;
            for outer in threshold.outer.iter().filter(|outer| outer.number == *what) {
                let key = (outer.of.0.clone(), outer.of.1, threshold.depth);
                let found = self.outer.entry(key).or_insert_with(|| (what.clone(), 0, threshold.sign));
                // Of `2 * n` whether it is at least 1 is whether it is at least 2.
                if found.0 == *what {
                    found.1 = found.1.max(outer.least);
                }
            }
        }
    }

    /// Takes a threshold that does not grow to be that of a number that loops count up to, and that is made
    /// of what is compared: of `2 * n`, where it asks whether n is at least 1.
    pub(super) fn outside(&self, threshold: &mut Threshold, inside: &[(usize, usize)]) {
        if threshold.grows() || threshold.unit.is_some() || self.member(threshold).is_some() {
            return;
        }
        let own = (threshold.scope, threshold.depth);
        for (scope, depth) in
            [own].into_iter().chain(inside.iter().map(|(header, depth)| (Some(*header), *depth)))
        {
            let found = self.outer.get(&(threshold.side.what.clone(), threshold.side.least, depth));
            let is_alike =
                |sign: &Sign| *sign == threshold.sign || [*sign, threshold.sign].contains(&Sign::Either);
            let Some((what, least, _)) = found.filter(|(.., sign)| is_alike(sign)) else {
                continue;
            };
            let is_bounded = threshold.side.is_bounded;
            let of = |side: &Side| Side {
                what: what.clone(),
                least: *least,
                rounded: *least,
                is_bounded,
                ..side.clone()
            };
            threshold.side = Side { given: None, floor: None, above: Vec::new(), ..of(&threshold.side) };
            (threshold.other, threshold.in_units) = (None, Vec::new());
            (threshold.scope, threshold.depth) = (scope, depth);
            threshold.is_turned = true;
            return;
        }
    }

    /// Takes a number that loops count up to without a sign not to overflow where one more, say, is compared
    /// with 0.
    pub(super) fn read(&self, threshold: &mut Threshold) {
        let names = Self::names(threshold);
        if threshold.sign != Sign::Negative || !threshold.is_turned || self.member(threshold).is_some() {
            return;
        }
        let unsigned = |(what, unit, _, depth): Name| (what, unit, Sign::Unsigned, depth);
        if names.into_iter().any(|(name, turned, _)| !turned && self.names.contains_key(&unsigned(name))) {
            threshold.side.floor = threshold.side.floor.max(Some(0));
        }
    }
}

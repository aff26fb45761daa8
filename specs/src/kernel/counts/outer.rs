//! Thresholds of what a number is made of that say the same as those of the number: of `2 * n`, whose loop
//! has so many rounds, compilers ask before the loop whether n is at least 1.

use super::families::{Families, Name, side};
use super::{Side, Sign, Threshold};

impl Families {
    /// Notes of what numbers that loops count up to are made, and which thresholds of that say the same.
    pub(super) fn note_outer(&mut self, thresholds: &[&Threshold]) {
        for threshold in thresholds.iter().filter(|threshold| threshold.grows()) {
            let Some(member) = self.member(threshold).filter(|member| !member.turned) else { continue };
            if threshold.sign == Sign::Unsigned && threshold.unit.is_none() {
                let more =
                    self.more.entry((side(threshold, member).what.clone(), threshold.depth)).or_insert(0);
                *more = threshold.more.max(*more);
            }
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
            let (what, least) = (what.clone(), *least);
            let is_bounded = threshold.side.is_bounded;
            threshold.side = Side { what, least, rounded: least, is_bounded, ..Side::default() };
            (threshold.other, threshold.in_units) = (None, Vec::new());
            (threshold.scope, threshold.depth) = (scope, depth);
            threshold.is_turned = true;
            return;
        }
    }

    /// Takes a number that loops count up to without a sign not to be one of the greatest, with which a sum
    /// overflows that is compared: where loops count up to `n + 1`, or that is asked of `n + 1`, `n == -1` is
    /// false.
    pub(super) fn read(&self, threshold: &mut Threshold) {
        if threshold.sign != Sign::Negative || self.member(threshold).is_some() {
            return;
        }
        let own = threshold.more;
        let more = |(what, .., depth): Name| self.more.get(&(what, depth)).map(|more| own.max(*more));
        let names = Self::names(threshold).into_iter().filter(|(_, turned, _)| !turned);
        if names.filter_map(|(name, ..)| more(name)).any(|more| threshold.side.least > -more) {
            threshold.side.floor = threshold.side.floor.max(Some(0));
        }
    }
}

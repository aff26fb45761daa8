//! Thresholds that grow by what is no number: `i < n` where `i` goes on by the size of the grid.

use std::collections::BTreeMap;

use super::families::{Families, Member, least};
use super::linear::{Asker, DEPTH};
use super::sum::{Linear, gcd, up_to_multiple};
use super::{InUnits, Side, Threshold};
use crate::kernel::arithmetic::signed;
use crate::kernel::code::{Operation, Type};
use crate::kernel::lanes::Lanes;
use crate::kernel::value::{Term, ValueId};

impl Asker<'_> {
    /// How many units a sum without iterations has to have so that it is at least a number; it grows by so
    /// many of them. Nothing lies between multiples of what all is a multiple of.
    pub(super) fn side_in(&self, unit: ValueId, sum: &Linear, least: i64, growth: &[i64]) -> Option<Side> {
        let mut base = sum.clone();
        let times = base.atoms.remove(&unit).unwrap_or(0);
        let step = base.atoms.values().chain(growth).copied().fold(times, gcd);
        let offset = up_to_multiple(least.checked_sub(base.known)?, step)?;
        let what = format!("{}{:+}", self.words(&base)?, offset.checked_neg()?);
        let is_bounded = self.is_bounded(&base);
        let least = times.checked_neg()?;
        let (rounds, above) = (Vec::new(), Vec::new());
        let (rounded, is_tied) = (least, is_bounded && self.repeats(&base));
        let is_capped = self.is_capped(&base);
        Some(Side { what, least, rounded, is_bounded, is_capped, is_tied, rounds, above, ..Side::default() })
    }

    /// A sum in each of its unknown numbers that thresholds may grow by.
    pub(super) fn in_units(&self, sum: &Linear, least: i64, turned: bool) -> Option<Vec<InUnits>> {
        let units = sum.atoms.keys().filter(|atom| sum.atoms.len() > 1 && self.is_positive(**atom));
        // What grows may do so by a single unit.
        let ways = units.flat_map(|unit| [(unit, &[] as &[i64]), (unit, &[1])]);
        let in_unit = |(unit, growth): (&ValueId, &[i64])| {
            let side = self.side_in(*unit, sum, least, growth)?;
            Some(InUnits { unit: self.keys.of(*unit), side, turned })
        };
        let mut all: Vec<InUnits> = ways.map(in_unit).collect::<Option<_>>()?;
        all.extend(self.of_quotient(sum, least, turned));
        Some(all)
    }

    /// A quotient by an unknown number in that one: of `x / unit` it is asked how many units x has.
    pub(super) fn of_quotient(&self, sum: &Linear, least: i64, turned: bool) -> Option<InUnits> {
        let (unit, inside) = self.divided_by_unit(sum, least)?;
        let side = self.side_in(unit, &inside, 0, &[1])?;
        Some(InUnits { unit: self.keys.of(unit), side, turned })
    }

    /// `x / unit` is at least a number from 1 on where x is at least so many units, rounded down or towards
    /// 0: the unit, and x without them.
    fn divided_by_unit(&self, sum: &Linear, least: i64) -> Option<(ValueId, Linear)> {
        let least = least.checked_sub(sum.known).filter(|least| *least >= 1)?;
        let Term::Apply { operation: Operation::Divide, ty, terms } = self.values().term(sum.alone()?) else {
            return None;
        };
        let [inside, unit] = terms[..] else { return None };
        let mut inside = self.linear(inside, *ty, DEPTH).filter(|inside| inside.rounds.is_empty())?;
        let units = Linear { atoms: BTreeMap::from([(unit, 1)]), ..Linear::default() };
        inside.add(&units, least.checked_neg()?)?;
        self.is_positive(unit).then_some((unit, inside))
    }

    /// Iterations and a number, times what each of them adds.
    pub(super) fn product(&self, iterations: &Linear, unit: &Linear) -> Option<Linear> {
        let unit = unit.alone().filter(|_| unit.known == 0)?;
        if !iterations.atoms.is_empty() || iterations.rounds.keys().any(|(_, unit)| unit.is_some()) {
            return None;
        }
        let mut product = Linear::default();
        for ((header, _), times) in &iterations.rounds {
            product.rounds.insert((*header, Some(unit)), *times);
        }
        if iterations.known != 0 {
            product.atoms.insert(unit, iterations.known);
        }
        Some(product)
    }

    /// What is added in each iteration, as so many times an unknown number.
    pub(super) fn steps(&self, step: ValueId, ty: Type, left: u32) -> (Option<ValueId>, i64) {
        let sum = self.linear(step, ty, left);
        let atoms = sum.filter(|sum| sum.known == 0 && sum.rounds.is_empty()).map(|sum| sum.atoms);
        match atoms.as_ref().and_then(|atoms| atoms.first_key_value()) {
            Some((unit, times)) if *times > 0 && atoms.as_ref().is_some_and(|atoms| atoms.len() == 1) => {
                (Some(*unit), *times)
            }
            _ => (Some(step), 1),
        }
    }

    /// Whether what is added in each iteration is greater than 0: sizes of grids are, and so are their
    /// products as long as they do not overflow.
    pub(super) fn is_positive(&self, unit: ValueId) -> bool {
        match self.values().term(unit) {
            Term::Same(name) => {
                let is_size = |name: &String| name.contains("nctaid") || name.contains("nclusterid");
                self.keys.code.names.get(*name as usize).is_some_and(is_size)
            }
            Term::Sum { bits, terms, known } => {
                let is_factor = |factor: &Lanes| factor.all().is_some_and(|by| signed(by, *bits) > 0);
                let mut parts =
                    terms.iter().map(|(term, factor)| is_factor(factor) && self.is_positive(*term));
                known.is_zero() && parts.all(|is_one| is_one)
            }
            Term::Apply { operation, ty: Type { bits: 32.., .. }, terms } => {
                let keeps = match operation {
                    Operation::Convert(from) => from.bits >= 32,
                    _ => matches!(operation, Operation::Multiply | Operation::MultiplyWide),
                };
                keeps && terms.iter().all(|term| self.is_positive(*term))
            }
            _ => false,
        }
    }
}

impl Families {
    /// By how much a number is more than its family counts, given whether it is at least 1: of `x / unit`,
    /// units are counted that x has beyond some.
    pub(super) fn more(&self, one: &Threshold, member: Member) -> Option<i64> {
        let family = &self.all[member.family];
        let is_counted = one.unit == family.unit;
        if is_counted { Some(0) } else { 1_i64.checked_sub(least(one, member, family)) }
    }
}

//! How the unknown numbers of a comparison are read: with a sign or without one.
//!
//! A number of 32 bits that is made wider with its sign, and one that is made wider without it, are the same
//! as long as it is not negative. So are the greater of it and another number, with a sign and without. Who
//! reads one number in both ways rests on that.

use super::linear::{Asker, DEPTH};
use super::{Readings, Sign};
use crate::kernel::code::{Comparison, Operation, Type};
use crate::kernel::terms::of_grid;
use crate::kernel::value::{Term, ValueId};

/// How something is read: with a sign or not, with how many bits, and whether it has as many.
#[derive(Clone, Copy)]
struct Reading {
    sign: Sign,
    bits: u8,
    is_widened: bool,
}

impl Reading {
    fn of(ty: Type, is_widened: bool) -> Self {
        let sign = if ty.signed { Sign::Signed } else { Sign::Unsigned };
        Self { sign, bits: ty.bits, is_widened }
    }
}

impl Asker<'_> {
    /// How the numbers on both sides of a comparison are read.
    pub(super) fn readings(&self, comparison: Comparison, ty: Type, sides: [ValueId; 2]) -> Readings {
        let mut found = Readings::default();
        let mut read = Reading::of(ty, false);
        if matches!(comparison, Comparison::Equal | Comparison::NotEqual) {
            // Whether it is this number is the same in both ways.
            if sides.iter().any(|side| self.values().as_known(*side).is_some()) {
                return found;
            }
            read.sign = Sign::Either;
        }
        for side in sides {
            self.reads(side, read, DEPTH, &mut found);
        }
        found
    }

    /// What is read inside of something that is read so.
    fn reads(&self, value: ValueId, read: Reading, left: u32, found: &mut Readings) {
        let Some(left) = left.checked_sub(1) else { return };
        let bits = self.values().width(value);
        // To make a number wider without a sign is not written.
        let read = match bits < read.bits {
            true => Reading { sign: Sign::Unsigned, bits, is_widened: true },
            false => read,
        };
        match self.values().term(value) {
            Term::Known(_) | Term::Gained { .. } => {}
            Term::Sum { terms, .. } => {
                for (term, _) in terms {
                    self.reads(*term, read, left, found);
                }
            }
            Term::Apply { operation: Operation::Convert(from), ty, terms } if from.bits < ty.bits => {
                self.reads(terms[0], Reading::of(*from, true), left, found);
            }
            Term::Apply { operation: Operation::Maximum | Operation::Minimum, ty, terms } => {
                for term in terms {
                    self.reads(*term, Reading::of(*ty, read.is_widened), left, found);
                }
            }
            // As it is loaded from where it begins.
            Term::Apply { operation: Operation::Convert(_), terms, .. }
                if matches!(self.values().term(terms[0]), Term::Same(_)) =>
            {
                self.read(terms[0], read, found);
            }
            _ => self.read(value, read, found),
        }
    }

    fn read(&self, value: ValueId, read: Reading, found: &mut Readings) {
        let is_natural = self.is_natural(value) || of_grid(self.values(), self.keys.code, value).is_some();
        if read.sign != Sign::Either && !is_natural {
            found.read.insert((self.keys.of(value), read.sign));
            found.widened.extend(read.is_widened.then_some(read.sign));
        }
    }
}

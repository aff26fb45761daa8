//! Numbers that something may be, where it is computed so that there are few of them.

use std::collections::{BTreeMap, BTreeSet};

use super::arithmetic::signed;
use super::code::{Operation, Register};
use super::evaluate::{Evaluation, OUTSIDE};
use super::lanes::Lanes;
use super::value::{Term, ValueId, Values};

/// Numbers that are looked at, at most.
const MOST: usize = 16;

/// What is looked through for them, at most.
const TERMS: usize = 5_000;

/// The numbers that a value may be in any round of any loop, as far as can be told from how it is computed:
/// of `i & 3` those from 0 to 3, of a variable what it begins with and what it becomes. `None` if they are
/// many, or not known.
pub(super) fn possible(values: &Values, evaluation: &Evaluation, value: ValueId) -> Option<BTreeSet<i64>> {
    let found = Possible { values, evaluation, open: BTreeMap::new(), left: TERMS }.of(value)?;
    // What is divided by 0 may be anything.
    (!found.is_empty()).then_some(found)
}

struct Possible<'v> {
    values: &'v Values,
    evaluation: &'v Evaluation,
    /// Variables of which it is being found out, and the numbers that are known so far.
    open: BTreeMap<(usize, Register), BTreeSet<i64>>,
    left: usize,
}

impl Possible<'_> {
    fn of(&mut self, value: ValueId) -> Option<BTreeSet<i64>> {
        self.left = self.left.checked_sub(1)?;
        let number = |lanes: &Lanes, bits: u8| lanes.all().map(|number| signed(number, bits.max(1)));
        let found = match self.values.term(value) {
            // A number of fewer bits has no sign.
            Term::Known(lanes) => match self.values.width(value) {
                bits @ 32.. => BTreeSet::from([number(lanes, bits)?]),
                _ => BTreeSet::from([i64::try_from(lanes.all()?).ok()?]),
            },
            Term::Sum { bits, terms, known } => {
                let mut sums = BTreeSet::from([number(known, *bits)?]);
                for (term, factor) in terms {
                    let factor = number(factor, *bits)?;
                    let each = self.of(*term)?;
                    let of = |sum: &i64| {
                        each.iter()
                            .map(move |one| one.checked_mul(factor)?.checked_add(*sum))
                            .collect::<Vec<_>>()
                    };
                    sums = sums.iter().flat_map(of).collect::<Option<_>>()?;
                }
                sums
            }
            Term::Apply { operation: Operation::And, terms, .. } => {
                let masks = terms.iter().filter_map(|term| self.values.as_known(*term)?.all());
                within(masks.min_by_key(|mask| mask.count_ones())?)?
            }
            Term::Apply { operation: Operation::Remainder, ty, terms } if !ty.signed => {
                let by = self.values.as_known(*terms.get(1)?)?.all()?;
                (0..i64::try_from(by).ok()?.min(MOST as i64 + 1)).collect()
            }
            Term::Meet { block, register } => self.of_variable((*block, *register))?,
            _ => return None,
        };
        (found.len() <= MOST).then_some(found)
    }

    /// The numbers that a variable begins with, and all that it becomes from these.
    fn of_variable(&mut self, variable: (usize, Register)) -> Option<BTreeSet<i64>> {
        if let Some(known) = self.open.get(&variable) {
            return Some(known.clone());
        }
        let incoming = self.evaluation.meets.get(&variable)?;
        let mut all = BTreeSet::new();
        loop {
            self.open.insert(variable, all.clone());
            let before = all.len();
            for (from, value) in incoming {
                if *from == OUTSIDE {
                    return None;
                }
                all.extend(self.of(*value)?);
            }
            if all.len() > MOST {
                return None;
            }
            if all.len() == before {
                self.open.remove(&variable);
                return Some(all);
            }
        }
    }
}

/// The numbers that have no other bits than these.
fn within(mask: u64) -> Option<BTreeSet<i64>> {
    if mask.count_ones() > MOST.ilog2() {
        return None;
    }
    let (mut found, mut next) = (BTreeSet::new(), mask);
    loop {
        found.insert(i64::try_from(next).ok()?);
        if next == 0 {
            return Some(found);
        }
        next = (next - 1) & mask;
    }
}

//! Of what thresholds are: an unknown number, and what it is computed from.

use std::collections::BTreeSet;

use super::families::{gcd, up_to_multiple};
use super::linear::{Asker, DEPTH};
use super::sum::{Linear, Rounds};
use super::{Side, Sign};
use crate::kernel::code::{Operation, Register};
use crate::kernel::ranges::{Known, Ranges};
use crate::kernel::terms::of_grid;
use crate::kernel::value::{Term, ValueId, Values};

/// Selections inside one another of which it is looked whether they are bounded.
const SELECTIONS: u32 = 4;

/// How a number is made of the one that is looked into next; `usize` is its place among those above.
enum Step {
    /// Its low bits are cleared.
    Rounded(i64),
    Divided(usize, i64),
    /// The greater of it and a number.
    Raised(usize, i64),
    /// So much more.
    More(i64),
}

/// Says of numbers what they are at least, given that of the innermost of which they are made.
fn raise(above: &mut [Side], steps: &[Step], innermost: Option<i64>) {
    let mut floor = innermost;
    for step in steps.iter().rev() {
        floor = match step {
            Step::Rounded(mask) => floor.map(|floor| floor & !mask),
            Step::Divided(_, by) => floor.map(|floor| floor.div_euclid(*by)),
            Step::Raised(_, most) => Some(floor.map_or(*most, |floor| floor.max(*most))),
            Step::More(more) => floor.and_then(|floor| floor.checked_add(*more)),
        };
        if let Step::Divided(at, _) | Step::Raised(at, _) = step
            && let Some(side) = above.get_mut(*at)
        {
            side.floor = side.floor.max(floor);
        }
    }
}

impl Side {
    /// Notes that what is compared without a sign, and only added, is at least 0.
    pub(super) fn has_no_sign(&mut self, sum: &Linear, sign: Sign) {
        let only_adds = sum.atoms.values().all(|times| *times > 0);
        if sign == Sign::Unsigned && self.above.is_empty() && only_adds {
            self.floor = self.floor.max(Some(0));
        }
    }
}

impl Asker<'_> {
    /// The unknown number of a sum without iterations, looked into as far as thresholds can be said of what
    /// is inside, or only as far as thresholds stay those of each number; by how much they grow there.
    pub(super) fn side(&self, sum: &Linear, least: i64, (rounds, is_deep): (&Rounds, bool)) -> Option<Side> {
        let (mut sum, mut rounds) = (sum.clone(), rounds.clone());
        let mut least = least.checked_sub(sum.known)?;
        sum.known = 0;
        let mut given: Option<i64> = None;
        let mut above = Vec::new();
        let mut steps = Vec::new();
        for _ in 0..DEPTH {
            let so_far = |floor| self.shown(&sum, least, given, &rounds).map(|side| Side { floor, ..side });
            if let Some((inside, mask, more)) = self.rounded(&sum) {
                // What is rounded down to a multiple reaches the same multiples.
                let step = mask.checked_add(1)?;
                if rounds.values().any(|times| times % step != 0) {
                    break;
                }
                least = least.checked_sub(more)?.checked_add(mask)?.div_euclid(step).checked_mul(step)?;
                given = given.map(|given| given.checked_sub(more)).map_or(Some(None), |g| g.map(Some))?;
                steps.extend([Step::More(more), Step::Rounded(mask)]);
                sum = inside;
            } else if let Some((inside, by)) = self.divided(&sum).filter(|_| is_deep && least >= 1) {
                steps.push(Step::Divided(above.len(), by));
                above.push(so_far(self.floor(&sum))?);
                least = least.checked_mul(by)?;
                given = given.map(|given| given.checked_mul(by)).map_or(Some(None), |g| g.map(Some))?;
                for times in rounds.values_mut() {
                    *times = times.checked_mul(by)?;
                }
                sum = inside;
            } else if let Some((inside, most)) = self.raised(&sum).or_else(|| self.lowered(&sum)) {
                if !is_deep {
                    return so_far(Some(most));
                }
                steps.push(Step::Raised(above.len(), most));
                above.push(so_far(Some(most))?);
                given = Some(given.map_or(most, |given| given.max(most)));
                sum = inside;
            } else {
                break;
            }
            least = least.checked_sub(sum.known)?;
            given = given.map(|given| given.checked_sub(sum.known)).map_or(Some(None), |g| g.map(Some))?;
            steps.push(Step::More(sum.known));
            sum.known = 0;
        }
        let floor = self.floor(&sum);
        raise(&mut above, &steps, floor);
        Some(Side { floor, above, ..self.shown(&sum, least, given, &rounds)? })
    }

    /// A sum without iterations as it is.
    fn shown(&self, sum: &Linear, least: i64, given: Option<i64>, rounds: &Rounds) -> Option<Side> {
        let step = sum.atoms.values().copied().fold(0, gcd);
        let is_kept = step > 0 && rounds.values().all(|times| times % step == 0);
        Some(Side {
            what: self.words(sum)?,
            least,
            rounded: if is_kept { up_to_multiple(least, step)? } else { least },
            given,
            floor: None,
            // Of a multiple no outcome comes about that lies between.
            is_bounded: self.is_bounded(sum) || step > 1 && !is_kept,
            is_tied: self.is_bounded(sum) && self.repeats(sum),
            rounds: rounds.iter().map(|(header, by)| (*header, *by)).collect(),
            above: Vec::new(),
        })
    }

    /// What a sum without iterations is at least, if that is said of all that is in it, or known of a launch.
    fn floor(&self, sum: &Linear) -> Option<i64> {
        let floor = sum.atoms.iter().try_fold(0_i64, |floor, (atom, times)| {
            let said = self.keys.bounded(*atom).map(|(_, least)| least);
            let least = said
                .or_else(|| of_grid(self.values(), self.keys.code, *atom))
                .or_else(|| self.at_least(*atom))
                .filter(|_| *times > 0)?;
            floor.checked_add(least.checked_mul(*times)?)
        });
        floor.filter(|_| !sum.atoms.is_empty())
    }

    /// Whether several unknown numbers of a sum are about one thing.
    pub(super) fn repeats(&self, sum: &Linear) -> bool {
        let mut seen = BTreeSet::new();
        sum.atoms.keys().any(|atom| self.keys.about(*atom).into_iter().any(|about| !seen.insert(about)))
    }

    /// What a number is at least by what is computed in it, whatever is unknown: `x % 11` has few values.
    fn at_least(&self, atom: ValueId) -> Option<i64> {
        let known = Nothing(BTreeSet::new());
        Ranges::new(self.values(), &known, (self.keys.node, 0)).of(atom).0.filter(|least| *least > 0)
    }

    /// Whether unknown numbers of a sum have fewer values than a register.
    pub(super) fn is_bounded(&self, sum: &Linear) -> bool {
        sum.atoms.keys().any(|atom| self.is_cut(*atom, SELECTIONS))
    }

    fn is_cut(&self, atom: ValueId, left: u32) -> bool {
        let cuts = match self.values().term(atom) {
            Term::Known(_) => true,
            Term::Apply { operation: Operation::Select, terms, .. } => {
                left == 0 || terms[..2].iter().any(|one| self.is_cut(*one, left - 1))
            }
            Term::Apply { operation, .. } => {
                matches!(operation, Operation::And | Operation::Remainder | Operation::Minimum)
            }
            _ => false,
        };
        cuts || self.values().width(atom) < 32
    }
}

/// Nothing is known of a warp but the terms themselves.
struct Nothing(BTreeSet<ValueId>);

impl Known for Nothing {
    fn is_exact(&self, _: &Values, _: usize, _: ValueId) -> bool {
        false
    }

    fn is_number(&self, _: &Values, _: usize, _: ValueId) -> bool {
        false
    }

    fn numbers(&self) -> &BTreeSet<ValueId> {
        &self.0
    }

    fn incoming(&self, _: (usize, Register)) -> &[(usize, ValueId)] {
        &[]
    }
}

//! Of what thresholds are: an unknown number, and what it is computed from.

use super::Side;
use super::families::{gcd, up_to_multiple};
use super::linear::{Asker, DEPTH};
use super::sum::{Linear, Rounds};
use crate::kernel::code::Operation;
use crate::kernel::value::{Term, ValueId};

/// Selections inside one another of which it is looked whether they are bounded.
const SELECTIONS: u32 = 4;

impl Asker<'_> {
    /// The unknown number of a sum without iterations, looked into as far as thresholds can be said of what
    /// is inside, or only as far as thresholds stay those of each number; by how much they grow there.
    pub(super) fn side(&self, sum: &Linear, least: i64, (rounds, is_deep): (&Rounds, bool)) -> Option<Side> {
        let (mut sum, mut rounds) = (sum.clone(), rounds.clone());
        let mut least = least.checked_sub(sum.known)?;
        sum.known = 0;
        let mut given: Option<i64> = None;
        let mut above = Vec::new();
        for _ in 0..DEPTH {
            let so_far = |floor| self.shown(&sum, least, given, &rounds).map(|side| Side { floor, ..side });
            if let Some((inside, mask)) = self.rounded(&sum) {
                // What is rounded down to a multiple reaches the same multiples.
                let step = mask.checked_add(1)?;
                if rounds.values().any(|times| times % step != 0) {
                    break;
                }
                least = least.checked_add(mask)?.div_euclid(step).checked_mul(step)?;
                sum = inside;
            } else if let Some((inside, by)) = self.divided(&sum).filter(|_| is_deep && least >= 1) {
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
                above.push(so_far(Some(most))?);
                given = Some(given.map_or(most, |given| given.max(most)));
                sum = inside;
            } else {
                break;
            }
            least = least.checked_sub(sum.known)?;
            given = given.map(|given| given.checked_sub(sum.known)).map_or(Some(None), |g| g.map(Some))?;
            sum.known = 0;
        }
        let floor = self.floor(&sum);
        Some(Side { floor, above, ..self.shown(&sum, least, given, &rounds)? })
    }

    /// A sum without iterations as it is.
    fn shown(&self, sum: &Linear, least: i64, given: Option<i64>, rounds: &Rounds) -> Option<Side> {
        Some(Side {
            what: self.words(sum)?,
            least,
            rounded: up_to_multiple(least, sum.atoms.values().copied().fold(0, gcd))?,
            given,
            floor: None,
            is_bounded: self.is_bounded(sum),
            rounds: rounds.iter().map(|(header, by)| (*header, *by)).collect(),
            above: Vec::new(),
        })
    }

    /// What a sum without iterations is at least, if that is said of all that is in it.
    fn floor(&self, sum: &Linear) -> Option<i64> {
        let floor = sum.atoms.iter().try_fold(0_i64, |floor, (atom, times)| {
            let (_, least) = self.keys.bounded(*atom).filter(|_| *times > 0)?;
            floor.checked_add(least.checked_mul(*times)?)
        });
        floor.filter(|_| !sum.atoms.is_empty())
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

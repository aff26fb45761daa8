//! Of what thresholds are: an unknown number, and what it is computed from.

use std::collections::{BTreeMap, BTreeSet};

use super::linear::{Asker, DEPTH};
use super::sum::{Into, Linear, Rounds, gcd, up_to_multiple};
use super::{Outer, Side, Sign};
use crate::kernel::code::{Operation, Register};
use crate::kernel::lanes::Lanes;
use crate::kernel::ranges::{Known, Ranges};
use crate::kernel::terms::of_grid;
use crate::kernel::value::{Term, ValueId, Values};

/// Thresholds of a number that may be said of what it is made of.
const OUTER: i64 = 8;

/// Selections inside one another of which it is looked whether they are bounded.
const SELECTIONS: u32 = 4;

/// Bits of numbers that runs come to: what has more of them need not be told from what has no end.
const FAR: u8 = 10;

/// Lesser and greater numbers inside one another of which it is looked what they are at least.
const EXTREMES: u32 = 4;

/// How a number is made of the one that is looked into next; `usize` is its place among those above.
enum Step {
    /// Its low bits are cleared.
    Rounded(i64),
    Divided(usize, i64),
    /// The greater of it and a number.
    Raised(usize, i64),
    /// The lesser of it and a number.
    Capped(usize, i64),
    /// So many times it.
    Times(usize, i64),
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
            Step::Capped(_, most) => floor.map(|floor| floor.min(*most)),
            Step::Times(_, times) => floor.and_then(|floor| floor.checked_mul(*times)),
            Step::More(more) => floor.and_then(|floor| floor.checked_add(*more)),
        };
        if let Step::Divided(at, _) | Step::Raised(at, _) | Step::Capped(at, _) | Step::Times(at, _) = step
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
    /// The unknown number of a sum without iterations, looked into so far; by how much thresholds grow there.
    pub(super) fn side(&self, sum: &Linear, least: i64, (rounds, into): (&Rounds, Into)) -> Option<Side> {
        let (mut sum, mut rounds) = (sum.clone(), rounds.clone());
        let mut least = least.checked_sub(sum.known)?;
        sum.known = 0;
        let mut given: Option<i64> = None;
        let (mut above, mut steps) = (Vec::new(), Vec::new());
        let is_flat = rounds.is_empty() && into == Into::All;
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
            } else if let Some((inside, by)) =
                self.divided(&sum).filter(|_| into != Into::Numbers && least >= 1)
            {
                steps.push(Step::Divided(above.len(), by));
                above.push(so_far(self.floor(&sum))?);
                least = least.checked_mul(by)?;
                given = given.map(|given| given.checked_mul(by)).map_or(Some(None), |g| g.map(Some))?;
                for times in rounds.values_mut() {
                    *times = times.checked_mul(by)?;
                }
                sum = inside;
            } else if let Some((inside, most)) = self.raised(&sum).or_else(|| self.lowered(&sum)) {
                if into == Into::Numbers {
                    return so_far(Some(most));
                }
                steps.push(Step::Raised(above.len(), most));
                above.push(so_far(Some(most))?);
                given = Some(given.map_or(most, |given| given.max(most)));
                sum = inside;
            } else if let Some((inside, most)) =
                self.capped(&sum).filter(|(_, most)| is_flat && least <= *most)
            {
                steps.push(Step::Capped(above.len(), most));
                above.push(so_far(self.floor(&sum))?);
                sum = inside;
            } else if let Some((inside, times)) = sum.times().filter(|_| is_flat) {
                steps.push(Step::Times(above.len(), times));
                above.push(so_far(self.floor(&sum))?);
                least = up_to_multiple(least, times)? / times;
                given = given.map(|given| given.div_euclid(times));
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

    /// Thresholds of what an unknown number is made of that say the same as those of the number, and as those
    /// of the one that the number is the greater of, and of a known one.
    pub(super) fn outer(&self, sum: &Linear) -> Vec<Outer> {
        let mut number = Linear { rounds: BTreeMap::new(), known: 0, ..sum.clone() };
        let mut found = Vec::new();
        for _ in 0..DEPTH {
            let Some(own) = self.words(&number) else { break };
            for least in 1..=OUTER {
                let Some(side) = self.side(&number, least, (&Rounds::new(), Into::All)) else { continue };
                let inner = Side { above: Vec::new(), ..side.clone() };
                let says_more =
                    |side: &Side| side.what != own && side.given.is_none_or(|given| given < side.least);
                let all = side.above.into_iter().chain([inner]).filter(says_more);
                let outer = |side: Side| Outer { number: own.clone(), least, of: (side.what, side.least) };
                found.extend(all.map(outer));
            }
            match self.raised(&number) {
                Some((inside, _)) => number = Linear { known: 0, ..inside },
                None => break,
            }
        }
        found
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
            is_capped: self.is_capped(sum),
            is_tied: self.is_bounded(sum) && self.repeats(sum),
            rounds: rounds.iter().map(|(header, by)| (*header, *by)).collect(),
            above: Vec::new(),
        })
    }

    /// What a sum without iterations is at least, if that is said of all that is in it, or known of a launch.
    fn floor(&self, sum: &Linear) -> Option<i64> {
        self.floor_in(sum, EXTREMES)
    }

    fn floor_in(&self, sum: &Linear, left: u32) -> Option<i64> {
        let floor = sum.atoms.iter().try_fold(0_i64, |floor, (atom, times)| {
            let said = self.keys.bounded(*atom).map(|(_, least)| least);
            let least = said
                .or_else(|| of_grid(self.values(), self.keys.code, *atom))
                .or_else(|| self.at_least(*atom))
                .or_else(|| self.floor_of_extreme(*atom, left))
                .filter(|_| *times > 0)?;
            floor.checked_add(least.checked_mul(*times)?)
        });
        floor.filter(|_| !sum.atoms.is_empty())
    }

    /// What the lesser or greater of two numbers is at least, by what they are: each is looked into as often
    /// as is left.
    fn floor_of_extreme(&self, atom: ValueId, left: u32) -> Option<i64> {
        let left = left.checked_sub(1)?;
        let Term::Apply { operation, ty, terms } = self.values().term(atom) else { return None };
        let leasts = terms.iter().map(|term| {
            let sum = self.linear(*term, *ty, DEPTH).filter(|sum| sum.rounds.is_empty())?;
            let floor = if sum.atoms.is_empty() { Some(0) } else { self.floor_in(&sum, left) };
            floor?.checked_add(sum.known)
        });
        match operation {
            Operation::Minimum => leasts.collect::<Option<Vec<i64>>>()?.into_iter().min(),
            Operation::Maximum => leasts.flatten().max(),
            _ => None,
        }
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

    /// Whether one of the unknown numbers that are added up stays below some number that runs come to.
    pub(super) fn is_capped(&self, sum: &Linear) -> bool {
        sum.atoms.iter().any(|(atom, times)| *times > 0 && self.stays_below(*atom, SELECTIONS))
    }

    fn stays_below(&self, atom: ValueId, left: u32) -> bool {
        let few = |number: u64| number < 1 << FAR;
        let known = |value: ValueId| self.values().as_known(value).and_then(Lanes::all);
        let Term::Apply { operation, terms, .. } = self.values().term(atom) else {
            return known(atom).map_or(self.values().width(atom) <= FAR, few);
        };
        let stays = |value: &ValueId| left == 0 || self.stays_below(*value, left - 1);
        match operation {
            Operation::Select => terms[..2].iter().all(stays),
            Operation::Maximum => terms.iter().all(stays),
            Operation::Minimum | Operation::And => terms.iter().any(stays),
            Operation::Remainder => terms.last().is_none_or(stays),
            _ => self.values().width(atom) <= FAR,
        }
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

//! What lanes of a warp tell one another.

use super::evaluate::Evaluator;
use super::lanes::{Lanes, WIDTH};
use super::value::{Term, ValueId};

impl Evaluator<'_> {
    /// One of the lanes of a mask, the same for the same mask: which of them is not said, and taken to be the
    /// first.
    pub(super) fn elect(&mut self, at: usize, mask: ValueId) -> ValueId {
        let mask = self.values.as_known(mask).and_then(Lanes::all);
        let elected = mask.map(|mask| mask.trailing_zeros() as usize).filter(|lane| *lane < self.warp.live());
        match elected {
            Some(elected) => {
                self.values.known(Lanes::each(self.warp.live(), |lane| u64::from(lane == elected)))
            }
            None => self.unknown(at, false),
        }
    }

    pub(super) fn broadcast(&mut self, at: usize, value: ValueId, lane: ValueId, clamp: ValueId) -> ValueId {
        let whole = self.values.as_known(clamp).and_then(Lanes::all) == Some(31);
        let lanes = self.values.as_known(lane).cloned().filter(|_| whole);
        let result = match lanes {
            Some(Lanes::All(lane)) if (lane as usize % WIDTH) < self.warp.live() => {
                self.at_lane(value, lane as usize % WIDTH)
            }
            Some(Lanes::Each(lanes)) => {
                let from = self.values.as_known(value).cloned();
                from.map(|from| {
                    let picked = Lanes::each(WIDTH, |lane| from.get(lanes[lane] as usize));
                    self.values.known(picked)
                })
            }
            _ => None,
        };
        result.unwrap_or_else(|| self.unknown(at, true))
    }

    /// The value that a term has in one lane; `None` if that is not known.
    pub(super) fn at_lane(&mut self, value: ValueId, lane: usize) -> Option<ValueId> {
        if let Some(known) = self.at_lanes.get(&(value, lane)) {
            return *known;
        }
        let found = self.in_lane(value, lane);
        self.at_lanes.insert((value, lane), found);
        found
    }

    fn in_lane(&mut self, value: ValueId, lane: usize) -> Option<ValueId> {
        match self.values.term(value).clone() {
            Term::Known(lanes) => Some(self.values.number(lanes.get(lane))),
            Term::Same(_) | Term::Given { .. } | Term::Unknown { of_warp: true, .. } => Some(value),
            Term::Loaded { at, address, varies } => {
                let address = self.at_lane(address, lane)?;
                Some(self.values.leaf(Term::Loaded { at, address, varies }))
            }
            Term::Sum { bits, terms, known } => {
                let mut parts = Vec::new();
                for (term, factor) in terms {
                    parts.push((self.at_lane(term, lane)?, Lanes::All(factor.get(lane))));
                }
                let known = self.values.number(known.get(lane));
                parts.push((known, Lanes::All(1)));
                self.values.sum(bits, &parts)
            }
            Term::Apply { operation, ty, terms } => {
                let terms: Option<Vec<ValueId>> =
                    terms.into_iter().map(|term| self.at_lane(term, lane)).collect();
                Some(self.values.apply(operation, ty, &terms?))
            }
            Term::Pure { name, terms } => {
                let terms: Option<Vec<ValueId>> =
                    terms.into_iter().map(|term| self.at_lane(term, lane)).collect();
                Some(self.values.pure(name, &terms?, self.values.width(value)))
            }
            Term::Meet { .. } | Term::Gained { .. } | Term::Unknown { .. } | Term::Unset => None,
        }
    }

    /// `all` and `any` of what is the same for all lanes. Of anything else it would matter which take part.
    pub(super) fn vote(&mut self, at: usize, value: ValueId) -> ValueId {
        match self.at_lane(value, 0) {
            // What does not depend on the lane is the same for all of them.
            Some(first) if first == value => value,
            _ => self.unknown(at, true),
        }
    }
}

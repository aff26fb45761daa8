//! Numbers that are known for each lane of a warp.

use std::rc::Rc;

/// Lanes of a warp. Groups that run one program together may have more.
pub(super) const WIDTH: usize = 32;

/// A known number for each lane. Bits above the width of its type are 0.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Lanes {
    /// The same for all.
    All(u64),
    /// Not the same for all.
    Each(Rc<[u64]>),
}

impl Lanes {
    /// One number for each of the `live` lanes; the others do not count.
    pub(super) fn each(live: usize, of_lane: impl Fn(usize) -> u64) -> Self {
        let first = of_lane(0);
        let mut numbers = vec![first; live.max(WIDTH)];
        for (lane, number) in numbers.iter_mut().enumerate().take(live) {
            *number = of_lane(lane);
        }
        if numbers.iter().all(|number| *number == first) {
            Self::All(first)
        } else {
            Self::Each(numbers.into())
        }
    }

    pub(super) fn get(&self, lane: usize) -> u64 {
        match self {
            Self::All(number) => *number,
            Self::Each(numbers) => numbers[lane % numbers.len()],
        }
    }

    /// The number that all lanes have, if it is one.
    pub(super) fn all(&self) -> Option<u64> {
        match self {
            Self::All(number) => Some(*number),
            Self::Each(_) => None,
        }
    }

    fn width(&self) -> usize {
        match self {
            Self::All(_) => 1,
            Self::Each(numbers) => numbers.len(),
        }
    }

    pub(super) fn is_zero(&self) -> bool {
        *self == Self::All(0)
    }

    /// The result of an operation, lane by lane; `None` if it has none in some lane.
    pub(super) fn map(operands: &[&Self], apply: impl Fn(&[u64]) -> Option<u64>) -> Option<Self> {
        let of_lane = |lane: usize| {
            let numbers: Vec<u64> = operands.iter().map(|operand| operand.get(lane)).collect();
            apply(&numbers)
        };
        if operands.iter().all(|operand| operand.all().is_some()) {
            return of_lane(0).map(Self::All);
        }
        let width = operands.iter().map(|operand| operand.width()).fold(WIDTH, usize::max);
        let results: Option<Vec<u64>> = (0..width).map(of_lane).collect();
        let results = results?;
        Some(Self::each(width, |lane| results[lane]))
    }
}

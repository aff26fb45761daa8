//! The decisions that a protocol leaves open (`?`, `uniform ?`, `any`), made one after the other or by
//! chance.
//!
//! Loom explores schedules and knows nothing of a protocol's choices, so that every combination of decisions
//! is an exploration of its own. An agent's decisions are numbered in the order in which it makes them: what
//! it is asked depends on what it has decided before and not on the schedule, so that a [`Script`] that says
//! what each is to decide fits every schedule.

use barcheck_model::program::{AgentId, SequenceId};
use std::sync::{Mutex, PoisonError};

/// Which decision: the `n`-th of an agent, or of a sequence that all agents share, or of what is in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Point {
    Private(AgentId, u32),
    Uniform(SequenceId, u32),
    /// The `n`-th landing of an execution: which operation of those in flight it is.
    Landing(u32),
}

/// Who decides.
pub(super) trait Choices: Send + Sync {
    /// One of `0..options`.
    fn pick(&self, point: Point, options: u64) -> u64;
}

/// Every combination of decisions in turn, in the manner of an odometer.
#[derive(Debug, Default)]
pub(super) struct Script {
    /// The decisions of this turn in the order in which they were first asked for, with the number of
    /// options.
    decided: Mutex<Vec<(Point, u64, u64)>>,
}

impl Script {
    /// Goes on to the next combination; `false` after the last.
    pub(super) fn advance(&self) -> bool {
        let mut decided = self.decided.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some((point, picked, options)) = decided.pop() {
            if picked + 1 < options {
                decided.push((point, picked + 1, options));
                return true;
            }
        }
        false
    }
}

impl Choices for Script {
    fn pick(&self, point: Point, options: u64) -> u64 {
        let mut decided = self.decided.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, picked, most)) = decided.iter_mut().find(|(known, ..)| *known == point) {
            // Where timing decides what a reduction yields, or what is in flight, schedules may differ in
            // what they ask.
            *most = options.max(*most);
            return (*picked).min(options.saturating_sub(1));
        }
        decided.push((point, 0, options));
        0
    }
}

/// Random decisions: the same seed decides the same.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chance(pub(super) u64);

impl Choices for Chance {
    fn pick(&self, point: Point, options: u64) -> u64 {
        let (kind, of, n) = match point {
            Point::Private(agent, n) => (1, u64::from(agent.0), n),
            Point::Uniform(sequence, n) => (2, sequence.index() as u64, n),
            Point::Landing(n) => (3, 0, n),
        };
        let mixed =
            [kind, of, u64::from(n)].into_iter().fold(self.0, |sum, part| scramble(sum ^ scramble(part)));
        mixed % options.max(1)
    }
}

/// The finaliser of SplitMix64: neighbouring numbers come out unlike each other.
pub(super) fn scramble(n: u64) -> u64 {
    let n = n.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let n = (n ^ (n >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let n = (n ^ (n >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    n ^ (n >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_goes_through_every_combination_even_if_later_questions_depend_on_earlier_answers() {
        let script = Script::default();
        let agent = AgentId(0);
        let mut seen = Vec::new();
        loop {
            let first = script.pick(Point::Private(agent, 0), 2);
            // The second question is asked only after a 1, and has three answers.
            let second = (first == 1).then(|| script.pick(Point::Private(agent, 1), 3));
            assert_eq!(script.pick(Point::Private(agent, 0), 2), first, "asked again, in another schedule");
            seen.push((first, second));
            if !script.advance() {
                break;
            }
        }
        assert_eq!(seen, [(0, None), (1, Some(0)), (1, Some(1)), (1, Some(2))]);
    }

    #[test]
    fn chance_decides_the_same_for_the_same_seed_and_everything_for_many() {
        let picks = |seed| Chance(seed).pick(Point::Uniform(SequenceId::from_index(0), 3), 5);
        assert_eq!(picks(7), picks(7));
        let all: std::collections::BTreeSet<u64> = (0..100).map(picks).collect();
        assert_eq!(all.len(), 5);
    }
}

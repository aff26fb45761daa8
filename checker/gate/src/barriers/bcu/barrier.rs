//! One barrier: what has been at it, and the generation that gathers.

use super::misuse::Misuse;
use crate::barriers::group::Report;
use crate::barriers::reduction::{RedOp, RedResult, Tally};
use barcheck_model::rule::Rule;

/// What each executed instruction adds to a barrier's count.
pub(super) const WARP: u32 = 32;
/// The bits that a count keeps.
pub(super) const COUNT_MASK: i64 = 0xfff;

/// The state of a barrier, for putting it back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BarrierState(pub(super) Option<Count>);

#[derive(Default)]
pub(super) struct Barrier {
    /// Whether a RED has been here, in any generation.
    pub(super) red: bool,
    /// Whether a SYNC or an ARV has.
    pub(super) plain: bool,
    pub(super) active: Option<Generation>,
}

pub(super) struct Generation {
    pub(super) count: Count,
    pub(super) arrived: Vec<usize>,
    /// Who blocks, and whether it has yet to fetch its last result.
    pub(super) waiting: Vec<(usize, bool)>,
}

/// What a register can hold of an active barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Count {
    /// Threads; 0 for every live warp.
    pub(super) expected: u32,
    /// The operator, of a reduction.
    pub(super) class: Option<RedOp>,
    /// Instructions.
    pub(super) arrivals: u32,
    pub(super) tally: Tally,
}

/// An instruction that arrives.
#[derive(Clone, Copy)]
pub(super) struct Arrival<'a> {
    pub(super) name: &'static str,
    pub(super) blocks: bool,
    pub(super) red: Option<(RedOp, &'a [bool])>,
}

impl Arrival<'_> {
    pub(super) fn class(&self) -> Option<RedOp> {
        self.red.map(|(op, _)| op)
    }

    // clause: bcu.count-field, bcu.sync-count-zero, bcu.arv-count-positive, bcu.red-count-field
    pub(super) fn count(&self, given: i64) -> Result<u32, Misuse> {
        let sensible = (0..=COUNT_MASK).contains(&given) && given % i64::from(WARP) == 0;
        if sensible && (given > 0 || self.blocks) {
            Ok(given as u32)
        } else {
            Err(Misuse::CountRange { given })
        }
    }
}

impl Barrier {
    pub(super) fn state(&self) -> BarrierState {
        BarrierState(self.active.as_ref().map(|active| active.count))
    }

    // clause: bcu.count-agrees, bcu.red-own-id, barcheck.bcu-counts-are-numbers, barcheck.mixed-red-op
    /// Whether another arrival fits what has been here.
    pub(super) fn admits(&self, barrier: u32, count: u32, arrival: Arrival<'_>) -> Result<(), Misuse> {
        let active = self.active.as_ref().map(|active| active.count);
        let red = arrival.red.is_some();
        let mixed = active.is_some_and(|active| active.class.is_some() != red);
        if mixed || if red { self.plain } else { self.red } {
            return Err(Misuse::MixedRed { barrier, red });
        }
        let Some(active) = active else { return Ok(()) };
        if let (Some(active), Some(given)) = (active.class, arrival.class())
            && active != given
        {
            return Err(Misuse::MixedRedOp { barrier, active, given });
        }
        let announced = active.expected;
        if announced == count {
            Ok(())
        } else {
            Err(Misuse::CountMismatch { barrier, announced, given: count })
        }
    }

    // clause: bcu.count-per-instruction, bcu.red-counts-instruction
    /// Counts an arrival.
    pub(super) fn join(&mut self, expected: u32, arrival: Arrival<'_>) -> &mut Generation {
        match arrival.red {
            Some(_) => self.red = true,
            None => self.plain = true,
        }
        let fresh = Count { expected, class: arrival.class(), arrivals: 0, tally: Tally::default() };
        let active = self.active.get_or_insert_with(|| Generation::new(fresh));
        active.count.arrivals += 1;
        if let Some((_, lanes)) = arrival.red {
            active.count.tally.add(lanes);
        }
        active
    }
}

impl Count {
    pub(super) fn result(&self) -> Option<RedResult> {
        self.class.map(|op| self.tally.result(op))
    }
}

impl Generation {
    pub(super) fn new(count: Count) -> Self {
        Self { count, arrived: Vec::new(), waiting: Vec::new() }
    }

    // clause: bcu.exited-warps, bcu.sync-blocks, bcu.red-completion
    /// Whether the count is exactly what is expected, of a CTA with so many warps. `exited` is known where
    /// exits count.
    pub(super) fn is_complete(&self, exited: Option<u32>, warps: usize) -> bool {
        let Count { expected, arrivals, .. } = self.count;
        match expected {
            0 => exited.is_some_and(|exited| arrivals as usize + exited as usize == warps),
            _ => WARP * arrivals == expected,
        }
    }

    // clause: bcu.completion-wakes, bcu.red-copy, bcu.red-overwrites
    /// Releases those who wait, of whom the one who completes it may be one.
    pub(super) fn complete(
        self,
        barrier: u32,
        (warp, waits): (usize, bool),
        report: &mut Report<Option<RedResult>>,
    ) {
        if self.waiting.is_empty() {
            report.note(warp, Rule::NobodyWaits, barrier);
        }
        let result = self.count.result();
        for (waiter, unfetched) in &self.waiting {
            if *unfetched && result.is_some() {
                report.note(*waiter, Rule::ResultOverwritten, barrier);
            }
        }
        let others = self.waiting.into_iter().filter(|(waiter, _)| !waits || *waiter != warp);
        report.complete(barrier, others.map(|(waiter, _)| (waiter, result)).collect());
    }
}

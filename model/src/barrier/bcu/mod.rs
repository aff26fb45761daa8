//! The BCU instruction set: `BAR.SYNC`, `BAR.ARV`, `BAR.RED`, `B2R`, `R2B`: sixteen barriers in a CTA.
//!
//! Source: BCU instruction reference, sections BAR, BAR_RED, B2R, B2R_RESULT, R2B.

mod answers;

pub use answers::{Action, Bcu};

use super::{BarrierId, Completion, Effect, NotModelled, Progress, Refusal, Seat};
use crate::program::{ReductionOp, WARP_SIZE};
use crate::rule::Rule;

/// Barriers 0..=15.
// clause: bcu.sixteen-barriers
pub const BARRIERS: i64 = 16;
/// Counts have twelve bits.
// clause: bcu.count-field
pub const COUNT_MASK: i64 = 0xfff;
/// Ids have four bits.
// clause: bcu.sixteen-barriers
pub const ID_MASK: i64 = 0xf;

/// What a warp does when it arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operation {
    /// `BAR.SYNC`.
    Sync,
    /// `BAR.ARV`.
    Arv,
    /// `BAR.RED.op`.
    Red(ReductionOp),
}

impl Operation {
    /// The operator of a reduction.
    #[must_use]
    #[inline]
    pub fn reduction(self) -> Option<ReductionOp> {
        match self {
            Self::Sync | Self::Arv => None,
            Self::Red(op) => Some(op),
        }
    }

    fn usage(self) -> Usage {
        match self {
            Self::Sync | Self::Arv => Usage::Plain,
            Self::Red(_) => Usage::Red,
        }
    }
}

/// An operand's value and where it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Operand {
    /// The value.
    pub value: i64,
    /// From a register: high bits are dropped, with a note. Otherwise an immediate, which must be in range.
    pub register: bool,
}

/// Id, count and operation of a barrier instruction, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Announcement {
    /// The barrier.
    pub id: BarrierId,
    /// The count to be reached, in threads; 0: every warp that has not fully exited.
    pub count: u32,
    /// The operation.
    pub operation: Operation,
    /// A register held bits that the hardware drops.
    pub truncated: bool,
}

/// Splits a packed register: id in bits 3..0, count in bits 15..4; bits above are dropped with a note.
#[must_use]
// clause: bcu.red-packed
pub fn unpack(value: i64) -> (Operand, Operand, bool) {
    let id = Operand { value: value & ID_MASK, register: true };
    let count = Operand { value: (value >> 4) & COUNT_MASK, register: true };
    (id, count, value & !0xffff != 0)
}

/// Checks the operands: id, then count, each after truncation if it comes from a register.
///
/// # Errors
/// `barrier-id-range`, `count-range`, in this order.
pub fn check_operands(
    operation: Operation,
    id: Operand,
    count: Operand,
    packed_bits_dropped: bool,
) -> Result<Announcement, Rule> {
    let mut truncated = packed_bits_dropped;
    let mut drop_bits = |operand: Operand, mask: i64| {
        // clause: bcu.operand-low-bits, bcu.red-sixteen-barriers, bcu.red-count-field
        if operand.register {
            truncated |= operand.value & !mask != 0;
            operand.value & mask
        } else {
            operand.value
        }
    };
    let id = drop_bits(id, ID_MASK);
    let count = drop_bits(count, COUNT_MASK);
    // clause: bcu.sixteen-barriers, bcu.red-sixteen-barriers
    if !(0..BARRIERS).contains(&id) {
        return Err(Rule::BarrierIdRange);
    }
    // clause: bcu.count-field, bcu.red-count-field
    let in_range = (0..=COUNT_MASK).contains(&count) && count % i64::from(WARP_SIZE) == 0;
    // clause: bcu.arv-count-positive
    if !in_range || operation == Operation::Arv && count == 0 {
        return Err(Rule::CountRange);
    }
    #[expect(
        clippy::cast_sign_loss,
        clippy::cast_possible_truncation,
        reason = "checked to fit 4 and 12 bits"
    )]
    Ok(Announcement { id: BarrierId(id as u32), count: count as u32, operation, truncated })
}

/// Checks the id of B2R and R2B, an immediate even where it is ignored.
///
/// # Errors
/// `barrier-id-range`.
pub fn check_state_id(id: i64) -> Result<BarrierId, Rule> {
    // clause: bcu.b2r-id-ignored, bcu.r2b-id-ignored
    u32::try_from(id).ok().filter(|id| i64::from(*id) < BARRIERS).map(BarrierId).ok_or(Rule::BarrierIdRange)
}

/// Whether a barrier id has been used for reductions or for SYNC and ARV: the text forbids both on one id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Usage {
    /// SYNC and ARV.
    Plain,
    /// RED.
    Red,
}

/// What a barrier's state register holds: opaque to programs, but readable and restorable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Live {
    /// The reduction's operator; `None` for SYNC and ARV.
    pub red: Option<ReductionOp>,
    /// The count announced, 0 for every live warp.
    pub count: u32,
    /// Arrivals so far; each counts [`WARP_SIZE`].
    pub arrivals: u32,
    /// The reduction so far.
    pub predicates: u32,
}

/// The state of a barrier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Barrier {
    /// How this id has been used on this path, in any generation.
    pub usage: Option<Usage>,
    /// The active generation, `None` when idle.
    pub live: Option<Live>,
    /// Warps that block on it.
    pub waiting: u32,
}

/// As a state keeps it.
pub type Kept = Barrier;

/// A warp's own copy of the last reduction in which it took part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ResultCopy {
    /// The operator.
    pub op: ReductionOp,
    /// The result: a count for POPC, else 0 or 1.
    pub result: u32,
}

/// What a register holds after B2R: not a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Opaque {
    /// A barrier's live state, `None` for an idle one.
    Barrier(Option<Live>),
    /// A warp's copy.
    Warp(ResultCopy),
    /// The state of a barrier, whatever it was: what B2R reads in an automaton that is worked out by
    /// itself. States that were read apart have numbers of their own.
    Unknown(u32),
}

/// The CTA as the barriers see it.
// clause: bcu.cta-scope
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cta {
    /// Warps in the CTA.
    pub warps: u32,
    /// Warps that have fully exited.
    pub exited: u32,
}

pub use super::ptx::Contribution;

fn reduce(op: ReductionOp, before: Option<u32>, c: Contribution) -> u32 {
    match op {
        // clause: bcu.red-popc
        ReductionOp::Popc => before.unwrap_or(0) + c.truths,
        // clause: bcu.red-logic
        ReductionOp::And => before.unwrap_or(1) & u32::from(c.truths == c.lanes),
        ReductionOp::Or => before.unwrap_or(0) | u32::from(c.truths > 0),
    }
}

/// A warp, or a fragment of one, arrives.
///
/// # Errors
/// `mixed-red`, `mixed-red-op`, `count-mismatch`, in this order.
pub fn arrive(
    cta: Cta,
    barrier: Barrier,
    seat: Seat,
    what: Announcement,
    contribution: Contribution,
) -> Result<Effect<Barrier>, Rule> {
    let red = match what.operation {
        Operation::Red(op) => Some(op),
        Operation::Sync | Operation::Arv => None,
    };
    // clause: bcu.red-own-id
    let usage = what.operation.usage();
    if barrier.usage.is_some_and(|u| u != usage)
        || barrier.live.is_some_and(|l| l.red.is_some() != red.is_some())
    {
        return Err(Rule::MixedRed);
    }
    // clause: barcheck.mixed-red-op
    if barrier.live.is_some_and(|l| l.red != red) {
        return Err(Rule::MixedRedOp);
    }
    // clause: bcu.count-agrees, barcheck.bcu-counts-are-numbers
    if barrier.live.is_some_and(|l| l.count != what.count) {
        return Err(Rule::CountMismatch);
    }
    // clause: bcu.sync-arrives, bcu.red-arrives, bcu.count-per-instruction, bcu.red-counts-instruction
    // clause: barcheck.bcu-fragment-arrivals
    let arrivals = barrier.live.map_or(0, |l| l.arrivals) + 1;
    let before = barrier.live.map(|l| l.predicates);
    // clause: bcu.red-reduces
    let predicates = red.map_or(0, |op| reduce(op, before, contribution));
    let live = Live { red, count: what.count, arrivals, predicates };
    let blocks = what.operation != Operation::Arv;
    let joined =
        Barrier { usage: Some(usage), live: Some(live), waiting: barrier.waiting + u32::from(blocks) };
    let completed = completion(cta, joined);
    // clause: bcu.count-per-instruction, bcu.red-counts-instruction
    // clause: bcu.operand-low-bits
    let notes: &[Rule] = match (seat.arrived, what.truncated) {
        (true, true) => &[Rule::RepeatedArrival, Rule::RegisterTruncated],
        (true, false) => &[Rule::RepeatedArrival],
        (false, true) => &[Rule::RegisterTruncated],
        (false, false) => &[],
    };
    Ok(Effect {
        // clause: bcu.completion-wakes, bcu.red-copy
        barrier: if completed.is_some() { emptied(joined) } else { joined },
        seat: Seat { arrived: true, waiting: blocks, ..Seat::default() },
        // clause: bcu.sync-blocks, bcu.red-arrives, bcu.arv-continues
        progress: if blocks { Progress::Block } else { Progress::Pass },
        completed,
        notes,
    })
}

/// A barrier after its generation has completed: the count is zero again, its use is remembered.
#[must_use]
// clause: bcu.completion-wakes
pub fn emptied(barrier: Barrier) -> Barrier {
    Barrier { live: None, waiting: 0, ..barrier }
}

/// Whether the generation is complete. Asked at every arrival and at every exit. Equality releases;
/// overshooting never does.
#[must_use]
pub fn completion(cta: Cta, barrier: Barrier) -> Option<Completion> {
    let live = barrier.live?;
    let all = live.count == 0;
    let reached = if all {
        // clause: bcu.sync-count-zero, bcu.exited-warps, bcu.red-completion
        live.arrivals + cta.exited == cta.warps
    } else {
        // clause: bcu.sync-blocks, bcu.red-completion
        live.arrivals * WARP_SIZE == live.count
    };
    reached.then_some(Completion {
        result: live.red.map(|_| live.predicates),
        takes_in_exited: all,
        // clause: barcheck.nobody-waits
        nobody_waits: barrier.waiting == 0,
        up_to: None,
    })
}

/// What the completion of a generation makes of a seat: blocked warps go on, everybody is out.
#[must_use]
// clause: bcu.completion-wakes
pub fn complete(_seat: Seat) -> Seat {
    Seat::default()
}

/// `B2R.BAR`: the live state.
#[must_use]
// clause: bcu.b2r-bar
pub fn read_barrier(barrier: Barrier) -> Opaque {
    Opaque::Barrier(barrier.live)
}

/// `R2B.BAR`: puts a state back onto an idle barrier or an equal state.
///
/// # Errors
/// `state-clobbered`; a value that no `B2R.BAR` has read is not modelled.
pub fn write_barrier(barrier: Barrier, value: Option<Opaque>) -> Result<Barrier, Refusal> {
    let Some(Opaque::Barrier(live)) = value else {
        return Err(Refusal::NotModelled(NotModelled::ForgedState));
    };
    match barrier.live {
        // clause: bcu.r2b-bar
        None => Ok(Barrier { live, ..barrier }),
        // clause: barcheck.state-equal
        Some(now) if live == Some(now) => Ok(barrier),
        // clause: bcu.r2b-context-only
        Some(_) => Err(Rule::StateClobbered.into()),
    }
}

/// Which output of `B2R.RESULT` a reduction leaves defined, and its value.
///
/// # Errors
/// `undefined-result` if an output is kept that the last reduction, or none, has defined.
pub fn fetch(
    copy: Option<ResultCopy>,
    keeps_register: bool,
    keeps_predicate: bool,
) -> Result<Option<u32>, Rule> {
    // clause: bcu.result-discarded
    if !keeps_register && !keeps_predicate {
        return Ok(copy.map(|c| c.result));
    }
    // clause: bcu.b2r-result-undefined, barcheck.undefined-ends
    let copy = copy.ok_or(Rule::UndefinedResult)?;
    // clause: bcu.b2r-result-kind
    let is_count = copy.op == ReductionOp::Popc;
    if keeps_register && !is_count || keeps_predicate && is_count {
        return Err(Rule::UndefinedResult);
    }
    Ok(Some(copy.result))
}

//! `barrier{.cta}` of the PTX ISA: sixteen barriers for each CTA.
//!
//! Source: PTX ISA, section `barrier{.cta}`; where it is silent, the readings of the project: an explicit
//! count is not released by exits unless asked for, and a missing one agrees with the size of the CTA.
//!
//! A warp is one thread here. Its lanes may separate, but come to a barrier together or not at all.

use super::group::{Barriers, Group, Report, Step, Turn};
use super::observer::{Observer, Stop, Violation};
use super::reduction::Tally;
use super::runtime::Runtime;
use barcheck_model::rule::Rule;
use std::cell;
use std::fmt;
use std::sync::Arc;

pub use super::reduction::{RedOp, RedResult};

/// Barriers of a CTA.
// clause: ptx.sixteen-barriers
const BARRIERS: usize = 16;
/// Threads that each warp counts as, whatever the number of its lanes.
const WARP: u32 = 32;

/// A CTA: its barriers and its warps. Clones are the same CTA.
pub struct Cta<R: Runtime> {
    shared: Arc<Shared<R>>,
}

struct Shared<R: Runtime> {
    group: Group<R, Common, Option<Generation>, Delivery>,
    warps: usize,
    exited_threads: ExitedThreads,
    repeats_count: bool,
}

/// The result of a reduction.
type Delivery = Option<RedResult>;

/// The hand that one warp has on its CTA's barriers.
pub struct Warp<R: Runtime> {
    cta: Cta<R>,
    number: usize,
    used: cell::Cell<Barriers>,
    /// Some of the live lanes are elsewhere.
    is_apart: cell::Cell<bool>,
}

/// Whether a barrier with an explicit count waits for warps that have exited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExitedThreads {
    /// It does: the count fixes the number of arrivals.
    #[default]
    Hold,
    /// Once every warp that has not arrived has exited, it lets those go that wait.
    Release,
}

/// How the text is read where it leaves something open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Readings {
    /// What exits are to barriers with an explicit count.
    pub exited_threads: ExitedThreads,
    /// Every arrival of a warp at a barrier with an explicit count counts, and exits release no such barrier;
    /// else a second one in a generation is a misuse.
    pub repeats_count: bool,
}

impl From<ExitedThreads> for Readings {
    fn from(exited_threads: ExitedThreads) -> Self {
        Self { exited_threads, repeats_count: false }
    }
}

/// What the instructions must not be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misuse {
    /// There is no such barrier: they are 0 to 15.
    BarrierIdRange {
        /// The id given.
        id: i64,
    },
    /// An arrive needs a thread count that is not zero.
    ArriveNeedsCount,
    /// The thread count is not a positive multiple of 32 up to the CTA's threads in whole warps.
    CountRange {
        /// The count given, in threads.
        given: i64,
        /// The CTA's threads in whole warps.
        most: u32,
    },
    /// Only some of the warp's live lanes execute the instruction.
    PartialWarp,
    /// A reduction meets a sync or an arrive on one active barrier.
    MixedRed {
        /// The barrier.
        barrier: u32,
        /// Whether the barrier is active with a reduction, and the instruction is none.
        active: bool,
    },
    /// Two reductions with different operators meet on one active barrier.
    MixedRedOp {
        /// The barrier.
        barrier: u32,
        /// The operator of those who are there.
        active: RedOp,
        /// The operator given.
        given: RedOp,
    },
    /// The active barrier was announced with another count.
    CountMismatch {
        /// The barrier.
        barrier: u32,
        /// The count of those who are there, in threads.
        announced: u32,
        /// The count given, in threads.
        given: u32,
    },
    /// The warp has arrived in this generation already.
    RepeatedArrival {
        /// The barrier.
        barrier: u32,
    },
}

/// Why an instruction did not go through.
pub type Error = Stop<Misuse>;

/// What exits have to do with.
struct Common {
    exited: Vec<bool>,
    /// The barriers that an exit may complete, and some that have become idle meanwhile.
    watched: Barriers,
}

/// An active barrier.
struct Generation {
    /// Threads.
    expected: u32,
    /// Whether every arrival so far left the count out.
    all: bool,
    /// The operator, of a reduction.
    class: Option<RedOp>,
    arrived: Vec<bool>,
    /// Arrivals, of which a warp may have made several.
    arrivals: u32,
    waiting: Vec<usize>,
    /// The predicates that came with a reduction.
    tally: Tally,
}

/// An instruction with its operands as they stand.
#[derive(Clone, Copy)]
struct Instruction<'a> {
    name: &'static str,
    id: i64,
    count: Option<i64>,
    blocks: bool,
    red: Option<(RedOp, &'a [bool])>,
}

impl<R: Runtime> Cta<R> {
    /// A CTA of so many threads, the last of whose warps may be partial.
    #[must_use]
    pub fn new(threads: u32) -> Self {
        Self::observed(threads, Readings::default(), ())
    }

    /// The same, with readings of the text, and somebody who is told of every step.
    #[must_use]
    pub fn observed(threads: u32, readings: impl Into<Readings>, observer: impl Observer + 'static) -> Self {
        let warps = threads.div_ceil(WARP) as usize;
        let Readings { exited_threads, repeats_count } = readings.into();
        let exited_threads = if repeats_count { ExitedThreads::Hold } else { exited_threads };
        let common = Common { exited: vec![false; warps], watched: 0 };
        let group = Group::new(warps, common, std::iter::repeat_with(|| None).take(BARRIERS), observer);
        Self { shared: Arc::new(Shared { group, warps, exited_threads, repeats_count }) }
    }

    /// The number of warps.
    #[must_use]
    pub fn warps(&self) -> usize {
        self.shared.warps
    }

    /// The hand of one warp. A warp is to be taken by one thread only.
    ///
    /// # Panics
    ///
    /// If the CTA has no such warp.
    #[must_use]
    pub fn warp(&self, number: usize) -> Warp<R> {
        assert!(number < self.warps(), "warp {number} of {}", self.warps());
        Warp { cta: self.clone(), number, used: cell::Cell::new(0), is_apart: cell::Cell::new(false) }
    }

    /// Gives the CTA up: every blocked and every later instruction ends with [`Stop::Aborted`].
    pub fn abort(&self) {
        self.shared.group.abort();
    }
}

impl<R: Runtime> Clone for Cta<R> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<R: Runtime> Warp<R> {
    /// The warp's number in its CTA.
    #[must_use]
    pub fn number(&self) -> usize {
        self.number
    }

    /// Says whether the lanes have separated, so that only some of the live ones execute what comes next.
    pub fn set_apart(&self, is_apart: bool) {
        self.is_apart.set(is_apart);
    }

    /// `barrier.sync`: arrives and waits for the others; without a count, for the whole CTA.
    ///
    /// # Errors
    ///
    /// Misuse, or the CTA given up.
    pub fn sync(&self, id: i64, count: Option<i64>) -> Result<(), Error> {
        self.execute(Instruction { name: "sync", id, count, blocks: true, red: None }).map(|_| ())
    }

    /// `barrier.arrive`: arrives and goes on.
    ///
    /// # Errors
    ///
    /// Misuse, or the CTA given up.
    pub fn arrive(&self, id: i64, count: Option<i64>) -> Result<(), Error> {
        self.execute(Instruction { name: "arrive", id, count, blocks: false, red: None }).map(|_| ())
    }

    /// `barrier.red`: arrives with one predicate for each executing lane, waits, and gets what all of them
    /// make.
    ///
    /// # Errors
    ///
    /// Misuse, or the CTA given up.
    pub fn red(&self, id: i64, count: Option<i64>, op: RedOp, lanes: &[bool]) -> Result<RedResult, Error> {
        let instruction = Instruction { name: "red", id, count, blocks: true, red: Some((op, lanes)) };
        self.execute(instruction).map(|result| result.expect("a reduction completes with its result"))
    }

    /// `bar.warp.sync` by these of the warp's lanes, as a bit mask: all of them have to be in the mask that
    /// it names. The warp is one thread and waits for nobody.
    ///
    /// # Errors
    ///
    /// Misuse, or the CTA given up.
    // clause: ptx.warp-sync
    pub fn warp_sync(&self, lanes: u32, mask: i64) -> Result<(), Error> {
        let among = u32::try_from(mask).is_ok_and(|mask| lanes & !mask == 0);
        let may = if among { Ok(()) } else { Err(Misuse::PartialWarp) };
        self.cta.shared.group.alone(Step::of(self.number, "bar.warp.sync", None), may, None)
    }

    /// The end of the warp's program.
    ///
    /// # Errors
    ///
    /// The CTA given up.
    pub fn exit(self) -> Result<(), Error> {
        let Shared { group, exited_threads, .. } = &*self.cta.shared;
        let exited = |common: &mut Common| {
            common.exited[self.number] = true;
            common.watched
        };
        let act = |common: &mut Common, barrier, slot: &mut Option<Generation>, report: &mut _| {
            let complete = |generation: &mut Generation| {
                generation.is_complete(Some(&common.exited), *exited_threads, false)
            };
            if let Some(generation) = slot.take_if(complete) {
                generation.complete(barrier, self.number, false, report);
            }
            if slot.is_none() {
                common.watched &= !(1 << barrier);
            }
        };
        let step = Step::of(self.number, "exit", None);
        group.across(step, exited, act)?;
        group.leave(self.number, self.used.get(), Option::is_some);
        Ok(())
    }

    fn execute(&self, instruction: Instruction<'_>) -> Result<Delivery, Error> {
        let Shared { group, warps, exited_threads, repeats_count } = &*self.cta.shared;
        let Instruction { name, id, .. } = instruction;
        let barrier = u32::try_from(id).ok().filter(|id| (*id as usize) < BARRIERS);
        let step = Step::of(self.number, name, barrier);
        let Some(barrier) = barrier else {
            return group.alone(step, Err(Misuse::BarrierIdRange { id }), None);
        };
        let count = match instruction.count(WARP * *warps as u32) {
            Ok(count) => count,
            Err(misuse) => return group.alone(step, Err(misuse), None),
        };
        // clause: ptx.aligned
        if self.is_apart.get() {
            return group.alone(step, Err(Misuse::PartialWarp), None);
        }
        self.used.set(self.used.get() | 1 << barrier);
        let exits_count = instruction.count.is_none() || *exited_threads == ExitedThreads::Release;
        group.execute(step, exits_count, |mut common, slot, report| {
            if let Some(active) = &*slot {
                let repeats = *repeats_count && instruction.count.is_some();
                active.admits(barrier, (self.number, repeats), instruction.class(), count)?;
            }
            let generation = slot.get_or_insert_with(|| Generation::new(count, instruction.class(), *warps));
            generation.join(self.number, instruction);
            // clause: barcheck.reserved-barrier
            if barrier == 0 && instruction.count.is_some() {
                report.note(self.number, Rule::ReservedBarrier, barrier);
            }
            let exited = common.as_ref().map(|common| common.exited.as_slice());
            if generation.is_complete(exited, *exited_threads, instruction.blocks) {
                let result = generation.result();
                let generation = slot.take().expect("an active barrier");
                generation.complete(barrier, self.number, instruction.blocks, report);
                return Ok(Turn::Done(result));
            }
            if !instruction.blocks {
                return Ok(Turn::Done(None));
            }
            generation.waiting.push(self.number);
            if let Some(common) = &mut common {
                common.watched |= 1 << barrier;
            }
            Ok(Turn::Blocked)
        })
    }
}

impl Instruction<'_> {
    fn class(&self) -> Option<RedOp> {
        self.red.map(|(op, _)| op)
    }

    // clause: ptx.count-default, ptx.count-multiple, ptx.arrive-count
    // clause: barcheck.count-zero, barcheck.count-bound
    /// The count that is meant, in threads, in a CTA of `most` threads in whole warps.
    fn count(&self, most: u32) -> Result<u32, Misuse> {
        if !self.blocks && matches!(self.count, None | Some(0)) {
            return Err(Misuse::ArriveNeedsCount);
        }
        let Some(given) = self.count else { return Ok(most) };
        let sensible = |count: &u32| (1..=most).contains(count) && count.is_multiple_of(WARP);
        u32::try_from(given).ok().filter(sensible).ok_or(Misuse::CountRange { given, most })
    }
}

impl Generation {
    fn new(expected: u32, class: Option<RedOp>, warps: usize) -> Self {
        let arrived = vec![false; warps];
        let (waiting, tally) = (Vec::new(), Tally::default());
        Self { expected, all: true, class, arrived, arrivals: 0, waiting, tally }
    }

    // clause: ptx.count-agrees, ptx.red-not-mixed, ptx.more-than-intended, barcheck.mixed-red-op
    /// Whether another arrival fits those who are there.
    fn admits(
        &self,
        barrier: u32,
        (warp, repeats): (usize, bool),
        class: Option<RedOp>,
        count: u32,
    ) -> Result<(), Misuse> {
        match (self.class, class) {
            (Some(active), Some(given)) if active != given => {
                return Err(Misuse::MixedRedOp { barrier, active, given });
            }
            (Some(_), None) | (None, Some(_)) => {
                return Err(Misuse::MixedRed { barrier, active: self.class.is_some() });
            }
            _ => {}
        }
        if self.expected != count {
            return Err(Misuse::CountMismatch { barrier, announced: self.expected, given: count });
        }
        // clause: barcheck.repeated-switch
        if self.arrived[warp] && !repeats { Err(Misuse::RepeatedArrival { barrier }) } else { Ok(()) }
    }

    fn join(&mut self, warp: usize, instruction: Instruction<'_>) {
        self.all &= instruction.count.is_none();
        self.arrived[warp] = true;
        self.arrivals += 1;
        if let Some((_, lanes)) = instruction.red {
            self.tally.add(lanes);
        }
    }

    // clause: ptx.exited-threads, barcheck.exited-switch, barcheck.count-missing-is-size
    /// Whether nobody is missing. `exited` is known where exits count; `waits` if the latest arrival would
    /// wait too.
    fn is_complete(&self, exited: Option<&[bool]>, reading: ExitedThreads, waits: bool) -> bool {
        let somebody_waits = waits || !self.waiting.is_empty();
        let exits_count = self.all || (reading == ExitedThreads::Release && somebody_waits);
        let nobody_else =
            |exited: &[bool]| self.arrived.iter().zip(exited).all(|(arrived, exited)| *arrived || *exited);
        WARP * self.arrivals == self.expected || (exits_count && exited.is_some_and(nobody_else))
    }

    // clause: ptx.red-result, barcheck.nobody-waits
    /// Releases those who wait. `waits` if `warp`, which completes the generation, would be one of them.
    fn complete(self, barrier: u32, warp: usize, waits: bool, report: &mut Report<Delivery>) {
        if self.waiting.is_empty() && !waits {
            report.note(warp, Rule::NobodyWaits, barrier);
        }
        let result = self.result();
        report.complete(barrier, self.waiting.into_iter().map(|warp| (warp, result)).collect());
    }

    fn result(&self) -> Delivery {
        self.class.map(|op| self.tally.result(op))
    }
}

impl Violation for Misuse {
    fn rule(&self) -> Option<Rule> {
        Some(match self {
            Self::BarrierIdRange { .. } => Rule::BarrierIdRange,
            Self::ArriveNeedsCount => Rule::ArriveNeedsCount,
            Self::CountRange { .. } => Rule::CountRange,
            Self::PartialWarp => Rule::PartialWarp,
            Self::MixedRed { .. } => Rule::MixedRed,
            Self::MixedRedOp { .. } => Rule::MixedRedOp,
            Self::CountMismatch { .. } => Rule::CountMismatch,
            Self::RepeatedArrival { .. } => Rule::RepeatedArrival,
        })
    }
}

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BarrierIdRange { id } => write!(f, "barrier {id} of 0 to 15"),
            Self::ArriveNeedsCount => f.write_str("an arrive needs a thread count that is not zero"),
            Self::CountRange { given, most } => {
                write!(f, "thread count {given} is not a multiple of 32 from 32 to {most}")
            }
            Self::PartialWarp => f.write_str("a part of the warp at an instruction for all of it"),
            Self::MixedRed { barrier, active: true } => {
                write!(f, "barrier {barrier} is active with a reduction")
            }
            Self::MixedRed { barrier, active: false } => {
                write!(f, "a reduction on barrier {barrier}, which is active without one")
            }
            Self::MixedRedOp { barrier, active, given } => {
                write!(f, "reduction {given:?} on barrier {barrier}, which is active with {active:?}")
            }
            Self::CountMismatch { barrier, announced, given } => {
                write!(f, "{given} threads at barrier {barrier}, which was announced with {announced}")
            }
            Self::RepeatedArrival { barrier } => {
                write!(f, "the warp has arrived in this generation of barrier {barrier} already")
            }
        }
    }
}

impl std::error::Error for Misuse {}

//! `barrier{.cta}` of the PTX ISA: sixteen barriers for each CTA.
//!
//! A warp is one thread here, so it never diverges and every instruction is executed by all of its live lanes.

use super::monitor::{Monitor, Observer, Report, Stop, Turn, Violation};
use super::runtime::Runtime;
use barcheck_model::rule::Rule;
use std::fmt;
use std::sync::Arc;

/// Barriers of a CTA.
const BARRIERS: usize = 16;
/// Threads that each warp counts as, whatever the number of its lanes.
const WARP: u32 = 32;

/// A CTA: its barriers and its warps. Clones are the same CTA.
pub struct Cta<R: Runtime> {
    shared: Arc<Shared<R>>,
}

struct Shared<R: Runtime> {
    monitor: Monitor<R, State, Option<RedResult>>,
    warps: usize,
}

/// The hand that one warp has on its CTA's barriers.
pub struct Warp<R: Runtime> {
    cta: Cta<R>,
    number: usize,
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

/// How the predicates of a reduction are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedOp {
    /// The number of lanes that brought true.
    Popc,
    /// Whether all did.
    And,
    /// Whether any did.
    Or,
}

/// What a reduction gives to everybody who waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedResult {
    /// Of [`RedOp::Popc`]: lanes.
    Count(u32),
    /// Of [`RedOp::And`] and [`RedOp::Or`].
    Predicate(bool),
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

struct State {
    barriers: [Option<Generation>; BARRIERS],
    exited: Vec<bool>,
    exited_threads: ExitedThreads,
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
    waiting: Vec<usize>,
    /// The predicates that came with a reduction.
    lanes: Vec<bool>,
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
        Self::observed(threads, ExitedThreads::Hold, ())
    }

    /// The same, with a reading of what exits do, and somebody who is told of every step.
    #[must_use]
    pub fn observed(threads: u32, exited_threads: ExitedThreads, observer: impl Observer + 'static) -> Self {
        let warps = threads.div_ceil(WARP) as usize;
        let state =
            State { barriers: [const { None }; BARRIERS], exited: vec![false; warps], exited_threads };
        let monitor = Monitor::new(state, warps, BARRIERS, Box::new(observer));
        Self { shared: Arc::new(Shared { monitor, warps }) }
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
        Warp { cta: self.clone(), number }
    }

    /// Gives the CTA up: every blocked and every later instruction ends with [`Stop::Aborted`].
    pub fn abort(&self) {
        self.shared.monitor.abort();
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

    /// `barrier.red`: arrives with one predicate for each executing lane, waits, and gets what all of them make.
    ///
    /// # Errors
    ///
    /// Misuse, or the CTA given up.
    pub fn red(&self, id: i64, count: Option<i64>, op: RedOp, lanes: &[bool]) -> Result<RedResult, Error> {
        let instruction = Instruction { name: "red", id, count, blocks: true, red: Some((op, lanes)) };
        self.execute(instruction).map(|result| result.expect("a reduction completes with its result"))
    }

    /// The end of the warp's program.
    ///
    /// # Errors
    ///
    /// The CTA given up.
    pub fn exit(self) -> Result<(), Error> {
        let act = |state: &mut State, report: &mut Report<'_, Option<RedResult>>| {
            state.exit(self.number, report);
            Ok(Turn::Done(None))
        };
        self.cta.shared.monitor.execute(self.number, ("exit", None), act).map(|_| ())
    }

    fn execute(&self, instruction: Instruction<'_>) -> Result<Option<RedResult>, Error> {
        let barrier = barrier(instruction.id).ok();
        self.cta.shared.monitor.execute(self.number, (instruction.name, barrier), |state, report| {
            state.arrive(self.number, instruction, report)
        })
    }
}

fn barrier(id: i64) -> Result<u32, Misuse> {
    u32::try_from(id).ok().filter(|id| (*id as usize) < BARRIERS).ok_or(Misuse::BarrierIdRange { id })
}

impl State {
    /// The CTA's threads in whole warps.
    fn threads(&self) -> u32 {
        WARP * self.exited.len() as u32
    }

    /// The count that an instruction means, in threads.
    fn count(&self, instruction: Instruction<'_>) -> Result<u32, Misuse> {
        if !instruction.blocks && matches!(instruction.count, None | Some(0)) {
            return Err(Misuse::ArriveNeedsCount);
        }
        let most = self.threads();
        let Some(given) = instruction.count else { return Ok(most) };
        let sensible = |count: &u32| (1..=most).contains(count) && count.is_multiple_of(WARP);
        u32::try_from(given).ok().filter(sensible).ok_or(Misuse::CountRange { given, most })
    }

    fn arrive(
        &mut self,
        warp: usize,
        instruction: Instruction<'_>,
        report: &mut Report<'_, Option<RedResult>>,
    ) -> Result<Turn<Option<RedResult>>, Misuse> {
        let barrier = barrier(instruction.id)?;
        let count = self.count(instruction)?;
        let class = instruction.red.map(|(op, _)| op);
        let warps = self.exited.len();
        let slot = &mut self.barriers[barrier as usize];
        if let Some(active) = slot {
            active.admits(barrier, warp, class, count)?;
        }
        let generation = slot.get_or_insert_with(|| Generation::new(count, class, warps));
        generation.all &= instruction.count.is_none();
        generation.arrived[warp] = true;
        if let Some((_, lanes)) = instruction.red {
            generation.lanes.extend_from_slice(lanes);
        }
        if barrier == 0 && instruction.count.is_some() {
            report.note(Rule::ReservedBarrier, Some(barrier));
        }
        // Its own release is no wake-up, so the last one to arrive does not join those who wait.
        let completes = self.is_complete(barrier, instruction.blocks);
        if !completes {
            if instruction.blocks {
                self.generation(barrier).waiting.push(warp);
                return Ok(Turn::Blocked(barrier as usize));
            }
            return Ok(Turn::Done(None));
        }
        let result = self.generation(barrier).result();
        self.complete(barrier, instruction.blocks, report);
        Ok(Turn::Done(result))
    }

    fn generation(&mut self, barrier: u32) -> &mut Generation {
        self.barriers[barrier as usize].as_mut().expect("an active barrier")
    }

    /// Whether the active generation is complete; `waits` if its latest arrival would wait too.
    fn is_complete(&self, barrier: u32, waits: bool) -> bool {
        let Some(generation) = &self.barriers[barrier as usize] else { return false };
        let arrived = generation.arrived.iter().filter(|arrived| **arrived).count() as u32;
        let released =
            self.exited_threads == ExitedThreads::Release && (waits || !generation.waiting.is_empty());
        let nobody_else =
            || generation.arrived.iter().zip(&self.exited).all(|(arrived, exited)| *arrived || *exited);
        WARP * arrived == generation.expected || ((generation.all || released) && nobody_else())
    }

    /// Takes the generation away and releases those who wait. `waits` if whoever completes it is one of them.
    fn complete(&mut self, barrier: u32, waits: bool, report: &mut Report<'_, Option<RedResult>>) {
        let generation = self.barriers[barrier as usize].take().expect("an active barrier");
        if generation.waiting.is_empty() && !waits {
            report.note(Rule::NobodyWaits, Some(barrier));
        }
        let result = generation.result();
        report.complete(barrier, generation.waiting.into_iter().map(|warp| (warp, result)).collect());
    }

    fn exit(&mut self, warp: usize, report: &mut Report<'_, Option<RedResult>>) {
        self.exited[warp] = true;
        for barrier in 0..BARRIERS as u32 {
            if self.is_complete(barrier, false) {
                self.complete(barrier, false, report);
            }
        }
        if self.exited.iter().all(|exited| *exited) {
            let dangling = (0..BARRIERS as u32).filter(|b| self.barriers[*b as usize].is_some());
            dangling.for_each(|barrier| report.note(Rule::DanglingArrival, Some(barrier)));
        }
    }
}

impl Generation {
    fn new(expected: u32, class: Option<RedOp>, warps: usize) -> Self {
        let arrived = vec![false; warps];
        Self { expected, all: true, class, arrived, waiting: Vec::new(), lanes: Vec::new() }
    }

    /// Whether another arrival fits those who are there.
    fn admits(&self, barrier: u32, warp: usize, class: Option<RedOp>, count: u32) -> Result<(), Misuse> {
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
        if self.arrived[warp] { Err(Misuse::RepeatedArrival { barrier }) } else { Ok(()) }
    }

    fn result(&self) -> Option<RedResult> {
        let mut lanes = self.lanes.iter();
        self.class.map(|op| match op {
            RedOp::Popc => RedResult::Count(lanes.filter(|lane| **lane).count() as u32),
            RedOp::And => RedResult::Predicate(lanes.all(|lane| *lane)),
            RedOp::Or => RedResult::Predicate(lanes.any(|lane| *lane)),
        })
    }
}

impl Violation for Misuse {
    fn rule(&self) -> Rule {
        match self {
            Self::BarrierIdRange { .. } => Rule::BarrierIdRange,
            Self::ArriveNeedsCount => Rule::ArriveNeedsCount,
            Self::CountRange { .. } => Rule::CountRange,
            Self::MixedRed { .. } => Rule::MixedRed,
            Self::MixedRedOp { .. } => Rule::MixedRedOp,
            Self::CountMismatch { .. } => Rule::CountMismatch,
            Self::RepeatedArrival { .. } => Rule::RepeatedArrival,
        }
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

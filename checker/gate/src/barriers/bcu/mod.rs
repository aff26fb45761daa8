//! `BAR`, `BAR.RED`, `B2R` and `R2B` of the BCU instruction set: sixteen barriers for each CTA.
//!
//! Source: BCU instruction set, group BCU, sections `BAR`, `BAR_RED`, `B2R`, `B2R_RESULT` and `R2B`.
//!
//! A warp is one thread here, so it never diverges and every instruction is executed by all of its live
//! lanes. An instruction whose guard is false is not executed, and that is the caller's to see to.

mod barrier;
mod misuse;

use crate::barriers::group::{Barriers, Group, Step, Turn};
use crate::barriers::observer::{Observer, Stop};
use crate::barriers::runtime::Runtime;
use barcheck_model::rule::Rule;
pub use barrier::BarrierState;
use barrier::{Arrival, Barrier, COUNT_MASK, Generation, WARP};
use std::cell;
use std::sync::Arc;

pub use crate::barriers::reduction::{RedOp, RedResult};
pub use misuse::Misuse;

/// Barriers of a CTA.
// clause: bcu.sixteen-barriers
const BARRIERS: usize = 16;
/// The bits that an id keeps.
const ID_MASK: i64 = 0xf;

/// A CTA: its barriers and its warps. Clones are the same CTA.
pub struct Cta<R: Runtime> {
    shared: Arc<Shared<R>>,
}

struct Shared<R: Runtime> {
    group: Group<R, Common, Barrier, Option<RedResult>>,
    warps: usize,
}

/// The hand that one warp has on its CTA's barriers.
pub struct Warp<R: Runtime> {
    cta: Cta<R>,
    number: usize,
    used: cell::Cell<Barriers>,
    copy: cell::Cell<Option<WarpState>>,
    /// Whether the copy holds a result that was never fetched.
    unfetched: cell::Cell<bool>,
}

/// An operand that names a barrier or a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// Part of the instruction: must be in range.
    Immediate(i64),
    /// From a register: the hardware drops what is too much.
    Register(i64),
}

/// What a warp keeps of the last reduction that it took part in: its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WarpState(RedResult);

/// The outputs of `B2R.RESULT` that do not go to `RZ` or `PT`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// The register, which gets the number of lanes.
    pub register: bool,
    /// The predicate register, which gets the truth value.
    pub predicate: bool,
}

/// Why an instruction did not go through.
pub type Error = Stop<Misuse>;

/// What exits have to do with.
struct Common {
    exited: u32,
    /// The barriers that an exit may complete, and some that have become idle meanwhile.
    watched: Barriers,
}

impl<R: Runtime> Cta<R> {
    /// A CTA of so many threads, the last of whose warps may be partial.
    #[must_use]
    pub fn new(threads: u32) -> Self {
        Self::observed(threads, ())
    }

    /// The same, with somebody who is told of every step.
    #[must_use]
    pub fn observed(threads: u32, observer: impl Observer + 'static) -> Self {
        let warps = threads.div_ceil(WARP) as usize;
        let barriers = std::iter::repeat_with(Barrier::default).take(BARRIERS);
        let group = Group::new(warps, Common { exited: 0, watched: 0 }, barriers, observer);
        Self { shared: Arc::new(Shared { group, warps }) }
    }

    /// The number of warps.
    #[must_use]
    pub fn warps(&self) -> usize {
        self.shared.warps
    }

    /// The hand of one warp. A warp is to be taken by one thread only, once.
    ///
    /// # Panics
    ///
    /// If the CTA has no such warp.
    #[must_use]
    pub fn warp(&self, number: usize) -> Warp<R> {
        assert!(number < self.warps(), "warp {number} of {}", self.warps());
        let (used, copy, unfetched) = (cell::Cell::new(0), cell::Cell::new(None), cell::Cell::new(false));
        Warp { cta: self.clone(), number, used, copy, unfetched }
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

    /// `BAR.SYNC`: arrives and waits until the count is reached; with count 0, for every live warp.
    ///
    /// # Errors
    ///
    /// Misuse, or the CTA given up.
    pub fn sync(&self, id: Operand, count: Operand) -> Result<(), Error> {
        self.bar(Arrival { name: "BAR.SYNC", blocks: true, red: None }, id, count)
    }

    /// `BAR.ARV`: arrives and goes on.
    ///
    /// # Errors
    ///
    /// Misuse, or the CTA given up.
    pub fn arv(&self, id: Operand, count: Operand) -> Result<(), Error> {
        self.bar(Arrival { name: "BAR.ARV", blocks: false, red: None }, id, count)
    }

    /// `BAR.RED` with id and count: arrives with one predicate for each executing lane and waits. The result
    /// is then the warp's to fetch.
    ///
    /// # Errors
    ///
    /// Misuse, or the CTA given up.
    pub fn red(&self, id: Operand, count: Operand, op: RedOp, lanes: &[bool]) -> Result<(), Error> {
        self.bar(Arrival { name: "BAR.RED", blocks: true, red: Some((op, lanes)) }, id, count)
    }

    /// `BAR.RED` with one register, which has the id in its low 4 bits and the count in the 12 above.
    ///
    /// # Errors
    ///
    /// Misuse, or the CTA given up.
    pub fn red_packed(&self, register: i64, op: RedOp, lanes: &[bool]) -> Result<(), Error> {
        // clause: bcu.red-packed
        let (id, count) = (register & ID_MASK, register >> 4 & COUNT_MASK);
        let truncated = register != count << 4 | id;
        let arrival = Arrival { name: "BAR.RED", blocks: true, red: Some((op, lanes)) };
        self.arrive(arrival, id, count, truncated)
    }

    /// The result that the warp keeps of its last reduction. To look at it is no instruction and no fetch.
    #[must_use]
    pub fn copy(&self) -> Option<RedResult> {
        self.copy.get().map(|WarpState(result)| result)
    }

    /// `B2R.RESULT`: fetches the result of the warp's last reduction, as far as it is kept.
    ///
    /// # Errors
    ///
    /// Misuse, or the CTA given up.
    pub fn result(&self, kept: Kept) -> Result<Option<RedResult>, Error> {
        // clause: bcu.b2r-result-undefined, bcu.b2r-result-kind, bcu.result-discarded
        let result = match (self.copy.get(), kept) {
            (_, Kept { register: false, predicate: false }) => Ok(None),
            (Some(WarpState(result @ RedResult::Count(_))), Kept { predicate: false, .. })
            | (Some(WarpState(result @ RedResult::Predicate(_))), Kept { register: false, .. }) => {
                Ok(Some(result))
            }
            _ => Err(Misuse::UndefinedResult),
        };
        let fetched = self.alone("B2R.RESULT", None, result)?;
        self.unfetched.set(false);
        Ok(fetched)
    }

    /// `B2R.WARP`: saves the warp's copy of its last reduction, which counts as fetching the result. The id
    /// has no effect, but must be one.
    ///
    /// # Errors
    ///
    /// Misuse, or the CTA given up.
    pub fn save_warp(&self, id: Option<i64>) -> Result<WarpState, Error> {
        let saved = ignored(id).and_then(|()| self.copy.get().ok_or(Misuse::UndefinedResult));
        let saved = self.alone("B2R.WARP", None, saved)?;
        self.unfetched.set(false);
        Ok(saved)
    }

    /// `R2B.WARP`: puts a saved copy back. Its result counts as fetched, since it has been saved. The id has
    /// no effect, but must be one.
    ///
    /// # Errors
    ///
    /// Misuse, or the CTA given up.
    pub fn restore_warp(&self, id: Option<i64>, saved: WarpState) -> Result<(), Error> {
        self.alone("R2B.WARP", None, ignored(id))?;
        self.copy.set(Some(saved));
        self.unfetched.set(false);
        Ok(())
    }

    /// `B2R.BAR`: reads the state of a barrier.
    ///
    /// # Errors
    ///
    /// Misuse, or the CTA given up.
    pub fn save_barrier(&self, id: i64) -> Result<BarrierState, Error> {
        let barrier = match barrier(id) {
            Ok(barrier) => barrier,
            Err(misuse) => return self.alone("B2R.BAR", None, Err(misuse)),
        };
        let mut saved = BarrierState(None);
        self.cta.shared.group.execute(self.step("B2R.BAR", Some(barrier)), false, |_, slot, _| {
            saved = slot.state();
            Ok(Turn::Done(None))
        })?;
        Ok(saved)
    }

    /// `R2B.BAR`: puts a state back onto a barrier that is idle or has this state already. It completes
    /// nothing.
    ///
    /// # Errors
    ///
    /// Misuse, or the CTA given up.
    pub fn restore_barrier(&self, id: i64, saved: BarrierState) -> Result<(), Error> {
        let barrier = match barrier(id) {
            Ok(barrier) => barrier,
            Err(misuse) => return self.alone("R2B.BAR", None, Err(misuse)),
        };
        self.used.set(self.used.get() | 1 << barrier);
        let exits_count = saved.0.is_some_and(|count| count.expected == 0);
        let step = self.step("R2B.BAR", Some(barrier));
        let restored = self.cta.shared.group.execute(step, exits_count, |common, slot, _| {
            // clause: bcu.r2b-context-only, barcheck.state-equal, barcheck.restore-completes-nothing
            if slot.active.is_some() && slot.state() != saved {
                return Err(Misuse::StateClobbered { barrier });
            }
            if slot.active.is_none() {
                slot.active = saved.0.map(Generation::new);
            }
            if let Some(common) = common {
                common.watched |= 1 << barrier;
            }
            Ok(Turn::Done(None))
        });
        restored.map(|_| ())
    }

    /// The end of the warp's program.
    ///
    /// # Errors
    ///
    /// The CTA given up.
    pub fn exit(self) -> Result<(), Error> {
        let Shared { group, warps } = &*self.cta.shared;
        let exited = |common: &mut Common| {
            common.exited += 1;
            common.watched
        };
        let act = |common: &mut Common, number, barrier: &mut Barrier, report: &mut _| {
            let complete = |active: &mut Generation| active.is_complete(Some(common.exited), *warps);
            if let Some(generation) = barrier.active.take_if(complete) {
                generation.complete(number, (self.number, false), report);
            }
            if barrier.active.is_none() {
                common.watched &= !(1 << number);
            }
        };
        group.across(self.step("exit", None), exited, act)?;
        group.leave(self.number, self.used.get(), |barrier| barrier.active.is_some());
        Ok(())
    }

    fn bar(&self, arrival: Arrival<'_>, id: Operand, count: Operand) -> Result<(), Error> {
        let ((id, id_cut), (count, count_cut)) = (id.read(ID_MASK), count.read(COUNT_MASK));
        self.arrive(arrival, id, count, id_cut || count_cut)
    }

    fn arrive(&self, arrival: Arrival<'_>, id: i64, count: i64, truncated: bool) -> Result<(), Error> {
        let Shared { group, warps } = &*self.cta.shared;
        let (barrier, count) = match barrier(id).and_then(|barrier| Ok((barrier, arrival.count(count)?))) {
            Ok(operands) => operands,
            Err(misuse) => return self.alone(arrival.name, barrier(id).ok(), Err(misuse)),
        };
        self.used.set(self.used.get() | 1 << barrier);
        let step = self.step(arrival.name, Some(barrier));
        let result = group.execute(step, count == 0, |mut common, slot, report| {
            slot.admits(barrier, count, arrival)?;
            if truncated {
                report.note(self.number, Rule::RegisterTruncated, barrier);
            }
            let exited = common.as_ref().map(|common| common.exited);
            let generation = slot.join(count, arrival);
            if generation.arrived.contains(&self.number) {
                report.note(self.number, Rule::RepeatedArrival, barrier);
            }
            generation.arrived.push(self.number);
            let waits = (self.number, self.unfetched.get());
            if generation.is_complete(exited, *warps) {
                if arrival.blocks {
                    generation.waiting.push(waits);
                }
                let result = generation.count.result();
                let generation = slot.active.take().expect("an active barrier");
                generation.complete(barrier, (self.number, arrival.blocks), report);
                return Ok(Turn::Done(result));
            }
            if !arrival.blocks {
                return Ok(Turn::Done(None));
            }
            generation.waiting.push(waits);
            if let Some(common) = &mut common {
                common.watched |= 1 << barrier;
            }
            Ok(Turn::Blocked)
        })?;
        if arrival.red.is_some() {
            self.copy.set(result.map(WarpState));
            self.unfetched.set(true);
        }
        Ok(())
    }

    fn alone<T>(
        &self,
        name: &'static str,
        barrier: Option<u32>,
        result: Result<T, Misuse>,
    ) -> Result<T, Error> {
        self.cta.shared.group.alone(self.step(name, barrier), result, None)
    }

    fn step(&self, name: &'static str, barrier: Option<u32>) -> Step {
        Step::of(self.number, name, barrier)
    }
}

fn barrier(id: i64) -> Result<u32, Misuse> {
    u32::try_from(id).ok().filter(|id| (*id as usize) < BARRIERS).ok_or(Misuse::BarrierIdRange { id })
}

/// An id that has no effect must be one all the same.
fn ignored(id: Option<i64>) -> Result<(), Misuse> {
    id.map_or(Ok(()), |id| barrier(id).map(|_| ()))
}

impl Operand {
    // clause: bcu.operand-low-bits
    /// The value that the hardware reads, and whether it has dropped anything.
    fn read(self, mask: i64) -> (i64, bool) {
        match self {
            Self::Immediate(value) => (value, false),
            Self::Register(value) => (value & mask, value & mask != value),
        }
    }
}

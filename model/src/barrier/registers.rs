//! PTX ISA, `setmaxnreg`: warps give registers to the pool of their CTA, and take them from there.
//!
//! Source: PTX ISA, section `setmaxnreg`.

use super::facts::{
    Announced, Applied, Around, BarrierState, Blocking, Dependence, Instruction, Nothing, Part, Standing,
};
use super::{BarrierId, Completion, Effect, Progress, Refusal, Seat};
use crate::program::{Scope, Semantics};
use crate::rule::Rule;

/// Registers of a thread that an instruction may ask for.
// clause: ptx.registers-range
const RANGE: std::ops::RangeInclusive<i64> = 24..=256;
/// They come in steps of so many.
const STEP: i64 = 8;

/// Registers of the register file, for each lane of a warp.
pub const FILE: u32 = 65_536 / 32;

/// The pool of a CTA. Registers are counted for a lane of each warp: what a warp of 32 lanes gives up is
/// counted once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Barrier {
    /// Registers that are free.
    pub free: u32,
    /// What each of those that wait lacks, the fewest first.
    pub wanted: Vec<u32>,
}

/// As a state keeps it.
pub type Kept = Barrier;

impl BarrierState for Barrier {
    type Operation = Nothing;

    fn is_initial(&self) -> bool {
        *self == Self::default()
    }

    fn holds_arrivals(&self) -> bool {
        false
    }

    fn depends_on_exits(&self, _release: bool) -> bool {
        false
    }

    fn is_kept_for_waits(&self) -> bool {
        false
    }

    fn room(&self, announced: Announced) -> Option<(u32, u32)> {
        announced.room()
    }

    fn completed_by_exit(&self, _id: BarrierId, _around: &impl Around) -> Option<(Self, Completion)> {
        None
    }
}

/// An instruction on the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Action {
    /// The pool.
    pub barrier: BarrierId,
    /// Registers given for each lane, or, below 0, taken.
    pub given: i32,
    /// Registers of each lane from then on.
    pub has: u32,
}

impl Action {
    /// What an instruction comes to for a warp that has so many registers for each lane.
    ///
    /// # Errors
    /// `count-range`.
    // clause: ptx.registers-range
    pub fn check(barrier: BarrierId, (has, wants): (u32, i64), takes: bool) -> Result<Self, Rule> {
        let is_in_range = RANGE.contains(&wants) && wants % STEP == 0;
        let given = i32::try_from(i64::from(has) - wants).map_err(|_| Rule::CountRange)?;
        let is_its_way = if takes { given <= 0 } else { given >= 0 };
        let has = u32::try_from(wants).map_err(|_| Rule::CountRange)?;
        if is_in_range && is_its_way { Ok(Self { barrier, given, has }) } else { Err(Rule::CountRange) }
    }
}

impl Instruction for Action {
    type Barrier = Barrier;

    fn barrier(&self) -> BarrierId {
        self.barrier
    }

    fn part(&self) -> Part {
        if self.given < 0 { Part::Takes } else { Part::Gives }
    }

    fn standing(&self) -> Option<Standing> {
        None
    }

    fn dependence(&self, _release: bool) -> Dependence {
        // Who goes on depends on how many are free by then.
        if self.given > 0 { Dependence::More } else { Dependence::Barrier }
    }

    fn ordering(&self) -> Option<(Scope, Semantics)> {
        None
    }

    fn with_pick(&self, _pick: u32) -> Self {
        *self
    }

    fn blocking(&self) -> Blocking {
        if self.given < 0 { Blocking::Sometimes } else { Blocking::Never }
    }

    fn lacks(&self) -> u32 {
        u32::try_from(-self.given).unwrap_or(0)
    }

    fn may_overtake_wait(&self, _seat: Seat) -> bool {
        false
    }

    fn is_alone(&self) -> bool {
        false
    }

    fn is_by_fragment(&self) -> bool {
        false
    }

    fn most_counted(&self, _threads: u32) -> Option<u32> {
        None
    }

    fn apply(
        &self,
        barrier: &Barrier,
        _seat: Seat,
        _pick: u32,
        _around: &impl Around,
    ) -> Result<Applied<Barrier>, Refusal> {
        let Barrier { free, mut wanted } = barrier.clone();
        let many = self.given.unsigned_abs();
        let effect = |barrier, progress, completed| Effect {
            barrier,
            seat: Seat { waiting: progress == Progress::Block, ..Seat::default() },
            progress,
            completed,
            notes: &[],
        };
        if self.given >= 0 {
            // clause: ptx.registers-dec
            let free = free + many;
            // Each of those for whom it is enough tries again.
            let enough = wanted.partition_point(|lacks| *lacks <= free);
            wanted.drain(..enough);
            let completed = (enough > 0).then_some(Completion { up_to: Some(free), ..Completion::default() });
            return Ok(Applied::Counts(effect(Barrier { free, wanted }, Progress::Pass, completed)));
        }
        // clause: ptx.registers-inc
        Ok(match free.checked_sub(many) {
            Some(free) => Applied::Waits(effect(Barrier { free, wanted }, Progress::Pass, None), None),
            None => {
                wanted.insert(wanted.partition_point(|lacks| *lacks <= many), many);
                Applied::Waits(effect(Barrier { free, wanted }, Progress::Block, None), None)
            }
        })
    }
}

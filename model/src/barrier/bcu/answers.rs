//! What the BCU answers to the questions that are asked of every system.

use super::super::facts::{
    Announced, Applied, Around, Arrival, BarrierState, Blocking, Carries, Dependence, Facts, Instruction,
    Nothing, Part, Standing, System,
};
use super::super::{BarrierId, Completion, Refusal, Seat};
use super::{
    Announcement, Barrier, Contribution, Cta, Opaque, Operation, arrive, complete, completion, emptied,
    write_barrier,
};
use crate::program::{Scope, Semantics, WARP_SIZE};
use crate::rule::{Level, Rule};

/// BCU barriers.
#[derive(Clone, Copy, Debug)]
pub struct Bcu;

impl System for Bcu {
    const FACTS: Facts = Facts {
        name: "bcu",
        agent_noun: "warp",
        has_lanes: true,
        rules: &[
            Rule::CountMismatch,
            Rule::CountRange,
            Rule::BarrierIdRange,
            Rule::ArrivalRace,
            Rule::DanglingArrival,
            Rule::MixedRed,
            Rule::MixedRedOp,
            Rule::NobodyWaits,
            Rule::UndefinedResult,
            Rule::ResultOverwritten,
            Rule::StateClobbered,
            Rule::RegisterTruncated,
        ],
        levels: &[(Rule::RepeatedArrival, Level::Warning)],
        waits_free: false,
        time_is_memory: false,
        fences_publish: false,
        exits_may_release: false,
        repeats_may_count: false,
        has_subgroups: false,
        notes_nobody_waits: true,
        carries: Carries::Published,
        has_room: true,
    };

    #[inline]
    fn complete(seat: Seat) -> Result<Seat, Rule> {
        Ok(complete(seat))
    }

    fn owes_wait(_seat: Seat) -> bool {
        false
    }
}

impl BarrierState for Barrier {
    type Operation = Nothing;

    #[inline]
    fn is_initial(&self) -> bool {
        *self == Self::default()
    }

    fn holds_arrivals(&self) -> bool {
        self.live.is_some()
    }

    // Only the barriers that wait for every live warp look at exits.
    fn depends_on_exits(&self, _release: bool) -> bool {
        self.live.is_some_and(|live| live.count == 0)
    }

    fn is_kept_for_waits(&self) -> bool {
        false
    }

    fn room(&self, announced: Announced) -> Option<(u32, u32)> {
        let Some(live) = self.live else { return announced.room() };
        let whole = live.count / WARP_SIZE;
        let left = whole.saturating_sub(live.arrivals);
        (announced == Announced::Whole(whole)).then_some((left, left))
    }

    // clause: bcu.exited-warps, bcu.red-completion
    fn completed_by_exit(&self, id: BarrierId, around: &impl Around) -> Option<(Self, Completion)> {
        let cta = Cta { warps: around.agents(id), exited: around.exited() };
        let completed = completion(cta, *self).filter(|_| self.depends_on_exits(false))?;
        Some((emptied(*self), completed))
    }
}

/// An instruction on a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A warp or a fragment of one arrives.
    Arrive {
        /// The instruction, operands checked.
        what: Announcement,
        /// The predicates that are known.
        contribution: Contribution,
        /// Lanes whose predicate is open (`?`).
        open: u32,
    },
    /// `B2R.BAR`.
    ReadState(BarrierId),
    /// `R2B.BAR`, with what the register holds if B2R has read it.
    WriteState(BarrierId, Option<Opaque>),
}

impl Instruction for Action {
    type Barrier = Barrier;

    #[inline]
    fn barrier(&self) -> BarrierId {
        match self {
            Self::Arrive { what, .. } => what.id,
            Self::ReadState(id) | Self::WriteState(id, _) => *id,
        }
    }

    fn part(&self) -> Part {
        match self {
            Self::Arrive { .. } => Part::Arrives,
            Self::ReadState(_) | Self::WriteState(..) => Part::MovesState,
        }
    }

    fn standing(&self) -> Option<Standing> {
        match self {
            Self::Arrive { what, .. } => {
                let announced = match what.count {
                    // Count 0 waits for every live warp: there is always room.
                    0 => Announced::Live,
                    threads => Announced::Whole(threads / WARP_SIZE),
                };
                Some(Standing { barrier: what.id, announced, produces: true, consumes: true })
            }
            Self::ReadState(_) | Self::WriteState(..) => None,
        }
    }

    fn dependence(&self, _release: bool) -> Dependence {
        match self {
            Self::Arrive { what, .. } if what.count == 0 => Dependence::BarrierAndExits,
            Self::Arrive { .. } => Dependence::Barrier,
            Self::ReadState(_) | Self::WriteState(..) => Dependence::More,
        }
    }

    fn ordering(&self) -> Option<(Scope, Semantics)> {
        None
    }

    fn with_pick(&self, pick: u32) -> Self {
        match *self {
            Self::Arrive { what, contribution, open } => {
                let contribution = contribution.with_pick(what.operation.reduction(), open, pick);
                Self::Arrive { what, contribution, open: 0 }
            }
            Self::ReadState(_) | Self::WriteState(..) => *self,
        }
    }

    fn blocking(&self) -> Blocking {
        match self {
            Self::Arrive { what, .. } => match what.operation {
                Operation::Arv => Blocking::Never,
                Operation::Sync | Operation::Red(_) => Blocking::Always,
            },
            Self::ReadState(_) => Blocking::Reads,
            Self::WriteState(..) => Blocking::Never,
        }
    }

    fn may_overtake_wait(&self, _seat: Seat) -> bool {
        false
    }

    fn is_alone(&self) -> bool {
        false
    }

    // clause: barcheck.bcu-fragment-arrivals
    fn is_by_fragment(&self) -> bool {
        match self {
            Self::Arrive { .. } => true,
            Self::ReadState(_) | Self::WriteState(..) => false,
        }
    }

    fn most_counted(&self, threads: u32) -> Option<u32> {
        match self {
            Self::Arrive { what, .. } if what.count == 0 => Some(threads),
            // Every arrival contributes a warp's threads at most, and counts as so many.
            Self::Arrive { what, .. } => Some(what.count.min(threads)),
            Self::ReadState(_) | Self::WriteState(..) => None,
        }
    }

    #[inline]
    fn apply(
        &self,
        barrier: &Barrier,
        seat: Seat,
        pick: u32,
        around: &impl Around,
    ) -> Result<Applied<Barrier>, Refusal> {
        match *self {
            Self::Arrive { what, contribution, open } => {
                let contribution = contribution.with_pick(what.operation.reduction(), open, pick);
                // Exits matter only to barriers that wait for every live warp.
                let exited = if what.count == 0 { around.exited() } else { 0 };
                let cta = Cta { warps: around.agents(self.barrier()), exited };
                let effect = arrive(cta, *barrier, seat, what, contribution)?;
                let how = match what.operation {
                    // clause: bcu.arv-no-memory
                    Operation::Arv => Arrival::PublishedBefore,
                    // clause: bcu.sync-memory, bcu.red-memory
                    Operation::Sync | Operation::Red(_) => Arrival::Publishing,
                };
                Ok(Applied::Arrives(effect, how))
            }
            // clause: bcu.b2r-bar
            Self::ReadState(_) => Ok(Applied::Reads),
            // clause: barcheck.restore-completes-nothing
            Self::WriteState(_, value) => Ok(Applied::Writes(write_barrier(*barrier, value)?)),
        }
    }
}

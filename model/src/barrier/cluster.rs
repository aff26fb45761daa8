//! PTX ISA, `barrier.cluster`: one barrier for all threads of a cluster, with arrivals and waits apart.
//!
//! Source: PTX ISA, section `barrier.cluster`.

use super::facts::{
    Announced, Applied, Around, Arrival, BarrierState, Blocking, Dependence, Instruction, Nothing, Part,
    Standing,
};
use super::{BarrierId, Completion, Effect, Progress, Refusal, Seat};
use crate::program::{Scope, Semantics};
use crate::rule::Rule;

/// The state of the barrier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Barrier {
    /// Warps that have arrived since the last completion.
    pub arrived: u32,
}

/// As a state keeps it.
pub type Kept = Barrier;

impl Barrier {
    /// The completion, once all warps have arrived or exited.
    // clause: ptx.cluster-exited
    fn completion(self, warps: u32, exited: u32) -> Option<Completion> {
        let complete = self.arrived > 0 && self.arrived + exited == warps;
        complete.then_some(Completion {
            result: None,
            takes_in_exited: true,
            nobody_waits: false,
            up_to: None,
        })
    }
}

impl BarrierState for Barrier {
    type Operation = Nothing;

    fn is_initial(&self) -> bool {
        *self == Self::default()
    }

    fn holds_arrivals(&self) -> bool {
        self.arrived > 0
    }

    fn depends_on_exits(&self, _release: bool) -> bool {
        self.arrived > 0
    }

    /// A wait may come at any later time.
    fn is_kept_for_waits(&self) -> bool {
        true
    }

    fn room(&self, announced: Announced) -> Option<(u32, u32)> {
        announced.room()
    }

    // clause: ptx.cluster-exited
    fn completed_by_exit(&self, id: BarrierId, around: &impl Around) -> Option<(Self, Completion)> {
        let completed = self.completion(around.agents(id), around.exited_outside(id))?;
        Some((Self::default(), completed))
    }
}

/// An instruction on the barrier of the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Action {
    /// The barrier.
    pub barrier: BarrierId,
    /// What it does.
    pub what: What,
}

/// What an instruction does, for all lanes of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum What {
    /// Arrives.
    Arrive {
        /// What travels with it.
        how: Arrival,
    },
    /// Waits for the completion of the generation in which it has arrived.
    Wait,
}

impl Instruction for Action {
    type Barrier = Barrier;

    fn barrier(&self) -> BarrierId {
        self.barrier
    }

    fn part(&self) -> Part {
        match self.what {
            What::Arrive { .. } => Part::Arrives,
            What::Wait => Part::Waits,
        }
    }

    fn standing(&self) -> Option<Standing> {
        None
    }

    fn dependence(&self, _release: bool) -> Dependence {
        match self.what {
            What::Arrive { .. } => Dependence::BarrierAndExits,
            What::Wait => Dependence::Barrier,
        }
    }

    fn ordering(&self) -> Option<(Scope, Semantics)> {
        None
    }

    fn with_pick(&self, _pick: u32) -> Self {
        *self
    }

    fn blocking(&self) -> Blocking {
        match self.what {
            What::Arrive { .. } => Blocking::Never,
            What::Wait => Blocking::Sometimes,
        }
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
        seat: Seat,
        _pick: u32,
        around: &impl Around,
    ) -> Result<Applied<Barrier>, Refusal> {
        match self.what {
            What::Arrive { how } => {
                // clause: ptx.cluster-once
                if seat.arrived || seat.notified {
                    return Err(Rule::RepeatedArrival.into());
                }
                // clause: ptx.cluster-arrive
                let arrived = Barrier { arrived: barrier.arrived + 1 };
                let exited = around.exited_outside(self.barrier);
                let completed = arrived.completion(around.agents(self.barrier), exited);
                let barrier = if completed.is_some() { Barrier::default() } else { arrived };
                let seat = Seat { arrived: true, consumer: true, ..Seat::default() };
                let effect = Effect { barrier, seat, progress: Progress::Pass, completed, notes: &[] };
                Ok(Applied::Arrives(effect, how))
            }
            What::Wait => {
                let barrier = *barrier;
                // clause: ptx.cluster-wait
                let (seat, progress) = match seat {
                    Seat { notified: true, .. } => (Seat::default(), Progress::Pass),
                    Seat { arrived: true, .. } => (Seat { waiting: true, ..seat }, Progress::Block),
                    // clause: ptx.cluster-wait-after-arrive
                    _ => return Err(Rule::WaitWithoutArrive.into()),
                };
                Ok(Applied::Waits(Effect { barrier, seat, progress, completed: None, notes: &[] }, None))
            }
        }
    }
}

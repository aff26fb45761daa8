//! A barrier of any system, an instruction of any system, and who answers for whom.

use super::facts::{
    Announced, Applied, Around, BarrierState, Blocking, Dependence, Facts, Instruction as _, Landing,
    Operation, Part, Standing, System,
};
use super::{BarrierId, Completion, Refusal, Seat, bcu};
use crate::program::{AccessKind, Begun, LocationId, Scope, Semantics, Target};
use crate::rule::Rule;
use crate::systems::systems;

/// Makes what tells systems apart from the list below: a barrier of any system, an instruction of any
/// system, and the answers of each to the questions of [`super::facts`].
macro_rules! barriers {
    (
        barriers {
            $($(#[$doc:meta])* $System:ident($module:ident) $([$cfg:meta])?)+
        }
        instructions { $($instructions:tt)* }
        targets { $($(#[$about:meta])* $Target:ident($at:ident::$Answers:ident) $([$when:meta])?)+ }
    ) => {
        /// A barrier of any of the systems (`xegpu` uses those of `nbarrier`).
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum AnyBarrier { $($(#[$doc])* $(#[cfg($cfg)])? $System(super::$module::Kept),)+ }

        /// What an instruction has left pending.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        pub enum AnyOperation {
            $($(#[$doc])* $(#[cfg($cfg)])? $System(<super::$module::Barrier as BarrierState>::Operation),)+
        }

        impl AnyOperation {
            /// The barrier on which it lands.
            #[must_use]
            pub fn barrier(&self) -> BarrierId {
                match self {
                    $($(#[cfg($cfg)])? Self::$System(operation) => {
                        Operation::<super::$module::Barrier>::barrier(operation)
                    })+
                }
            }

            /// See [`Operation::is_awaited`](super::Operation::is_awaited).
            #[must_use]
            pub fn is_awaited(&self) -> bool {
                match self {
                    $($(#[cfg($cfg)])? Self::$System(operation) => {
                        Operation::<super::$module::Barrier>::is_awaited(operation)
                    })+
                }
            }

            /// See [`Operation::slot`](super::Operation::slot).
            #[must_use]
            pub fn slot(&self) -> Option<u16> {
                match self {
                    $($(#[cfg($cfg)])? Self::$System(operation) => {
                        Operation::<super::$module::Barrier>::slot(operation)
                    })+
                }
            }

            /// See [`Operation::with_slot`](super::Operation::with_slot).
            #[must_use]
            #[allow(unreachable_code, reason = "some systems have no operations")]
            pub fn with_slot(self, slot: u16) -> Self {
                match self {
                    $($(#[cfg($cfg)])? Self::$System(operation) => {
                        Self::$System(Operation::<super::$module::Barrier>::with_slot(operation, slot))
                    })+
                }
            }

            /// See [`Operation::publishes`](super::Operation::publishes).
            #[must_use]
            pub fn publishes(&self) -> bool {
                match self {
                    $($(#[cfg($cfg)])? Self::$System(operation) => {
                        Operation::<super::$module::Barrier>::publishes(operation)
                    })+
                }
            }

            /// See [`Operation::bytes`](super::Operation::bytes).
            #[must_use]
            pub fn bytes(&self) -> Option<u32> {
                match self {
                    $($(#[cfg($cfg)])? Self::$System(operation) => {
                        Operation::<super::$module::Barrier>::bytes(operation)
                    })+
                }
            }

            /// See [`Operation::accesses`](super::Operation::accesses).
            pub fn accesses(&self) -> impl Iterator<Item = Begun> + use<> {
                let both = match self {
                    $($(#[cfg($cfg)])? Self::$System(operation) => {
                        Operation::<super::$module::Barrier>::accesses(operation)
                    })+
                };
                both.into_iter().flatten()
            }

            /// See [`Operation::is_arrival`](super::Operation::is_arrival).
            #[must_use]
            pub fn is_arrival(&self) -> bool {
                match self {
                    $($(#[cfg($cfg)])? Self::$System(operation) => {
                        Operation::<super::$module::Barrier>::is_arrival(operation)
                    })+
                }
            }

            /// Whether it reads a location in the meantime.
            #[must_use]
            pub fn reads(&self) -> bool {
                self.accesses().any(|(kind, _)| kind.is_read_by_copy())
            }

            /// The location that it writes in the meantime.
            #[must_use]
            pub fn written(&self) -> Option<LocationId> {
                self.accesses().find(|(kind, _)| *kind != AccessKind::Source).map(|(_, at)| at)
            }

            /// What its landing does to the barrier, `None` for one that is as it was in the beginning.
            ///
            /// # Errors
            /// The rules of the system.
            pub fn land(&self, barrier: Option<&AnyBarrier>) -> Result<Landing<AnyBarrier>, Rule> {
                match self {
                    $($(#[cfg($cfg)])? Self::$System(operation) => {
                        let landing = match barrier {
                            Some(AnyBarrier::$System(barrier)) => operation.land(barrier)?,
                            // Nothing but a barrier of its own system is where an operation lands.
                            _ => operation.land(&Default::default())?,
                        };
                        let Landing { barrier, completed } = landing;
                        Ok(Landing { barrier: AnyBarrier::$System(barrier.into()), completed })
                    })+
                }
            }
        }

        /// An instruction on a barrier.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum BarrierAction { $($(#[$doc])* $(#[cfg($cfg)])? $System(super::$module::Action),)+ }

        impl AnyBarrier {
            /// See [`BarrierState::is_initial`](super::BarrierState::is_initial).
            #[must_use]
            #[inline]
            pub fn is_initial(&self) -> bool {
                match self { $($(#[cfg($cfg)])? Self::$System(barrier) => barrier.is_initial(),)+ }
            }

            /// See [`BarrierState::holds_arrivals`](super::BarrierState::holds_arrivals).
            #[must_use]
            pub fn holds_arrivals(&self) -> bool {
                match self { $($(#[cfg($cfg)])? Self::$System(barrier) => barrier.holds_arrivals(),)+ }
            }

            /// See [`BarrierState::depends_on_exits`](super::BarrierState::depends_on_exits).
            #[must_use]
            pub fn depends_on_exits(&self, release: bool) -> bool {
                match self {
                    $($(#[cfg($cfg)])? Self::$System(barrier) => barrier.depends_on_exits(release),)+
                }
            }

            /// See [`BarrierState::is_kept_for_waits`](super::BarrierState::is_kept_for_waits).
            #[must_use]
            #[inline]
            pub fn is_kept_for_waits(&self) -> bool {
                match self { $($(#[cfg($cfg)])? Self::$System(barrier) => barrier.is_kept_for_waits(),)+ }
            }

            /// See [`BarrierState::room`](super::BarrierState::room).
            #[must_use]
            pub fn room(&self, announced: Announced) -> Option<(u32, u32)> {
                match self { $($(#[cfg($cfg)])? Self::$System(barrier) => barrier.room(announced),)+ }
            }

            /// See [`BarrierState::instances`](super::BarrierState::instances).
            #[must_use]
            pub fn instances(&self) -> [Option<&super::Instance>; 2] {
                match self { $($(#[cfg($cfg)])? Self::$System(barrier) => barrier.instances(),)+ }
            }

            /// See [`BarrierState::depends_on_order`](super::BarrierState::depends_on_order).
            #[must_use]
            pub fn depends_on_order(&self) -> bool {
                match self { $($(#[cfg($cfg)])? Self::$System(barrier) => barrier.depends_on_order(),)+ }
            }

            /// See [`BarrierState::has_all_arrivals`](super::BarrierState::has_all_arrivals).
            #[must_use]
            pub fn has_all_arrivals(&self) -> bool {
                match self { $($(#[cfg($cfg)])? Self::$System(barrier) => barrier.has_all_arrivals(),)+ }
            }

            /// See [`BarrierState::completed_by_exit`](super::BarrierState::completed_by_exit).
            pub fn completed_by_exit(
                &self,
                id: BarrierId,
                around: &impl Around,
            ) -> Option<(Self, Completion)> {
                match self {
                    $($(#[cfg($cfg)])? Self::$System(barrier) => {
                        let (after, completed) = barrier.completed_by_exit(id, around)?;
                        Some((Self::$System(after.into()), completed))
                    })+
                }
            }
        }

        impl BarrierAction {
            /// The barrier.
            #[must_use]
            #[inline]
            pub fn barrier(&self) -> BarrierId {
                match self { $($(#[cfg($cfg)])? Self::$System(action) => action.barrier(),)+ }
            }

            /// See [`Instruction::part`](super::Instruction::part).
            #[must_use]
            #[inline]
            pub fn part(&self) -> Part {
                match self { $($(#[cfg($cfg)])? Self::$System(action) => action.part(),)+ }
            }

            /// See [`Instruction::must_not_complete`](super::Instruction::must_not_complete).
            #[must_use]
            #[inline]
            pub fn must_not_complete(&self) -> bool {
                match self { $($(#[cfg($cfg)])? Self::$System(action) => action.must_not_complete(),)+ }
            }

            /// See [`Instruction::standing`](super::Instruction::standing).
            #[must_use]
            #[inline]
            pub fn standing(&self) -> Option<Standing> {
                match self { $($(#[cfg($cfg)])? Self::$System(action) => action.standing(),)+ }
            }

            /// See [`Instruction::dependence`](super::Instruction::dependence).
            #[must_use]
            pub fn dependence(&self, release: bool) -> Dependence {
                match self { $($(#[cfg($cfg)])? Self::$System(action) => action.dependence(release),)+ }
            }

            /// See [`Instruction::ordering`](super::Instruction::ordering).
            #[must_use]
            pub fn ordering(&self) -> Option<(Scope, Semantics)> {
                match self { $($(#[cfg($cfg)])? Self::$System(action) => action.ordering(),)+ }
            }

            /// See [`Instruction::with_pick`](super::Instruction::with_pick).
            #[must_use]
            pub fn with_pick(&self, pick: u32) -> Self {
                match self {
                    $($(#[cfg($cfg)])? Self::$System(action) => Self::$System(action.with_pick(pick)),)+
                }
            }

            /// See [`Instruction::blocking`](super::Instruction::blocking).
            #[must_use]
            pub fn blocking(&self) -> Blocking {
                match self { $($(#[cfg($cfg)])? Self::$System(action) => action.blocking(),)+ }
            }

            /// See [`Instruction::lacks`](super::Instruction::lacks).
            #[must_use]
            pub fn lacks(&self) -> u32 {
                match self { $($(#[cfg($cfg)])? Self::$System(action) => action.lacks(),)+ }
            }

            /// See [`Instruction::may_overtake_wait`](super::Instruction::may_overtake_wait).
            #[must_use]
            #[inline]
            pub fn may_overtake_wait(&self, seat: Seat) -> bool {
                match self { $($(#[cfg($cfg)])? Self::$System(action) => action.may_overtake_wait(seat),)+ }
            }

            /// See [`Instruction::is_alone`](super::Instruction::is_alone).
            #[must_use]
            #[inline]
            pub fn is_alone(&self) -> bool {
                match self { $($(#[cfg($cfg)])? Self::$System(action) => action.is_alone(),)+ }
            }

            /// See [`Instruction::is_by_fragment`](super::Instruction::is_by_fragment).
            #[must_use]
            #[inline]
            pub fn is_by_fragment(&self) -> bool {
                match self { $($(#[cfg($cfg)])? Self::$System(action) => action.is_by_fragment(),)+ }
            }

            /// See [`Instruction::begins`](super::Instruction::begins).
            pub fn begins(&self) -> impl Iterator<Item = Begun> + use<> {
                let both = match self { $($(#[cfg($cfg)])? Self::$System(action) => action.begins(),)+ };
                both.into_iter().flatten()
            }

            /// See [`Instruction::stands_for_fills`](super::Instruction::stands_for_fills).
            #[must_use]
            pub fn stands_for_fills(&self) -> Option<u32> {
                match self { $($(#[cfg($cfg)])? Self::$System(action) => action.stands_for_fills(),)+ }
            }

            /// See [`Instruction::as_wait`](super::Instruction::as_wait).
            #[must_use]
            pub fn as_wait(&self) -> Option<Self> {
                match self {
                    $($(#[cfg($cfg)])? Self::$System(action) => action.as_wait().map(Self::$System),)+
                }
            }

            /// See [`Instruction::most_counted`](super::Instruction::most_counted).
            #[must_use]
            pub fn most_counted(&self, threads: u32) -> Option<u32> {
                match self { $($(#[cfg($cfg)])? Self::$System(action) => action.most_counted(threads),)+ }
            }

            /// What it does to its barrier, `None` for one that is as it was in the beginning.
            ///
            /// # Errors
            /// The rules of the system, or what the model does not cover.
            #[inline]
            pub fn apply(
                &self,
                barrier: Option<&AnyBarrier>,
                seat: Seat,
                pick: u32,
                around: &impl Around,
            ) -> Result<Applied<AnyBarrier, AnyOperation>, Refusal> {
                match self {
                    $($(#[cfg($cfg)])? Self::$System(action) => {
                        let applied = match barrier {
                            Some(AnyBarrier::$System(barrier)) => action.apply(barrier, seat, pick, around)?,
                            // Nothing but a barrier of its own system is where an instruction works.
                            _ => action.apply(&Default::default(), seat, pick, around)?,
                        };
                        Ok(applied.map(|it| AnyBarrier::$System(it.into()), AnyOperation::$System))
                    })+
                }
            }
        }

        $($(#[cfg($cfg)])? impl From<super::$module::Action> for BarrierAction {
            #[inline]
            fn from(action: super::$module::Action) -> Self {
                Self::$System(action)
            }
        })+

        impl Target {
            /// What holds for all barriers of the target.
            #[must_use]
            #[inline]
            pub fn facts(self) -> &'static Facts {
                match self {
                    $($(#[cfg($when)])? Self::$Target => &<super::$at::$Answers as System>::FACTS,)+
                }
            }

            /// What the completion of a generation makes of a seat.
            ///
            /// # Errors
            /// `lost-notification`.
            #[inline]
            pub fn complete(self, seat: Seat) -> Result<Seat, Rule> {
                match self {
                    $($(#[cfg($when)])? Self::$Target => <super::$at::$Answers as System>::complete(seat),)+
                }
            }

            /// Whether an agent that exits from this seat leaves a wait out.
            #[must_use]
            pub fn owes_wait(self, seat: Seat) -> bool {
                match self {
                    $($(#[cfg($when)])? Self::$Target => <super::$at::$Answers as System>::owes_wait(seat),)+
                }
            }
        }
    };
}

systems!(barriers);

/// What a register holds after the state of a barrier has been read.
#[must_use]
pub fn state_as_value(barrier: Option<&AnyBarrier>) -> bcu::Opaque {
    match barrier {
        Some(AnyBarrier::Bcu(barrier)) => bcu::read_barrier(*barrier),
        // No other system reads states.
        _ => bcu::read_barrier(bcu::Barrier::default()),
    }
}

/// Room for producers and for consumers (the same for targets that do not tell them apart) among agents
/// that make this announcement at a barrier. `None` if there is always room, or if the barrier is active
/// with other counts.
#[must_use]
pub fn room(barrier: Option<&AnyBarrier>, announced: Announced) -> Option<(u32, u32)> {
    match barrier {
        Some(barrier) => barrier.room(announced),
        None => announced.room(),
    }
}

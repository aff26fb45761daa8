//! The questions that every system answers about its barriers and instructions.
//!
//! Nobody else needs to know which system a protocol is written for: whoever has a question adds it here, and
//! the compiler then asks every system for its answer.

use super::{BarrierId, Completion, Effect, Refusal, Seat};
use crate::program::{Begun, Pc, Reach, RoleId, Scope, Semantics};
use crate::rule::{Level, Rule};

/// What holds for all barriers of a system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The name of the target as protocols spell it.
    pub name: &'static str,
    /// What an agent is called.
    pub agent_noun: &'static str,
    /// Agents are warps of lanes that may diverge.
    pub has_lanes: bool,
    /// The rules that hold besides those of every system.
    pub rules: &'static [Rule],
    /// Rules that are graver or less grave than usual.
    pub levels: &'static [(Rule, Level)],
    /// A barrier is free for another generation once the consumers of the last one have waited; before that,
    /// `reuse-before-free` is noted.
    pub waits_free: bool,
    /// What orders accesses in time makes them visible in memory too.
    pub time_is_memory: bool,
    /// An access becomes known in memory by its own agent's fence only.
    pub fences_publish: bool,
    /// The user may choose that exits release barriers with a count of their own.
    pub exits_may_release: bool,
    /// The user may choose that every arrival of an agent counts where there is a count.
    pub repeats_may_count: bool,
    /// Agents are divided into subgroups that have barriers of their own.
    pub has_subgroups: bool,
    /// It is noted where a generation completes for which nobody waits.
    // clause: barcheck.nobody-waits
    pub notes_nobody_waits: bool,
    /// How generations carry what agents know of memory.
    pub carries: Carries,
    /// Arrivals announce how many take part, so that more may stand at one than there is room for.
    pub has_room: bool,
}

/// How the generations of a system's barriers carry what agents know of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Carries {
    /// To everybody who waits, all that those who arrive know.
    All,
    /// The same, but some arrivals carry only what their agent has published before.
    Published,
    /// All that those who arrive know; consumers that do not wait yet find it in an inbox of their own.
    Inboxes,
    /// What arrivals release, kept until the last agent has waited; waits take of it what they acquire.
    Released,
}

/// A barrier system.
pub trait System {
    /// What holds for all its barriers.
    const FACTS: Facts;

    /// What the completion of a generation makes of a seat.
    ///
    /// # Errors
    /// `lost-notification`.
    fn complete(seat: Seat) -> Result<Seat, Rule>;

    /// Whether an agent that exits from this seat leaves a wait out.
    // clause: barcheck.missing-wait
    fn owes_wait(seat: Seat) -> bool;
}

/// The group as a barrier sees it at a step.
pub trait Around {
    /// Agents that share a barrier.
    fn agents(&self, barrier: BarrierId) -> u32;
    /// Exits release barriers with a count of their own.
    fn exits_release(&self) -> bool;
    /// Each arrival of a warp counts.
    fn repeats_count(&self) -> bool {
        false
    }
    /// Agents that have exited.
    fn exited(&self) -> u32;
    /// Agents that share a barrier, have exited and have not arrived in its generation.
    fn exited_outside(&self, barrier: BarrierId) -> u32;
    /// Whether an operation on a barrier has yet to land.
    fn is_in_flight(&self, barrier: BarrierId) -> bool;
}

/// The state of a barrier.
pub trait BarrierState: Sized {
    /// What instructions leave pending at it.
    type Operation: Operation<Self>;

    /// It is as it was in the beginning.
    fn is_initial(&self) -> bool;

    /// Agents have arrived in a generation that has not completed.
    // clause: barcheck.dangling-arrival
    fn holds_arrivals(&self) -> bool;

    /// Exits may complete its generation; `release` if they release barriers with a count of their own.
    fn depends_on_exits(&self, release: bool) -> bool;

    /// What a completed generation carries is kept for agents that have yet to wait for it.
    fn is_kept_for_waits(&self) -> bool;

    /// Room for producers and for consumers among agents that make this announcement; see [`super::room`].
    // clause: barcheck.arrival-race
    fn room(&self, announced: Announced) -> Option<(u32, u32)>;

    /// The dynamic instances that others have to meet: of those who have arrived in the generation that
    /// gathers, and of those who have waited for the one before.
    fn instances(&self) -> [Option<&Instance>; 2] {
        [None, None]
    }

    /// In another order of the same steps a rule might be violated that is about what the barrier counts.
    fn depends_on_order(&self) -> bool {
        false
    }

    /// All arrivals of the generation are there, and it waits for something else.
    fn has_all_arrivals(&self) -> bool {
        false
    }

    /// The generation that is complete now that an agent has exited, and the barrier after it.
    fn completed_by_exit(&self, id: BarrierId, around: &impl Around) -> Option<(Self, Completion)>;
}

/// A dynamic instance of an instruction: the statement, and the iteration of each enclosing loop
/// counted from the agent's previous arrival at this scope, or from the loop's entry after that.
///
/// Agents whose previous generations matched were in the same iterations then, so counting anew from
/// there compares the same and keeps endless loops finite.
// clause: barcheck.same-instance
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Instance {
    /// The role whose statement it is.
    pub role: RoleId,
    /// The statement.
    pub statement: Pc,
    /// Iterations, outermost loop first.
    pub iterations: Box<[u32]>,
}

/// What an instruction leaves pending: it has no program, and lands at any later time, as a step of its own.
/// It names no agent.
pub trait Operation<B>: Copy {
    /// The barrier on which it lands.
    fn barrier(&self) -> BarrierId;

    /// What its landing does there.
    ///
    /// # Errors
    /// The rules of the system.
    fn land(&self, barrier: &B) -> Result<Landing<B>, Rule>;

    /// The generation in which it was issued is not complete before it has landed.
    fn is_awaited(&self) -> bool {
        true
    }

    /// The slot in which memory keeps what its agent knew when it was issued, once it has one.
    fn slot(&self) -> Option<u16> {
        None
    }

    /// The same operation with a slot, if it needs one.
    #[must_use]
    fn with_slot(self, _: u16) -> Self {
        self
    }

    /// Its landing publishes what its agent knew in memory too, and not in time alone.
    fn publishes(&self) -> bool {
        false
    }

    /// What lands is an arrival, which an agent could have made itself.
    fn is_arrival(&self) -> bool {
        false
    }

    /// The bytes that its landing delivers, where it delivers bytes.
    fn bytes(&self) -> Option<u32> {
        None
    }

    /// The locations that it accesses in the meantime, for whoever waits on the barrier once it has landed:
    /// what it reads, and what it writes.
    fn accesses(&self) -> [Option<Begun>; 2] {
        [None; 2]
    }
}

/// What a landing does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Landing<B> {
    /// The barrier afterwards.
    pub barrier: B,
    /// The generation that it completed.
    pub completed: Option<Completion>,
}

/// Of systems whose instructions are over once they have been executed: they leave nothing pending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Nothing {}

impl<B> Operation<B> for Nothing {
    fn barrier(&self) -> BarrierId {
        match *self {}
    }

    fn land(&self, _: &B) -> Result<Landing<B>, Rule> {
        match *self {}
    }
}

/// An instruction on a barrier, operands evaluated.
pub trait Instruction: Sized {
    /// The barriers on which it works.
    type Barrier: BarrierState;

    /// The barrier.
    fn barrier(&self) -> BarrierId;

    /// What the instruction is to the barrier's generations.
    fn part(&self) -> Part;

    /// Another arrival, or a landing, has to complete the generation: in every order of the steps something
    /// of it comes after this one, or a rule is violated.
    fn must_not_complete(&self) -> bool {
        false
    }

    /// What an agent that could make it next announces, if it is an arrival with counts.
    fn standing(&self) -> Option<Standing>;

    /// On what its effect depends; `release` if exits release barriers with a count of their own.
    fn dependence(&self, release: bool) -> Dependence;

    /// The memory scope and semantics, where the instruction has operands for them.
    fn ordering(&self) -> Option<(Scope, Semantics)>;

    /// The same once open predicates are picked.
    #[must_use]
    fn with_pick(&self, pick: u32) -> Self;

    /// Whether the agent goes on.
    fn blocking(&self) -> Blocking;

    /// What it lacks if it blocks where others give what it takes.
    fn lacks(&self) -> u32 {
        0
    }

    /// From this seat, the agent may be told of a completion before it has waited for the one before.
    // clause: barcheck.lost-notification
    fn may_overtake_wait(&self, seat: Seat) -> bool;

    /// Nobody but the agent takes part in the barrier.
    fn is_alone(&self) -> bool;

    /// Fragments of an agent execute it one by one, and each may block the whole agent.
    fn is_by_fragment(&self) -> bool;

    /// The instruction that waits where this one asks whether a generation is complete.
    fn as_wait(&self) -> Option<Self> {
        None
    }

    /// The locations that a copy accesses which the instruction begins: what it reads, and what it writes.
    fn begins(&self) -> [Option<Begun>; 2] {
        [None; 2]
    }

    /// The number of the object on which it lets an arrival land that stands for the `cp.async` of its lanes.
    fn stands_for_fills(&self) -> Option<u32> {
        None
    }

    /// The most true predicates that a generation of a group of so many threads can count in which the
    /// instruction arrives; `None` if it does not arrive.
    fn most_counted(&self, threads: u32) -> Option<u32>;

    /// What it does. `pick` is the choice where a predicate is open.
    ///
    /// # Errors
    /// The rules of the system, or what the model does not cover.
    fn apply(
        &self,
        barrier: &Self::Barrier,
        seat: Seat,
        pick: u32,
        around: &impl Around,
    ) -> Result<Applied<Self::Barrier, <Self::Barrier as BarrierState>::Operation>, Refusal>;
}

/// What an instruction is to the generations of its barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// The agent arrives, whether or not it also waits.
    Arrives,
    /// The agent waits for a generation in which it has arrived before.
    Waits,
    /// It waits for one in which it need not have arrived.
    Observes,
    /// It changes what the generation waits for besides arrivals, now or at a landing.
    Counts,
    /// It begins or ends the barrier's life: all else comes before or after it.
    Begins,
    /// It asks whether a generation is complete, and goes on whether or not it is.
    Asks,
    /// It gives to what others take, and goes on.
    Gives,
    /// It takes from what others give, and waits until there is enough.
    Takes,
    /// It reads or writes the barrier's state as a value.
    MovesState,
}

/// How an agent arrives, as far as memory is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Arrival {
    /// All that the agent knows in memory travels.
    Publishing,
    /// Only what it has published before travels (`BAR.ARV`).
    PublishedBefore,
    /// What it knows in time travels, and nothing in memory.
    InTimeAlone,
    /// The same, and what its fences that reach as far have released before (`.relaxed`).
    AfterFence(Reach),
    /// What these operands release travels, and what earlier memory barriers have released (`split_barrier`).
    Releasing(Scope, Semantics),
}

/// On what an instruction's effect depends, besides the agent's own configuration and seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dependence {
    /// The state of its barrier.
    Barrier,
    /// That, and how many agents have exited.
    BarrierAndExits,
    /// More than that.
    More,
}

/// Whether an agent goes on after an instruction that no rule forbids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Blocking {
    /// It goes on.
    Never,
    /// It blocks until the generation completes.
    Always,
    /// As the barrier's state has it.
    Sometimes,
    /// It goes on with the barrier's state in a register.
    Reads,
    /// It goes on and knows whether a generation is complete.
    Asks,
}

/// What an instruction does.
#[derive(Clone, Debug)]
pub enum Applied<B, O = Nothing> {
    /// The agent arrives.
    Arrives(Effect<B>, Arrival),
    /// The same, and something is pending from now on.
    Issues(Effect<B>, Arrival, O),
    /// The agent does not arrive, and something is pending from now on.
    Leaves(Effect<B>, O),
    /// The same, and the generation waits for it besides what it has waited for so far.
    LeavesCounted(Effect<B>, O),
    /// What the generation waits for besides arrivals has changed.
    Counts(Effect<B>),
    /// The agent waits; what its wait acquires, where the instruction says so.
    Waits(Effect<B>, Option<(Scope, Semantics)>),
    /// The agent goes on, and knows whether a generation is complete.
    Asks(Effect<B>, bool),
    /// The barrier's state is read.
    Reads,
    /// The barrier's state is written.
    Writes(B),
}

impl<B, O> Applied<B, O> {
    /// The same for another kind of barrier.
    #[inline]
    pub(super) fn map<C, P>(self, wrap: impl FnOnce(B) -> C, left: impl FnOnce(O) -> P) -> Applied<C, P> {
        match self {
            Self::Arrives(effect, how) => Applied::Arrives(effect.map(wrap), how),
            Self::Issues(effect, how, operation) => Applied::Issues(effect.map(wrap), how, left(operation)),
            Self::Leaves(effect, operation) => Applied::Leaves(effect.map(wrap), left(operation)),
            Self::LeavesCounted(effect, operation) => {
                Applied::LeavesCounted(effect.map(wrap), left(operation))
            }
            Self::Counts(effect) => Applied::Counts(effect.map(wrap)),
            Self::Waits(effect, acquires) => Applied::Waits(effect.map(wrap), acquires),
            Self::Asks(effect, complete) => Applied::Asks(effect.map(wrap), complete),
            Self::Reads => Applied::Reads,
            Self::Writes(barrier) => Applied::Writes(wrap(barrier)),
        }
    }
}

/// The counts that an arrival announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Announced {
    /// Every live agent: there is always room.
    Live,
    /// So many arrivals.
    Whole(u32),
    /// Producers and consumers.
    Sides(u32, u32),
}

impl Announced {
    /// Room for producers and for consumers at an idle barrier; the same where sides are not told apart,
    /// `None` if there is always room.
    #[must_use]
    pub fn room(self) -> Option<(u32, u32)> {
        match self {
            Self::Live => None,
            Self::Whole(arrivals) => Some((arrivals, arrivals)),
            Self::Sides(producers, consumers) => Some((producers, consumers)),
        }
    }

    /// Whether producers and consumers are told apart.
    #[must_use]
    pub fn has_sides(self) -> bool {
        match self {
            Self::Live | Self::Whole(_) => false,
            Self::Sides(..) => true,
        }
    }
}

/// An arrival at which an agent could stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Standing {
    /// The barrier.
    pub barrier: BarrierId,
    /// The counts announced.
    pub announced: Announced,
    /// Takes room among the producers; where a target does not tell sides apart, both are taken.
    pub produces: bool,
    /// Takes room among the consumers.
    pub consumes: bool,
}

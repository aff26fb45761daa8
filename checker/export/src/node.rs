//! A position of an agent, and what it can do there, operands evaluated.

use barcheck_model::barrier::{BarrierAction, BarrierId, Standing};
use barcheck_model::program::{AccessKind, AgentId, Fence, LocationId, Scope, Semantics, SequenceId};
use barcheck_model::rule::Rule;
use std::collections::BTreeSet;

/// A position of an agent, with everything that is its own.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    /// What the agent can do: the alternatives of all its fragments.
    pub(super) steps: Vec<Step>,
    /// `bcu`: the states of barriers that its registers hold, by number.
    pub(super) holds: BTreeSet<usize>,
    /// Agents that can be here, for people.
    pub(super) agents: Vec<AgentId>,
}

/// What a node is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The agent has steps.
    Goes {
        /// Some fragment waits for the warp's other lanes at a barrier.
        blocked: bool,
    },
    /// The agent blocks until the barrier's generation completes.
    Waits {
        barrier: BarrierId,
        /// `split_barrier`: what the wait acquires.
        acquires: Option<(Scope, Semantics)>,
        /// `bcu`: the warp has not fetched the result of its last reduction.
        unfetched: bool,
        /// Where a release leads, by a reduction's result.
        releases: Vec<(Option<u32>, usize)>,
    },
    /// All lanes wait for one another, for ever.
    Parked,
    /// The agent has exited.
    Exited,
    /// An operand or condition has no value.
    Failed,
    /// Local computation cannot be followed.
    Endless,
}

impl Kind {
    /// The place in the order of nodes.
    pub(super) fn rank(&self) -> (u8, u32) {
        match self {
            Self::Goes { .. } => (0, 0),
            Self::Waits { barrier, .. } => (1, barrier.0),
            Self::Parked => (2, 0),
            Self::Exited => (3, 0),
            Self::Failed => (4, 0),
            Self::Endless => (5, 0),
        }
    }
}

/// One alternative of what an agent can do next.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// The fragment whose step it is: the alternatives of one fragment exclude one another.
    pub(super) fragment: usize,
    /// The instruction, for people.
    pub(super) says: String,
    pub(super) act: Act,
    /// The node after it, if the agent goes on.
    pub(super) next: usize,
    /// The node after it, if the agent blocks.
    pub(super) blocks: Option<usize>,
    /// The node after it, if it asks whether a phase is complete and the answer is yes.
    pub(super) answered: Option<usize>,
    /// The other CTAs in whose shared memory it works, as a bit mask.
    pub(super) reaches: usize,
}

/// What a step does to what agents share.
#[derive(Clone, Debug)]
pub(super) enum Act {
    /// Nothing.
    Go,
    /// The whole agent exits.
    Exit,
    /// The next decision of a sequence that all agents share.
    Decide(SequenceId, bool),
    Access(AccessKind, Vec<LocationId>),
    Fence(Fence),
    /// `OpMemoryBarrier`.
    MemoryBarrier(Scope, Semantics),
    /// An instruction on a barrier, and the number of its dynamic instance if it has one.
    Barrier(BarrierAction, Option<usize>),
    /// `alloc_nbarrier`.
    Alloc(i64),
    /// The operands violate a rule that ends the path.
    Refuse(Rule),
    /// An operand has no value.
    Fault,
    /// `B2R.BAR`: the barrier's state, by the number under which the agent holds it from then on.
    ReadState(BarrierId, usize),
    /// `R2B.BAR`: the states that lanes hold and put back, which have to be the same.
    WriteState(BarrierId, BTreeSet<usize>),
    /// The specification leaves open what happens.
    NotModelled,
}

impl Node {
    /// Where an agent in a node can be next, of its own or by a release.
    pub(super) fn successors(&self) -> impl Iterator<Item = usize> + '_ {
        let released = match &self.kind {
            Kind::Waits { releases, .. } => releases.as_slice(),
            _ => &[],
        };
        let steps = self.steps.iter().filter(|step| !step.act.ends());
        let stepped =
            steps.flat_map(|step| std::iter::once(step.next).chain(step.blocks).chain(step.answered));
        stepped.chain(released.iter().map(|(_, to)| *to))
    }
}

impl Act {
    /// It leads nowhere.
    fn ends(&self) -> bool {
        matches!(self, Self::Refuse(_) | Self::Fault | Self::NotModelled)
    }

    /// The states of barriers that the agent holds and reads or writes, by number.
    pub(super) fn states(&self) -> impl Iterator<Item = usize> + '_ {
        let (read, written) = match self {
            Self::ReadState(_, state) => (Some(*state), None),
            Self::WriteState(_, states) => (None, Some(states)),
            _ => (None, None),
        };
        read.into_iter().chain(written.into_iter().flatten().copied())
    }

    /// The memory that it accesses, and how; a copy that it begins writes later.
    pub(super) fn accesses(&self) -> Option<(AccessKind, Vec<LocationId>)> {
        match self {
            Self::Access(kind, locations) => Some((*kind, locations.clone())),
            Self::Barrier(action, _) => {
                let (_, at) = action.begins().next()?;
                Some((AccessKind::Copy, vec![at]))
            }
            _ => None,
        }
    }

    /// What an agent that stands here announces, if it stands at an arrival with counts.
    pub(super) fn standing(&self) -> Option<Standing> {
        match self {
            Self::Barrier(action, _) => action.standing(),
            _ => None,
        }
    }

    /// The barrier of a barrier instruction.
    pub(super) fn barrier(&self) -> Option<BarrierId> {
        match self {
            Self::Barrier(action, _) => Some(action.barrier()),
            Self::ReadState(id, _) | Self::WriteState(id, _) => Some(*id),
            _ => None,
        }
    }
}

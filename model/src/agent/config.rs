//! An agent's configuration.

use super::eval::{Fault, LaneValues, Value};
use super::stores::OpenStore;
use crate::barrier::{BarrierId, Opaque, Parked, ResultCopy};
use crate::program::{Code, ConstructId, LocalId, Pc, Scope, Semantics};
use std::ops::BitOr as _;

/// Everything about an agent that no other agent can see.
///
/// An agent without fragments has exited. Agents of targets without lanes have one fragment of one lane.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Config {
    /// Groups of lanes that execute together, by lowest lane.
    pub fragments: Vec<Fragment>,
    /// Lanes that entered a construct, or came to an instruction, together and have since separated.
    pub splits: Vec<SplitLanes>,
    /// The barrier on which the agent blocks.
    pub waiting: Option<Waiting>,
    /// `bcu`: the copy of the last reduction's result, and whether it has been fetched.
    pub copy: Option<(ResultCopy, bool)>,
    /// `ptx`: registers of each lane, once the warp has changed them.
    pub registers: Option<u32>,
    /// `ptx`: copies that may still be reading, in order.
    pub stores: Vec<OpenStore>,
    /// `xegpu`: barriers that this subgroup has allocated.
    pub allocated: Option<u32>,
    /// `split_barrier`: iterations of the loops around the agent.
    pub iterations: Iterations,
    /// Local computation failed: the path ends here.
    pub fault: Option<Fault>,
}

/// Lanes that execute together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fragment {
    /// The lanes, as a bit mask.
    pub lanes: u32,
    /// The next operation; for a parked fragment the barrier instruction at which it is parked.
    pub pc: Pc,
    /// The locals.
    pub locals: Vec<LaneValues>,
    /// Waits here for lanes from which it has separated.
    pub join: Option<Join>,
    /// Parked at a non-aligned barrier, waiting for the other lanes of its warp (`ptx`).
    pub parked: Option<Parked>,
    /// In a local loop without end: it has a step for ever and never waits.
    pub spins: bool,
}

impl Fragment {
    /// Gives a local the same value in all lanes.
    pub(super) fn set(&mut self, local: LocalId, value: Value) {
        self.locals[local.index()] = LaneValues::Same(value);
    }

    /// The numbers of the [`Opaque::Unknown`] states that registers hold.
    pub fn unknown_states(&self) -> impl Iterator<Item = u32> + '_ {
        let values = self.locals.iter().flat_map(LaneValues::values);
        values.filter_map(|value| match value {
            Value::Opaque(opaque) => match **opaque {
                Opaque::Unknown(number) => Some(number),
                Opaque::Barrier(_) | Opaque::Warp(_) => None,
            },
            _ => None,
        })
    }
}

/// The lanes of all these fragments, as a bit mask.
pub(super) fn union<'f>(fragments: impl IntoIterator<Item = &'f Fragment>) -> u32 {
    fragments.into_iter().map(|f| f.lanes).fold(0, u32::bitor)
}

/// Where separated lanes join again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Join {
    /// At the end of a branch or loop.
    End(ConstructId),
    /// Right after a barrier instruction or decision whose operands differed.
    After(Pc),
}

/// Lanes that were together and have separated: they meet again at the join.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SplitLanes {
    /// Where they meet.
    pub at: Join,
    /// Those that are still awaited there, as a bit mask.
    pub lanes: u32,
}

/// The agent blocks until a barrier's generation completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Waiting {
    /// The barrier.
    pub barrier: BarrierId,
    /// The instruction at which it blocks.
    pub at: Pc,
    /// Lanes of the fragment that blocks.
    pub lanes: u32,
    /// `split_barrier`: what the wait acquires.
    pub acquires: Option<(Scope, Semantics)>,
    /// What it lacks of what others give.
    pub lacks: u32,
}

/// Iterations of the loops around a split-barrier agent, by scope; see [`crate::barrier::Instance`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Iterations {
    /// Iterations since the last arrival at the workgroup's barrier, by construct.
    pub workgroup: Vec<u32>,
    /// Iterations since the last arrival at the subgroup's barrier, by construct.
    pub subgroup: Vec<u32>,
}

impl Iterations {
    /// Those that are counted for barriers of a scope; zeros at the end are left out.
    #[must_use]
    pub fn of(&self, scope: Scope) -> &[u32] {
        match scope {
            Scope::Workgroup => &self.workgroup,
            Scope::Subgroup => &self.subgroup,
            Scope::Invocation | Scope::Device => &[],
        }
    }

    /// Those of a loop.
    #[must_use]
    pub fn in_loop(&self, scope: Scope, construct: ConstructId) -> u32 {
        self.of(scope).get(construct.index()).copied().unwrap_or(0)
    }

    /// Changes what is counted for barriers of a scope.
    pub fn change(&mut self, scope: Scope, change: impl FnOnce(&mut Vec<u32>)) {
        match scope {
            Scope::Workgroup => change(&mut self.workgroup),
            Scope::Subgroup => change(&mut self.subgroup),
            Scope::Invocation | Scope::Device => {}
        }
    }
}

impl Config {
    /// The configuration in which all `lanes` stand at the first operation.
    #[must_use]
    pub fn new(lanes: u32, code: &Code) -> Self {
        let locals = vec![LaneValues::Same(Value::Unset); code.locals.len()];
        Self {
            fragments: vec![Fragment { lanes, pc: Pc(0), locals, join: None, parked: None, spins: false }],
            splits: Vec::new(),
            waiting: None,
            copy: None,
            registers: None,
            stores: Vec::new(),
            allocated: None,
            iterations: Iterations::default(),
            fault: None,
        }
    }

    /// Bytes that it takes, about.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let each = |values: &LaneValues| values.bytes();
        let locals = self.fragments.iter().flat_map(|fragment| &fragment.locals).map(each).sum::<usize>();
        let lists = self.fragments.len() * size_of::<Fragment>()
            + self.splits.len() * size_of::<SplitLanes>()
            + self.stores.len() * size_of::<OpenStore>()
            + (self.iterations.workgroup.len() + self.iterations.subgroup.len()) * size_of::<u32>();
        size_of::<Self>() + locals + lists
    }

    /// All lanes have exited.
    #[must_use]
    pub fn has_exited(&self) -> bool {
        self.fragments.is_empty()
    }

    /// Lanes that have not exited, as a bit mask.
    #[must_use]
    pub fn live_lanes(&self) -> u32 {
        union(&self.fragments)
    }

    /// Where its lanes are: at the instruction at which they block, or at the one that they would execute
    /// next. Lanes that wait at a join for others are nowhere, and so is who has exited.
    pub fn positions(&self) -> impl Iterator<Item = Pc> {
        let blocked = self.waiting.map_or(0, |waiting| waiting.lanes);
        let others = self.fragments.iter().filter(move |f| f.join.is_none() && f.lanes & blocked == 0);
        self.waiting.map(|waiting| waiting.at).into_iter().chain(others.map(|f| f.pc))
    }

    /// The agent is blocked: on a barrier's generation, or because one of its fragments waits for the
    /// warp's other lanes at a barrier. Waiting at a join is not blocking.
    #[must_use]
    // clause: barcheck.stuck-agent
    pub fn is_blocked(&self) -> bool {
        self.waiting.is_some() || self.fragments.iter().any(|f| f.parked.is_some())
    }
}

//! States of the group, as a trace has them.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A state of the group, or what a step changes in one: whatever is listed replaces what was known before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// Agents, by index.
    pub agents: Vec<AgentState>,
    /// Barriers, by number. One that was never listed is idle and has completed no generation.
    pub barriers: Vec<BarrierState>,
}

/// Where an agent is and what it is doing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentState {
    /// The agent.
    pub agent: u32,
    /// What it is doing.
    pub status: Status,
    /// The instruction at which it blocks, or that it executes next; `null` once it has exited.
    pub location: Option<Location>,
    /// That instruction, as written; empty once it has exited.
    pub instruction: String,
    /// For a blocked agent: what it waits for.
    pub waits: Option<Waits>,
    /// Barriers with a completed generation that the agent has yet to consume by a wait.
    pub notified: Vec<u32>,
    /// What it has left pending, which lands at some later time whatever the agent does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pending: Vec<Pending>,
    /// Its lanes: one entry while they are together. None once it has exited.
    pub fragments: Vec<Fragment>,
}

/// What an agent has left pending.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pending {
    /// The barrier on which it lands.
    pub barrier: u32,
    /// The instruction that has left it.
    pub location: Location,
    /// That instruction, as written.
    pub instruction: String,
}

/// What an agent is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It has a step.
    Running,
    /// It waits at a barrier, all of it or one of its fragments.
    Blocked,
    /// It has exited.
    Exited,
    /// Its local computation failed.
    Failed,
}

/// What a blocked agent waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Waits {
    /// The barrier.
    pub barrier: u32,
    /// Whom it waits for there.
    pub awaits: Awaits,
}

/// Whom a blocked agent waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Awaits {
    /// Other agents: the barrier's generation has to complete.
    Agents,
    /// The other lanes of the same warp have to come to the same barrier.
    Lanes,
}

/// Lanes of an agent that execute together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fragment {
    /// The lanes, as a hexadecimal bit mask: `0x0000ffff`.
    pub lanes: String,
    /// Where they are.
    pub location: Location,
    /// What they are doing.
    pub doing: Doing,
    /// The barrier at which they are blocked or parked.
    pub barrier: Option<u32>,
    /// The locals that still matter, by name. Values are text: numbers, `{0-31}` where lanes differ,
    /// or what a register or handle holds.
    pub locals: BTreeMap<String, String>,
}

/// What the lanes of a fragment are doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Doing {
    /// They execute the instruction at their place next.
    Running,
    /// They wait for a barrier's generation to complete.
    Blocked,
    /// They wait at a barrier for the other lanes of their warp.
    Parked,
    /// They wait at the end of a branch or loop for lanes from which they have separated.
    Joining,
    /// They are in a local loop without end.
    Spinning,
}

/// A place in the protocol's source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Hash)]
#[serde(deny_unknown_fields)]
pub struct Location {
    /// Line, from 1; 0 where there is no text.
    pub line: u32,
    /// Column, from 1, in characters.
    pub column: u32,
    /// Length of the marked text, in characters.
    pub length: u32,
}

/// A barrier's state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BarrierState {
    /// The barrier.
    pub barrier: u32,
    /// Generations completed so far.
    pub generation: u32,
    /// A generation is gathering arrivals.
    pub active: bool,
    /// The gathering generation waits for every agent that has not exited (the count was left out, or 0).
    pub all: bool,
    /// `plain`, the reduction (`red.popc`, `red.and`, `red.or`), or `even phase`, `odd phase`. `null` while
    /// idle.
    pub class: Option<String>,
    /// How many have arrived of how many; empty while idle. One entry, or two where producers and
    /// consumers are counted apart (`nbarrier`).
    pub counts: Vec<Count>,
    /// Agents that have arrived in the gathering generation.
    pub arrived: Vec<u32>,
    /// Those that block on it.
    pub waiting: Vec<u32>,
    /// Agents that have not arrived and could: their code names this barrier, as far as can be told
    /// without running it. May be more than are needed. Empty while idle.
    pub missing: Vec<u32>,
    /// Agents that have yet to wait for a generation that is complete.
    pub notified: Vec<u32>,
}

/// A barrier's counter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Count {
    /// What is counted: `threads`, `producers`, `consumers`, `invocations`, `subgroups`, `arrivals` or
    /// `bytes`.
    pub of: String,
    /// Arrived so far.
    pub arrived: u32,
    /// Expected. For a barrier that waits for every live agent: those that are still expected.
    pub expected: u32,
}

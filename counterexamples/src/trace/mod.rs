//! The trace: one run of a protocol, written so that a reader needs nothing else.
//!
//! The Rust types are the JSON: a field here is a field there, of the same name, in the same order.
//! Fields that have no value are `null`, lists that have no element are empty: nothing is left out but
//! `pending` and `lands`, where nothing is pending and nothing lands, and `ctas`, where there is one CTA.

mod fingerprint;
mod read;
mod situation;
mod size;
mod state;

pub use fingerprint::{Identity, fingerprint, fingerprint_of};
pub use read::{MOST_AGENTS, MOST_STEPS, TraceError, WHERE_FORMAT};
pub use situation::Situation;
pub use state::{
    AgentState, Awaits, BarrierState, Count, Doing, Fragment, Location, Pending, State, Status, Waits,
};

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How a trace calls the access of a copy.
pub(crate) const COPY: &str = "copy";

/// What a read is called that a copy makes.
pub(crate) const STORE: &str = "store";

/// What the write of a `cp.async` is called.
pub(crate) const FILL: &str = "fill";

/// What the write of an `st.async` is called.
pub(crate) const SENT: &str = "sent write";

/// What the atomic of a `red.async` is called.
pub(crate) const REDUCTION: &str = "reduction";

/// What the read of a copy to another CTA is called.
pub(crate) const SOURCE: &str = "source";

/// What the initialisation of an object is called, and its end.
pub(crate) const INITIALISATION: &str = "initialisation";

/// What any other use of an object is called.
pub(crate) const USE: &str = "use";

/// The value of [`Trace::format`].
pub const FORMAT: &str = "barcheck-trace/1";

/// A run from the initial state to what it shows, with everything needed to replay and to display it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trace {
    /// Always [`FORMAT`].
    pub format: String,
    /// The protocol that was run.
    pub protocol: Protocol,
    /// The agents, by index.
    pub agents: Vec<Agent>,
    /// The barriers that occur in the trace, by number.
    pub barriers: Vec<Barrier>,
    /// The state before the first step: every agent; no barrier, since all are idle.
    pub initial: State,
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// What the run shows.
    pub outcome: Outcome,
}

/// A protocol: all that is needed to read it again and to run it in the same way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Protocol {
    /// The file's name, as the user gave it.
    pub file: String,
    /// The notation of `source`: `bar`.
    pub format: String,
    /// The barrier system: `ptx`, `bcu`, `nbarrier`, `split_barrier` or `xegpu`.
    pub target: String,
    /// The whole text.
    pub source: String,
    /// Values given to parameters from outside.
    pub defines: BTreeMap<String, i64>,
    /// The reading of exited PTX warps in force.
    pub exited_threads: ExitedThreads,
    /// Size of the group as declared: threads, invocations or subgroups.
    pub group_size: u32,
    /// Invocations in a subgroup (`split_barrier`); 1 elsewhere.
    pub subgroup_size: u32,
    /// CTAs of the cluster (`ptx`); left out where there is one.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub ctas: u32,
}

fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "so it is asked")]
fn is_one(ctas: &u32) -> bool {
    *ctas == 1
}

/// What exited warps mean for PTX barriers with an explicit count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExitedThreads {
    /// Exits release nothing.
    Hold,
    /// Whoever waits is released once every warp that has not arrived has exited.
    Release,
}

/// An agent of the group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Agent {
    /// Its number, which is also its position in the list.
    pub index: u32,
    /// For people: `warp 3`.
    pub name: String,
    /// The name of its block, where it has one.
    pub role: Option<String>,
    /// Its lanes (`ptx`, `bcu`); 1 elsewhere.
    pub lanes: u32,
    /// The line where its block begins.
    pub line: u32,
}

/// A barrier that occurs in the trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Barrier {
    /// Its number. `split_barrier`: 0 is the workgroup's, then one for each subgroup, then one for each
    /// invocation by itself.
    pub barrier: u32,
    /// For people: `barrier 1`, `the workgroup barrier`, `subgroup 2's barrier`.
    pub name: String,
    /// The same in a column's width: `b1`, `wg`, `sg2`.
    pub short: String,
}

/// One step of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Its position in the list.
    pub index: usize,
    /// The agent that makes it, or that has left pending what lands.
    pub agent: u32,
    /// The lanes that make it, as a bit mask, where they are not all of the agent's live lanes.
    pub lanes: Option<String>,
    /// How to make the step again.
    pub choice: Choice,
    /// The instruction as written.
    pub instruction: String,
    /// The instruction with its operands' values.
    pub resolved: String,
    /// The barrier operands' values, for an instruction on a barrier whose operands are in range.
    pub operands: Option<Operands>,
    /// The instruction's place.
    pub location: Location,
    /// What happened, in order.
    pub events: Vec<Event>,
    /// The state after the step, as far as it differs from the one before. Nothing, if the path ends here.
    pub changes: State,
}

impl Step {
    /// Whether it is this agent's access of this kind to this location.
    pub(crate) fn accesses(&self, agent: u32, kind: &str, location: &str) -> bool {
        self.agent == agent
            && self.events.iter().any(|event| match event {
                Event::Accessed { access, locations } => {
                    access == kind && locations.iter().any(|l| l == location)
                }
                Event::Issued { writes, .. } if kind != SOURCE => {
                    [COPY, SENT, REDUCTION].contains(&kind) && writes.as_deref() == Some(location)
                }
                // What it is about stands in the instruction, without the CTA.
                Event::Issued { .. } => {
                    self.instruction.contains(location.split(" of ").next().unwrap_or(""))
                }
                Event::Begun { .. } if kind == INITIALISATION => {
                    self.instruction.contains(location.split(" of ").next().unwrap_or(""))
                }
                _ => false,
            })
    }
}

/// How to make a step again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// Which of the things that the agent could do, 0 unless its lanes have diverged.
    #[serde(rename = "move")]
    pub index: u32,
    /// Which way it went, where the protocol leaves a choice; otherwise 0.
    pub pick: u32,
    /// The agent does nothing: something lands that it has left pending, by position in
    /// [`AgentState::pending`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lands: bool,
}

/// Operands of an instruction on a barrier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Operands {
    /// `sync`, `arrive`, `red.popc`, `red.and`, `red.or`, `signal`, `wait`, `arrive+wait`, `read-state` or
    /// `write-state`.
    pub operation: String,
    /// The barrier.
    pub barrier: u32,
    /// The counts that the instruction announces; `arrived` is what it adds.
    pub counts: Vec<Count>,
    /// The count was left out, or 0: every live agent.
    pub all: bool,
}

/// Something that happened at a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Event {
    /// Lanes wait at a barrier for the rest of their warp.
    Parked {
        /// The barrier.
        barrier: u32,
    },
    /// The agent arrived.
    Arrived {
        /// The barrier.
        barrier: u32,
    },
    /// The agent blocks.
    Blocked {
        /// The barrier.
        barrier: u32,
    },
    /// The agent's wait passed at once.
    Passed {
        /// The barrier.
        barrier: u32,
    },
    /// The agent asked whether a phase is complete, and goes on.
    Asked {
        /// The barrier.
        barrier: u32,
        /// The answer.
        complete: bool,
    },
    /// A generation completed.
    Completed {
        /// The barrier.
        barrier: u32,
        /// The number of the generation, from 1.
        generation: u32,
        /// The result of a reduction.
        result: Option<u32>,
    },
    /// Agents that blocked go on.
    Released {
        /// The barrier.
        barrier: u32,
        /// The agents.
        agents: Vec<u32>,
    },
    /// Agents may now pass their wait.
    Notified {
        /// The barrier.
        barrier: u32,
        /// The agents.
        agents: Vec<u32>,
    },
    /// Lanes of the agent exited, others have not.
    LanesExited {
        /// The lanes, as a bit mask.
        lanes: String,
    },
    /// The agent exited.
    Exited {},
    /// The agent changed what the phase waits for besides arrivals.
    Counted {
        /// The barrier.
        barrier: u32,
    },
    /// The agent began or ended the barrier's life.
    Begun {
        /// The barrier.
        barrier: u32,
    },
    /// The agent leaves something pending, which will land on the barrier.
    Issued {
        /// The barrier.
        barrier: u32,
        /// Bytes of a copy; nothing for what lands as arrivals. Traces need not say it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bytes: Option<u32>,
        /// The location that a copy writes, as the protocol writes it. Traces need not say it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        writes: Option<String>,
    },
    /// What was pending lands.
    Landed {
        /// The barrier.
        barrier: u32,
    },
    /// Memory was accessed.
    Accessed {
        /// `read`, `write` or `atomic`.
        access: String,
        /// The locations, as the protocol writes them.
        locations: Vec<String>,
    },
    /// A decision was made.
    Decided {
        /// The value: 0 or 1 for a condition.
        value: i64,
    },
    /// A fence or memory barrier.
    Fenced {},
    /// A result, a copy of one, a barrier's state or an allocation was read or written.
    StateMoved {},
    /// A local loop without end made one more iteration.
    Spun {},
    /// A rule is violated at this very step.
    Violated {
        /// The rule.
        rule: String,
        /// The barrier concerned.
        barrier: Option<u32>,
        /// The agents concerned.
        agents: Vec<u32>,
    },
    /// An operand or local computation could not be evaluated.
    Failed {
        /// What went wrong.
        message: String,
    },
    /// The model does not cover what happens here.
    Cut {
        /// Why.
        message: String,
    },
}

/// What the run shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// What kind of end it is.
    pub kind: OutcomeKind,
    /// The rule that is violated; `null` unless `kind` is `violation`.
    pub rule: Option<String>,
    /// The rule's level in force: `error`, `warning`, `pedantic` or `allow`; `null` without a rule.
    pub level: Option<String>,
    /// Where to look: at the last step, at the state after it, or at the cycle.
    pub basis: Basis,
    /// The agent whose place is shown.
    pub agent: u32,
    /// Everybody concerned, in order.
    pub agents: Vec<u32>,
    /// The barrier concerned.
    pub barrier: Option<u32>,
    /// The place.
    pub location: Location,
    /// The instruction there, as written.
    pub instruction: String,
    /// Figures that belong to the rule.
    pub detail: Option<Detail>,
    /// For a run that goes on for ever: the index of the first step of its cycle. The state after the
    /// last step is the one before that step.
    pub cycle_from: Option<usize>,
    /// One line without places.
    pub headline: String,
    /// One sentence with places.
    pub message: String,
    /// Several sentences, one a line.
    pub explanation: String,
    /// The other places that matter.
    pub related: Vec<Related>,
    /// Who is to blame, where that is known: agents that parted from others which run the same code. Their
    /// place is the first of `related`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blamed: Vec<u32>,
}

/// The kinds of ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeKind {
    /// A rule is violated.
    Violation,
    /// Something could not be evaluated.
    Fault,
    /// The model does not cover what happened.
    Cut,
    /// Agents are where they were looked for. Nothing need be violated.
    State,
}

/// What an outcome rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The last step.
    Step,
    /// The state after the last step.
    State,
    /// The cycle, and all that could happen instead of it.
    Cycle,
}

/// Figures that belong to a rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Detail {
    /// An operand's value.
    Operand {
        /// The value.
        value: i64,
    },
    /// Two accesses to one location.
    Conflict {
        /// The location, as the protocol writes it.
        location: String,
        /// Who accessed it before.
        earlier: u32,
        /// How: `read`, `write` or `atomic`.
        earlier_access: String,
        /// How it is accessed now.
        access: String,
    },
    /// Arrivals at a barrier.
    Room {
        /// How many stand at an arrival.
        standing: u32,
        /// For how many there is room.
        room: u32,
    },
}

/// Another place that matters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Related {
    /// The agent.
    pub agent: u32,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// What the place has to do with it.
    pub role: String,
}

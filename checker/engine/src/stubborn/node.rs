//! The states kept, and what has been found in them.

use super::states::Key;
use barcheck_model::barrier::BarrierId;
use barcheck_model::machine::{Choice, ConfigId, Finding};
use barcheck_model::program::{AgentId, Place};
use barcheck_model::rule::Rule;

/// The number of a state kept.
pub(super) type NodeId = u32;

/// A state kept, and how it was found.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) key: Key,
    pub(super) parent: NodeId,
    /// What was made from the parent; what came after it was the only thing to make.
    pub(super) made: Made,
    /// Steps from the initial state.
    pub(super) depth: u64,
}

/// What is made of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Made {
    /// A step.
    Step(Choice),
    /// All paths of a merge, by an agent in this configuration: of several merges the one with this number.
    Merge(AgentId, ConfigId, u32),
}

/// Something found: in a state kept, or after so much was made from there, of which this was the first.
#[derive(Clone, Debug)]
pub(super) struct Violation {
    pub(super) finding: Finding,
    pub(super) node: NodeId,
    pub(super) made: Option<(Made, usize)>,
}

/// One finding is kept for each rule, place and barrier.
pub(super) type Found = (Rule, Place, Option<BarrierId>);

/// Whose steps are made next.
#[derive(Clone, Copy, Debug)]
pub(super) enum Next {
    /// This is the only thing to make.
    Forced(Made),
    /// An agent that has several, or one with a choice.
    Open(AgentId),
}

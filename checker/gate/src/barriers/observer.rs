//! What becomes of an instruction, and who is told.

use barcheck_model::rule::Rule;
use std::fmt;
use std::sync::Arc;

/// What a system's instructions are not meant to be used for.
pub trait Violation: std::error::Error + Clone + Eq + Send + Sync + 'static {
    /// The rule that the instruction violates: the first that applies, in the order of the semantics. None
    /// where no specification says what would follow, so that nothing can be claimed about it.
    fn rule(&self) -> Option<Rule>;
}

/// Why an instruction did not go through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop<M> {
    /// The instruction must not be used like this. It has changed nothing.
    Misuse(M),
    /// The group was given up by `abort`.
    Aborted,
}

impl<M: Violation> Stop<M> {
    /// The rule that was violated; none if the group was given up, or nothing can be claimed.
    pub fn rule(&self) -> Option<Rule> {
        match self {
            Self::Misuse(misuse) => misuse.rule(),
            Self::Aborted => None,
        }
    }
}

impl<M: fmt::Display> fmt::Display for Stop<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Misuse(misuse) => misuse.fmt(f),
            Self::Aborted => f.write_str("the group was given up"),
        }
    }
}

impl<M: Violation> std::error::Error for Stop<M> {}

/// An instruction that an agent has executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The instruction, in the words of its system without operands: `sync`, `BAR.ARV`, `nbarrier_wait`,
    /// `exit`.
    pub instruction: &'static str,
    /// The barrier it names; none if it names none, or none that exists.
    pub barrier: Option<u32>,
    /// What became of it.
    pub effect: Effect,
}

/// What became of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The agent goes on.
    Done,
    /// The agent waits. It goes on with a completion, which is no event of its own.
    Blocked,
    /// Misuse, of this rule if there is one for it: nothing has changed.
    Refused(Option<Rule>),
}

/// Who is told what happens in a group.
///
/// The calls for one barrier come in the order of what happens there, those for one agent in the order of its
/// program, and each before any agent goes on because of it. An observer that brings all calls into one
/// sequence therefore has a linearisation. It must not use the group, except to
/// `abort` it.
pub trait Observer: Send + Sync {
    /// `agent` has executed an instruction: once for each, when it takes effect, begins to block or is
    /// refused.
    fn step(&self, agent: usize, event: &Event) {
        let _ = (agent, event);
    }

    /// What `agent` has left in flight lands, as a step of its own: the `number`-th that it has left, from 0
    /// on.
    fn landed(&self, agent: usize, number: u32, event: &Event) {
        let _ = (agent, number, event);
    }

    /// `rule` applies to the step just told, and the path goes on. `agent` is whom the finding is about: as a
    /// rule the one who made the step.
    fn note(&self, agent: usize, rule: Rule, barrier: Option<u32>) {
        let _ = (agent, rule, barrier);
    }

    /// By the step just told, a generation of `barrier` is complete, and the `released` agents that blocked
    /// on it go on.
    fn completed(&self, barrier: u32, released: &[usize]) {
        let _ = (barrier, released);
    }
}

/// Nobody.
impl Observer for () {}

impl<O: Observer + ?Sized> Observer for Arc<O> {
    fn step(&self, agent: usize, event: &Event) {
        (**self).step(agent, event);
    }

    fn landed(&self, agent: usize, number: u32, event: &Event) {
        (**self).landed(agent, number, event);
    }

    fn note(&self, agent: usize, rule: Rule, barrier: Option<u32>) {
        (**self).note(agent, rule, barrier);
    }

    fn completed(&self, barrier: u32, released: &[usize]) {
        (**self).completed(barrier, released);
    }
}

//! What becomes of an instruction, as far as its agent can tell.

use crate::barriers::{Stop, Violation};
use barcheck_model::barrier::Opaque;

/// What became of an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Done {
    /// The agent goes on.
    Passed,
    /// The agent waited, or did not need to, and goes on; with the result of a reduction.
    Waited(Option<u32>),
    /// The agent goes on and knows whether a phase is complete.
    Tested(bool),
    /// `B2R.RESULT` yields this, if anything keeps it.
    Fetched(Option<u32>),
    /// A barrier's state was read.
    Read(Opaque),
}

/// Why an agent does not go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stopped {
    /// Misuse: the record knows the rule.
    Refused,
    /// The execution has ended elsewhere.
    Aborted,
    /// Threads cannot do this.
    Unfit(String),
}

impl<M: Violation> From<Stop<M>> for Stopped {
    fn from(stop: Stop<M>) -> Self {
        match stop {
            Stop::Misuse(misuse) if misuse.rule().is_none() => Self::Unfit(misuse.to_string()),
            Stop::Misuse(_) => Self::Refused,
            Stop::Aborted => Self::Aborted,
        }
    }
}

/// What cannot be evaluated has been found out before; lanes that disagree have not.
pub(super) fn evaluated<T>(value: Option<T>) -> Result<T, Stopped> {
    value.ok_or_else(|| Stopped::Unfit("an operand has no value on which all lanes agree".to_owned()))
}

pub(super) fn other_target() -> Stopped {
    Stopped::Unfit("an instruction of another target, or of one without executable barriers".to_owned())
}

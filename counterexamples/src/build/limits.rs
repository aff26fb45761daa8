//! What a counterexample may cost, and what is said where that is not enough.

use barcheck_model::Patience;

/// What a counterexample may cost.
pub struct Limits<'l> {
    /// Steps of a path that is written down whole, at most.
    pub steps: usize,
    /// Bytes of a trace that is whole, at most.
    pub bytes: u64,
    /// Whether there is time left. Asked now and then, and at least once.
    pub goes_on: &'l dyn Fn() -> bool,
    /// For local computation. What was ended by it can neither be confirmed nor denied: whoever has set it
    /// asks it whether it has run out.
    pub patience: Option<&'l Patience>,
}

impl Limits<'_> {
    /// None at all.
    pub const NONE: Limits<'static> =
        Limits { steps: usize::MAX, bytes: u64::MAX, goes_on: &|| true, patience: None };

    pub(crate) fn patience(&self) -> Patience {
        self.patience.cloned().unwrap_or_default()
    }
}

/// Why steps are left out of a counterexample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It has more than so many steps.
    Length(usize),
    /// The whole needs more memory than there is for it.
    Memory,
    /// There was no time left to write the whole down.
    Time,
}

/// What is left out of a counterexample: it has been replayed all the same, every step of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Number of steps that are left out.
    pub steps: usize,
    /// Number of steps of the whole.
    pub of: usize,
    /// Why.
    pub why: Why,
}

//! A file that was decided.

use super::expect::Expectation;
use super::input::display_name;
use super::names::plain;
use super::sweep;
use barcheck::{Decision, Finding, Options};
use std::ops::Deref;
use std::path::PathBuf;

/// A file that was decided, or could not be.
pub(crate) struct Decided {
    /// The file: its name in reports need not say all that a path says, where that is not UTF-8.
    pub(crate) path: PathBuf,
    /// What it came to.
    pub(crate) decision: Decision,
    /// Under which options.
    pub(crate) options: Options,
    /// The `param`s that take several values in turn, with the values here.
    pub(crate) parameters: Vec<(String, i64)>,
    /// With `--expect`: how that compares with what its head says.
    pub(crate) expectation: Option<Expectation>,
}

impl Decided {
    /// Whether it came to what its head says. Then nobody need look at it.
    pub(crate) fn is_as_expected(&self) -> bool {
        self.expectation.as_ref().is_some_and(Expectation::is_met)
    }

    /// How it differs from what its head says, if it does.
    pub(crate) fn difference(&self) -> Option<&str> {
        self.expectation.as_ref()?.difference.as_deref()
    }

    /// `with STAGES=2, N=4`, if params take several values in turn.
    pub(crate) fn with(&self) -> Option<String> {
        (!self.parameters.is_empty()).then(|| format!("with {}", sweep::shown(&self.parameters)))
    }

    /// `kernel scan`, and with which values: what tells reports on one file apart, where there are several.
    pub(crate) fn which(&self) -> Option<String> {
        let kernel = self.kernel.as_ref().map(|kernel| format!("kernel {}", plain(kernel)));
        let parts: Vec<_> = kernel.into_iter().chain(self.with()).collect();
        (!parts.is_empty()).then(|| parts.join(" "))
    }

    /// `ring.bar with STAGES=2`, `scan.ptx, kernel scan`: what was decided, for people.
    pub(crate) fn title(&self) -> String {
        let which = self
            .which()
            .map(|which| if self.kernel.is_some() { format!(", {which}") } else { format!(" {which}") });
        format!("{}{}", display_name(&self.path), which.unwrap_or_default())
    }

    /// What somebody should look at of what was found.
    pub(crate) fn remarkable(&self) -> &[Finding] {
        if self.is_as_expected() { &[] } else { &self.decision.findings }
    }
}

impl Deref for Decided {
    type Target = Decision;

    fn deref(&self) -> &Decision {
        &self.decision
    }
}

//! A file that was decided.

use super::expect::Expectation;
use super::input::display_name;
use super::names::{self, plain};
use super::sweep;
use barcheck::{Check, Decision, Finding, Options, Remark, Trouble, Verdict};
use barcheck_model::rule::Level;
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
    /// Which findings are known, if a baseline says so.
    pub(crate) known: Option<Known>,
    /// What a bound for its loops decides, or shows in fewer steps.
    pub(crate) bounded: Option<String>,
}

impl Deref for Decided {
    type Target = Decision;

    fn deref(&self) -> &Decision {
        &self.decision
    }
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
        self.which_of(self.kernel_in_short())
    }

    /// The same for programs, which are told the whole name of the kernel.
    pub(crate) fn whole_which(&self) -> Option<String> {
        self.which_of(self.kernel.as_deref().map(plain))
    }

    fn which_of(&self, kernel: Option<String>) -> Option<String> {
        let kernel = kernel.map(|kernel| format!("kernel {kernel}"));
        let parts: Vec<_> = kernel.into_iter().chain(self.with()).collect();
        (!parts.is_empty()).then(|| parts.join(" "))
    }

    /// The kernel as people are shown it, where the file is a module of them.
    pub(crate) fn kernel_in_short(&self) -> Option<String> {
        self.kernel.as_deref().map(|kernel| names::kernel(kernel, self.entry))
    }

    /// `ring.bar with STAGES=2`, `scan.ptx, kernel scan`: what was decided, for people.
    pub(crate) fn title(&self) -> String {
        self.title_of(self.which())
    }

    /// The same for programs, likewise.
    pub(crate) fn whole_title(&self) -> String {
        self.title_of(self.whole_which())
    }

    fn title_of(&self, which: Option<String>) -> String {
        let gap = if self.kernel.is_some() { ", " } else { " " };
        let which = which.map(|which| format!("{gap}{which}"));
        format!("{}{}", display_name(&self.path), which.unwrap_or_default())
    }

    /// The findings about runs, each with whether it is known.
    pub(crate) fn judged_findings(&self) -> impl Iterator<Item = (&Finding, bool)> {
        let known = self.known.as_ref().map_or(&[][..], |known| &known.findings);
        self.findings.iter().zip(known.iter().copied().chain(std::iter::repeat(false)))
    }

    /// The findings about the text, likewise.
    pub(crate) fn judged_remarks(&self) -> impl Iterator<Item = (&Remark, bool)> {
        let known = self.known.as_ref().map_or(&[][..], |known| &known.remarks);
        self.remarks.iter().zip(known.iter().copied().chain(std::iter::repeat(false)))
    }

    /// The file is violated, and by nothing but what is known.
    pub(crate) fn has_nothing_new(&self) -> bool {
        let findings = self.judged_findings().map(|(found, known)| (found.level, known));
        let remarks = self.judged_remarks().map(|(remark, known)| (remark.level, known));
        let new = findings.chain(remarks).any(|(level, known)| level == Level::Error && !known);
        let judged = self.verdict == Verdict::Violated && self.trouble() != Some(Trouble::Internal);
        judged && self.known.is_some() && !new
    }
}

/// A finding that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Its line in the file.
    pub(crate) line: usize,
    /// The finding's fingerprint.
    pub(crate) fingerprint: String,
    /// The rule or lint.
    pub(crate) check: Check,
    /// The protocol, as the file names it.
    pub(crate) protocol: String,
}

/// What a baseline says of a protocol that was decided.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Known {
    /// For each finding about a run, in order: it is known.
    pub(crate) findings: Vec<bool>,
    /// For each finding about the text, likewise.
    pub(crate) remarks: Vec<bool>,
    /// What is known and was not found.
    pub(crate) missing: Vec<Entry>,
    /// The file that says so.
    pub(crate) baseline: String,
}

impl Known {
    /// How many findings are known.
    pub(crate) fn count(&self) -> usize {
        self.findings.iter().chain(&self.remarks).filter(|known| **known).count()
    }

    /// Every finding of a file, known from now on.
    pub(crate) fn all(decision: &Decision) -> Self {
        Self {
            findings: vec![true; decision.findings.len()],
            remarks: vec![true; decision.remarks.len()],
            ..Self::default()
        }
    }
}

//! A file that was decided.

use barcheck::{Check, Decision, Finding, Remark, Trouble, Verdict};
use barcheck_model::rule::Level;
use std::ops::Deref;
use std::path::PathBuf;

/// A file that was decided, or could not be.
pub(crate) struct Decided {
    /// The file: its name in reports need not say all that a path says, where that is not UTF-8.
    pub(crate) path: PathBuf,
    /// What it came to.
    pub(crate) decision: Decision,
    /// Which findings are known, if a baseline says so.
    pub(crate) known: Option<Known>,
}

impl Deref for Decided {
    type Target = Decision;

    fn deref(&self) -> &Decision {
        &self.decision
    }
}

impl Decided {
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

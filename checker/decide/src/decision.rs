//! What a protocol came to.

use crate::coverage::RoleCoverage;
use crate::question::Options;
use crate::reason::Reason;
use crate::remark::Remark;
use crate::tried::Tried;
use barcheck_counterexamples::Trace;
use barcheck_engine::{Engine, Method, Statistics, Verdict};
use barcheck_model::program::{Place, Target};
use barcheck_model::rule::{Level, Rule};
use barcheck_specs::{Check, Diagnostic, Extracted, LineIndex, Severity};
use std::collections::BTreeMap;
use std::time::Duration;

/// What a protocol came to.
#[derive(Clone, Debug)]
pub struct Decision {
    /// What it is called.
    pub name: String,
    /// Which of the kernels in it, where it is a module of them.
    pub kernel: Option<String>,
    /// The position of that kernel among them, from 0.
    pub entry: Option<usize>,
    /// Its text.
    pub text: String,
    /// The barrier system, where the text has a meaning.
    pub target: Option<Target>,
    /// The verdict.
    pub verdict: Verdict,
    /// Why, for `inconclusive` and `error`.
    pub reason: Option<Reason>,
    /// Where all rules are wanted and the verdict is `violated`: why some that are violated may be missing.
    pub uncovered: Option<Reason>,
    /// What is found, at level warning and above, by rule, then place, one for each. Every counterexample was
    /// replayed.
    pub findings: Vec<Finding>,
    /// What is found about the text without looking at a run, at level warning and above, by name, then
    /// place.
    pub remarks: Vec<Remark>,
    /// What the file allows, in the order of the text.
    pub allowed: Vec<Allowed>,
    /// By role, what its agents can execute, where that was asked for.
    pub coverage: Option<Vec<RoleCoverage>>,
    /// Why the text has no meaning, if it has none.
    pub diagnostics: Vec<Diagnostic>,
    /// Where the protocol was extracted from a kernel, how.
    pub extracted: Option<Extracted>,
    /// Values of its parameters with which it was decided, where without them it was in doubt whether it has
    /// a violation.
    pub given: BTreeMap<String, i64>,
    /// What was tried, where it is in doubt whether it has a violation.
    pub tried: Tried,
    /// How much was searched.
    pub statistics: Statistics,
    /// How the verdict was found.
    pub method: Method,
    /// The path to an evaluation error, or to where a path could not be followed; an
    /// [excerpt](Trace::is_excerpt) of it, if it is too long.
    pub path_to_stop: Option<Trace>,
    /// Defects of this program that came to light.
    pub defects: Vec<String>,
    /// It could not be read at all.
    unreadable: bool,
    /// Deciding it has panicked, and the panic hook has said so.
    panicked: bool,
}

/// A violation, with a counterexample that holds.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The rule.
    pub rule: Rule,
    /// The level in force.
    pub level: Level,
    /// What happened, in a sentence.
    pub message: String,
    /// What it rests on; `None` without the feature `clauses`.
    pub clause: Option<Clause>,
    /// The barrier.
    pub barrier: Option<u32>,
    /// Everybody concerned.
    pub agents: Vec<u32>,
    /// Where.
    pub place: Place,
    /// The other places that matter.
    pub related: Vec<Related>,
    /// Where the violation rests on unknown data of a kernel: the ways that agents take where it decides, in
    /// order. Such a finding is a warning, unless it is asked to be an error.
    pub data: Vec<Related>,
    /// Of an error of a kernel: the outcomes of decisions that the whole group shares with which it comes
    /// about, as of `param_1 == 0`, each by whom and where it is asked first.
    pub outcomes: Vec<Related>,
    /// Stable while the finding is the same.
    pub fingerprint: String,
    /// The counterexample, replayed. Where something is [left out](Finding::left_out) it is an excerpt.
    pub trace: Trace,
    /// No schedule that shows it has fewer steps. False where that is not known, as of what is no error.
    pub is_shortest: bool,
    /// A smaller value of a param with which the same shows in fewer steps, where those are many.
    pub smaller: Option<Smaller>,
    /// What is left out of the counterexample and why, in a sentence without a full stop: it is too long, or
    /// a budget was used up. What is left was replayed as well.
    pub left_out: Option<String>,
}

impl Finding {
    /// The line at which it is shown: the first where somebody is to blame, else where it came about.
    #[must_use]
    pub fn shown_at(&self) -> Place {
        let labels = barcheck_counterexamples::labels(&self.trace);
        let blamed = labels.first().filter(|label| !self.trace.outcome.blamed.is_empty() && label.line > 0);
        blamed.map_or(self.place, |label| {
            let here = |step: &&barcheck_counterexamples::trace::Step| {
                (step.location.line, step.location.column) == (label.line, label.column)
            };
            let length = self.trace.steps.iter().find(here).map_or(1, |step| step.location.length);
            Place { line: label.line, column: label.column, length }
        })
    }
}

/// A value of a param, smaller than the one in force, with which the same rule is violated at the same place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Smaller {
    /// The param.
    pub param: String,
    /// Its value.
    pub value: i64,
    /// The steps of the counterexample with it.
    pub steps: usize,
}

/// A rule or lint that a file allows, and what is therefore not among the findings.
#[derive(Clone, Debug)]
pub struct Allowed {
    /// The rule or lint.
    pub check: Check,
    /// Why, as the file says it.
    pub reason: String,
    /// Where the file says so.
    pub place: Place,
    /// What violates the rule. Every counterexample was replayed.
    pub findings: Vec<Finding>,
    /// What the lint says against the text.
    pub remarks: Vec<Remark>,
}

impl Allowed {
    /// How much is allowed.
    #[must_use]
    pub fn count(&self) -> usize {
        self.findings.len() + self.remarks.len()
    }
}

/// Another place that matters.
#[derive(Clone, Debug)]
pub struct Related {
    /// Whose place it is.
    pub agent: u32,
    /// From 1.
    pub line: u32,
    /// From 1.
    pub column: u32,
    /// What it has to do with the finding.
    pub role: String,
}

/// What a finding rests on.
#[derive(Clone, Debug)]
pub struct Clause {
    /// The specification.
    pub document: String,
    /// Its section.
    pub section: String,
    /// The clause's name in the catalogue.
    pub id: String,
}

/// Why a protocol has no verdict that could be relied on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// It could not be read.
    Unreadable,
    /// Its text has no meaning.
    Malformed,
    /// It reaches an evaluation error.
    Evaluation,
    /// The search did not get to its end.
    Inconclusive,
    /// A defect of this program.
    Internal,
}

impl Trouble {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Unreadable, Self::Malformed, Self::Evaluation, Self::Inconclusive, Self::Internal];

    /// Its name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Unreadable => "unreadable",
            Self::Malformed => "malformed",
            Self::Evaluation => "evaluation-error",
            Self::Inconclusive => "inconclusive",
            Self::Internal => "internal-error",
        }
    }

    /// What it means, in a sentence.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Unreadable => "The file could not be read.",
            Self::Malformed => "The text of the file has no meaning.",
            Self::Evaluation => {
                "The protocol divides by zero, indexes outside an array, overflows or the like."
            }
            Self::Inconclusive => {
                "The search was ended early, or a path could not be followed: nothing is proved."
            }
            Self::Internal => "A defect of barcheck itself.",
        }
    }
}

impl Decision {
    /// Of something that could not be read, for this reason.
    #[must_use]
    pub fn unreadable(name: &str, why: String, options: &Options) -> Self {
        let mut decision = Self::error(name, options);
        decision.unreadable = true;
        decision.because(Reason::plain(why))
    }

    /// Of a text that has no meaning, as these diagnostics say.
    #[must_use]
    pub fn malformed(name: &str, text: String, diagnostics: Vec<Diagnostic>, options: &Options) -> Self {
        let lines = LineIndex::new(&text);
        let errors = diagnostics.iter().filter(|d| d.severity == Severity::Error).count();
        let first = diagnostics.iter().find(|d| d.severity == Severity::Error);
        let reason = Reason::malformed(first.map(|d| (d.message.as_str(), d.place(&lines))), errors);
        let mut decision = Self::error(name, options);
        decision.text = text;
        decision.diagnostics = diagnostics;
        decision.because(reason)
    }

    /// Of something that was not looked at, because the user has interrupted.
    #[must_use]
    pub fn not_begun(name: &str, options: &Options) -> Self {
        let mut decision = Self::error(name, options);
        decision.verdict = Verdict::Inconclusive;
        decision.because(Reason::interrupted_before())
    }

    /// Of something that was not looked at, because not all of its text came within this time.
    #[must_use]
    pub fn not_read(name: &str, limit: Duration, options: &Options) -> Self {
        let mut decision = Self::error(name, options);
        decision.verdict = Verdict::Inconclusive;
        decision.because(Reason::late(limit))
    }

    /// Why there is no verdict that could be relied on, if there is none.
    #[must_use]
    pub fn trouble(&self) -> Option<Trouble> {
        if self.panicked || !self.defects.is_empty() {
            return Some(Trouble::Internal);
        }
        match self.verdict {
            Verdict::Verified | Verdict::Violated => None,
            Verdict::Inconclusive => Some(Trouble::Inconclusive),
            Verdict::Error if self.unreadable => Some(Trouble::Unreadable),
            Verdict::Error if self.target.is_none() => Some(Trouble::Malformed),
            Verdict::Error => Some(Trouble::Evaluation),
        }
    }

    pub(crate) fn error(name: &str, options: &Options) -> Self {
        let method = Method {
            engine: Engine::Search,
            reduction: options.settings.reduction,
            whole: true,
            why: "nothing was searched".to_owned(),
        };
        Self {
            name: name.to_owned(),
            kernel: None,
            entry: None,
            text: String::new(),
            target: None,
            verdict: Verdict::Error,
            reason: None,
            uncovered: None,
            findings: Vec::new(),
            remarks: Vec::new(),
            allowed: Vec::new(),
            coverage: None,
            diagnostics: Vec::new(),
            extracted: None,
            given: BTreeMap::new(),
            tried: Tried::default(),
            statistics: Statistics::default(),
            method,
            path_to_stop: None,
            defects: Vec::new(),
            unreadable: false,
            panicked: false,
        }
    }

    /// A kernel has a meaning whatever its addresses are: it is its reading that does not follow it where it
    /// comes to what has no value.
    pub(crate) fn excuse_a_kernel(mut self) -> Self {
        if self.verdict == Verdict::Error && self.extracted.is_some() {
            self.verdict = Verdict::Inconclusive;
            self.reason = self.reason.map(Reason::of_a_kernel);
        }
        self
    }

    /// A lint that is an error violates the protocol, whatever a search says that came to no end.
    pub(crate) fn heed_remarks(mut self) -> Self {
        let denied = self.remarks.iter().any(|remark| remark.level == Level::Error);
        if denied && matches!(self.verdict, Verdict::Verified | Verdict::Inconclusive) {
            self.verdict = Verdict::Violated;
            self.uncovered = self.uncovered.or(self.reason.take().map(Reason::for_more));
        }
        self
    }

    pub(crate) fn because(mut self, reason: Reason) -> Self {
        self.reason = Some(reason);
        self
    }

    pub(crate) fn panicked(mut self) -> Self {
        self.panicked = true;
        self.because(Reason::plain("internal error: barcheck panicked".to_owned()))
    }
}

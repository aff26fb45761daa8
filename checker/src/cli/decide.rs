//! Decides one file: reads it, searches, builds and replays each counterexample.

use super::evidence::Case;
use super::input;
use super::reasons::{self, Reason};
use super::report::{Remark, Report, Reported};
use super::watch::Watch;
use barcheck::{Engine, Method, Outcome, Settings, Statistics, Verdict};
use barcheck_counterexamples::{SourceInfo, Trace};
use barcheck_model::machine::Options;
use barcheck_model::rule::Level;
use barcheck_specs::bar::{self, LoadOptions, Loaded};
use barcheck_specs::{Diagnostic, LineIndex, Severity};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What is asked of every file.
pub(crate) struct Search {
    /// For the engine.
    pub(crate) settings: Settings,
    /// For the model.
    pub(crate) options: Options,
    /// For the reader.
    pub(crate) load: LoadOptions,
    /// Show progress.
    pub(crate) progress: bool,
}

/// A file that was decided, or could not be.
pub(crate) struct Decided {
    /// The file.
    pub(crate) path: PathBuf,
    /// What is reported.
    pub(crate) report: Report,
    /// The text of the file.
    pub(crate) source: String,
    /// What the reader says of it.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Why it is inconclusive or an error, for people.
    pub(crate) reason: Option<Reason>,
    /// The way to an evaluation error, or to where a path could not be followed.
    pub(crate) way: Option<Trace>,
    /// Defects of this program that came to light.
    pub(crate) defects: Vec<String>,
    /// The file could not be read at all.
    pub(crate) unreadable: bool,
    /// Deciding it has panicked.
    panicked: bool,
}

/// Why a file has no verdict that could be relied on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
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
    pub(crate) const ALL: [Self; 5] =
        [Self::Unreadable, Self::Malformed, Self::Evaluation, Self::Inconclusive, Self::Internal];

    /// Its name in reports.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Unreadable => "unreadable",
            Self::Malformed => "malformed",
            Self::Evaluation => "evaluation-error",
            Self::Inconclusive => "inconclusive",
            Self::Internal => "internal-error",
        }
    }

    /// What it means, in a sentence.
    pub(crate) fn meaning(self) -> &'static str {
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

impl Decided {
    /// Why there is no verdict that could be relied on, if there is none.
    pub(crate) fn trouble(&self) -> Option<Trouble> {
        if self.panicked || !self.defects.is_empty() {
            return Some(Trouble::Internal);
        }
        match self.report.verdict {
            Verdict::Verified | Verdict::Violated => None,
            Verdict::Inconclusive => Some(Trouble::Inconclusive),
            Verdict::Error if self.unreadable => Some(Trouble::Unreadable),
            Verdict::Error if self.report.target.is_none() => Some(Trouble::Malformed),
            Verdict::Error => Some(Trouble::Evaluation),
        }
    }

    fn error(path: &Path, search: &Search) -> Self {
        let report = Report {
            file: path.to_string_lossy().into_owned(),
            target: None,
            verdict: Verdict::Error,
            reason: None,
            diagnostics: Vec::new(),
            findings: Vec::new(),
            statistics: Statistics::default(),
            method: Method {
                engine: Engine::Search,
                reduction: search.settings.reduction,
                why: "nothing was searched".to_owned(),
            },
        };
        Self {
            path: path.to_owned(),
            report,
            source: String::new(),
            diagnostics: Vec::new(),
            reason: None,
            way: None,
            defects: Vec::new(),
            unreadable: false,
            panicked: false,
        }
    }

    fn because(mut self, reason: Reason) -> Self {
        self.report.reason = Some(reason.line());
        self.reason = Some(reason);
        self
    }
}

/// What is reported of a file that was not looked at because the user has interrupted.
pub(crate) fn not_begun(path: &Path, search: &Search) -> Decided {
    let mut decided = Decided::error(path, search);
    decided.report.verdict = Verdict::Inconclusive;
    decided.because(Reason::interrupted_before())
}

/// Decides a file that holds `read`, or that could not be read.
pub(crate) fn decide(path: &Path, read: Result<Vec<u8>, String>, search: &Search) -> Decided {
    let mut decided = Decided::error(path, search);
    let bytes = match read {
        Ok(bytes) => bytes,
        Err(message) => {
            decided.unreadable = true;
            return decided.because(Reason::plain(message));
        }
    };
    decided.source = String::from_utf8_lossy(&bytes).into_owned();
    // No text may bring the run down: the other files are still to be decided.
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let loaded = bar::load(&bytes, &search.load)?;
        Ok(judge(path, &decided.source, loaded, search))
    }));
    match outcome {
        Ok(Ok(judged)) => judged.into_decided(decided),
        Ok(Err(diagnostics)) => malformed(decided, diagnostics),
        Err(_) => {
            // The panic hook has said what happened.
            decided.panicked = true;
            decided.because(Reason::plain("internal error: barcheck panicked".to_owned()))
        }
    }
}

fn malformed(mut decided: Decided, diagnostics: Vec<Diagnostic>) -> Decided {
    let lines = LineIndex::new(&decided.source);
    let remark = |diagnostic: &Diagnostic| {
        let place = diagnostic.place(&lines);
        Remark { message: diagnostic.message.clone(), line: place.line, column: place.column }
    };
    decided.report.diagnostics = diagnostics.iter().map(remark).collect();
    let errors = diagnostics.iter().filter(|d| d.severity == Severity::Error).count();
    let first = diagnostics.iter().find(|d| d.severity == Severity::Error);
    let reason = Reason::malformed(first.map(|d| (d.message.as_str(), d.place(&lines))), errors);
    decided.diagnostics = diagnostics;
    decided.because(reason)
}

/// A protocol that was searched.
struct Judged {
    case: Case,
    warnings: Vec<Diagnostic>,
    outcome: Outcome,
    findings: Vec<Reported>,
    /// The way to an evaluation error, or to where a path could not be followed.
    way: Option<Trace>,
    defects: Vec<String>,
}

fn judge(path: &Path, text: &str, loaded: Loaded, search: &Search) -> Judged {
    let source = SourceInfo {
        file: path.to_string_lossy().into_owned(),
        format: "bar".to_owned(),
        text: text.to_owned(),
        defines: used_defines(&loaded, search),
    };
    let case = Case { program: Arc::new(loaded.program), options: search.options, source };
    let outcome = {
        let watch = Watch::new(&input::display_name(path), search.progress);
        barcheck::check(Arc::clone(&case.program), search.options, &search.settings, &watch)
    };
    let mut findings = Vec::new();
    let mut defects = Vec::new();
    for found in outcome.findings.iter().filter(|found| found.level >= Level::Warning) {
        match case.report(found) {
            Ok(finding) => findings.push(finding),
            Err(defect) => defects.push(defect),
        }
    }
    findings.sort_by(|a, b| {
        let key = |f: &Reported| (f.rule, f.place.line, f.place.column);
        key(a).cmp(&key(b)).then_with(|| a.agents.cmp(&b.agents))
    });
    // One for each rule and place: arrivals left over on several barriers may come from one instruction.
    findings.dedup_by_key(|f| (f.rule, f.place.line, f.place.column));
    let way = case.way(&outcome).unwrap_or_else(|defect| {
        defects.push(defect);
        None
    });
    Judged { case, warnings: loaded.warnings, outcome, findings, way, defects }
}

/// The definitions that concern this file.
fn used_defines(loaded: &Loaded, search: &Search) -> BTreeMap<String, i64> {
    let defines = search.load.defines.iter().filter(|(name, _)| loaded.params.contains(*name));
    defines.map(|(name, value)| (name.clone(), *value)).collect()
}

impl Judged {
    fn into_decided(self, mut decided: Decided) -> Decided {
        let program = &self.case.program;
        let confirmed = self.findings.iter().any(|found| found.level == Level::Error);
        decided.report.target = Some(program.target);
        decided.report.verdict = self.outcome.verdict;
        decided.report.statistics = self.outcome.statistics;
        decided.report.method = self.outcome.method;
        decided.report.findings = self.findings;
        decided.diagnostics = self.warnings;
        decided.way = self.way;
        if let Some(defect) = self.defects.first() {
            // A violation is one only with a counterexample that holds, and who has a defect verifies nothing.
            if !(self.outcome.verdict == Verdict::Violated && confirmed) {
                decided.report.verdict = Verdict::Error;
            }
            let reason = Reason::plain(format!("internal error: {defect}"));
            decided.defects = self.defects;
            return decided.because(reason);
        }
        let reason = match self.outcome.verdict {
            Verdict::Inconclusive => {
                self.outcome.inconclusive.as_ref().map(|why| reasons::inconclusive(program, why))
            }
            Verdict::Error => self.outcome.fault.as_ref().map(|fault| reasons::fault(program, fault)),
            Verdict::Verified | Verdict::Violated => None,
        };
        // Said to people only: the verdict stands, and reports have `complete`.
        decided.reason = self.outcome.uncovered.as_ref().map(|why| reasons::uncovered(program, why));
        match reason {
            Some(reason) => decided.because(reason),
            None => decided,
        }
    }
}

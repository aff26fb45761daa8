//! The report of one file for scripts: `barcheck-report/1`.

use super::assumed::is_note;
use super::decided::{Decided, Entry};
use super::expect::Expectation;
use super::extraction::{JsonExtraction, extraction};
use super::place::{JsonPlace, place};
use barcheck::{Allowed, Clause, Decision, Finding, Related, Remark, RoleCoverage, Smaller, Trouble};
use barcheck_counterexamples::Trace;
use barcheck_model::program::{Place, Target};
use barcheck_model::rule::Level;
use barcheck_specs::{Diagnostic, LineIndex};
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeMap;

#[derive(Serialize)]
struct JsonRelated<'a> {
    agent: u32,
    line: u32,
    column: u32,
    role: &'a str,
}

#[derive(Serialize)]
struct JsonClause<'a> {
    document: &'a str,
    section: &'a str,
    id: &'a str,
}

/// A remark on the text of a file.
#[derive(Serialize)]
struct JsonRemark<'a> {
    /// What kind of note it is. None of errors.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'static str>,
    message: &'a str,
    line: u32,
    column: u32,
}

#[derive(Serialize)]
struct Json<'a> {
    format: &'static str,
    file: &'a str,
    /// Which of the kernels in it, where it is a module of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    kernel: Option<&'a str>,
    /// The position of that kernel among them.
    #[serde(skip_serializing_if = "Option::is_none")]
    entry: Option<usize>,
    /// With which values of its parameters, where it was in doubt without them whether it has a violation.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    given: &'a BTreeMap<String, i64>,
    /// Those that were tried then with which it is verified.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    verified_with: &'a [BTreeMap<String, i64>],
    target: Option<&'static str>,
    /// How the protocol of a kernel was extracted.
    #[serde(skip_serializing_if = "Option::is_none")]
    extraction: Option<JsonExtraction<'a>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    parameters: BTreeMap<&'a str, i64>,
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    diagnostics: Vec<JsonRemark<'a>>,
    /// What is taken for true of a kernel, or not known, each at its place.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<JsonRemark<'a>>,
    findings: Vec<JsonFinding<'a>>,
    /// What a baseline knows and was not found.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    gone: Vec<JsonGone<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    allowed: Vec<JsonAllowed<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    coverage: Option<Vec<JsonCoverage<'a>>>,
    statistics: JsonStatistics<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expectation: Option<JsonExpectation<'a>>,
}

#[derive(Serialize)]
struct JsonFinding<'a> {
    rule: &'static str,
    level: &'static str,
    message: &'a str,
    clause: JsonClause<'a>,
    barrier: Option<u32>,
    agents: &'a [u32],
    location: JsonPlace,
    related: Vec<JsonRelated<'a>>,
    /// Where it rests on unknown data of a kernel: who goes which way where.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    data: Vec<JsonRelated<'a>>,
    /// With which outcomes of decisions of the whole group an error of a kernel comes about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    outcomes: Vec<JsonRelated<'a>>,
    /// The line of the source that the place was compiled from.
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<JsonOrigin<'a>>,
    fingerprint: &'a str,
    /// No schedule that shows it is shorter. None of what is no error.
    #[serde(skip_serializing_if = "Option::is_none")]
    shortest: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    smaller: Option<JsonSmaller<'a>>,
    /// Whether a baseline knows it, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    known: Option<bool>,
    /// None where something is left out of it, since an excerpt cannot be replayed, and of lints.
    trace: Option<&'a Trace>,
    /// What the trace would say otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    headline: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<&'a str>,
}

/// A value of a param with which the same shows in fewer steps.
#[derive(Serialize)]
struct JsonSmaller<'a> {
    param: &'a str,
    value: i64,
    steps: usize,
}

/// What the head of a file says of it.
#[derive(Serialize)]
struct JsonExpectation<'a> {
    met: bool,
    /// None where there is no head that could be read.
    expected: Option<&'static str>,
    rules: Option<Vec<&'static str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<&'a str>,
}

/// A line of a baseline for what was not found.
#[derive(Serialize)]
struct JsonGone<'a> {
    rule: &'static str,
    fingerprint: &'a str,
    line: usize,
}

/// A rule or lint that the file allows, and what is therefore no finding.
#[derive(Serialize)]
struct JsonAllowed<'a> {
    rule: &'static str,
    reason: &'a str,
    location: JsonPlace,
    findings: Vec<JsonSuppressed<'a>>,
}

#[derive(Serialize)]
struct JsonSuppressed<'a> {
    message: &'a str,
    location: JsonPlace,
    fingerprint: &'a str,
}

/// What the agents of a role can execute, whatever the others do.
#[derive(Serialize)]
struct JsonCoverage<'a> {
    role: Option<&'a str>,
    agents: &'a [u32],
    location: JsonPlace,
    complete: bool,
    barriers: Vec<JsonExecuted<'a>>,
    loops: Vec<JsonLoop<'a>>,
}

#[derive(Serialize)]
struct JsonExecuted<'a> {
    location: JsonPlace,
    instruction: &'a str,
    reached: bool,
    agents: &'a [u32],
    barriers: Vec<u32>,
}

#[derive(Serialize)]
struct JsonLoop<'a> {
    location: JsonPlace,
    head: &'a str,
    made: u64,
    written: u64,
}

#[derive(Serialize)]
struct JsonOrigin<'a> {
    file: &'a str,
    line: u32,
}

#[derive(Serialize)]
struct JsonStatistics<'r> {
    states: u64,
    transitions: u64,
    depth: u64,
    seconds: f64,
    peak_memory_bytes: u64,
    complete: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    odds_of_omission: Option<f64>,
    engine: &'static str,
    reduction: &'static str,
    /// Why this engine and this reduction.
    why: &'r str,
}

fn related(place: &Related) -> JsonRelated<'_> {
    JsonRelated { agent: place.agent, line: place.line, column: place.column, role: &place.role }
}

fn clause(clause: Option<&Clause>) -> JsonClause<'_> {
    let clause = clause.map(|clause| [&clause.document, &clause.section, &clause.id].map(String::as_str));
    let [document, section, id] = clause.unwrap_or_default();
    JsonClause { document, section, id }
}

/// Findings about runs and about the text, by rule, then place.
fn findings(decided: &Decided) -> Vec<JsonFinding<'_>> {
    let told = |known: bool| decided.known.as_ref().map(|_| known);
    let found = decided
        .judged_findings()
        .map(|(found, known)| JsonFinding { known: told(known), ..finding(decided, found) });
    let mut all: Vec<_> = found.collect();
    let said = decided.judged_remarks();
    all.extend(said.map(|(said, known)| JsonFinding { known: told(known), ..remark(said) }));
    all.sort_by_key(|found| (found.rule, found.location.line, found.location.column));
    all
}

/// A finding about the text, which has no run to show.
fn remark(remark: &Remark) -> JsonFinding<'_> {
    let Remark { lint, level, diagnostic, place, fingerprint } = remark;
    let lines = diagnostic.notes.iter().chain(&diagnostic.help).map(|line| format!("{line}\n"));
    JsonFinding {
        rule: lint.name(),
        level: level.name(),
        message: &diagnostic.message,
        clause: JsonClause { document: "barcheck", section: "lints", id: lint.name() },
        barrier: None,
        agents: &[],
        location: self::place(*place),
        related: Vec::new(),
        data: Vec::new(),
        outcomes: Vec::new(),
        origin: None,
        fingerprint,
        shortest: None,
        smaller: None,
        known: None,
        trace: None,
        headline: Some(&diagnostic.message),
        explanation: Some(lines.collect::<String>().into()),
        left_out: None,
    }
}

fn finding<'d>(decided: &'d Decision, found: &'d Finding) -> JsonFinding<'d> {
    let origin = decided.extracted.as_ref().and_then(|extracted| extracted.origin(found.place.line));
    let outcome = found.left_out.as_ref().map(|_| &found.trace.outcome);
    JsonFinding {
        rule: found.rule.name(),
        level: found.level.name(),
        message: &found.message,
        clause: clause(found.clause.as_ref()),
        barrier: found.barrier,
        agents: &found.agents,
        location: place(found.place),
        related: found.related.iter().map(related).collect(),
        data: found.data.iter().map(related).collect(),
        outcomes: found.outcomes.iter().map(related).collect(),
        origin: origin.map(|origin| JsonOrigin { file: &origin.file, line: origin.line }),
        fingerprint: &found.fingerprint,
        shortest: (found.level == Level::Error).then_some(found.is_shortest),
        smaller: found.smaller.as_ref().map(|Smaller { param, value, steps }| JsonSmaller {
            param,
            value: *value,
            steps: *steps,
        }),
        known: None,
        trace: found.left_out.is_none().then_some(&found.trace),
        headline: outcome.map(|outcome| outcome.headline.as_str()),
        explanation: outcome.map(|outcome| outcome.explanation.as_str().into()),
        left_out: found.left_out.as_deref(),
    }
}

fn gone(entry: &Entry) -> JsonGone<'_> {
    JsonGone { rule: entry.check.name(), fingerprint: &entry.fingerprint, line: entry.line }
}

fn allowed(allowed: &Allowed) -> JsonAllowed<'_> {
    let found = allowed.findings.iter().map(|found| (&found.message, found.place, &found.fingerprint));
    let said = allowed.remarks.iter().map(|said| (&said.diagnostic.message, said.place, &said.fingerprint));
    let suppressed = found.chain(said).map(|(message, at, fingerprint)| JsonSuppressed {
        message,
        location: place(at),
        fingerprint,
    });
    JsonAllowed {
        rule: allowed.check.name(),
        reason: &allowed.reason,
        location: place(allowed.place),
        findings: suppressed.collect(),
    }
}

fn coverage(role: &RoleCoverage) -> JsonCoverage<'_> {
    let barriers = role.barriers.iter().map(|executed| JsonExecuted {
        location: place(executed.place),
        instruction: &executed.instruction,
        reached: !executed.agents.is_empty(),
        agents: &executed.agents,
        barriers: executed.barriers.iter().map(|barrier| barrier.barrier).collect(),
    });
    let loops = role.loops.iter().map(|counted| JsonLoop {
        location: place(counted.place),
        head: &counted.head,
        made: counted.made,
        written: counted.written,
    });
    JsonCoverage {
        role: role.role.as_deref(),
        agents: &role.agents,
        location: place(role.place),
        complete: role.complete,
        barriers: barriers.collect(),
        loops: loops.collect(),
    }
}

/// What keeps a text from having a meaning.
fn remarks(decided: &Decision) -> Vec<JsonRemark<'_>> {
    if decided.trouble() != Some(Trouble::Malformed) {
        return Vec::new();
    }
    said(decided, |diagnostic| !is_note(diagnostic))
}

/// What is said of the text, as far as it is of a kind.
fn said(decided: &Decision, is_meant: fn(&Diagnostic) -> bool) -> Vec<JsonRemark<'_>> {
    let lines = LineIndex::new(&decided.text);
    let mut remarks = Vec::new();
    for diagnostic in decided.diagnostics.iter().filter(|diagnostic| is_meant(diagnostic)) {
        let (Place { line, column, .. }, message) = (diagnostic.place(&lines), &diagnostic.message);
        let name = is_note(diagnostic).then_some(diagnostic.code);
        remarks.push(JsonRemark { name, message, line, column });
    }
    remarks
}

fn expectation(expectation: &Expectation) -> JsonExpectation<'_> {
    let said = expectation.said.as_ref();
    JsonExpectation {
        met: expectation.is_met(),
        expected: said.map(|(expect, _)| expect.name()),
        rules: said.map(|(_, rules)| rules.iter().map(|rule| rule.name()).collect()),
        difference: expectation.difference.as_deref(),
    }
}

/// The report of a file in one line, ended by a line break.
pub(crate) fn json(decided: &Decided) -> String {
    let statistics = &decided.statistics;
    json_line(&Json {
        format: "barcheck-report/1",
        file: &decided.name,
        kernel: decided.kernel.as_deref(),
        entry: decided.entry,
        given: &decided.given,
        verified_with: &decided.tried.verified,
        target: decided.target.map(Target::name),
        extraction: decided.extracted.as_ref().map(extraction),
        parameters: decided.parameters.iter().map(|(name, value)| (name.as_str(), *value)).collect(),
        verdict: decided.verdict.name(),
        reason: decided.reason.as_ref().map(barcheck::Reason::line),
        diagnostics: remarks(decided),
        notes: said(decided, is_note),
        findings: findings(decided),
        gone: decided.known.iter().flat_map(|known| known.missing.iter().map(gone)).collect(),
        allowed: decided.allowed.iter().map(allowed).collect(),
        coverage: decided.coverage.as_ref().map(|roles| roles.iter().map(coverage).collect()),
        statistics: JsonStatistics {
            states: statistics.states,
            transitions: statistics.transitions,
            depth: statistics.depth,
            seconds: statistics.seconds,
            peak_memory_bytes: statistics.peak_memory_bytes,
            complete: statistics.complete,
            odds_of_omission: statistics.odds_of_omission,
            engine: decided.method.engine.name(),
            reduction: decided.method.reduction.name(),
            why: &decided.method.why,
        },
        expectation: decided.expectation.as_ref().map(expectation),
    })
}

/// A value as JSON in one line, ended by a line break.
pub(crate) fn json_line(value: &impl Serialize) -> String {
    // Only maps with keys that are no strings, and numbers that are none, cannot be written; there are none
    // here.
    let mut line = serde_json::to_string(value).unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}"));
    line.push('\n');
    line
}

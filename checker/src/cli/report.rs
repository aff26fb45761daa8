//! What is reported of one file, and its form for scripts: `barcheck-report/1`.

use barcheck::{Method, Statistics, Verdict};
use barcheck_counterexamples::Trace;
use barcheck_model::program::{Place, Target};
use barcheck_model::rule::{Level, Rule};
use serde::Serialize;

/// What is reported of one file.
#[derive(Debug)]
pub(crate) struct Report {
    /// The file as the user named it.
    pub(crate) file: String,
    /// The barrier system, where the file could be read.
    pub(crate) target: Option<Target>,
    /// The verdict.
    pub(crate) verdict: Verdict,
    /// Why, for `inconclusive` and `error`, in one line.
    pub(crate) reason: Option<String>,
    /// What is wrong with the text.
    pub(crate) diagnostics: Vec<Remark>,
    /// What is reported, by rule, then place.
    pub(crate) findings: Vec<Reported>,
    /// How much was searched.
    pub(crate) statistics: Statistics,
    /// How the verdict was found.
    pub(crate) method: Method,
}

/// A violation as it is reported.
#[derive(Debug)]
pub(crate) struct Reported {
    /// The rule.
    pub(crate) rule: Rule,
    /// The level in force.
    pub(crate) level: Level,
    /// What happened, in a sentence.
    pub(crate) message: String,
    /// What it rests on.
    pub(crate) clause: Clause,
    /// The barrier.
    pub(crate) barrier: Option<u32>,
    /// Everybody concerned.
    pub(crate) agents: Vec<u32>,
    /// Where.
    pub(crate) place: Place,
    /// The other places that matter.
    pub(crate) related: Vec<Related>,
    /// Stable while the finding is the same.
    pub(crate) fingerprint: String,
    /// The counterexample.
    pub(crate) trace: Trace,
}

/// Another place that matters.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Related {
    /// Whose place it is.
    pub(crate) agent: u32,
    /// From 1.
    pub(crate) line: u32,
    /// From 1.
    pub(crate) column: u32,
    /// What it has to do with the finding.
    pub(crate) role: String,
}

/// What a finding rests on.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Clause {
    /// The specification.
    pub(crate) document: String,
    /// Its section.
    pub(crate) section: String,
    /// The clause's name in the catalogue.
    pub(crate) id: String,
}

/// A remark on the text of a file.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Remark {
    /// What is wrong.
    pub(crate) message: String,
    /// From 1.
    pub(crate) line: u32,
    /// From 1.
    pub(crate) column: u32,
}

#[derive(Serialize)]
struct Json<'a> {
    format: &'static str,
    file: &'a str,
    target: Option<&'static str>,
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "<[Remark]>::is_empty")]
    diagnostics: &'a [Remark],
    findings: Vec<JsonFinding<'a>>,
    statistics: JsonStatistics<'a>,
}

#[derive(Serialize)]
struct JsonFinding<'a> {
    rule: &'static str,
    level: &'static str,
    message: &'a str,
    clause: &'a Clause,
    barrier: Option<u32>,
    agents: &'a [u32],
    location: JsonPlace,
    related: &'a [Related],
    fingerprint: &'a str,
    trace: &'a Trace,
}

#[derive(Serialize)]
struct JsonPlace {
    line: u32,
    column: u32,
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

impl Reported {
    fn json(&self) -> JsonFinding<'_> {
        JsonFinding {
            rule: self.rule.name(),
            level: self.level.name(),
            message: &self.message,
            clause: &self.clause,
            barrier: self.barrier,
            agents: &self.agents,
            location: JsonPlace { line: self.place.line, column: self.place.column },
            related: &self.related,
            fingerprint: &self.fingerprint,
            trace: &self.trace,
        }
    }
}

impl Report {
    /// The report in one line, ended by a line break.
    pub(crate) fn json(&self) -> String {
        let statistics = &self.statistics;
        let json = Json {
            format: "barcheck-report/1",
            file: &self.file,
            target: self.target.map(Target::name),
            verdict: self.verdict.name(),
            reason: self.reason.as_deref(),
            diagnostics: &self.diagnostics,
            findings: self.findings.iter().map(Reported::json).collect(),
            statistics: JsonStatistics {
                states: statistics.states,
                transitions: statistics.transitions,
                depth: statistics.depth,
                seconds: statistics.seconds,
                peak_memory_bytes: statistics.peak_memory_bytes,
                complete: statistics.complete,
                odds_of_omission: statistics.odds_of_omission,
                engine: self.method.engine.name(),
                reduction: self.method.reduction.name(),
                why: &self.method.why,
            },
        };
        json_line(&json)
    }
}

/// A value as JSON in one line, ended by a line break.
pub(crate) fn json_line(value: &impl Serialize) -> String {
    // Only maps with keys that are no strings, and numbers that are none, cannot be written; there are none here.
    let mut line = serde_json::to_string(value).unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}"));
    line.push('\n');
    line
}

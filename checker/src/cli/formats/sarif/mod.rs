//! SARIF 2.1.0: one run, a result for each finding.
//!
//! What keeps a file from having a verdict is no result but a notification, and makes the execution
//! unsuccessful: a run that proves nothing must not look like one without findings.

mod flow;
mod log;
mod place;
mod rules;

use super::reporter::Reporter;
use crate::cli::decided::Decided;
use crate::cli::notices::{Notice, notices};
use crate::cli::origin::{self, SourcePlace};
use crate::cli::report::json_line;
use crate::cli::tally::Tally;
use crate::cli::written::Written;
use barcheck::{Finding as Found, Remark};
use barcheck_model::program::Place;
use log::{
    Artifact, ArtifactProperties, Descriptor, Driver, Finding, Invocation, Location, Log, Notification, Run,
    Tool,
};
use place::File;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The name under which a finding's fingerprint stands.
const FINGERPRINT: &str = "barcheckFinding/v1";

/// What there is so far.
#[derive(Default)]
pub(super) struct Sarif {
    artifacts: Vec<Artifact>,
    results: Vec<Finding>,
    notifications: Vec<Notification>,
    undecided: bool,
    /// Sources of kernels among the artifacts.
    sources: BTreeMap<PathBuf, usize>,
}

impl Reporter for Sarif {
    fn file(&mut self, decided: &Decided, _: &[Written]) -> String {
        let file = File::new(&decided.path, &decided.text, self.artifacts.len());
        let properties = ArtifactProperties { verdict: decided.verdict.name() };
        self.artifacts.push(Artifact { location: file.reference(), roles: ["analysisTarget"], properties });
        let with = decided.whole_which().map(|which| format!("{which}: ")).unwrap_or_default();
        let state = |known: bool| decided.known.as_ref().map(|_| if known { "unchanged" } else { "new" });
        if !decided.is_as_expected() {
            for (found, known) in decided.judged_findings() {
                let source = origin::of_finding(decided, found);
                let result = Finding { baseline_state: state(known), ..result(found, &file, &with) };
                let result = match source {
                    Some((source, at)) => {
                        let locations = [file.location(Some(at), None)];
                        self.at_source(Finding { locations, ..result }, &source)
                    }
                    None => result,
                };
                self.results.push(result);
            }
            self.results.extend(decided.judged_remarks().map(|(said, known)| Finding {
                baseline_state: state(known),
                ..remarked(said, &file, &with)
            }));
        }
        let notices = notices(decided).into_iter();
        self.notifications.extend(notices.map(|notice| notification(notice, &file, &with)));
        let unsearched = decided.has_nothing_new() && decided.uncovered.is_some();
        self.undecided |= match &decided.expectation {
            Some(expectation) => !expectation.is_met(),
            None => decided.trouble().is_some() || unsearched,
        };
        String::new()
    }

    fn end(&mut self, _: &Tally) -> String {
        let driver = Driver {
            name: "barcheck",
            semantic_version: env!("CARGO_PKG_VERSION"),
            short_description: "A model checker for GPU barrier protocols.".into(),
            rules: rules::rules(),
            notifications: rules::notifications(),
        };
        let invocation = Invocation {
            execution_successful: !self.undecided,
            tool_execution_notifications: std::mem::take(&mut self.notifications),
        };
        let run = Run {
            tool: Tool { driver },
            invocations: [invocation],
            artifacts: std::mem::take(&mut self.artifacts),
            results: std::mem::take(&mut self.results),
            column_kind: "unicodeCodePoints",
        };
        json_line(&Log { schema: log::SCHEMA, version: log::VERSION, runs: [run] })
    }
}

impl Sarif {
    /// The result stands at the line of the source, where that is there; the place in the kernel is one that
    /// belongs to it.
    fn at_source(&mut self, mut result: Finding, source: &SourcePlace) -> Finding {
        result.message = format!("{}\n{}", result.message.text, source.said).into();
        let Some(path) = &source.file else { return result };
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let index = self.sources.get(path).copied().unwrap_or(self.artifacts.len());
        let file = File::new(path, &text, index);
        if index == self.artifacts.len() {
            let properties = ArtifactProperties { verdict: "none" };
            self.artifacts.push(Artifact {
                location: file.reference(),
                roles: ["analysisTarget"],
                properties,
            });
            self.sources.insert(path.clone(), index);
        }
        let place = Place { line: source.line, column: 1, length: u32::MAX };
        let [kernel] = std::mem::replace(&mut result.locations, [file.location(Some(place), None)]);
        let id = Some(result.related_locations.len());
        let message = Some("the compiled kernel".into());
        result.related_locations.push(Location { id, message, ..kernel });
        result
    }
}

fn notification(notice: Notice, file: &File<'_>, with: &str) -> Notification {
    let kinds = rules::notifications();
    let index = kinds.iter().position(|kind| kind.id == notice.kind).unwrap_or_default();
    Notification {
        descriptor: Descriptor { id: notice.kind, index },
        level: rules::level(notice.level),
        message: format!("{with}{}", notice.message).into(),
        locations: [file.location(notice.place, None)],
    }
}

fn result(found: &Found, file: &File<'_>, with: &str) -> Finding {
    let explanation = found.trace.outcome.explanation.trim_end();
    let gap = if explanation.is_empty() { "" } else { "\n" };
    let left_out = found.left_out.as_ref().map(|left_out| format!("\n{left_out}.")).unwrap_or_default();
    Finding {
        rule_id: found.rule.name(),
        rule_index: rules::index(found.rule),
        level: rules::level(found.level),
        message: format!("{with}{}{gap}{explanation}{left_out}", found.message).into(),
        locations: [file.location(Some(found.shown_at()), None)],
        related_locations: related(found, file),
        partial_fingerprints: BTreeMap::from([(FINGERPRINT, found.fingerprint.clone())]),
        baseline_state: None,
        code_flows: vec![flow::flow(&found.trace, file)],
    }
}

/// A finding about the text, which has no counterexample.
fn remarked(remark: &Remark, file: &File<'_>, with: &str) -> Finding {
    let related = remark.diagnostic.secondary.iter().enumerate().map(|(id, label)| {
        let location = file.location(Some(file.place(label.span)), Some(label.message.as_str().into()));
        Location { id: Some(id), ..location }
    });
    Finding {
        rule_id: remark.lint.name(),
        rule_index: rules::index_of_lint(remark.lint),
        level: rules::level(remark.level),
        message: format!("{with}{}", remark.message()).into(),
        locations: [file.location(Some(remark.place), None)],
        related_locations: related.collect(),
        partial_fingerprints: BTreeMap::from([(FINGERPRINT, remark.fingerprint.clone())]),
        baseline_state: None,
        code_flows: Vec::new(),
    }
}

/// The other places that matter, one for all agents that did the same there.
fn related(found: &Found, file: &File<'_>) -> Vec<Location> {
    let labels = barcheck_counterexamples::labels(&found.trace).into_iter().filter(|label| label.line > 0);
    let location = |(id, label): (usize, barcheck_counterexamples::PlaceLabel)| {
        let here = |step: &&barcheck_counterexamples::trace::Step| {
            (step.location.line, step.location.column) == (label.line, label.column)
        };
        let length = found.trace.steps.iter().find(here).map_or(1, |step| step.location.length);
        let place = Place { line: label.line, column: label.column, length };
        Location { id: Some(id), ..file.location(Some(place), Some(label.text.into())) }
    };
    labels.enumerate().map(location).collect()
}

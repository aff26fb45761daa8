//! JUnit XML: one suite, a test case for each file.
//!
//! A case passes only if its file is verified. An inconclusive one is an error, not skipped: most systems
//! show what is skipped in green.

use super::reporter::Reporter;
use crate::cli::decided::Decided;
use crate::cli::human;
use crate::cli::notices::UNEXPECTED;
use crate::cli::tally::Tally;
use crate::cli::written::Written;
use barcheck::{Reason, Trouble, Verdict};
use barcheck_model::program::Target;
use barcheck_model::rule::Level;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use std::time::Duration;

/// The name of the report and its suite, and the class of cases whose target is not known.
const NAME: &str = "barcheck";

/// The cases so far.
#[derive(Default)]
pub(super) struct Junit {
    cases: Vec<TestCase>,
    time: Duration,
}

impl Reporter for Junit {
    fn file(&mut self, decided: &Decided, _: &[Written]) -> String {
        let report = decided;
        let time = Duration::try_from_secs_f64(report.statistics.seconds).unwrap_or_default();
        let name = decided.whole_title();
        let mut case = TestCase::new(allowed(&name), status(decided));
        case.set_classname(class(report.target)).set_time(time);
        let remarks = !report.findings.is_empty() || !report.remarks.is_empty() || !report.allowed.is_empty();
        let passed = matches!(case.status, TestCaseStatus::Success { .. });
        if passed && remarks && decided.expectation.is_none() {
            case.set_system_out(allowed(&human::whole(decided)));
        }
        self.cases.push(case);
        self.time += time;
        String::new()
    }

    fn end(&mut self, _: &Tally) -> String {
        let mut suite = TestSuite::new(NAME);
        suite.set_time(self.time).add_test_cases(std::mem::take(&mut self.cases));
        let mut report = Report::new(NAME);
        report.set_time(self.time).add_test_suite(suite);
        // Only a writer that fails keeps a report from being written, and text never does.
        // The schema that Jenkins and others check against has this attribute on `testsuite` alone.
        report.to_string().unwrap_or_default().replacen(" skipped=\"0\"", "", 1)
    }
}

fn class(target: Option<Target>) -> String {
    target.map_or_else(|| NAME.to_owned(), |target| format!("{NAME}.{target}"))
}

fn status(decided: &Decided) -> TestCaseStatus {
    let report = decided;
    if decided.is_as_expected() {
        return TestCaseStatus::success();
    }
    if let Some(difference) = decided.difference() {
        return failed(NonSuccessKind::Failure, UNEXPECTED, difference, decided);
    }
    let errors = || {
        let found = decided.judged_findings().filter(|(_, known)| !known);
        let found = found.map(|(f, _)| (f.level, f.rule.name(), f.message.as_str()));
        let said = decided.judged_remarks().filter(|(_, known)| !known);
        let said = said.map(|(r, _)| (r.level, r.lint.name(), r.diagnostic.message.as_str()));
        found.chain(said).filter(|(level, ..)| *level == Level::Error)
    };
    let (kind, name, message) = match (report.verdict, errors().next(), decided.trouble()) {
        (Verdict::Verified, _, None) => return TestCaseStatus::success(),
        (Verdict::Violated, ..) if decided.has_nothing_new() && report.uncovered.is_none() => {
            return TestCaseStatus::success();
        }
        (Verdict::Violated, Some((_, name, message)), _) => {
            let more = errors().skip(1).count();
            let more = if more > 0 { format!(" (and {more} more)") } else { String::new() };
            (NonSuccessKind::Failure, name, format!("{message}{more}"))
        }
        (_, _, trouble) => {
            let name = trouble.map_or(Trouble::Inconclusive.name(), |trouble| trouble.name());
            let reason = report.reason.as_ref().or(report.uncovered.as_ref());
            (NonSuccessKind::Error, name, reason.map(Reason::line).unwrap_or_default())
        }
    };
    failed(kind, name, &message, decided)
}

fn failed(kind: NonSuccessKind, name: &str, message: &str, decided: &Decided) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(name).set_message(allowed(message)).set_description(allowed(&human::whole(decided)));
    status
}

/// Text with all that XML 1.0 forbids, or that would command a terminal, marked as missing.
fn allowed(text: &str) -> String {
    let forbidden =
        |c: char| (c.is_control() && c != '\n' && c != '\t') || matches!(c, '\u{fffe}' | '\u{ffff}');
    text.replace(forbidden, "\u{fffd}")
}

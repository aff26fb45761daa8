//! Why nothing is decided about a protocol, for people.

use super::decided::Decided;
use super::output::Palette;
use super::rendered::{rendered, shown};
use barcheck::{Cause, Reason, Verdict};
use barcheck_specs::{Diagnostic, LineIndex};
use std::fmt::Write;

/// The name of a diagnostic about an expression that has no value in a run.
const EVALUATION: &str = "evaluation";

/// Why the verdict is none on the protocol. An expression without a value is shown in the text.
pub(super) fn because(decided: &Decided, reason: &Reason, palette: Palette) -> String {
    let report = &decided.decision;
    let place = reason.place.filter(|place| place.line > 0);
    if let Some(place) = place.filter(|_| report.verdict == Verdict::Error) {
        let span = LineIndex::new(&decided.text).span(place);
        let help = format!("`barcheck explain {EVALUATION}` says more");
        let diagnostic = Diagnostic::error(EVALUATION, reason.what.as_str(), span).help(help);
        return format!("\n{}", rendered(report, &diagnostic, palette));
    }
    let place = place.map(|place| format!("{}:{}:{}: ", shown(&report.name), place.line, place.column));
    let mut text = format!("  {}{}\n", place.unwrap_or_default(), reason.what);
    let bounded = decided.bounded.iter().filter(|_| report.verdict == Verdict::Inconclusive);
    let fewer = fewer_launches(decided).filter(|_| reason.cause == Cause::Budget);
    for remedy in reason.remedy.iter().chain(bounded).chain(&fewer) {
        let _ = writeln!(text, "  {}: {remedy}", palette.strong("help"));
    }
    text
}

/// How fewer launches of a kernel are covered, which may be decided where all are not.
fn fewer_launches(decided: &Decided) -> Option<String> {
    let parameters = &decided.decision.extracted.as_ref()?.parameters;
    let ranges: Vec<String> = parameters
        .iter()
        .filter(|name| !name.starts_with('%'))
        .map(|name| format!("`--param {name}=1..`"))
        .collect();
    let (first, more) = (ranges.first()?, ranges.get(1));
    let such = more.map_or(first.clone(), |more| format!("{first} and {more}"));
    Some(format!(
        "launches that are narrowed down have fewer states: {such} where that is never 0, or a value"
    ))
}

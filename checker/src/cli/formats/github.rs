//! Annotations of GitHub Actions: commands that a step prints, one for each finding.

use super::reporter::Reporter;
use crate::cli::decided::Decided;
use crate::cli::location::Location;
use crate::cli::notices::notices;
use crate::cli::origin::{self, SourcePlace};
use crate::cli::output::Look;
use crate::cli::tally::Tally;
use crate::cli::written::Written;
use barcheck::Finding;
use barcheck_counterexamples::harmless;
use barcheck_model::program::Place;
use barcheck_model::rule::Level;
use std::fmt::Write;

/// Annotations, and in the end a line for people.
pub(super) struct Github {
    /// Without the line for people.
    pub(super) quiet: bool,
}

impl Reporter for Github {
    fn file(&mut self, decided: &Decided, _: &[Written]) -> String {
        let location = Location::of(&decided.path).text();
        let (file, shown) = (location.replace(commands, "\u{fffd}"), harmless(&location));
        let with = decided.which().map(|which| format!("{which}: ")).unwrap_or_default();
        let mut text = String::new();
        let quiet = decided.is_as_expected();
        for (found, known) in decided.judged_findings().filter(|_| !quiet) {
            let (rule, message) = (found.rule.name(), format!("{with}{}", message(found)));
            let (level, message) = judged(found.level, message, known);
            let (file, place, message) = match origin::of_finding(decided, found) {
                Some((source, at)) => at_source(&source, (&file, at), &message),
                None => (file.clone(), found.shown_at(), message),
            };
            text.push_str(&command(level, &file, Some(place), rule, &message));
        }
        for (remark, known) in decided.judged_remarks().filter(|_| !quiet) {
            let message = format!("{shown}: {with}{}", remark.message());
            let (level, message) = judged(remark.level, message, known);
            text.push_str(&command(level, &file, Some(remark.place), remark.lint.name(), &message));
        }
        for notice in notices(decided) {
            let message = format!("{shown}: {with}{}", notice.message);
            text.push_str(&command(notice.level, &file, notice.place, notice.kind, &message));
        }
        text
    }

    fn end(&mut self, tally: &Tally) -> String {
        if self.quiet { String::new() } else { tally.line(Look::file().palette) }
    }
}

/// The annotation stands at the line of the source, where that is in the repository.
fn at_source(source: &SourcePlace, kernel: (&str, Place), message: &str) -> (String, Place, String) {
    let location = source.file.as_deref().map(Location::of).filter(Location::is_relative);
    match location {
        Some(location) => {
            let place = Place { line: source.line, column: 1, length: 0 };
            let message = format!("{message}\nat {}:{} of the compiled kernel", kernel.0, kernel.1.line);
            (location.text().replace(commands, "\u{fffd}"), place, message)
        }
        None => (kernel.0.to_owned(), kernel.1, format!("{message}\n{}", source.said)),
    }
}

/// What is known is a notice, and says so.
fn judged(level: Level, message: String, known: bool) -> (Level, String) {
    if known { (Level::Pedantic, format!("known: {message}")) } else { (level, message) }
}

/// What happened, why, and what it rests on.
fn message(found: &Finding) -> String {
    let mut text = found.message.clone();
    let explanation = found.trace.outcome.explanation.trim_end();
    if !explanation.is_empty() {
        let _ = write!(text, "\n{explanation}");
    }
    if let Some(left_out) = &found.left_out {
        let _ = write!(text, "\n{left_out}");
    }
    if let Some(clause) = &found.clause {
        let _ = write!(text, "\n{}, {} ({})", clause.document, clause.section, clause.id);
    }
    let _ = write!(text, "\n`barcheck explain {}` says more", found.rule);
    text
}

fn command(level: Level, file: &str, place: Option<Place>, title: &str, message: &str) -> String {
    let name = match level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Pedantic | Level::Allow => "notice",
    };
    let place = place.filter(|place| place.line > 0);
    let place = place.map(|place| format!(",line={},col={}", place.line, place.column)).unwrap_or_default();
    format!("::{name} file={}{place},title={}::{}\n", property(file), property(title), data(message))
}

/// What a terminal might obey that shows a log. Line breaks are not among them: they are escaped.
fn commands(c: char) -> bool {
    c.is_control() && c != '\n' && c != '\r'
}

/// What follows the second `::`.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The value of a property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_end_a_value_is_escaped() {
        let place = Some(Place { line: 3, column: 7, length: 1 });
        assert_eq!(
            command(Level::Error, "a,b:c%.bar", place, "deadlock", "1,2: 50%\r\n::error::no"),
            "::error file=a%2Cb%3Ac%25.bar,line=3,col=7,title=deadlock::1,2: 50%25%0D%0A::error::no\n"
        );
        assert_eq!(
            command(Level::Pedantic, "f", Some(Place::default()), "r", ""),
            "::notice file=f,title=r::\n"
        );
    }
}

//! A third opinion: TLC, on the modules that `barcheck export` writes, comes to barcheck's verdicts, and
//! violates rules that barcheck finds violated.
//!
//! `BARCHECK_TLC=JAR` says where `tla2tools.jar` is, without which nothing is compared: it takes a minute for
//! twenty protocols. `BARCHECK_FILES=TEXT` asks for the files of the library with the text in their names,
//! `BARCHECK_STATES=N` for those of so many states at most.

mod heads;
mod opinion;
mod two;

use barcheck::export::{Language, export};
use barcheck::{Budgets, Inconclusive, Levels, Quiet, Reduction, Settings, Verdict, check};
use barcheck_model::Patience;
use barcheck_model::rule::Level;
use heads::{files, head, protocol};
use opinion::{Said, tlc};
use std::path::Path;
use std::sync::Arc;
use two::in_two_threads;

/// How a file's comparison went: `None` if it was not made, and otherwise what differs, if anything.
fn compare(jar: &str, path: &Path, most: u64) -> Option<Result<(), String>> {
    let text = std::fs::read_to_string(path).expect("a readable file");
    let head = head(&text);
    let levels = Levels { changes: head.changes.clone(), strict: false, ..Levels::default() };
    let program = protocol(&text, &head);
    let budgets = Budgets { max_states: Some(most), ..Budgets::default() };
    let settings = Settings {
        all: true,
        reduction: Reduction::None,
        levels: levels.clone(),
        budgets,
        ..Settings::default()
    };
    let outcome = check(Arc::clone(&program), head.readings, &settings, &Quiet);
    if matches!(outcome.inconclusive, Some(Inconclusive::States(..))) || outcome.statistics.states > most {
        return None;
    }
    let names = ("protocol.bar", "protocol");
    let exported =
        export(program, head.readings, &levels, names, Language::Tla, &Patience::default()).ok()?;
    let (_, configuration) = exported.beside.expect("a configuration");
    let said = tlc(jar, &exported.text, &configuration);
    let errors = outcome.findings.iter().filter(|found| found.level == Level::Error);
    let rules: Vec<&str> = errors.map(|found| found.finding.rule.name()).collect();
    let agrees = match (&said, outcome.verdict) {
        (Said::Violated(rule), Verdict::Violated) => rules.contains(&rule.as_str()),
        (Said::Verified(_), Verdict::Verified) => true,
        // TLC stops at the first invariant that is violated, whichever it is.
        (Said::Cut(_), Verdict::Error | Verdict::Inconclusive | Verdict::Violated) => true,
        _ => false,
    };
    let differ =
        || format!("{}\nTLC: {said:?}; barcheck: {} {rules:?}", path.display(), outcome.verdict.name());
    Some(if agrees { Ok(()) } else { Err(differ()) })
}

#[test]
fn tlc_and_barcheck_agree_on_the_library() {
    let Ok(jar) = std::env::var("BARCHECK_TLC") else {
        println!("SKIPPED: BARCHECK_TLC does not say where tla2tools.jar is");
        return;
    };
    let most = std::env::var("BARCHECK_STATES").map_or(300, |most| most.parse().expect("a number"));
    let mut files = files();
    if let Ok(asked) = std::env::var("BARCHECK_FILES") {
        files.retain(|path| path.to_string_lossy().contains(&asked));
    }
    let compared: Vec<_> = in_two_threads(&files, |path| compare(&jar, path, most));
    let made: Vec<_> = compared.into_iter().flatten().collect();
    println!("{} protocols of the library: {} compared", files.len(), made.len());
    let differ: Vec<_> = made.into_iter().filter_map(Result::err).collect();
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}

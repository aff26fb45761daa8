//! The engine under judgement, as the random tests see it.

use super::explore::Verdict;
use barcheck::{Budgets, Inconclusive, Levels, Outcome, Quiet, Reduction, Settings, check};
use barcheck_model::machine::{ExitedThreads, Options};
use barcheck_specs::bar::{LoadOptions, load};
use std::collections::BTreeSet;
use std::sync::Arc;

/// States after which the engine gives up.
const MOST_STATES: u64 = 200_000;

/// What an engine says of a protocol's text, in all-violations mode with the given state budget:
/// the verdict and every rule that some path violates. None if it hit its budget. Where the
/// reductions disagree among themselves, the set says so.
pub fn engine(text: &str, exited_threads: ExitedThreads) -> Option<(Verdict, BTreeSet<String>)> {
    let (verdict, mut rules) = answer(&decide(text, Reduction::None, exited_threads))?;
    let symmetric = answer(&decide(text, Reduction::Symmetry, exited_threads))?;
    let auto = answer(&decide(text, Reduction::Auto, exited_threads))?;
    let mut notes = Vec::new();
    for (name, other) in [("with symmetry", symmetric), ("automatically", auto)] {
        if (verdict, &rules) != (other.0, &other.1) {
            notes.push(format!("({name}: {:?} {:?})", other.0, other.1));
        }
    }
    for (name, reduction) in
        [("one schedule", Reduction::Schedule), ("one for each choice", Reduction::Stubborn)]
    {
        let outcome = decide(text, reduction, exited_threads);
        notes.extend(departs(name, &outcome, verdict, &rules));
    }
    rules.extend(notes);
    Some((verdict, rules))
}

/// An engine that makes few runs may not know, or not know all; what it knows must be so.
fn departs(name: &str, outcome: &Outcome, verdict: Verdict, rules: &BTreeSet<String>) -> Option<String> {
    if matches!(outcome.inconclusive, Some(Inconclusive::Undecided(_))) {
        return None;
    }
    let (found, its) = answer(outcome)?;
    let agrees =
        found == verdict && if outcome.statistics.complete { its == *rules } else { its.is_subset(rules) };
    (!agrees).then(|| format!("({name}: {found:?} {its:?})"))
}

fn decide(text: &str, reduction: Reduction, exited_threads: ExitedThreads) -> Outcome {
    let program = match load(text.as_bytes(), &LoadOptions::default()) {
        Ok(loaded) => Arc::new(loaded.program),
        Err(diagnostics) => panic!("a random protocol is refused: {:?}\n{text}", diagnostics.first()),
    };
    let settings = Settings {
        all: true,
        reduction,
        levels: Levels { strict: true, ..Levels::default() },
        budgets: Budgets { max_states: Some(MOST_STATES), ..Budgets::default() },
        ..Settings::default()
    };
    check(program, Options { exited_threads }, &settings, &Quiet)
}

fn answer(outcome: &Outcome) -> Option<(Verdict, BTreeSet<String>)> {
    if matches!(outcome.inconclusive, Some(Inconclusive::States(..))) {
        return None;
    }
    let verdict = match outcome.verdict {
        barcheck::Verdict::Verified => Verdict::Verified,
        barcheck::Verdict::Violated => Verdict::Violated,
        barcheck::Verdict::Inconclusive => Verdict::Inconclusive,
        barcheck::Verdict::Error => Verdict::Error,
    };
    Some((verdict, outcome.findings.iter().map(|f| f.finding.rule.name().to_owned()).collect()))
}

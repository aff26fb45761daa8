//! The engine under judgement, as the random tests see it.

use barcheck::{Budgets, ByLocation, Inconclusive, Levels, Outcome, Quiet, Reduction, Settings, check};
use barcheck_model::machine::{ExitedThreads, Options};
use barcheck_naive::explore::Verdict;
use barcheck_specs::bar::{LoadOptions, load};
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// States after which the engine gives up.
const MOST_STATES: u64 = 200_000;

/// States from which on threads share the work, where there are several: few, so that they do in most
/// protocols.
const FEW_STATES: u32 = 4;

/// What an engine says of a protocol's text, in all-violations mode with the given state budget:
/// the verdict and every rule that some path violates. None if the plain search hit its budget. Where
/// reductions or numbers of threads disagree with it, the set says so.
pub(crate) fn engine(text: &str, exited_threads: ExitedThreads) -> Option<(Verdict, BTreeSet<String>)> {
    let decide = |reduction, threads| decide(text, (reduction, ByLocation::Auto), threads, exited_threads);
    let (verdict, mut rules) = answer(&decide(Reduction::None, 1))?;
    let mut notes = Vec::new();
    for (name, reduction, threads) in [
        ("with two threads", Reduction::None, 2),
        ("with symmetry", Reduction::Symmetry, 1),
        ("with symmetry and three threads", Reduction::Symmetry, 3),
        ("automatically", Reduction::Auto, 1),
    ] {
        let other = answer(&decide(reduction, threads));
        if !other.as_ref().is_some_and(|(its, found)| (verdict, &rules) == (*its, found)) {
            notes.push(format!("({name}: {other:?})"));
        }
    }
    for (name, by_location) in
        [("location by location", ByLocation::Always), ("all at once", ByLocation::Never)]
    {
        let other = answer(&self::decide(text, (Reduction::Auto, by_location), 1, exited_threads));
        if !other.as_ref().is_some_and(|(its, found)| (verdict, &rules) == (*its, found)) {
            notes.push(format!("({name}: {other:?})"));
        }
    }
    for (name, reduction) in
        [("one schedule", Reduction::Schedule), ("one for each choice", Reduction::Stubborn)]
    {
        notes.extend(departs(name, &decide(reduction, 1), verdict, &rules));
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

fn decide(
    text: &str,
    (reduction, by_location): (Reduction, ByLocation),
    threads: usize,
    exited_threads: ExitedThreads,
) -> Outcome {
    let program = match load(text.as_bytes(), &LoadOptions::default()) {
        Ok(loaded) => Arc::new(loaded.program),
        Err(diagnostics) => panic!("a random protocol is refused: {:?}\n{text}", diagnostics.first()),
    };
    let settings = Settings {
        all: true,
        reduction,
        by_location,
        levels: Levels { strict: true, ..Levels::default() },
        budgets: Budgets { max_states: Some(MOST_STATES), ..Budgets::default() },
        threads: NonZeroUsize::new(threads),
        many_states: (threads > 1).then_some(FEW_STATES),
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

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
    if (verdict, &rules) != (symmetric.0, &symmetric.1) {
        rules.insert(format!("(with symmetry: {:?} {:?})", symmetric.0, symmetric.1));
    }
    Some((verdict, rules))
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

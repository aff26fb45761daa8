//! Protocols decided, and what must hold of an outcome.

use barcheck::{Inconclusive, Outcome};
use barcheck_model::machine::{Machine, Options, StepOutcome};
use barcheck_model::program::Program;
use barcheck_specs::bar::{LoadOptions, load};
use std::sync::Arc;

pub(crate) fn program(text: &str) -> Arc<Program> {
    Arc::new(load(text.as_bytes(), &LoadOptions::default()).expect("a valid protocol").program)
}

/// Why the engine that was asked does not know.
#[track_caller]
#[allow(dead_code, reason = "not every test asks")]
pub(crate) fn why_undecided(outcome: Outcome) -> String {
    match outcome.inconclusive {
        Some(Inconclusive::Undecided(why)) => why,
        other => panic!("{:?} {other:?} {:?}", outcome.verdict, outcome.findings),
    }
}

/// The path of every finding can be walked, and closes its cycle if it has one.
#[track_caller]
pub(crate) fn walk_all(text: &str, outcome: &Outcome) {
    let program = program(text);
    for found in &outcome.findings {
        let mut machine = Machine::new(Arc::clone(&program), Options::default());
        let (mut state, mut at_cycle) = (machine.initial(), None);
        for (number, choice) in found.path.steps.iter().enumerate() {
            if found.path.cycle_from == Some(number) {
                at_cycle = Some(state.clone());
            }
            match machine.step(&state, *choice) {
                StepOutcome::Progress(next) | StepOutcome::Noted(next, _) => state = next.state,
                StepOutcome::NoEffect => {}
                StepOutcome::Error(_) => assert_eq!(number + 1, found.path.steps.len()),
                StepOutcome::Disabled => panic!("{}: step {number} cannot be made", found.finding.rule),
            }
        }
        if found.path.cycle_from.is_some() {
            assert_eq!(at_cycle.as_ref(), Some(&state), "the cycle closes");
        }
    }
}

//! What has to be the same however an outcome was come by.

use barcheck::Outcome;
use barcheck_model::program::Program;
use barcheck_specs::bar::{LoadOptions, load};
use std::collections::BTreeMap;
use std::sync::Arc;

/// All of an outcome but time and memory.
pub(crate) fn shown(outcome: &Outcome) -> String {
    let Outcome { verdict, findings, fault, inconclusive, uncovered, statistics, method } = outcome;
    let counts = (statistics.states, statistics.transitions, statistics.depth, statistics.complete);
    format!("{verdict:?}\n{findings:#?}\n{fault:?}\n{inconclusive:?}\n{uncovered:?}\n{counts:?}\n{method:?}")
}

/// A protocol in the language.
pub(crate) fn program(text: &str, defines: &[(&str, i64)]) -> Arc<Program> {
    let defines: BTreeMap<String, i64> = defines.iter().map(|(n, v)| ((*n).to_owned(), *v)).collect();
    Arc::new(load(text.as_bytes(), &LoadOptions { defines }).expect("a valid protocol").program)
}

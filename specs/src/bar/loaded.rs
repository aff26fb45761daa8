//! What becomes of a text.

use std::collections::BTreeSet;

use barcheck_model::program::Program;

use crate::common::diagnostic::Diagnostic;

/// A protocol that was read.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The protocol.
    pub program: Program,
    /// The names that the file declares with `param`.
    pub params: BTreeSet<String>,
    /// What looks unintended without being wrong.
    pub warnings: Vec<Diagnostic>,
}

//! What a reader is told, and what it makes of what it reads.

use std::collections::{BTreeMap, BTreeSet};

use barcheck_model::program::Program;

use super::diagnostic::Diagnostic;

/// What may be set from outside a protocol.
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// Values for `param`s by name; names that the protocol does not declare are ignored, see
    /// [`Contents::params`].
    pub defines: BTreeMap<String, i64>,
}

/// Names that a protocol declares with `param`.
pub type Params = BTreeSet<String>;

/// What a reader makes of a protocol.
#[derive(Clone, Debug)]
pub struct Contents {
    /// The protocol.
    pub program: Program,
    /// The names that it declares with `param`.
    pub params: Params,
    /// What looks unintended without being wrong.
    pub warnings: Vec<Diagnostic>,
}

//! What a reader is told, and what it makes of what it reads.

use std::collections::{BTreeMap, BTreeSet};

use barcheck_model::program::{Place, Program};

use super::lint::{Check, Linted};
use super::span::Span;

/// What may be set from outside a protocol.
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// Values for `param`s by name; names that the protocol does not declare are ignored, see
    /// [`Contents::params`].
    pub defines: BTreeMap<String, i64>,
}

/// Names that a protocol declares with `param`.
pub type Params = BTreeSet<String>;

/// A rule or lint that is not to be reported of a protocol. No violation of the rule ends its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allow {
    /// The rule or lint.
    pub check: Check,
    /// Why it may be, as the file says it; not empty.
    pub reason: String,
    /// Where the file says so.
    pub span: Span,
}

/// What a reader makes of a protocol.
#[derive(Clone, Debug)]
pub struct Contents {
    /// The protocol.
    pub program: Program,
    /// The names that it declares with `param`.
    pub params: Params,
    /// What it says is not to be reported of it, each once.
    pub allows: Vec<Allow>,
    /// The places of branches and loops whose condition is the name of a constant alone, or its negation:
    /// which way they go was set on purpose.
    pub switches: BTreeSet<Place>,
    /// What looks unintended without being wrong, in the order of the text.
    pub lints: Vec<Linted>,
}

//! What was tried of a kernel of which it is in doubt whether it has a violation.

use std::collections::BTreeMap;

/// Values of a kernel's parameters that were tried.
#[derive(Clone, Debug, Default)]
pub struct Tried {
    /// How many were decided, each within its share of the time.
    pub count: usize,
    /// Those with which it is verified, by name.
    pub verified: Vec<BTreeMap<String, i64>>,
}

//! A file that was decided.

use barcheck::Decision;
use std::ops::Deref;
use std::path::PathBuf;

/// A file that was decided, or could not be.
pub(crate) struct Decided {
    /// The file: its name in reports need not say all that a path says, where that is not UTF-8.
    pub(crate) path: PathBuf,
    /// What it came to.
    pub(crate) decision: Decision,
}

impl Deref for Decided {
    type Target = Decision;

    fn deref(&self) -> &Decision {
        &self.decision
    }
}

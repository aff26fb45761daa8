//! How files are named to people.

use barcheck_counterexamples::harmless;
use std::path::Path;

/// A path as it is shown: whoever has named a file must not command the terminal, or the log, of others.
pub(crate) fn shown(path: &Path) -> String {
    harmless(&path.to_string_lossy())
}

/// A name out of a file, likewise.
pub(crate) fn plain(name: &str) -> String {
    harmless(name)
}

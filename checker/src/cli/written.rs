//! Files that hold counterexamples.

use std::path::PathBuf;

/// What a counterexample is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// JSON, for `--trace`.
    Trace,
    /// HTML, for `--html`.
    Page,
}

impl Form {
    /// The ending of its files.
    pub(crate) fn ending(self) -> &'static str {
        match self {
            Self::Trace => "json",
            Self::Page => "html",
        }
    }
}

/// A file that holds a counterexample, or shows what was proved.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    /// As what.
    pub(crate) form: Form,
    /// Where.
    pub(crate) path: PathBuf,
}

impl Written {
    /// What to say of it, before its path.
    pub(crate) fn said(&self) -> &'static str {
        match self.form {
            Form::Trace => "trace written to",
            Form::Page => "page written to",
        }
    }
}

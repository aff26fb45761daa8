//! What a reader has to say about a text: errors and warnings as data.
//!
//! Each layer has an enum of its own errors; all become [`Diagnostic`]s, which [`crate::render`] shows.

use barcheck_model::program::Place;

use crate::common::limits;
use crate::common::span::{LineIndex, Span};

/// How grave a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Severity {
    /// The text has no meaning.
    Error,
    /// The text has a meaning, though perhaps not the one intended.
    Warning,
    /// A remark on the list of diagnostics itself.
    Note,
}

/// A place in the text and what there is to say about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The bytes marked.
    pub span: Span,
    /// The remark, a lower-case fragment; may be empty.
    pub message: String,
}

/// An error or warning with its place. Messages are lower-case fragments without a full stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How grave it is.
    pub severity: Severity,
    /// A name for this kind of diagnostic that scripts may rely on.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// Where.
    pub primary: Label,
    /// Other places that matter.
    pub secondary: Vec<Label>,
    /// Facts that explain it.
    pub notes: Vec<String>,
    /// How to fix it.
    pub help: Vec<String>,
}

/// The code of what a reader says that was ended.
pub(crate) const LATE: &str = "late";

/// The code of what a reader says that meets what it does not follow, where nothing need be wrong.
pub(crate) const BEYOND: &str = "not-followed";

impl Diagnostic {
    /// An error at `span`.
    #[must_use]
    pub fn error(code: &'static str, message: impl Into<String>, span: Span) -> Self {
        Self {
            severity: Severity::Error,
            code,
            message: message.into(),
            primary: Label { span, message: String::new() },
            secondary: Vec::new(),
            notes: Vec::new(),
            help: Vec::new(),
        }
    }

    /// What a reader says that was ended before it was through.
    pub(crate) fn late() -> Self {
        Self::error(LATE, "the reading was ended", Span::default())
    }

    /// A warning at `span`.
    #[must_use]
    pub fn warning(code: &'static str, message: impl Into<String>, span: Span) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, message, span) }
    }

    /// With a remark at its own place.
    #[must_use]
    pub fn label(mut self, message: impl Into<String>) -> Self {
        self.primary.message = message.into();
        self
    }

    /// With a remark at another place.
    #[must_use]
    pub fn also(mut self, span: Span, message: impl Into<String>) -> Self {
        self.secondary.push(Label { span, message: message.into() });
        self
    }

    /// With a fact that explains it.
    #[must_use]
    pub fn note(mut self, message: impl Into<String>) -> Self {
        self.notes.push(message.into());
        self
    }

    /// With a way to fix it.
    #[must_use]
    pub fn help(mut self, message: impl Into<String>) -> Self {
        self.help.push(message.into());
        self
    }

    /// With a way to fix it, where there is one.
    #[must_use]
    pub fn help_if(mut self, message: Option<String>) -> Self {
        self.help.extend(message);
        self
    }

    /// Line, column and length of the primary place in the text that `lines` indexes.
    #[must_use]
    pub fn place(&self, lines: &LineIndex<'_>) -> Place {
        lines.place(self.primary.span)
    }
}

/// Whether errors are put into words. Where nobody reads them, the words need not be there.
pub(crate) const WORDING: bool = cfg!(feature = "wording");

/// Collects errors up to [`limits::ERRORS`] and counts the rest, so that no text makes a report without end.
#[derive(Debug, Default)]
pub(crate) struct Sink {
    diagnostics: Vec<Diagnostic>,
    /// The place of the first error not kept, and how many there are.
    hidden: Option<(Span, usize)>,
}

impl Sink {
    /// Adds an error; `error` is made into a diagnostic only where it will be shown.
    pub(crate) fn push(&mut self, span: Span, error: impl FnOnce() -> Diagnostic) {
        if !self.is_full() {
            let error = error();
            // What several roles share is read for each of them.
            if !self.diagnostics.contains(&error) {
                self.diagnostics.push(error);
            }
        } else {
            self.hidden.get_or_insert((span, 0)).1 += 1;
        }
    }

    /// Whether further errors are counted only, so that nothing need be found out about them.
    pub(crate) fn is_full(&self) -> bool {
        self.diagnostics.len() >= limits::ERRORS
    }

    /// Whether no error was added.
    pub(crate) fn is_empty(&self) -> bool {
        self.diagnostics.is_empty()
    }

    /// The errors in the order of the text, and a note about those not kept.
    pub(crate) fn finish(mut self) -> Vec<Diagnostic> {
        self.diagnostics.sort_by_key(|diagnostic| diagnostic.primary.span.start);
        if let Some((span, count)) = self.hidden {
            let plural = if count == 1 { "" } else { "s" };
            self.diagnostics.push(Diagnostic {
                severity: Severity::Note,
                ..Diagnostic::error("more-errors", format!("and {count} more error{plural}"), span)
            });
        }
        self.diagnostics
    }
}

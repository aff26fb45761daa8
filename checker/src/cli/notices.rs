//! What there is to say of a file besides its findings: why it has no verdict.

use super::decided::{Decided, Entry};
use barcheck::{Trouble, Verdict};
use barcheck_model::program::Place;
use barcheck_model::rule::Level;
use barcheck_specs::{LineIndex, Severity};

/// The name of remarks that keep nothing from being decided.
pub(crate) const REMARK: &str = "remark";

/// The name of what is said of a file that does not come to what its head says.
pub(crate) const UNEXPECTED: &str = "unexpected";

/// Something to say of a file that is no finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Notice {
    /// How grave it is: an error keeps the file from having a verdict.
    pub(crate) level: Level,
    /// What kind it is of: the name of a [`Trouble`], [`REMARK`] or [`UNEXPECTED`].
    pub(crate) kind: &'static str,
    /// In words.
    pub(crate) message: String,
    /// Where in the file.
    pub(crate) place: Option<Place>,
}

/// What is known and was not found. Where the file is violated, it may be hidden behind something else.
pub(crate) fn not_found(entry: &Entry, decided: &Decided) -> String {
    let (rule, Entry { fingerprint, line, .. }) = (entry.check.name(), entry);
    let baseline = decided.known.as_ref().map_or("", |known| &known.baseline);
    let what = if decided.verdict == Verdict::Verified { "does not occur any more" } else { "was not found" };
    format!("`{rule}` {fingerprint}, known by {baseline}:{line}, {what}")
}

/// All there is to say of a file besides its findings.
pub(crate) fn notices(decided: &Decided) -> Vec<Notice> {
    if decided.is_as_expected() {
        return Vec::new();
    }
    let trouble = decided.trouble();
    let lines = LineIndex::new(&decided.text);
    let remark = |diagnostic: &barcheck_specs::Diagnostic| {
        let (level, kind) = match diagnostic.severity {
            Severity::Error => (Level::Error, Trouble::Malformed.name()),
            Severity::Warning => (Level::Warning, REMARK),
            Severity::Note => (Level::Pedantic, REMARK),
        };
        let mut message = diagnostic.message.clone();
        for help in &diagnostic.help {
            message.push_str("; ");
            message.push_str(help);
        }
        Notice { level, kind, message, place: Some(diagnostic.place(&lines)) }
    };
    let mut notices: Vec<_> = decided.diagnostics.iter().map(remark).collect();
    for entry in decided.known.iter().flat_map(|known| &known.missing) {
        let message = not_found(entry, decided);
        notices.push(Notice { level: Level::Pedantic, kind: REMARK, message, place: None });
    }
    let told = notices.iter().any(|notice| notice.level == Level::Error);
    if let Some(trouble) = trouble.filter(|_| !told) {
        let mut message = decided.reason.as_ref().map_or("", |reason| reason.what.as_str()).to_owned();
        if let Some(remedy) = decided.reason.as_ref().and_then(|reason| reason.remedy.as_ref()) {
            message.push_str("; ");
            message.push_str(remedy);
        }
        if trouble == Trouble::Unreadable {
            message = format!("cannot be read: {message}");
        }
        let place = decided.reason.as_ref().and_then(|reason| reason.place);
        notices.push(Notice { level: Level::Error, kind: trouble.name(), message, place });
    }
    if let Some(difference) = decided.difference() {
        let message = difference.to_owned();
        notices.insert(0, Notice { level: Level::Error, kind: UNEXPECTED, message, place: None });
    }
    notices
}

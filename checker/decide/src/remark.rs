//! What is found without looking at a run: lints, at the levels in force.

use crate::question::Options;
use barcheck_counterexamples::{Identity, fingerprint_of};
use barcheck_model::program::{Place, Target};
use barcheck_model::rule::Level;
use barcheck_specs::{Diagnostic, LineIndex, Lint, Linted, Severity, limits};
use std::collections::BTreeMap;

/// A finding about the text, for which there is no counterexample: nobody needs to run anything to see it.
#[derive(Clone, Debug)]
pub struct Remark {
    /// Of which kind it is.
    pub lint: Lint,
    /// The level in force.
    pub level: Level,
    /// In words, with all places.
    pub diagnostic: Diagnostic,
    /// Where.
    pub place: Place,
    /// Stable while the finding is the same.
    pub fingerprint: String,
}

impl Remark {
    /// What is found, and what there is to know of it, in a line for those who see no places.
    #[must_use]
    pub fn message(&self) -> String {
        let Diagnostic { message, notes, help, .. } = &self.diagnostic;
        let parts: Vec<&str> =
            std::iter::once(message).chain(notes).chain(help).map(String::as_str).collect();
        parts.join("; ")
    }
}

/// The lints at level warning and above, by name, then place. Of each kind no more are kept than are shown of
/// errors, and the others are counted.
pub(crate) fn remarks(
    linted: Vec<Linted>,
    (file, target): (&str, Target),
    lines: &LineIndex<'_>,
    options: &Options,
) -> Vec<Remark> {
    let mut remarks: Vec<Remark> = Vec::new();
    for Linted { lint, mut diagnostic, subject } in linted {
        let level = options.level_of(lint);
        if level < Level::Warning {
            continue;
        }
        diagnostic.severity = if level == Level::Error { Severity::Error } else { Severity::Warning };
        let (rule, instruction) = (lint.name(), subject.as_str());
        let identity = Identity { file, target: target.name(), rule, instruction, barrier: None };
        let (place, fingerprint) = (diagnostic.place(lines), fingerprint_of(identity));
        remarks.push(Remark { lint, level, diagnostic, place, fingerprint });
    }
    remarks.sort_by_key(|remark| (remark.lint, remark.place.line, remark.place.column));
    shortened(remarks)
}

fn shortened(remarks: Vec<Remark>) -> Vec<Remark> {
    let mut found: BTreeMap<Lint, usize> = BTreeMap::new();
    let mut kept: Vec<Remark> = Vec::new();
    for remark in remarks {
        let found = found.entry(remark.lint).or_default();
        *found += 1;
        if *found <= limits::ERRORS {
            kept.push(remark);
        }
    }
    for (lint, found) in found {
        let more = found.saturating_sub(limits::ERRORS);
        let last = kept.iter_mut().rev().find(|remark| remark.lint == lint);
        if let Some(last) = last.filter(|_| more > 0) {
            let plural = if more == 1 { "" } else { "s" };
            last.diagnostic.notes.push(format!("and {more} more finding{plural} of `{}`", lint.name()));
        }
    }
    kept
}

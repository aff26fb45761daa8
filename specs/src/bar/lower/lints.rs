//! What lowering says against a text that has a meaning.

use std::collections::BTreeMap;

use crate::common::diagnostic::Diagnostic;
use crate::common::limits;
use crate::common::lint::{Lint, Linted};
use crate::common::span::Span;

/// What a name was declared as that may be unused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Declared {
    /// `param`
    Param,
    /// `shared` or `global`
    Memory,
    /// `mbarrier`
    Objects,
    /// `block`
    Block,
    /// `let`
    Variable,
}

/// Lints, of each kind as many as are shown; the others are counted.
#[derive(Debug, Default)]
pub(in crate::bar) struct Lints {
    kept: Vec<Linted>,
    found: BTreeMap<Lint, usize>,
}

impl Lints {
    /// Adds one; `subject` is what it is about, as written.
    pub(in crate::bar) fn push(&mut self, lint: Lint, subject: &str, diagnostic: Diagnostic) {
        // A shared block is lowered wherever it is used.
        let is_same = |kept: &Linted| kept.lint == lint && kept.diagnostic == diagnostic;
        if self.kept.iter().any(is_same) {
            return;
        }
        let found = self.found.entry(lint).or_default();
        *found += 1;
        if *found <= limits::ERRORS {
            self.kept.push(Linted { lint, diagnostic, subject: subject.to_owned() });
        }
    }

    /// A name is declared for a use that it does not get, unless it says so itself.
    pub(super) fn unused(&mut self, (name, span): (&str, Span), what: Declared) {
        if name.starts_with('_') {
            return;
        }
        let (message, label) = match what {
            Declared::Param => (format!("`param {name}` is used nowhere"), "setting it changes nothing"),
            Declared::Memory => (format!("`{name}` is accessed nowhere"), "no rule of memory concerns it"),
            Declared::Objects => (format!("no instruction names `{name}`"), "no agent waits on it"),
            Declared::Block => (format!("the block `{name}` is used nowhere"), "no agent comes to it"),
            Declared::Variable => (format!("`{name}` is never read"), ""),
        };
        let help = format!("remove it, or call it `_{name}` to say that this is meant");
        self.push(Lint::Unused, name, Lint::Unused.says(message, span).label(label).help(help));
    }

    /// An object is initialised that is used from afar, and no fence follows.
    // clause: ptx.mbarrier-init-fence
    pub(super) fn unfenced(&mut self, name: &str, span: Span) {
        let message = format!("no fence follows this initialisation of `{name}`, which is used from afar");
        let help = "write `fence.mbarrier_init.release.cluster;` after it, before all meet".to_owned();
        let label = "other CTAs or asynchronous operations arrive on it";
        let says = Lint::UnfencedInit.says(message, span).label(label).help(help);
        self.push(Lint::UnfencedInit, name, says);
    }

    /// All that were kept, in the order of the text.
    pub(super) fn finish(self) -> Vec<Linted> {
        let Self { mut kept, found } = self;
        kept.sort_by_key(|linted| linted.diagnostic.primary.span.start);
        for (lint, found) in found {
            let hidden = found.saturating_sub(limits::ERRORS);
            let last = kept.iter_mut().rev().find(|linted| linted.lint == lint);
            if let Some(last) = last.filter(|_| hidden > 0) {
                let plural = if hidden == 1 { "" } else { "s" };
                last.diagnostic.notes.push(format!("and {hidden} more finding{plural} of `{}`", lint.name()));
            }
        }
        kept
    }
}

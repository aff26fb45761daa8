//! What lowering knows of the whole file: its text, what it declares outside the blocks, and what is wrong
//! with it.

use std::collections::{BTreeSet, HashMap};

use barcheck_model::program::{Array, ArrayId, Objects, ObjectsId, SequenceId, Target};

use crate::bar::meaning_error::MeaningError;
use crate::bar::notation::Notation;
use crate::common::diagnostic::{Diagnostic, Sink};
use crate::common::limits;
use crate::common::span::{LineIndex, Span};
use crate::common::suggest::closest;

/// What lowering knows of the whole file.
pub(in crate::bar) struct Context<'a> {
    pub(in crate::bar) source: &'a str,
    pub(super) lines: LineIndex<'a>,
    pub(in crate::bar) target: Target,
    pub(super) notation: &'static Notation,
    pub(super) globals: Globals<'a>,
    /// Sequences of uniform decisions, in the order in which the text has them first.
    pub(super) sequences: Vec<Option<String>>,
    pub(super) named_sequences: HashMap<&'a str, SequenceId>,
    /// The first decision of the block at hand that is uniform and has no name.
    pub(super) unnamed: Option<Span>,
    pub(super) errors: Sink,
    pub(super) warnings: Vec<Diagnostic>,
}

impl<'a> Context<'a> {
    pub(super) fn report(&mut self, error: &MeaningError) {
        self.errors.push(error.span(), || error.diagnostic());
    }

    /// The candidate that `word` was probably meant to be. Nothing is looked for once errors are only
    /// counted, or a text of many errors and many names would take long.
    pub(in crate::bar) fn suggest<'n, I: IntoIterator<Item = &'n str>>(
        &self,
        word: &str,
        candidates: impl FnOnce() -> I,
    ) -> Option<String> {
        if self.errors.is_full() {
            return None;
        }
        closest(word, candidates()).map(str::to_owned)
    }

    pub(in crate::bar) fn warn(&mut self, warning: Diagnostic) {
        if self.warnings.len() < limits::ERRORS {
            self.warnings.push(warning);
        }
    }

    /// Says that decisions at these places, each of a block of its own, are apart though they look like one.
    pub(super) fn warn_of_unnamed(&mut self, places: &[Span]) {
        let [first, others @ .., last] = places else { return };
        let message = "this `uniform ?` is not decided together with that of the other block";
        let mut warning = Diagnostic::warning("uniform-apart", message, *last)
            .label("decided alike by the agents of this block alone")
            .also(*first, "another decision");
        for other in others.iter().take(limits::ERRORS) {
            warning = warning.also(*other, "another decision");
        }
        let help = "if all decide the same, give them one name: `uniform more ?`; if not, a name for each";
        self.warn(warning.help(help));
    }

    /// The sequence for `uniform ?`, one for the statement, or for `uniform name ?`, one for the name.
    pub(super) fn sequence(&mut self, name: Option<&'a str>) -> SequenceId {
        let next = SequenceId::from_index(self.sequences.len());
        let id = match name {
            Some(name) => *self.named_sequences.entry(name).or_insert(next),
            None => next,
        };
        if id == next {
            self.sequences.push(name.map(str::to_owned));
        }
        id
    }
}

/// What is declared outside the blocks.
#[derive(Debug, Default)]
pub(super) struct Globals<'a> {
    pub(super) names: HashMap<&'a str, Global>,
    pub(super) arrays: Vec<Array>,
    pub(super) objects: Vec<Objects>,
    pub(super) params: BTreeSet<String>,
    pub(super) locations: i64,
    /// Size and place; the size is `None` where an error was reported.
    pub(super) size: Option<(Option<i64>, Span)>,
    pub(super) subgroup_size: Option<(Option<i64>, Span)>,
    pub(super) cluster: Option<(Option<i64>, Span)>,
    pub(super) registers: Option<(Option<i64>, Span)>,
}

/// A global name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Global {
    pub(super) kind: GlobalKind,
    pub(super) declared: Span,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum GlobalKind {
    /// `const` or `param`; no value where an error was reported.
    Constant(Option<i64>),
    /// An array or scalar.
    Memory(ArrayId),
    /// An mbarrier object, or an array of them.
    Objects(ObjectsId),
}

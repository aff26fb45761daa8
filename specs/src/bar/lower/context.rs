//! What lowering knows of the whole file: its text, what it declares outside the blocks, and what is wrong
//! with it.

use std::collections::{BTreeSet, HashMap};

use barcheck_model::program::{Array, ArrayId, Objects, ObjectsId, Place, SequenceId, Target};

use super::fences::Fences;
use super::lints::{Declared, Lints};
use super::scopes_of_waits::ScopesOfWaits;
use crate::bar::ast;
use crate::bar::meaning_error::MeaningError;
use crate::bar::notation::Notation;
use crate::common::contents::Allow;
use crate::common::diagnostic::Sink;
use crate::common::limits;
use crate::common::lint::Lint;
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
    /// Those without a name, by where they stand.
    pub(super) unnamed_sequences: HashMap<u32, SequenceId>,
    /// What the numbers of a named sequence range over, and where that was first said.
    pub(super) ranges: HashMap<SequenceId, (Option<(i64, i64)>, Span)>,
    /// Statements that stand in the place of uses of shared blocks.
    pub(super) expanded: usize,
    /// The first decision of the block at hand that is uniform and has no name.
    pub(super) unnamed: Option<Span>,
    pub(super) errors: Sink,
    pub(super) allows: Vec<Allow>,
    /// Places of conditions that are a constant's name alone.
    pub(super) switches: BTreeSet<Place>,
    pub(in crate::bar) lints: Lints,
    /// Initialisations, and what follows them.
    pub(in crate::bar) fences: Fences,
    pub(in crate::bar) scopes_of_waits: ScopesOfWaits,
}

impl<'a> Context<'a> {
    /// The protocol says how many invocations are in a subgroup.
    pub(in crate::bar) fn has_subgroup_size(&self) -> bool {
        self.globals.subgroup_size.is_some()
    }

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

    /// Says that decisions at these places, each of a block of its own, are apart though they look like one.
    pub(super) fn warn_of_unnamed(&mut self, places: &[Span]) {
        let [first, others @ .., last] = places else { return };
        let message = "this `uniform ?` is not decided together with that of the other block";
        let mut warning = Lint::UniformApart
            .says(message, *last)
            .label("decided alike by the agents of this block alone")
            .also(*first, "another decision");
        for other in others.iter().take(limits::ERRORS) {
            warning = warning.also(*other, "another decision");
        }
        let help = "if all decide the same, give them one name: `uniform more ?`; if not, a name for each";
        self.lints.push(Lint::UniformApart, "uniform ?", warning.help(help));
    }

    /// Reports waits that would not see what others have published.
    pub(super) fn refuse_what_is_not_modelled(&mut self) {
        for (objects, span) in self.scopes_of_waits.too_narrow() {
            let name = self.globals.objects[objects.index()].name.clone();
            self.report(&MeaningError::ScopeOfWait { name, span });
        }
    }

    /// The sequence for `uniform ?`, one for the statement, or for `uniform name ?`, one for the name; of
    /// numbers, with their range. One name for different things is reported.
    pub(super) fn sequence(
        &mut self,
        name: Option<&'a ast::Name>,
        range: Option<(i64, i64)>,
        span: Span,
    ) -> Option<SequenceId> {
        let next = SequenceId::from_index(self.sequences.len());
        let id = match name {
            Some(name) => *self.named_sequences.entry(&name.text).or_insert(next),
            None => *self.unnamed_sequences.entry(span.start).or_insert(next),
        };
        if id == next {
            self.sequences.push(name.map(|name| name.text.to_string()));
        }
        let (first, known) = *self.ranges.entry(id).or_insert((range, span));
        if let Some(name) = name.filter(|_| first != range) {
            let (name, first) = (name.text.to_string(), known);
            self.report(&MeaningError::SequenceDiffers { name, span, first });
            return None;
        }
        Some(id)
    }
}

/// What is declared outside the blocks.
#[derive(Debug, Default)]
pub(super) struct Globals<'a> {
    pub(super) names: HashMap<&'a str, Global>,
    pub(super) arrays: Vec<Array>,
    pub(super) objects: Vec<Objects>,
    pub(super) blocks: Vec<&'a ast::SharedBlock>,
    pub(super) params: BTreeSet<String>,
    pub(super) locations: i64,
    /// Size and place; the size is `None` where an error was reported.
    pub(super) size: Option<(Option<i64>, Span)>,
    pub(super) subgroup_size: Option<(Option<i64>, Span)>,
    pub(super) cluster: Option<(Option<i64>, Span)>,
    pub(super) registers: Option<(Option<i64>, Span)>,
    /// Where it is said that every arrival counts.
    pub(super) repeats_count: Option<Span>,
}

impl<'a> Globals<'a> {
    /// Notes that something uses the global name, if there is one.
    pub(super) fn uses(&mut self, name: &str) {
        if let Some(global) = self.names.get_mut(name) {
            global.used = true;
        }
    }

    /// The shared block of this name.
    pub(super) fn block(&self, name: &str) -> Option<&'a ast::SharedBlock> {
        match self.names.get(name)?.kind {
            GlobalKind::Block(id) => self.blocks.get(id).copied(),
            _ => None,
        }
    }

    /// What is declared for a use and used nowhere, in the order of the text: its name and place, and what it
    /// is. A `const` says what a number means, which needs no use.
    pub(super) fn unused(&self) -> Vec<((&'a str, Span), Declared)> {
        let mut unused: Vec<_> = self.names.iter().filter(|(_, global)| !global.used).collect();
        unused.sort_by_key(|(_, global)| global.declared.start);
        let declared = |(name, global): (&&'a str, &Global)| match global.kind {
            GlobalKind::Memory(_) => Some(((*name, global.declared), Declared::Memory)),
            GlobalKind::Constant(_) if self.params.contains(*name) => {
                Some(((*name, global.declared), Declared::Param))
            }
            GlobalKind::Objects(_) => Some(((*name, global.declared), Declared::Objects)),
            GlobalKind::Block(_) => Some(((*name, global.declared), Declared::Block)),
            GlobalKind::Constant(_) => None,
        };
        unused.into_iter().filter_map(declared).collect()
    }
}

/// A global name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Global {
    pub(super) kind: GlobalKind,
    pub(super) declared: Span,
    /// Something has its value, or accesses it.
    pub(super) used: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum GlobalKind {
    /// `const` or `param`; no value where an error was reported.
    Constant(Option<i64>),
    /// An array or scalar.
    Memory(ArrayId),
    /// An mbarrier object, or an array of them.
    Objects(ObjectsId),
    /// Statements that roles share, by position.
    Block(usize),
}

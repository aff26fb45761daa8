//! From the syntax tree to a [`Program`]: names are resolved, constants evaluated, structure laid out as
//! operations. Afterwards the tree is no longer needed.

mod agents;
mod bcu;
mod code;
mod expressions;
mod globals;
mod nbarrier;
mod operands;
mod ptx;
mod role;
mod scopes;
mod split;
mod statements;
mod xegpu;

use std::collections::BTreeMap;
use std::collections::HashMap;

use barcheck_model::program::{Program, SequenceId, Target};

use super::Loaded;
use super::ast::{File, Item};
use super::meaning_error::MeaningError;
use crate::diagnostic::{Diagnostic, Sink};
use crate::limits;
use crate::span::LineIndex;
use crate::suggest::closest;
use globals::Globals;

/// Lowers `file`, which was parsed from `source` without errors.
pub(crate) fn lower(
    source: &str,
    file: &File,
    defines: &BTreeMap<String, i64>,
) -> Result<Loaded, Vec<Diagnostic>> {
    let mut context = Context {
        source,
        lines: LineIndex::new(source),
        target: file.target.unwrap_or(Target::Ptx),
        globals: Globals::default(),
        sequences: Vec::new(),
        named_sequences: HashMap::new(),
        errors: Sink::default(),
        warnings: Vec::new(),
    };
    for item in &file.items {
        context.declare(item, defines);
    }
    let group = context.group(file.target_span);
    let mut roles = Vec::new();
    for item in &file.items {
        if let Item::Role(role) = item {
            roles.push(role::lower(&mut context, role));
        }
    }
    let agents = group.and_then(|group| context.assign_agents(file, &group));
    let (Some(group), Some(agents), true) = (group, agents, context.errors.is_empty()) else {
        return Err(context.errors.finish());
    };
    let program = Program {
        target: context.target,
        threads: group.size,
        subgroup_size: group.subgroup_size,
        arrays: context.globals.arrays,
        roles,
        agents,
        sequences: context.sequences,
    };
    Ok(Loaded { program, params: context.globals.params, warnings: context.warnings })
}

/// What lowering knows of the whole file.
struct Context<'a> {
    source: &'a str,
    lines: LineIndex<'a>,
    target: Target,
    globals: Globals<'a>,
    /// Sequences of uniform decisions, in the order in which the text has them first.
    sequences: Vec<Option<String>>,
    named_sequences: HashMap<&'a str, SequenceId>,
    errors: Sink,
    warnings: Vec<Diagnostic>,
}

impl<'a> Context<'a> {
    fn report(&mut self, error: &MeaningError) {
        self.errors.push(error.span(), || error.diagnostic());
    }

    /// The candidate that `word` was probably meant to be. Nothing is looked for once errors are only counted,
    /// or a text of many errors and many names would take long.
    fn suggest<'n, I: IntoIterator<Item = &'n str>>(
        &self,
        word: &str,
        candidates: impl FnOnce() -> I,
    ) -> Option<String> {
        if self.errors.is_full() {
            return None;
        }
        closest(word, candidates()).map(str::to_owned)
    }

    fn warn(&mut self, warning: Diagnostic) {
        if self.warnings.len() < limits::ERRORS {
            self.warnings.push(warning);
        }
    }

    /// The sequence for `uniform ?`, one for the statement, or for `uniform name ?`, one for the name.
    fn sequence(&mut self, name: Option<&'a str>) -> SequenceId {
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

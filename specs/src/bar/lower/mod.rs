//! From the syntax tree to a [`Program`]: names are resolved, constants evaluated, structure laid out as
//! operations. Afterwards the tree is no longer needed.

mod agents;
mod allows;
mod code;
mod context;
mod expressions;
mod fences;
mod globals;
mod handles;
mod lints;
mod operands;
mod places;
mod role;
mod scopes;
mod scopes_of_waits;
mod shared;
mod statements;
mod uniform;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use barcheck_model::Patience;
use barcheck_model::program::{Program, Target};

pub(super) use operands::{expr_of, name_of};
pub(super) use role::RoleLowerer;

use super::ast::{File, Item};
use super::system;
use crate::common::contents::Contents;
use crate::common::diagnostic::{Diagnostic, Sink};
use crate::common::span::LineIndex;
use context::{Context, Globals};
use fences::Fences;
use lints::Lints;
use scopes_of_waits::ScopesOfWaits;

/// Lowers `file`, a protocol of `target` that was parsed from `source` without errors.
pub(crate) fn lower(
    source: &str,
    file: &File,
    target: Target,
    (defines, patience): (&BTreeMap<String, i64>, &Patience),
) -> Result<Contents, Vec<Diagnostic>> {
    let mut context = Context {
        source,
        lines: LineIndex::new(source),
        target,
        notation: system::notation(target),
        globals: Globals::default(),
        sequences: Vec::new(),
        named_sequences: HashMap::new(),
        unnamed_sequences: HashMap::new(),
        ranges: HashMap::new(),
        expanded: 0,
        unnamed: None,
        errors: Sink::default(),
        allows: Vec::new(),
        switches: BTreeSet::new(),
        lints: Lints::default(),
        fences: Fences::default(),
        scopes_of_waits: ScopesOfWaits::default(),
    };
    for item in &file.items {
        context.declare(item, defines);
    }
    let group = context.group(file.target_span);
    let mut roles = Vec::new();
    let mut unnamed = Vec::new();
    for item in &file.items {
        if let Item::Role(role) = item {
            if patience.is_over() {
                return Err(vec![Diagnostic::late()]);
            }
            roles.push(role::lower(&mut context, role));
            unnamed.extend(context.unnamed.take());
        }
    }
    context.warn_of_unnamed(&unnamed);
    let agents = group.and_then(|group| context.assign_agents(file, &group));
    context.refuse_what_is_not_modelled();
    let (Some(group), Some(agents), true) = (group, agents, context.errors.is_empty()) else {
        return Err(context.errors.finish());
    };
    for (name, what) in context.globals.unused() {
        context.lints.unused(name, what);
    }
    for (objects, span) in context.fences.missing() {
        context.lints.unfenced(&context.globals.objects[objects.index()].name, span);
    }
    let Context { target, globals, sequences, allows, switches, lints, .. } = context;
    let program = Program {
        target,
        threads: group.size,
        ctas: group.ctas,
        registers: group.registers,
        repeats_count: globals.repeats_count.is_some(),
        subgroup_size: group.subgroup_size,
        arrays: globals.arrays,
        objects: globals.objects,
        roles,
        agents,
        sequences,
    };
    let program = program.with_lives();
    let (params, lints) = (globals.params, lints.finish());
    Ok(Contents { program, params, allows, switches, lints, warnings: Vec::new(), extracted: None })
}

//! From the syntax tree to a [`Program`]: names are resolved, constants evaluated, structure laid out as
//! operations. Afterwards the tree is no longer needed.

mod agents;
mod bcu;
mod code;
mod context;
mod expressions;
mod globals;
mod nbarrier;
mod operands;
mod ptx;
mod registers;
mod role;
mod scopes;
mod split;
mod statements;
mod xegpu;

use std::collections::BTreeMap;
use std::collections::HashMap;

use barcheck_model::program::{Program, Target};

use super::ast::{File, Item};
use crate::common::contents::Contents;
use crate::common::diagnostic::{Diagnostic, Sink};
use crate::common::span::LineIndex;
use context::{Context, Globals};

/// Lowers `file`, which was parsed from `source` without errors.
pub(crate) fn lower(
    source: &str,
    file: &File,
    defines: &BTreeMap<String, i64>,
) -> Result<Contents, Vec<Diagnostic>> {
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
    Ok(Contents { program, params: context.globals.params, warnings: context.warnings })
}

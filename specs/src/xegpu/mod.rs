//! Kernels in MLIR with operations of the XeGPU dialect: modules, and the code of their kernels.

mod error;
mod kernels;
mod lexer;
mod locations;
mod lower;
mod ops;
mod parser;
mod syntax;
mod tree;

use barcheck_model::program::Target;

use crate::common::contents::Origin;
use crate::common::diagnostic::{Diagnostic, Sink};
use crate::common::limits;
use crate::common::span::LineIndex;
use crate::kernel::Group;
use crate::module::{self, Entry, Kernel, Launch, Notation, Param, Sizes, Unreadable};
use error::MlirError;
use kernels::{Agents, Form, SUBGROUP_SIZE, required};
use lexer::Token;
use locations::Locations;
use parser::Parser;
use syntax::{Operation, Region};
use tree::Tree;

/// MLIR with operations of XeGPU, as `mlir-opt` and `imex-opt` write it.
pub(crate) static NOTATION: Notation = Notation {
    name: "xegpu",
    extensions: &["mlir"],
    takes,
    text: |bytes| String::from_utf8_lossy(bytes).into_owned(),
    read: |bytes| Ok(Box::new(read(bytes)?)),
};

/// Whether bytes that nobody has named so are MLIR: the first words are those of a module or a function.
fn takes(bytes: &[u8]) -> bool {
    const FIRST: [&str; 5] = ["module", "gpu.module", "func.func", "builtin.module", "\"builtin.module\""];
    let Ok(source) = std::str::from_utf8(bytes) else { return false };
    let begin = lexer::tokens(source.get(..4096).unwrap_or(source));
    let first = begin.first().map_or("", |first| first.span.text(source));
    let is_map = first.starts_with('#')
        && begin.get(2).is_some_and(|third| third.span.text(source).starts_with("affine"));
    FIRST.contains(&first) || is_map
}

fn read(bytes: &[u8]) -> Result<Parsed<'_>, Vec<Diagnostic>> {
    let source = module::text_of_module(bytes).map_err(|unreadable| {
        let error = match unreadable {
            Unreadable::TooLong(bytes) => MlirError::TooLong(bytes),
            Unreadable::Wide => MlirError::NotText(0),
            Unreadable::NotText(at) => MlirError::NotText(at),
        };
        vec![error.diagnostic()]
    })?;
    let tokens = lexer::tokens(source);
    let mut errors = Sink::default();
    let mut parser =
        Parser { source, tokens: &tokens, at: 0, errors: &mut errors, depth: 0, aliases: Vec::new() };
    let region = parser.module();
    let aliases = parser.aliases;
    if !errors.is_empty() {
        return Err(errors.finish());
    }
    Ok(Parsed { source, tokens, region, aliases })
}

/// A module that has been parsed.
struct Parsed<'s> {
    source: &'s str,
    tokens: Vec<Token>,
    region: Region<'s>,
    aliases: Vec<(&'s str, std::ops::Range<usize>)>,
}

impl<'s> Parsed<'s> {
    fn tree(&self) -> Tree<'_, 's> {
        Tree::of(self.source, (&self.region, &self.tokens), &self.aliases)
    }
}

impl module::Module for Parsed<'_> {
    fn source(&self) -> &str {
        self.source
    }

    fn entries(&self) -> Vec<Entry> {
        let tree = self.tree();
        let of = |(index, kernel): (usize, &&Operation<'_>)| {
            let param = |name: &str| Param::new(name.to_owned(), name.to_owned());
            let names = tree.params(kernel).into_iter().map(|name| name.trim_start_matches('%'));
            let params = names.chain([SUBGROUP_SIZE]).map(param).collect();
            let synchronises = tree.any(&kernel.regions);
            Entry { name: tree.name(kernel).to_owned(), index, synchronises, params, span: kernel.span }
        };
        tree.entries.iter().enumerate().map(of).collect()
    }

    fn sizes(&self, entry: usize) -> Sizes {
        let tree = self.tree();
        let kernel = tree.entries[entry];
        let known = required(kernel, self.source);
        let word = if known.is_some() { "known_block_size" } else { "gpu.launch_func" };
        Sizes {
            required: known.or_else(|| tree.launched(kernel)),
            is_default: false,
            most: None,
            words: [word, word],
            group: "workgroup",
            unit: "threads",
            option: "--cta",
            largest: limits::GROUP_SIZE,
            clusters: None,
        }
    }

    fn lower(&self, entry: usize, launch: &Launch) -> Result<Kernel, Vec<Diagnostic>> {
        let tree = self.tree();
        let kernel = tree.entries[entry];
        let agents = Agents::of(&tree, kernel, self.source, launch);
        let lowered = lower::lower(self.source, &tree, kernel, (launch, &agents));
        let mut code = lowered.map_err(|error| vec![error.diagnostic()])?;
        code.assumed.extend(agents.assumed.clone());
        let count = agents.count();
        let (target, header) = match agents.form {
            Form::Handles { .. } => (Target::Xegpu, format!("workgroup {count};")),
            Form::Roles { .. } => (Target::Nbarrier, format!("thread_group {count};")),
        };
        let group = Group { target, size: agents.size, lanes: 1, cluster: [1; 3], header: vec![header] };
        Ok(Kernel { code, group })
    }

    /// As `loc` says.
    fn origins(&self, entry: usize, lines: &LineIndex<'_>) -> Vec<Origin> {
        let tree = self.tree();
        let (source, tokens) = (self.source, self.tokens.as_slice());
        let aliases = self.aliases.iter().cloned().collect();
        Locations { source, tokens, aliases }.of(tree.entries[entry], lines)
    }
}

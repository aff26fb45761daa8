//! What a module holds: functions by their names, maps by theirs, and how kernels are launched.

use std::collections::{HashMap, HashSet};

use crate::common::span::Span;
use crate::module::Extent;

use super::lexer::{Kind, Token};
use super::ops::{Effect, effect};
use super::syntax::{Operation, Region, integer};

/// A module and its names.
pub(super) struct Tree<'m, 's> {
    source: &'s str,
    tokens: &'m [Token],
    aliases: &'m [(&'s str, std::ops::Range<usize>)],
    /// Functions by their symbols, without `@`; those of which there are two are nobody's.
    functions: HashMap<&'s str, Option<&'m Operation<'s>>>,
    /// Functions that do not synchronise, by their symbols.
    quiet: HashSet<&'s str>,
    /// Kernels, or else functions with barriers.
    pub(super) entries: Vec<&'m Operation<'s>>,
    launches: Vec<Launched<'s>>,
}

/// A launch that the module itself holds.
struct Launched<'s> {
    kernel: &'s str,
    size: Option<[u32; 3]>,
    span: Span,
}

const FUNCTIONS: [&str; 5] = ["func.func", "gpu.func", "func", "spirv.func", "llvm.func"];

/// Operations that meet others.
const BARRIERS: [&str; 4] =
    ["gpu.barrier", "xegpu.nbarrier_arrive", "xegpu.nbarrier_wait", "xegpu.init_nbarrier"];

impl<'m, 's> Tree<'m, 's> {
    pub(super) fn of(
        source: &'s str,
        (region, tokens): (&'m Region<'s>, &'m [Token]),
        aliases: &'m [(&'s str, std::ops::Range<usize>)],
    ) -> Self {
        let mut tree = Self {
            source,
            tokens,
            aliases,
            functions: HashMap::new(),
            quiet: HashSet::new(),
            entries: Vec::new(),
            launches: Vec::new(),
        };
        let mut functions = Vec::new();
        collect(region, &mut functions);
        for function in &functions {
            let symbol = symbol(function, source);
            tree.functions.entry(symbol).and_modify(|known| *known = None).or_insert(Some(function));
            tree.find_launches(function);
        }
        let has_code = |function: &&&Operation<'s>| !function.regions.is_empty();
        let is_kernel = |function: &&&Operation<'s>| {
            function.name == "gpu.func"
                && (function.has(source, "kernel") || function.has(source, "gpu.kernel"))
        };
        tree.find_quiet();
        // What a module of SPIR-V launches may stand elsewhere as a kernel without a body.
        let launched = exported(region, source);
        let is_exported = |function: &&&Operation<'s>| {
            function.name == "spirv.func" && launched.contains(&symbol(function, source))
        };
        let mut entries: Vec<&Operation<'s>> =
            functions.iter().filter(has_code).filter(is_exported).copied().collect();
        for kernel in functions.iter().filter(has_code).filter(is_kernel) {
            if !entries.iter().any(|entry| symbol(entry, source) == symbol(kernel, source)) {
                entries.push(kernel);
            }
        }
        tree.entries = entries;
        if tree.entries.is_empty() {
            let meets = |function: &&&Operation<'s>| {
                inside(&function.regions, &mut |operation| is_barrier(operation.name))
            };
            tree.entries = functions.iter().filter(has_code).filter(meets).copied().collect();
        }
        tree
    }

    /// `gpu.launch_func @module::@kernel blocks in (…) threads in (%x, %y, %z)`
    fn find_launches(&mut self, function: &'m Operation<'s>) {
        let source = self.source;
        let mut constants: HashMap<&'s str, i64> = HashMap::new();
        let mut found = Vec::new();
        inside(&function.regions, &mut |operation| {
            if matches!(operation.name, "arith.constant" | "index.constant")
                && let [(name, 1)] = operation.results.as_slice()
            {
                let word = match operation.attribute(source, "value") {
                    Some(words) => words.first().map(|word| word.span.text(source)),
                    None => Some(operation.text(source, 0)),
                };
                constants.extend(word.and_then(integer).map(|number| (*name, number)));
            }
            if operation.name == "gpu.launch_func" {
                let is_symbol = |word: &&Token| word.kind == Kind::Symbol;
                if let Some(kernel) = operation.words.iter().rfind(is_symbol) {
                    found.push((plain(kernel.span.text(source)), lengths(operation, source), operation.span));
                }
            }
            false
        });
        for (kernel, names, span) in found {
            let number = |name: &&'s str| constants.get(*name).and_then(|length| u32::try_from(*length).ok());
            let numbers: Option<Vec<u32>> = names.iter().map(number).collect();
            let size = numbers.and_then(|numbers| <[u32; 3]>::try_from(numbers).ok());
            self.launches.push(Launched { kernel, size, span });
        }
    }

    /// The size with which the module launches a kernel, if it is one.
    pub(super) fn launched(&self, kernel: &Operation<'s>) -> Option<Extent> {
        let name = symbol(kernel, self.source);
        let mut found = self.launches.iter().filter(|launch| launch.kernel == name);
        let first = found.next()?;
        let size = first.size?;
        found.all(|other| other.size == Some(size)).then_some(Extent { size, span: first.span })
    }

    /// The function with this symbol.
    pub(super) fn function(&self, symbol: &str) -> Option<&'m Operation<'s>> {
        self.functions.get(plain(symbol)).copied().flatten()
    }

    /// What an alias stands for.
    pub(super) fn alias(&self, name: &str) -> Option<&'m [Token]> {
        let (_, range) = self.aliases.iter().find(|(known, _)| *known == name)?;
        self.tokens.get(range.clone())
    }

    pub(super) fn name(&self, function: &Operation<'s>) -> &'s str {
        symbol(function, self.source)
    }

    /// The names of a function's parameters.
    pub(super) fn params(&self, function: &Operation<'s>) -> Vec<&'s str> {
        if function.is_generic {
            let first = function.regions.first().and_then(|region| region.first());
            return first.map(|block| block.params.clone()).unwrap_or_default();
        }
        function.values(self.source)
    }

    /// Whether an operation may synchronise, itself or inside.
    pub(super) fn synchronises(&self, operation: &Operation<'s>) -> bool {
        if is_own(operation) {
            return true;
        }
        if is_call(operation.name) {
            // Whose code is not here may do anything.
            return callee(operation, self.source).is_none_or(|symbol| !self.quiet.contains(symbol));
        }
        self.any(&operation.regions)
    }

    /// Whether one of the operations of regions may synchronise.
    pub(super) fn any(&self, regions: &[Region<'s>]) -> bool {
        let mut operations = regions.iter().flatten().flat_map(|block| &block.operations);
        operations.any(|operation| self.synchronises(operation))
    }

    /// Finds the functions that do not synchronise, and call none that may.
    fn find_quiet(&mut self) {
        let mut callers: HashMap<&'s str, Vec<&'s str>> = HashMap::new();
        let mut work: Vec<&'s str> = Vec::new();
        for (symbol, function) in &self.functions {
            // Whose code is not here may do anything.
            let Some(function) = function.filter(|function| !function.regions.is_empty()) else { continue };
            let mut is_loud = false;
            inside(&function.regions, &mut |operation| {
                is_loud |= is_own(operation);
                if is_call(operation.name) {
                    match callee(operation, self.source) {
                        Some(callee) if self.functions.contains_key(callee) => {
                            callers.entry(callee).or_default().push(symbol);
                        }
                        _ => is_loud = true,
                    }
                }
                false
            });
            self.quiet.insert(symbol);
            work.extend(is_loud.then_some(*symbol));
        }
        work.extend(self.functions.keys().filter(|symbol| !self.quiet.contains(*symbol)));
        while let Some(symbol) = work.pop() {
            self.quiet.remove(symbol);
            let callers = callers.remove(symbol).unwrap_or_default();
            work.extend(callers.into_iter().filter(|caller| self.quiet.contains(caller)));
        }
    }
}

/// Operations of the flow of control, and what only concerns the host.
fn is_flow(name: &str) -> bool {
    let dialect = name.split_once('.').map_or("", |(dialect, _)| dialect);
    matches!(dialect, "scf" | "cf" | "func")
        || matches!(name, "gpu.return" | "return" | "br" | "cond_br" | "gpu.terminator" | "affine.yield")
        || matches!(name, "spirv.Return" | "spirv.ReturnValue" | "spirv.Branch" | "spirv.BranchConditional")
        || matches!(name, "xegpu.alloc_nbarrier" | "xegpu.mfence" | "xegpu.fence" | "xegpu.create_nbarrier")
        || matches!(
            name,
            "gpu.thread_id" | "gpu.block_dim" | "gpu.global_id" | "gpu.subgroup_id" | "gpu.num_subgroups"
        )
        || is_call(name)
}

/// Whether an operation itself may synchronise.
fn is_own(operation: &Operation<'_>) -> bool {
    let is_plain = operation.regions.is_empty() && !is_flow(operation.name);
    is_barrier(operation.name) || is_plain && effect(operation.name) == Effect::Beyond
}

/// The symbol of the function that a call names.
fn callee<'s>(call: &Operation<'s>, source: &'s str) -> Option<&'s str> {
    let symbol = call.words.iter().find(|word| word.kind == Kind::Symbol)?;
    Some(plain(symbol.span.text(source)))
}

fn is_call(name: &str) -> bool {
    matches!(name, "func.call" | "call" | "spirv.FunctionCall" | "llvm.call")
}

pub(super) fn is_barrier(name: &str) -> bool {
    BARRIERS.contains(&name) || name == "xegpu.create_nbarrier"
}

/// A symbol without `@` and quotes.
fn plain(symbol: &str) -> &str {
    symbol.trim_start_matches('@').trim_matches('"')
}

/// The name of a function.
fn symbol<'s>(function: &Operation<'s>, source: &'s str) -> &'s str {
    let named = function.word(source, "sym_name");
    let first = || function.words.iter().find(|word| word.kind == Kind::Symbol);
    named.or_else(|| first().map(|word| plain(word.span.text(source)))).unwrap_or_default()
}

/// The functions in a region, those of modules in it included.
fn collect<'m, 's>(region: &'m Region<'s>, functions: &mut Vec<&'m Operation<'s>>) {
    for operation in region.iter().flat_map(|block| &block.operations) {
        if FUNCTIONS.contains(&operation.name) {
            functions.push(operation);
        } else {
            // Regions are no deeper than the parser lets them be.
            operation.regions.iter().for_each(|region| collect(region, functions));
        }
    }
}

/// The symbols of functions that modules of SPIR-V launch.
fn exported<'s>(region: &Region<'s>, source: &'s str) -> Vec<&'s str> {
    let mut found = Vec::new();
    inside(std::slice::from_ref(region), &mut |operation| {
        if operation.name == "spirv.EntryPoint" {
            let symbol = operation.words.iter().find(|word| word.kind == Kind::Symbol);
            found.extend(symbol.map(|symbol| plain(symbol.span.text(source))));
        }
        false
    });
    found
}

/// Whether something is true of an operation inside regions, wherever.
pub(super) fn inside<'m, 's>(
    regions: &'m [Region<'s>],
    is_it: &mut impl FnMut(&'m Operation<'s>) -> bool,
) -> bool {
    regions
        .iter()
        .flatten()
        .flat_map(|block| &block.operations)
        .any(|operation| is_it(operation) || inside(&operation.regions, is_it))
}

/// The names of the lengths of a group in a launch.
fn lengths<'s>(launch: &Operation<'s>, source: &'s str) -> Vec<&'s str> {
    if launch.is_generic {
        // Behind those of the grid; what it waits for would stand before.
        let has_other =
            launch.values(source).len() < 6 || launch.attribute(source, "operandSegmentSizes").is_none();
        return if has_other { Vec::new() } else { launch.values(source)[3..6].to_vec() };
    }
    let Some(at) = launch.find(source, "threads") else { return Vec::new() };
    let behind = &launch.words[at..];
    let end = behind.iter().position(|word| word.is(b')')).unwrap_or(behind.len());
    let values = behind[..end].iter().filter(|word| word.kind == Kind::Value);
    values.map(|word| word.span.text(source)).collect()
}

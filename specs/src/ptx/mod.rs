//! Kernels in PTX, as compilers leave them behind: modules, and the code of their entries.

mod error;
mod lower;
mod params;
mod reader;
mod syntax;

use barcheck_model::program::Target;

use crate::common::contents::Origin;
use crate::common::diagnostic::{Diagnostic, Sink};
use crate::common::limits;
use crate::common::span::LineIndex;
use crate::kernel::Group;
use crate::module::{self, Clusters, Entry, Kernel, Launch, Notation, Param, Sizes, Unreadable};
use error::PtxError;
use syntax::{Function, Module};

/// PTX, as compilers write it and as `cuobjdump -ptx` takes it out of what they have made.
pub(crate) static NOTATION: Notation = Notation {
    name: "ptx",
    extensions: &["ptx"],
    takes,
    text: |bytes| String::from_utf8_lossy(bytes).into_owned(),
    read: |bytes| Ok(Box::new(read(bytes)?)),
};

/// Threads of a warp.
const LANES: u32 = 32;

/// Whether bytes that nobody has named so are PTX: a module begins with its version.
pub(crate) fn takes(bytes: &[u8]) -> bool {
    let mut rest = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    loop {
        rest = rest.trim_ascii_start();
        let skipped = match rest {
            [b'/', b'/', ..] => rest.iter().position(|byte| *byte == b'\n'),
            [b'/', b'*', ..] => rest.windows(2).position(|pair| pair == b"*/").map(|at| at + 2),
            _ => return rest.starts_with(b".version"),
        };
        match skipped {
            Some(at) => rest = &rest[at..],
            None => return false,
        }
    }
}

/// A module and its text.
struct Parsed<'s> {
    source: &'s str,
    module: Module,
    /// The functions that are launched.
    entries: Vec<usize>,
}

fn read(bytes: &[u8]) -> Result<Parsed<'_>, Vec<Diagnostic>> {
    let source = module::text_of_module(bytes).map_err(|unreadable| {
        let error = match unreadable {
            Unreadable::TooLong(bytes) => PtxError::TooLong(bytes),
            Unreadable::Wide => PtxError::Wide,
            Unreadable::NotText(at) => PtxError::NotText(at),
        };
        vec![error.diagnostic()]
    })?;
    let mut errors = Sink::default();
    let module = reader::read(source, &mut errors);
    if !errors.is_empty() {
        return Err(errors.finish());
    }
    let is_entry = |function: &Function| function.is_entry && function.body.is_some();
    let entries = (0..module.functions.len()).filter(|index| is_entry(&module.functions[*index])).collect();
    Ok(Parsed { source, module, entries })
}

impl Parsed<'_> {
    fn function(&self, entry: usize) -> &Function {
        &self.module.functions[self.entries[entry]]
    }
}

impl module::Module for Parsed<'_> {
    fn source(&self) -> &str {
        self.source
    }

    fn entries(&self) -> Vec<Entry> {
        let synchronises = lower::synchronises(self.source, &self.module);
        let shares = lower::shares(self.source, &self.module);
        let of = |(index, function): (usize, &usize)| {
            let synchronises = synchronises[*function] || shares[*function];
            let function = &self.module.functions[*function];
            let param = |param: &syntax::Param| Param {
                kind: param.kind,
                ..Param::new(param.name.clone(), params::short(&param.name, &function.name))
            };
            let params = function.params.iter().map(param).chain(Param::of_grid()).collect();
            Entry { name: function.name.clone(), index, synchronises, params, span: function.span }
        };
        self.entries.iter().enumerate().map(of).collect()
    }

    fn sizes(&self, entry: usize) -> Sizes {
        let function = self.function(entry);
        Sizes {
            required: function.required,
            is_default: false,
            most: function.most,
            words: [".reqntid", ".maxntid"],
            group: "CTA",
            unit: "threads",
            option: "--cta",
            largest: limits::CTA_THREADS,
            clusters: Some(Clusters { required: function.cluster, explicit: function.explicit_cluster }),
        }
    }

    fn lower(&self, entry: usize, launch: &Launch) -> Result<Kernel, Vec<Diagnostic>> {
        let mut code = lower::lower(self.source, &self.module, self.entries[entry], launch);
        let mut header = vec![format!("cta {};", launch.count())];
        if launch.groups() > 1 {
            header.insert(0, format!("cluster {};", launch.groups()));
        }
        if let Some(registers) = lower::registers_of_each(&mut code, self.function(entry), launch) {
            header.push(format!("maxnreg {registers};"));
        }
        let (size, cluster) = (launch.size, launch.cluster);
        let group = Group { target: Target::Ptx, size, lanes: LANES, cluster, header };
        Ok(Kernel { code, group })
    }

    /// As `.loc` says.
    fn origins(&self, entry: usize, lines: &LineIndex<'_>) -> Vec<Origin> {
        let Some(body) = &self.function(entry).body else { return Vec::new() };
        let of = |mark: &syntax::LineMark| {
            let instruction = body.instructions.get(mark.from as usize)?;
            let file = self.module.files.get(&mark.file)?.clone();
            (mark.line > 0).then(|| Origin {
                from: lines.place(instruction.span).line,
                file,
                line: mark.line,
                inlined_at: mark.inlined_at.and_then(|(file, line)| {
                    let file = self.module.files.get(&file)?.clone();
                    (line > 0).then_some((file, line))
                }),
            })
        };
        body.lines.iter().filter_map(of).collect()
    }
}

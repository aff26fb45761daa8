//! Kernels in vISA, as text: modules, and the code of their entries.

mod error;
mod lower;
mod opcodes;
mod operand;
mod reader;
mod syntax;

use barcheck_model::program::Target;

use crate::common::contents::Origin;
use crate::common::diagnostic::{Diagnostic, Sink};
use crate::common::limits;
use crate::common::span::LineIndex;
use crate::kernel::Group;
use crate::module::{self, Entry, Kernel, Launch, Notation, Param, Sizes};
use error::VisaError;
use syntax::{Function, Module};

/// vISA as text, as compilers dump it.
pub(crate) static NOTATION: Notation = Notation {
    name: "visa",
    extensions: &["visaasm", "visa"],
    takes: reader::looks_like_one,
    text: |bytes| String::from_utf8_lossy(bytes).into_owned(),
    read: |bytes| Ok(Box::new(read(bytes)?)),
};

/// A module and its text.
struct Read<'s> {
    source: &'s str,
    module: Module<'s>,
    /// The functions that are launched.
    entries: Vec<usize>,
}

fn read(bytes: &[u8]) -> Result<Read<'_>, Vec<Diagnostic>> {
    let source = module::text_of_module(bytes)
        .map_err(|unreadable| vec![VisaError::Unreadable(unreadable).diagnostic()])?;
    let mut errors = Sink::default();
    let module = reader::read(source, &mut errors);
    if !errors.is_empty() {
        return Err(errors.finish());
    }
    let entries = (0..module.functions.len()).filter(|at| module.functions[*at].is_entry).collect();
    Ok(Read { source, module, entries })
}

impl Read<'_> {
    fn function(&self, entry: usize) -> &Function<'_> {
        &self.module.functions[self.entries[entry]]
    }
}

impl module::Module for Read<'_> {
    fn source(&self) -> &str {
        self.source
    }

    fn entries(&self) -> Vec<Entry> {
        let of = |(index, at): (usize, &usize)| {
            let function = &self.module.functions[*at];
            let synchronises = function.statements.iter().any(|s| opcodes::may_synchronise(s.opcode));
            let param = |name: &&str| Param::new((*name).to_owned(), (*name).to_owned());
            let params = function.inputs.iter().map(param).collect();
            Entry { name: function.name.clone(), index, synchronises, params, span: function.span }
        };
        self.entries.iter().enumerate().map(of).collect()
    }

    fn sizes(&self, _entry: usize) -> Sizes {
        Sizes {
            required: None,
            is_default: false,
            most: None,
            words: ["", ""],
            group: "thread group",
            unit: "threads",
            option: "--workgroup",
            largest: limits::GROUP_SIZE,
            clusters: None,
        }
    }

    fn lower(&self, entry: usize, launch: &Launch) -> Result<Kernel, Vec<Diagnostic>> {
        let code = lower::lower(self.function(entry), launch);
        let header = vec![format!("thread_group {};", launch.count())];
        // What its lanes do together a thread does.
        let group = Group { target: Target::Nbarrier, size: launch.size, lanes: 1, cluster: [1; 3], header };
        Ok(Kernel { code, group })
    }

    fn origins(&self, entry: usize, lines: &LineIndex<'_>) -> Vec<Origin> {
        let function = self.function(entry);
        let of = |(at, file, line): &(usize, &str, u32)| {
            let from = lines.place(function.statements.get(*at)?.span).line;
            (*line > 0).then(|| Origin { from, file: (*file).to_owned(), line: *line, inlined_at: None })
        };
        function.lines.iter().filter_map(of).collect()
    }
}

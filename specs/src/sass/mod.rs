//! Kernels as machine code, disassembled: listings, and the code of their entries.
//!
//! What barriers do there is what the BCU instruction set says.

mod chips;
mod error;
mod lower;
mod opcodes;
mod operand;
mod reader;
mod special;
mod syntax;

use barcheck_model::program::Target;

use crate::common::contents::Origin;
use crate::common::diagnostic::{Diagnostic, Sink};
use crate::common::limits;
use crate::common::span::LineIndex;
use crate::kernel::Group;
use crate::kernel::registers::{self, Compiled};
use crate::module::{self, Clusters, Entry, Kernel, Launch, Module, Notation, Param, Sizes};
use error::SassError;
use opcodes::Effect;
use syntax::{Function, Listing};

/// Listings of `cuobjdump -sass` and `nvdisasm`, CuAssembler, maxas.
pub(crate) static NOTATION: Notation = Notation {
    name: "sass",
    extensions: &["sass", "cuasm"],
    takes,
    text: |bytes| String::from_utf8_lossy(bytes).into_owned(),
    read: |bytes| Ok(Box::new(read(bytes)?)),
};

/// Threads of a warp.
const LANES: u32 = 32;
/// Bytes that are looked at to find out whether a text is a listing.
const LOOKED_AT: usize = 1 << 20;

/// Whether bytes that nobody has named so are a listing.
fn takes(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(LOOKED_AT)]);
    reader::looks_like_one(&text)
}

/// A listing and its text.
struct Read<'s> {
    source: &'s str,
    listing: Listing<'s>,
    /// The functions that are launched.
    entries: Vec<usize>,
}

fn read(bytes: &[u8]) -> Result<Read<'_>, Vec<Diagnostic>> {
    let source = module::text_of_module(bytes)
        .map_err(|unreadable| vec![SassError::Unreadable(unreadable).diagnostic()])?;
    let mut errors = Sink::default();
    let listing = reader::read(source, &mut errors);
    if !errors.is_empty() {
        return Err(errors.finish());
    }
    let entries = (0..listing.functions.len()).filter(|at| listing.functions[*at].is_entry).collect();
    Ok(Read { source, listing, entries })
}

impl Read<'_> {
    fn function(&self, entry: usize) -> &Function<'_> {
        &self.listing.functions[self.entries[entry]]
    }

    /// By whose rules the barriers of a function are judged. The BCU has no mbarriers, and raises an
    /// exception where reductions share a barrier with `BAR.SYNC`. The chips of PTX have the former and take
    /// the latter: a kernel for one of them that does so, itself or in what it may call, is one of PTX.
    /// So is one for clusters of several CTAs.
    fn target(&self, function: &Function<'_>, launch: &Launch) -> Target {
        let calls = function.statements.iter().any(|statement| statement.opcode.starts_with("CALL"));
        let called = self.listing.functions.iter().filter(|other| calls && !other.is_entry);
        let functions: Vec<&Function<'_>> = std::iter::once(function).chain(called).collect();
        let has = |holds: &dyn Fn(&str) -> bool| {
            functions.iter().any(|function| function.statements.iter().any(|s| holds(s.opcode)))
        };
        let is_mixed = has(&|opcode| opcode.starts_with("BAR.RED"))
            && has(&|opcode| opcode.starts_with("BAR.SYNC") || opcode.starts_with("BAR.ARV"));
        // What saves the state of barriers is the BCU's alone.
        let saves = has(&|opcode| {
            opcode.starts_with("R2B") || opcode.starts_with("B2R") && !opcode.starts_with("B2R.RESULT")
        });
        let is_of_ptx = |effect| matches!(effect, Some(Effect::Synchronises | Effect::Registers));
        let has_objects = has(&|opcode| is_of_ptx(opcodes::effect(opcode)));
        match launch.groups() > 1 || has_objects || is_mixed && function.chip.is_some() && !saves {
            true => Target::Ptx,
            false => Target::Bcu,
        }
    }

    /// Whether a function has barriers of its CTA or what may be, itself or in what it may call.
    fn synchronises(&self, function: &Function<'_>) -> bool {
        let own = |function: &Function<'_>| {
            function.statements.iter().any(|statement| {
                let effect = opcodes::effect(statement.opcode);
                matches!(effect, None | Some(Effect::Barrier | Effect::Synchronises | Effect::Registers))
            })
        };
        // Whom it calls is known when its code is laid out: any that is no entry may be meant.
        let calls = function.statements.iter().any(|statement| statement.opcode.starts_with("CALL"));
        own(function) || calls && self.listing.functions.iter().any(|other| !other.is_entry && own(other))
    }
}

impl Module for Read<'_> {
    fn source(&self) -> &str {
        self.source
    }

    fn entries(&self) -> Vec<Entry> {
        let of = |(index, at): (usize, &usize)| {
            let function = &self.listing.functions[*at];
            let shown = |(bank, offset): (u32, i64)| {
                let name = lower::shown_param(function, bank, offset);
                let name = name.split_once('+').map_or(name.as_str(), |(name, _)| name).to_owned();
                Param::new(name.clone(), name)
            };
            let known = function.about.params.keys().map(|position| {
                let name = format!("param_{position}");
                Param::new(name.clone(), name)
            });
            let mut params: Vec<Param> = known.collect();
            for param in lower::constants_of(function).into_iter().map(shown) {
                if !params.contains(&param) {
                    params.push(param);
                }
            }
            params.extend(Param::of_grid());
            let synchronises = self.synchronises(function);
            Entry { name: function.name.clone(), index, synchronises, params, span: function.span }
        };
        self.entries.iter().enumerate().map(of).collect()
    }

    fn sizes(&self, entry: usize) -> Sizes {
        let about = &self.function(entry).about;
        Sizes {
            required: about.required,
            is_default: false,
            most: about.most,
            words: ["EIATTR_REQNTID", "EIATTR_MAX_THREADS"],
            group: "CTA",
            unit: "threads",
            option: "--cta",
            largest: limits::CTA_THREADS,
            clusters: Some(Clusters { required: about.cluster, explicit: about.explicit_cluster }),
        }
    }

    fn lower(&self, entry: usize, launch: &Launch) -> Result<Kernel, Vec<Diagnostic>> {
        let target = self.target(self.function(entry), launch);
        let mut code = lower::lower(&self.listing, self.entries[entry], launch, target);
        let mut header = vec![format!("cta {};", launch.count())];
        if launch.groups() > 1 {
            header.insert(0, format!("cluster {};", launch.groups()));
        }
        let about = &self.function(entry).about;
        let bound = about.required.or(about.most).map_or(1, |extent| extent.size.iter().product());
        let threads: u32 = launch.count().max(bound);
        let compiled = Compiled { given: about.registers, threads, would_say: "" };
        if let Some(registers) = registers::each(&mut code, compiled) {
            header.push(format!("maxnreg {registers};"));
        }
        let (size, cluster) = (launch.size, launch.cluster);
        let group = Group { target, size, lanes: LANES, cluster, header };
        Ok(Kernel { code, group })
    }

    /// As `nvdisasm -g` says.
    fn origins(&self, entry: usize, lines: &LineIndex<'_>) -> Vec<Origin> {
        let function = self.function(entry);
        let of = |(at, file, line): &(usize, &str, u32)| {
            let statement = function.statements.get(*at)?;
            let from = lines.place(statement.span).line;
            (*line > 0).then(|| Origin { from, file: (*file).to_owned(), line: *line, inlined_at: None })
        };
        function.lines.iter().filter_map(of).collect()
    }
}

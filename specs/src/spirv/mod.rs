//! Kernels in SPIR-V, as words or as text: modules, and the code of their entries.

mod assembly;
mod binary;
mod declarations;
mod error;
mod lower;
mod opcodes;
mod syntax;
mod words;

use std::collections::HashMap;

use barcheck_model::program::Target;

use crate::common::contents::Origin;
use crate::common::diagnostic::{Diagnostic, Sink};
use crate::common::limits;
use crate::common::span::LineIndex;
use crate::kernel::{ALL, Group};
use crate::module::{self, Entry, Extent, Kernel, Launch, Notation, Param, Sizes, Unreadable};
use declarations::{Constant, Declarations, EntryPoint, Size};
use error::SpirvError;
use lower::called;
use opcodes::op;
use syntax::Listing;

/// SPIR-V, as compilers write it and as its assembler has it.
pub(crate) static NOTATION: Notation = Notation {
    name: "spirv",
    extensions: &["spv", "spvasm", "spt"],
    takes,
    text,
    read: |bytes| Ok(Box::new(read(bytes)?)),
};

/// The name by which the size of a subgroup is given.
const SUBGROUP_SIZE: &str = "subgroup_size";

/// Whether bytes that nobody has named so are SPIR-V.
fn takes(bytes: &[u8]) -> bool {
    binary::is_binary(bytes) || std::str::from_utf8(bytes).is_ok_and(assembly::takes)
}

/// What people read: of words, the instructions that they are.
fn text(bytes: &[u8]) -> String {
    if binary::is_binary(bytes) && bytes.len() <= limits::SOURCE_BYTES {
        return binary::read(bytes).0.text;
    }
    String::from_utf8_lossy(bytes).into_owned()
}

fn read(bytes: &[u8]) -> Result<Parsed, Vec<Diagnostic>> {
    let error = |error: SpirvError| vec![error.diagnostic()];
    if bytes.len() > limits::SOURCE_BYTES {
        return Err(error(SpirvError::TooLong(bytes.len())));
    }
    let listing = if binary::is_binary(bytes) {
        match binary::read(bytes) {
            (_, Some(found)) => return Err(error(found)),
            (listing, None) => listing,
        }
    } else {
        let source = module::text_of_module(bytes).map_err(|unreadable| {
            error(match unreadable {
                Unreadable::TooLong(bytes) => SpirvError::TooLong(bytes),
                Unreadable::Wide => SpirvError::NotText(0),
                Unreadable::NotText(at) => SpirvError::NotText(at),
            })
        })?;
        let mut errors = Sink::default();
        let listing = assembly::read(source, &mut errors);
        if !errors.is_empty() {
            return Err(errors.finish());
        }
        listing
    };
    let declarations = Declarations::of(&listing);
    if let Some(span) = declarations.open {
        return Err(error(SpirvError::OpenFunction(span)));
    }
    let entries = declarations.entries.clone();
    for entry in &entries {
        if declarations.function(entry.function).is_none() {
            let name = listing.id_name(entry.function);
            return Err(error(SpirvError::Undefined(name, entry.span)));
        }
    }
    Ok(Parsed { listing, declarations, entries })
}

/// A module that has been read.
struct Parsed {
    listing: Listing,
    declarations: Declarations,
    entries: Vec<EntryPoint>,
}

impl Parsed {
    /// Whether a size may be another when the module is specialised.
    fn is_specialised(&self, size: &Size) -> bool {
        let ids = size.numbers.iter().filter_map(|id| u32::try_from(*id).ok());
        size.are_ids && ids.into_iter().any(|id| self.declarations.specialised.contains_key(&id))
    }

    /// A size in three directions, with the defaults of constants that may be specialised.
    fn extent(&self, size: &Size) -> Option<Extent> {
        let number = |number: u64| {
            let id = u32::try_from(number).ok()?;
            if size.are_ids {
                self.declarations.number(id).and_then(|n| u32::try_from(n).ok())
            } else {
                Some(id)
            }
        };
        let [x, y, z] = size.numbers;
        Some(Extent { size: [number(x)?, number(y)?, number(z)?], span: size.span })
    }

    /// The size that a constant of the module gives, which counts more than that of an execution mode.
    fn constant_size(&self) -> Option<Size> {
        let id = self.declarations.size?;
        let Some(Constant::Composite(parts)) = self.declarations.constants.get(&id) else { return None };
        let [x, y, z] = *parts.as_slice() else { return None };
        let span = self.declarations.definitions.get(&id).map(|at| self.listing.instructions[*at].span)?;
        Some(Size { numbers: [x, y, z].map(u64::from), are_ids: true, span })
    }

    /// The size that the module gives an entry.
    fn size(&self, entry: usize) -> Option<Size> {
        let modes = self.declarations.modes.get(&self.entries[entry].function);
        self.constant_size().or_else(|| modes.and_then(|modes| modes.size.clone()))
    }

    /// What the constants are that may be specialised and that are the size of the group that is launched.
    fn launched(&self, entry: usize, launch: &Launch) -> HashMap<u32, u64> {
        let size = self.size(entry).filter(|size| size.are_ids);
        let ids = size.iter().flat_map(|size| &size.numbers).filter_map(|id| u32::try_from(*id).ok());
        let mut launched: HashMap<u32, u64> = HashMap::new();
        let mut differ = Vec::new();
        for (id, size) in ids.zip(launch.size.map(u64::from)) {
            if self.declarations.specialised.contains_key(&id) && *launched.entry(id).or_insert(size) != size
            {
                differ.push(id);
            }
        }
        launched.retain(|id, _| !differ.contains(id));
        launched
    }

    /// A constant that is the size of the group in a direction, and was given another value than that.
    fn contradicted(&self, entry: usize, launch: &Launch) -> Option<Diagnostic> {
        let size = self.size(entry).filter(|size| size.are_ids)?;
        let ids = size.numbers.iter().filter_map(|id| u32::try_from(*id).ok());
        ids.zip(launch.size).filter(|(id, _)| self.declarations.specialised.contains_key(id)).find_map(
            |(id, size)| {
                let name = called(&self.listing, &self.declarations, id);
                let given = launch.param(None, &name).filter(|given| *given != i64::from(size))?;
                let message =
                    format!("`{name}` is the size of the workgroup here, which is {size} and not {given}");
                let error = Diagnostic::error("group-size", message, self.entries[entry].span);
                Some(error.help("say how large it is by --cta"))
            },
        )
    }

    /// Constants that may be specialised: they are given like parameters.
    fn specialised(&self) -> impl Iterator<Item = Param> {
        let mut ids: Vec<u32> = self.declarations.specialised.keys().copied().collect();
        ids.sort_unstable();
        ids.into_iter().map(|id| {
            let name = called(&self.listing, &self.declarations, id);
            Param::new(name.clone(), name)
        })
    }
}

impl module::Module for Parsed {
    fn source(&self) -> &str {
        &self.listing.text
    }

    fn entries(&self) -> Vec<Entry> {
        let synchronises = lower::synchronises(&self.listing, &self.declarations);
        let of = |(index, entry): (usize, &EntryPoint)| {
            let number = self.declarations.numbers.get(&entry.function).copied().unwrap_or(0);
            let function = &self.declarations.functions[number];
            let name = |id: &u32| {
                let name = called(&self.listing, &self.declarations, *id);
                Param::new(name.clone(), name)
            };
            let of_subgroup = Param::new(SUBGROUP_SIZE.to_owned(), SUBGROUP_SIZE.to_owned());
            let params = function.params.iter().map(name).chain(self.specialised()).chain([of_subgroup]);
            let params = params.collect();
            Entry {
                name: entry.name.clone(),
                index,
                synchronises: synchronises[number],
                params,
                span: entry.span,
            }
        };
        self.entries.iter().enumerate().map(of).collect()
    }

    fn sizes(&self, entry: usize) -> Sizes {
        let modes = self.declarations.modes.get(&self.entries[entry].function);
        let size = self.size(entry);
        let most = modes.and_then(|modes| modes.most.clone());
        // What is specialised is taken as it is by default, which is said.
        let (required, usual) = match size {
            Some(size) if self.is_specialised(&size) => (None, Some(size)),
            size => (size, None),
        };
        let bounded_by = if usual.is_some() { "LocalSizeId" } else { "MaxWorkgroupSizeINTEL" };
        Sizes {
            required: required.and_then(|size| self.extent(&size)),
            is_default: usual.is_some(),
            most: usual.or(most).and_then(|size| self.extent(&size)),
            words: ["LocalSize", bounded_by],
            group: "workgroup",
            unit: "invocations",
            option: "--cta",
            largest: limits::GROUP_SIZE,
            clusters: None,
        }
    }

    fn lower(&self, entry: usize, launch: &Launch) -> Result<Kernel, Vec<Diagnostic>> {
        let function = self.entries[entry].function;
        let modes = self.declarations.modes.get(&function);
        let given = launch.param(None, SUBGROUP_SIZE).and_then(|size| u64::try_from(size).ok());
        let subgroup = given.or_else(|| modes.and_then(|modes| modes.subgroup)).filter(|size| *size > 0);
        if let Some(error) = self.contradicted(entry, launch) {
            return Err(vec![error]);
        }
        let launched = self.launched(entry, launch);
        let lowered =
            lower::lower(&self.listing, &self.declarations, (function, subgroup), (launch, launched))
                .map_err(|error| vec![error.diagnostic()])?;
        let mut header = vec![format!("workgroup {};", launch.count())];
        if lowered.has_subgroups {
            let Some(size) = subgroup else {
                let span = self.entries[entry].span;
                let message = "the size of a subgroup is not known, and the kernel has barriers of subgroups";
                let error = Diagnostic::error("group-size", message, span);
                return Err(vec![error.help("say it by --param subgroup_size=N")]);
            };
            header.push(format!("subgroup_size {};", size.min(u64::from(launch.count()))));
        }
        let group =
            Group { target: Target::SplitBarrier, size: launch.size, lanes: ALL, cluster: [1; 3], header };
        Ok(Kernel { code: lowered.code, group })
    }

    /// As `OpLine` says.
    fn origins(&self, entry: usize, lines: &LineIndex<'_>) -> Vec<Origin> {
        let _ = entry;
        let of = |(at, line): (usize, &syntax::Instruction)| {
            let file = self.declarations.strings.get(&line.id(0)?)?.clone();
            let next = self.listing.instructions.get(at + 1)?;
            let number = u32::try_from(line.number(1)?).ok().filter(|line| *line > 0)?;
            Some(Origin { from: lines.place(next.span).line, file, line: number, inlined_at: None })
        };
        let is_line = |(_, instruction): &(usize, &syntax::Instruction)| instruction.is(op::LINE);
        self.listing.instructions.iter().enumerate().filter(is_line).filter_map(of).collect()
    }
}

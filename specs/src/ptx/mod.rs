//! Kernels in PTX, as compilers leave them behind: the protocol of one entry is extracted and read as `.bar`.
//!
//! What a module is launched with is given by definitions: `cta.x`, `cta.y`, `cta.z`, `entry.index`,
//! `param.0` or `param.name`. None of them is a name of the protocol language.

mod error;
mod launch;
mod lower;
mod reader;
mod syntax;

use std::collections::BTreeSet;

use barcheck_model::Patience;
use barcheck_model::program::{Place, Program};

use crate::bar;
use crate::common::contents::{Contents, Extracted, LoadOptions, Origin};
use crate::common::diagnostic::{BEYOND, Diagnostic, Severity, Sink};
use crate::common::limits;
use crate::common::span::{LineIndex, Span};
use crate::kernel::{self, Assumption, Extraction, Failure};
use error::PtxError;
use launch::{Launch, is_called};
use syntax::{Function, Module};

/// The endings of its files, without the dot.
pub const EXTENSIONS: [&str; 1] = ["ptx"];

/// Entries whose names are listed in a message.
const LISTED: usize = 8;

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

/// What people read: the text itself.
pub(crate) fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// An entry of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Its position among the entries of the module.
    pub index: usize,
    /// It has barriers of its CTA or the like, itself or in what it calls.
    pub synchronises: bool,
    /// The names of its parameters.
    pub params: Vec<String>,
}

impl Entry {
    /// Whether it has a parameter of this name or at this position from 0, or a part of one, as reports call
    /// it: `param_2`, `param_0+16`.
    #[must_use]
    pub fn has_param(&self, given: &str) -> bool {
        self.params.iter().enumerate().any(|(position, param)| {
            param == given || position.to_string() == given || is_called(param, &self.name, given)
        })
    }
}

/// The entries of a module.
///
/// # Errors
/// The text is no PTX module.
pub fn entries(bytes: &[u8]) -> Result<Vec<Entry>, Vec<Diagnostic>> {
    let (source, module) = read(bytes)?;
    let synchronises = lower::synchronises(source, &module);
    let entries = module.functions.iter().zip(synchronises).filter(|(function, _)| is_entry(function));
    let numbered = entries.enumerate().map(|(index, (function, synchronises))| Entry {
        name: function.name.clone(),
        index,
        synchronises,
        params: function.params.iter().map(|param| param.name.clone()).collect(),
    });
    Ok(numbered.collect())
}

fn is_entry(function: &Function) -> bool {
    function.is_entry && function.body.is_some()
}

fn read(bytes: &[u8]) -> Result<(&str, Module), Vec<Diagnostic>> {
    let error = |error: PtxError| Err(vec![error.diagnostic()]);
    if bytes.len() > limits::SOURCE_BYTES {
        return error(PtxError::TooLong(bytes.len()));
    }
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return error(PtxError::Wide);
    }
    let source = match std::str::from_utf8(bytes) {
        Ok(source) => source,
        Err(invalid) => return error(PtxError::NotText(invalid.valid_up_to())),
    };
    if let Some(at) = source.find('\0') {
        return error(PtxError::NotText(at));
    }
    let mut errors = Sink::default();
    let module = reader::read(source, &mut errors);
    if errors.is_empty() { Ok((source, module)) } else { Err(errors.finish()) }
}

/// Reads the protocol of an entry: the one that the definitions name, or the only one with barriers.
pub(crate) fn load_within(
    bytes: &[u8],
    options: &LoadOptions,
    patience: &Patience,
) -> Result<Contents, Vec<Diagnostic>> {
    let (source, module) = read(bytes)?;
    let chosen = choose(source, &module, options)?;
    let entry = &module.functions[chosen];
    let launch = Launch::of(entry, &options.defines).map_err(|error| vec![error.diagnostic()])?;
    if patience.is_over() {
        return Err(vec![Diagnostic::late()]);
    }
    let code = lower::lower(source, &module, chosen, &launch);
    let heading = heading(entry, &launch);
    let mut extraction = kernel::extract(code, launch.size, &heading, patience)
        .map_err(|failure| vec![not_followed(failure, entry)])?;
    // In the standard layout, as long as its lines stay where they are.
    let formatted = bar::format(extraction.text.as_bytes()).ok();
    if let Some(text) = formatted.filter(|text| text.lines().count() == extraction.lines.len()) {
        extraction.text = text;
    }
    let read = bar::load_within(extraction.text.as_bytes(), &LoadOptions::default(), patience);
    let contents = read.map_err(|diagnostics| vec![not_read(&diagnostics, entry)])?;
    let lines = LineIndex::new(source);
    let mut program = contents.program;
    relocate(&mut program, &extraction, &lines);
    let warnings = remarks(&extraction, entry, &launch);
    let parameters = extraction.things.iter().filter(|name| Launch::is_param(entry, name));
    let extracted = Extracted {
        private: extraction.private.iter().map(|(span, _)| lines.place(*span)).collect(),
        origins: origins(&module, entry, &lines),
        parameters: parameters.cloned().collect(),
        about: extraction.about,
        entry: entry.name.clone(),
        instructions: extraction.instructions,
        kept: extraction.kept,
        text: extraction.text,
    };
    let params = Launch::used(entry, &options.defines);
    // What a compiler left of a kernel nobody has written: nothing is said against its looks.
    let (allows, switches, lints) = (Vec::new(), BTreeSet::new(), Vec::new());
    Ok(Contents { program, params, allows, switches, lints, warnings, extracted: Some(extracted) })
}

/// The function that is meant.
fn choose(source: &str, module: &Module, options: &LoadOptions) -> Result<usize, Vec<Diagnostic>> {
    let entries: Vec<usize> =
        (0..module.functions.len()).filter(|index| is_entry(&module.functions[*index])).collect();
    let none = |message: String| Diagnostic::error("no-entry", message, Span::default());
    if entries.is_empty() {
        let error = none("there is no entry in this module: nothing is launched".to_owned());
        return Err(vec![error.note("an entry is a function with `.entry` and a body")]);
    }
    if let Some(index) = options.defines.get(launch::ENTRY) {
        let found = usize::try_from(*index).ok().and_then(|index| entries.get(index));
        let message = format!("there is no entry number {index}: there are {}", entries.len());
        return found.copied().ok_or_else(|| vec![none(message)]);
    }
    let synchronises = lower::synchronises(source, module);
    let with: Vec<usize> = entries.iter().copied().filter(|entry| synchronises[*entry]).collect();
    match (with.as_slice(), entries.as_slice()) {
        ([one], _) | ([], [one, ..]) => Ok(*one),
        (several, _) => {
            let names = several.iter().take(LISTED).map(|entry| module.functions[*entry].name.as_str());
            let names: Vec<&str> = names.collect();
            let span = several.get(1).map_or(Span::default(), |entry| module.functions[*entry].span);
            let message = format!("{} entries of this module have barriers", several.len());
            let error = Diagnostic::error("several-entries", message, span)
                .note(format!("they are: {}", names.join(", ")))
                .help("choose one by --entry");
            Err(vec![error])
        }
    }
}

fn heading(entry: &Function, launch: &Launch) -> Vec<String> {
    let [x, y, z] = launch.size;
    let name: String = entry.name.chars().take(200).collect();
    vec![format!("Extracted from the kernel {name},"), format!("launched with {x} x {y} x {z} threads.")]
}

fn not_followed(failure: Failure, entry: &Function) -> Diagnostic {
    match failure {
        Failure::Late => Diagnostic::late(),
        Failure::Stop(stop) => {
            let span = if stop.span == Span::default() { entry.span } else { stop.span };
            Diagnostic::error(BEYOND, stop.what, span).help_if(stop.help.map(str::to_owned))
        }
    }
}

/// The protocol that was extracted is not one: it is longer or deeper than those that are read.
fn not_read(diagnostics: &[Diagnostic], entry: &Function) -> Diagnostic {
    if diagnostics.iter().any(|diagnostic| diagnostic.code == Diagnostic::late().code) {
        return Diagnostic::late();
    }
    let first = diagnostics.first().map_or("", |first| first.message.as_str());
    Diagnostic::error(BEYOND, format!("its protocol cannot be written: {first}"), entry.span)
}

/// Puts places in the kernel where the program has those in the protocol that was extracted.
fn relocate(program: &mut Program, extraction: &Extraction, lines: &LineIndex<'_>) {
    let span_of = |place: &Place| {
        let line = usize::try_from(place.line).ok()?.checked_sub(1)?;
        extraction.lines.get(line).copied().flatten()
    };
    for role in &mut program.roles {
        let code = &mut role.code;
        for (place, text) in code.places.iter_mut().zip(&mut code.texts) {
            match span_of(place) {
                Some(span) => {
                    *place = lines.place(span);
                    if !text.is_empty() {
                        *text = one_line(span.text(lines.source()));
                    }
                }
                None => *place = Place::default(),
            }
        }
        let first = code.places.iter().find(|place| place.line > 0).copied();
        role.place = first.unwrap_or_default();
    }
}

fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ")
}

/// What is taken for true, and what is not looked at.
fn remarks(extraction: &Extraction, entry: &Function, launch: &Launch) -> Vec<Diagnostic> {
    let note = |code, message: &str, span| Diagnostic {
        severity: Severity::Note,
        ..Diagnostic::error(code, message, span)
    };
    let mut remarks = Vec::new();
    if launch.is_bound {
        let [x, y, z] = launch.size;
        let message = format!("taken to be launched with all {x} x {y} x {z} threads that `.maxntid` allows");
        let span = entry.most.map_or(entry.span, |most| most.span);
        remarks.push(note("assumed", &message, span).help("say otherwise by --cta"));
    }
    for assumption in &extraction.assumes {
        let (message, span) = match assumption {
            Assumption::Unwritten(span) => {
                ("assumed: nobody writes what is loaded here while the kernel runs", *span)
            }
            Assumption::Told(span) => (
                "assumed: all threads load the same here, as one of them has stored it before a barrier",
                *span,
            ),
            Assumption::Unwrapped(span) => ("assumed: the sums compared here do not overflow", *span),
            Assumption::Bytes(span) => (
                "assumed: the copies that follow what is announced for them complete it, in equal parts",
                *span,
            ),
            Assumption::Exited(span) => (
                "assumed: threads that leave the kernel here do so before others of their warp come to a barrier",
                *span,
            ),
        };
        remarks.push(note("assumed", message, span));
    }
    for (span, of_lane) in &extraction.private {
        let who = if *of_lane { "lane" } else { "warp" };
        let message = format!("unknown, and perhaps not the same for each {who}: both outcomes are explored");
        remarks.push(note("data-dependent", &message, *span));
    }
    for span in &extraction.aborts {
        remarks.push(note("assumed", "assumed: the kernel does not end with an error here", *span));
    }
    remarks.truncate(limits::ERRORS);
    remarks
}

/// Which lines of the source the instructions of the entry come from.
fn origins(module: &Module, entry: &Function, lines: &LineIndex<'_>) -> Vec<Origin> {
    let Some(body) = &entry.body else { return Vec::new() };
    let of = |mark: &syntax::LineMark| {
        let instruction = body.instructions.get(mark.from as usize)?;
        let file = module.files.get(&mark.file)?.clone();
        (mark.line > 0).then(|| Origin { from: lines.place(instruction.span).line, file, line: mark.line })
    };
    body.lines.iter().filter_map(of).collect()
}

//! From an entry of a module to its protocol.

use std::collections::{BTreeMap, BTreeSet};

use barcheck_model::Patience;
use barcheck_model::program::{Op, Place, Program};

use crate::bar;
use crate::common::contents::{Accesses, Contents, Extracted, Launched, LoadOptions};
use crate::common::diagnostic::{BEYOND, Diagnostic};
use crate::common::span::{LineIndex, Span};
use crate::kernel::{self, Extraction, Failure, Help, Sources};

use super::choice::choose;
use super::entry::Entry;
use super::launch::Launch;
use super::parsed::Module;
use super::remarks::remarks;

/// Names and lines that one sentence lists.
const MOST_LISTED: usize = 4;

pub(super) fn load(
    module: &dyn Module,
    options: &LoadOptions,
    patience: &Patience,
) -> Result<Contents, Vec<Diagnostic>> {
    let entries = module.entries();
    let chosen = choose(&entries, options)?;
    let Some(entry) = entries.get(chosen) else { return Err(vec![Diagnostic::late()]) };
    let sizes = module.sizes(chosen);
    let launch = Launch::of(entry, &sizes, &options.defines)?;
    if patience.is_over() {
        return Err(vec![Diagnostic::late()]);
    }
    let mut kernel = module.lower(chosen, &launch)?;
    if launch.repeats_count && kernel.group.target.facts().repeats_may_count {
        kernel.group.header.push("repeated_arrivals count;".to_owned());
    }
    let heading = heading(entry, &launch, sizes.unit);
    let noun = kernel.group.target.agent_noun();
    let names = &kernel.code.names;
    let said = || kernel.code.said.iter().map(|(name, (said, _))| (names[*name as usize].clone(), said));
    let least = said().filter_map(|(name, said)| Some((name, said.least?))).collect();
    let multiples = said().map(|(name, said)| (name, said.multiple)).collect();
    let mut extraction = kernel::extract(kernel.code, &kernel.group, &heading, patience)
        .map_err(|failure| vec![not_followed(failure, entry, module.source())])?;
    // In the standard layout, as long as its lines stay where they are.
    let formatted = bar::format(extraction.text.as_bytes()).ok();
    if let Some(text) = formatted.filter(|text| text.lines().count() == extraction.lines.len()) {
        extraction.text = text;
    }
    let read = bar::load_within(extraction.text.as_bytes(), &LoadOptions::default(), patience);
    let contents = read.map_err(|diagnostics| vec![not_read(&diagnostics, &extraction, entry)])?;
    let lines = LineIndex::new(module.source());
    let mut program = contents.program;
    let barriers = by_kind(&program, &extraction);
    relocate(&mut program, &extraction, &lines);
    let warnings = remarks(&extraction, entry, (&launch, &sizes), noun);
    let parameters =
        |of: &BTreeSet<String>| of.iter().filter(|name| entry.may_be_number(name)).cloned().collect();
    let extracted = Extracted {
        private: extraction.private.iter().map(|(span, _)| lines.place(*span)).collect(),
        origins: module.origins(chosen, &lines),
        end: extraction.end.map(|span| lines.place(span)),
        parameters: parameters(&extraction.things),
        own: parameters(&extraction.own),
        least,
        multiples,
        about: extraction.about,
        beside: extraction.beside,
        words: extraction.words,
        memory: extraction.memory.map(|memory| Accesses {
            followed: memory.followed.len(),
            others: memory.others.iter().map(|span| lines.place(*span)).collect(),
            undecided: None,
        }),
        entry: entry.name.clone(),
        index: entry.index,
        launch: Launched { size: launch.size, unit: sizes.unit, cluster: launch.cluster, from: launch.from },
        barriers,
        instructions: extraction.instructions,
        kept: extraction.kept,
        text: extraction.text,
    };
    let params = Launch::used(entry, &options.defines);
    // What a compiler left of a kernel nobody has written: nothing is said against its looks.
    let (allows, switches, lints) = (Vec::new(), BTreeSet::new(), Vec::new());
    Ok(Contents { program, params, allows, switches, lints, warnings, extracted: Some(extracted) })
}

/// The instructions of an entry that concern barriers or cannot be followed, each with its place and as it
/// is written, whether or not there is a way to them.
pub(super) fn barriers(
    module: &dyn Module,
    options: &LoadOptions,
) -> Result<Vec<(Place, String)>, Vec<Diagnostic>> {
    let chosen = choose(&module.entries(), options)?;
    let Some(entry) = module.entries().into_iter().nth(chosen) else { return Ok(Vec::new()) };
    let launch = Launch::of(&entry, &module.sizes(chosen), &options.defines)?;
    let code = module.lower(chosen, &launch)?.code;
    let lines = LineIndex::new(module.source());
    let concerns = code.instructions.iter().filter(|instruction| instruction.action.is_about_barriers());
    let spans: BTreeSet<Span> = concerns.map(|instruction| instruction.span).collect();
    Ok(spans.into_iter().map(|span| (lines.place(span), one_line(span.text(module.source())))).collect())
}

fn heading(entry: &Entry, launch: &Launch, unit: &str) -> Vec<String> {
    let [x, y, z] = launch.size;
    let name: String = entry.name.chars().take(200).map(|c| if c.is_control() { ' ' } else { c }).collect();
    vec![format!("Extracted from the kernel {name},"), format!("launched with {x} x {y} x {z} {unit}.")]
}

fn not_followed(failure: Failure, entry: &Entry, source: &str) -> Diagnostic {
    match failure {
        Failure::Late => Diagnostic::late(),
        Failure::Stop(stop) => {
            let span = if stop.span == Span::default() { entry.span } else { stop.span };
            let help = stop.help.and_then(|help| match help {
                Help::Words(words) => Some(words.to_owned()),
                Help::Say(sources) => what_to_say(&sources, entry, &LineIndex::new(source)),
            });
            Diagnostic::error(BEYOND, stop.what, span).help_if(help)
        }
    }
}

/// What of the sources of something unknown may be given, or why that would not do.
fn what_to_say(sources: &Sources, entry: &Entry, lines: &LineIndex<'_>) -> Option<String> {
    let listed = |mut all: Vec<String>| {
        let more = all.len().saturating_sub(MOST_LISTED);
        all.truncate(MOST_LISTED);
        if more > 0 {
            all.push(format!("{more} more"));
        }
        let last = all.pop()?;
        Some(if all.is_empty() { last } else { format!("{} and {last}", all.join(", ")) })
    };
    let given = sources.names.iter().filter(|name| entry.may_be_number(name) || name.starts_with('%'));
    let given = listed(given.map(|name| format!("`{name}`")).collect());
    let loads: BTreeSet<u32> = sources.loads.iter().map(|span| lines.place(*span).line).collect();
    let loads = listed(loads.into_iter().map(|line| format!("line {line}")).collect());
    Some(match (given, loads) {
        (Some(given), None) => format!("give {given} by --param: it is computed from that"),
        (Some(given), Some(loads)) => {
            format!("it is computed from {given}, which --param gives, and from what {loads} loads")
        }
        (None, Some(loads)) => format!("it is computed from what {loads} loads, which nothing can give"),
        (None, None) => return None,
    })
}

/// The protocol that was extracted is not one: it is longer or deeper than those that are read, or the
/// target has no word for what it says.
fn not_read(diagnostics: &[Diagnostic], extraction: &Extraction, entry: &Entry) -> Diagnostic {
    if diagnostics.iter().any(|diagnostic| diagnostic.code == Diagnostic::late().code) {
        return Diagnostic::late();
    }
    let Some(first) = diagnostics.first() else {
        return Diagnostic::error(BEYOND, "its protocol cannot be written".to_owned(), entry.span);
    };
    let lines = LineIndex::new(&extraction.text);
    let line = lines.place(first.primary.span).line;
    let span = span_of_line(extraction, line).unwrap_or(entry.span);
    let text: String = one_line(lines.line_span(line).text(&extraction.text)).chars().take(200).collect();
    Diagnostic::error(BEYOND, format!("its protocol cannot be written: {}", first.message), span)
        .note(format!("the protocol would say `{text}`"))
}

/// How many instructions of the kernel are each kind of barrier instruction of its protocol.
fn by_kind(program: &Program, extraction: &Extraction) -> BTreeMap<String, usize> {
    let mut spans: BTreeMap<String, BTreeSet<Span>> = BTreeMap::new();
    for code in program.roles.iter().map(|role| &role.code) {
        for ((op, text), place) in code.ops.iter().zip(&code.texts).zip(&code.places) {
            let Some(span) = span_of_line(extraction, place.line).filter(|_| matches!(op, Op::Barrier(_)))
            else {
                continue;
            };
            // Behind what its result is put into.
            let words = text.rsplit(" = ").next().unwrap_or_default().split(' ');
            let name = words.map(|word| word.trim_end_matches(';')).find(|word| !word.is_empty());
            spans.entry(name.unwrap_or_default().to_owned()).or_default().insert(span);
        }
    }
    spans.into_iter().map(|(name, spans)| (name, spans.len())).collect()
}

/// Where in the kernel a line of the protocol comes from.
fn span_of_line(extraction: &Extraction, line: u32) -> Option<Span> {
    let line = usize::try_from(line).ok()?.checked_sub(1)?;
    extraction.lines.get(line).copied().flatten()
}

/// Puts places in the kernel where the program has those in the protocol that was extracted.
fn relocate(program: &mut Program, extraction: &Extraction, lines: &LineIndex<'_>) {
    for role in &mut program.roles {
        let code = &mut role.code;
        for (place, text) in code.places.iter_mut().zip(&mut code.texts) {
            match span_of_line(extraction, place.line) {
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

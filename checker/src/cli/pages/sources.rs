//! What compiled kernels were compiled from: the lines of the source that matter in a counterexample.

use crate::cli::origin;
use barcheck_counterexamples::{CompiledFrom, SourceFile, SourceLine, Trace};
use barcheck_specs::{Format, LoadOptions, Origin, Source, load};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The longest file that is read, in bytes.
const LONGEST: u64 = 4_000_000;
/// A file of so many lines is shown whole; of a longer one, so many lines around those that matter.
const SHORT: usize = 400;
const AROUND: usize = 40;
/// Bytes of all that is shown, and of a line, at most.
const MOST_BYTES: usize = 300_000;
const MOST_OF_LINE: usize = 400;
/// Files, at most.
const MOST_FILES: usize = 16;
/// Only these are taken for sources: a kernel may name any file of whoever looks at it.
const ENDINGS: [&str; 14] =
    ["cu", "cuh", "h", "hh", "hpp", "hxx", "c", "cc", "cpp", "cxx", "inl", "cl", "py", "mlir"];

/// The lines that the places of a trace were compiled from, if the kernel says so.
pub(super) fn compiled_from(trace: &Trace) -> Option<CompiledFrom> {
    let protocol = &trace.protocol;
    if protocol.format == Format::Bar.name() {
        return None;
    }
    let format = Format::named(&protocol.format).ok();
    let source = Source { name: &protocol.file, bytes: protocol.source.as_bytes(), format };
    let loaded = load(&source, &LoadOptions { defines: protocol.defines.clone() }).ok()?;
    let extracted = loaded.extracted?;
    let mut files: Vec<(String, BTreeSet<u32>)> = Vec::new();
    let mut lines = Vec::new();
    for line in places(trace) {
        let Some(origin) = extracted.origin(line) else { continue };
        let (file, at) = origin.outermost();
        let position = match files.iter().position(|(known, _)| known == file) {
            Some(position) => position,
            None if files.len() == MOST_FILES => continue,
            None => {
                files.push((file.to_owned(), BTreeSet::new()));
                files.len() - 1
            }
        };
        files[position].1.insert(at);
        lines.push(SourceLine { line, file: position, at, said: inlined(origin) });
    }
    if lines.is_empty() {
        return None;
    }
    let mut left = MOST_BYTES;
    let kernel = Path::new(&protocol.file);
    let files = files.into_iter().map(|(name, wanted)| {
        let text = text_of(&name, kernel).unwrap_or_default();
        let lines = excerpt(&text, &wanted, &mut left);
        SourceFile { name, lines }
    });
    Some(CompiledFrom { files: files.collect(), lines })
}

/// The lines of the kernel at which something is in the trace.
fn places(trace: &Trace) -> BTreeSet<u32> {
    let states = std::iter::once(&trace.initial).chain(trace.steps.iter().map(|step| &step.changes));
    let agents = states.flat_map(|state| &state.agents).filter_map(|agent| agent.location);
    let steps = trace.steps.iter().map(|step| step.location);
    let all = agents.chain(steps).chain([trace.outcome.location]).map(|place| place.line);
    all.chain(trace.outcome.related.iter().map(|place| place.line)).filter(|line| *line > 0).collect()
}

/// Where a line is, that was inlined.
fn inlined(origin: &Origin) -> Option<String> {
    origin.inlined_at.as_ref().map(|_| format!("{}:{}", origin.file, origin.line))
}

/// The text of a source, if it is there and may be one.
fn text_of(name: &str, kernel: &Path) -> Option<String> {
    let path = origin::find(name, kernel)?;
    let ending = path.extension()?.to_str()?.to_ascii_lowercase();
    if !ENDINGS.contains(&ending.as_str()) {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(&path).ok()?.take(LONGEST + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= LONGEST).then(|| String::from_utf8_lossy(&bytes).into_owned())
}

/// The lines of a text that are shown, by number; `left` is how many bytes are.
fn excerpt(text: &str, wanted: &BTreeSet<u32>, left: &mut usize) -> BTreeMap<u32, String> {
    let count = text.lines().count();
    let near =
        |number: usize| count <= SHORT || wanted.iter().any(|line| number.abs_diff(*line as usize) <= AROUND);
    let mut lines = BTreeMap::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(number, _)| near(*number)) {
        let line: String = line.chars().take(MOST_OF_LINE).collect();
        let Some(rest) = left.checked_sub(line.len() + 16) else { break };
        *left = rest;
        lines.extend(u32::try_from(number).ok().map(|number| (number, line)));
    }
    lines
}

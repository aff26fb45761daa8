//! `barcheck extract`: the protocol of a compiled kernel, as text.

use super::accesses::A_WHILE;
use super::args::ExtractArgs;
use super::deadline::Deadline;
use super::files;
use super::input;
use super::kernels;
use super::output::{Colours, Status, complain, error_line, print, save};
use barcheck_specs::{Extracted, LoadOptions, MEMORY, Severity, Source, load_within, render};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::io;

/// Runs the command.
pub(crate) fn run(args: &ExtractArgs, colours: Colours) -> io::Result<Status> {
    let fail = |status: Status, message: String| {
        complain(&error_line(colours.err, message));
        Ok(status)
    };
    let deadline = Deadline::new(args.time.timeout);
    let name = input::display_name(&args.file);
    let inputs = files::expand(std::slice::from_ref(&args.file));
    let mut inputs = match kernels::split(inputs, &args.kernel, deadline.limit()) {
        Ok(inputs) => inputs,
        Err(message) => return fail(Status::Trouble, message),
    };
    if let [_, _, ..] = inputs.as_slice() {
        return fail(Status::Trouble, kernels::several(&name, &inputs));
    }
    let Some(mut input) = inputs.pop() else { return fail(Status::Trouble, format!("{name} has no kernel")) };
    let bytes = match kernels::read(&mut input, deadline.limit()) {
        Ok(bytes) => bytes,
        Err((status, message)) => return fail(status, message),
    };
    let mut options = LoadOptions::default();
    args.kernel.tell(&mut options, input.entry.as_ref().map(|entry| entry.index));
    let source = Source::new(&name, &bytes);
    let mut with_memory = options.clone();
    with_memory.defines.insert(MEMORY.to_owned(), 1);
    // Where accesses cannot be followed there is still what is done at barriers.
    let a_while = deadline.patience_of(A_WHILE);
    let followed = (!args.no_memory).then(|| load_within(&source, &with_memory, &a_while).ok());
    let followed = followed.flatten();
    let is_without = !args.no_memory && followed.is_none();
    let read = match followed {
        Some(loaded) => Ok(loaded),
        None => load_within(&source, &options, deadline.patience()),
    };
    let loaded = match read {
        Ok(loaded) => loaded,
        Err(error) if error.is_late() => {
            return fail(Status::Inconclusive, format!("{name}: {}", deadline.said("read")));
        }
        Err(error) => {
            complain(&render(&error.diagnostics, &name, &error.text, colours.err.colour()));
            let beyond = error.not_followed().is_some();
            return Ok(if beyond { Status::Inconclusive } else { Status::Trouble });
        }
    };
    let Some(extracted) = loaded.extracted else {
        return fail(Status::Trouble, format!("{name} is a protocol already"));
    };
    let notes: Vec<_> = loaded.warnings.into_iter().filter(|note| note.severity != Severity::Error).collect();
    complain(&render(&notes, &name, &loaded.text, colours.err.colour()));
    let without = if is_without { WITHOUT_ACCESSES } else { "" };
    let text = format!("{without}{}{}", doubts(&extracted), extracted.text);
    match args.output.as_deref().filter(|path| !input::is_standard_input(path)) {
        Some(path) if input::is_same(path, &args.file) => {
            fail(Status::Trouble, "the protocol would overwrite the kernel".to_owned())
        }
        Some(path) => save("protocol", &text, path, colours),
        None => print(&text).map(|()| Status::Success),
    }
}

/// Where accesses cannot be followed, or not in time.
const WITHOUT_ACCESSES: &str = "// Without accesses to shared memory, which are not followed.\n";

/// What the protocol does not know of its kernel, as comments: violations that rest on it are violations of
/// the protocol, and doubts about the kernel.
fn doubts(extracted: &Extracted) -> String {
    let mut text = String::new();
    let mut lines: Vec<String> = extracted.private.iter().map(|place| place.line.to_string()).collect();
    lines.dedup();
    if !lines.is_empty() {
        let _ = writeln!(
            text,
            "// Of the kernel, what is violated with some data that threads may see, and not with other, is\n\
             // `inconclusive`: see its lines {}.",
            lines.join(", ")
        );
    }
    let mut about: BTreeMap<&String, BTreeSet<&String>> = BTreeMap::new();
    for (name, things) in &extracted.about {
        for thing in things {
            about.entry(thing).or_default().insert(name);
        }
    }
    let together = about.values().find(|names| names.len() > 1);
    if let Some(names) = together {
        let names: Vec<String> = names.iter().take(3).map(|name| format!("`{name}`")).collect();
        let _ = writeln!(
            text,
            "// Decisions about one thing need not go together in every way ({}): what is\n\
             // violated along with several of them is `inconclusive` of the kernel, unless a value shows it.",
            names.join(", ")
        );
    }
    text
}

//! Modules of compiled kernels: each kernel is decided by itself.

use super::args::KernelArgs;
use super::files::Input;
use super::input;
use super::names;
use super::output::Status;
use barcheck_specs::naming::{cut, meant, position};
use barcheck_specs::{Entry, Format, Source, entries};
use std::collections::BTreeSet;
use std::time::Duration;

/// Kernels whose names are listed in a message.
const LISTED: usize = 8;

/// Puts in the place of each module its kernels: those that are asked for, or all that have barriers.
///
/// # Errors
/// No module has what is asked for.
pub(crate) fn split(
    inputs: Vec<Input>,
    args: &KernelArgs,
    time: Option<Duration>,
) -> Result<Vec<Input>, String> {
    let mut all = Vec::new();
    let mut seen: Vec<Entry> = Vec::new();
    let (mut unread, mut found) = (false, false);
    for mut input in inputs {
        if Format::of_name(&input.path).is_some_and(|format| !format.has_entries()) {
            all.push(input);
            continue;
        }
        let read = input.read(time);
        let name = input.path.to_string_lossy().into_owned();
        let known = read.as_ref().ok().map(|bytes| entries(&Source::new(&name, bytes)));
        let format = read.as_ref().ok().and_then(|bytes| Format::recognise(&name, bytes));
        // A pipe can be read only once; a file is read again when its turn comes, one kernel after the other.
        input.known = Some(read).filter(|_| !input.path.is_file());
        match known {
            Some(Ok(known)) => {
                let meant: Vec<_> = meant(&known, args.entry.as_deref()).into_iter().cloned().collect();
                found |= !meant.is_empty();
                seen.extend(known.iter().cloned());
                // That a module has no kernels is said when its turn comes.
                unread |= known.is_empty() && format != Some(Format::Bar);
                if known.is_empty() || meant.is_empty() && args.entry.is_none() {
                    all.push(input);
                    continue;
                }
                for entry in meant {
                    let copy =
                        Input { path: input.path.clone(), known: input.known.clone(), entry: Some(entry) };
                    all.push(copy);
                }
            }
            // What is wrong with it is said when its turn comes.
            _ => {
                unread = true;
                all.push(input);
            }
        }
    }
    if unread {
        return Ok(all);
    }
    if let Some(name) = args.entry.as_ref().filter(|_| !found) {
        let known = match seen.iter().collect::<Vec<_>>().as_slice() {
            [] => "there are none".to_owned(),
            seen => format!("there are: {}", listed(seen)),
        };
        return Err(match position(name) {
            Some(_) => format!("no kernel is called `{name}` or has this position, from 0; {known}"),
            None => format!("no kernel has `{}` in its name; {known}", cut(name)),
        });
    }
    let has = |name: &str| seen.iter().any(|entry| entry.has_param(name));
    match args.param.iter().find(|param| !has(&param.name)) {
        Some(unknown) => Err(no_such_param(&unknown.name, &seen)),
        None => match args.group() {
            Some(option) if seen.is_empty() => Err(format!(
                "{option} is said of compiled kernels, and no FILE is one; a protocol says itself how many agents \
                 it has"
            )),
            _ => Ok(all),
        },
    }
}

/// That no kernel has a parameter, and which they have.
fn no_such_param(unknown: &str, seen: &[Entry]) -> String {
    if seen.is_empty() {
        return format!("no FILE is a compiled kernel; a `param` of a protocol is set by `-D {unknown}=…`");
    }
    // Those that a kernel declares come before those of every launch.
    let known = seen.iter().flat_map(Entry::param_names).map(|name| (name.starts_with('%'), name));
    let known: BTreeSet<(bool, &str)> = known.collect();
    let known: Vec<String> = known.into_iter().take(LISTED).map(|(_, name)| format!("`{name}`")).collect();
    let there_are = if known.is_empty() { "there are none".to_owned() } else { known.join(", ") };
    format!("no kernel has a parameter `{unknown}`; by position from 0, or by name: {there_are}")
}

/// That there are several kernels where one is wanted.
pub(crate) fn several(name: &str, inputs: &[Input]) -> String {
    let entries: Vec<&Entry> = inputs.iter().filter_map(|input| input.entry.as_ref()).collect();
    let count = entries.len();
    format!("{name} has {count} kernels with barriers; choose one by --entry: {}", listed(&entries))
}

/// The names of the first, and how many more there are.
fn listed(entries: &[&Entry]) -> String {
    let shown = entries.iter().take(LISTED).map(|entry| names::kernel(&entry.name, Some(entry.index)));
    let shown = shown.collect::<Vec<_>>().join(", ");
    match entries.len().saturating_sub(LISTED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Reads a single module, or says which status follows and why, for people.
pub(crate) fn read(input: &mut Input, time: Option<Duration>) -> Result<Vec<u8>, (Status, String)> {
    let name = input::display_name(&input.path);
    input.read(time).map_err(|why| (why.status(), format!("cannot read {name}: {why}")))
}

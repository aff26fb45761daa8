//! Modules of compiled kernels: each kernel is decided by itself.

use super::args::KernelArgs;
use super::files::Input;
use super::input;
use super::output::Status;
use barcheck_specs::{Entry, Format, Source, entries};
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
        // A pipe can be read only once; a file is read again when its turn comes, one kernel after the other.
        input.known = Some(read).filter(|_| !input.path.is_file());
        match known {
            Some(Ok(known)) => {
                let meant = choose(&known, args);
                found |= !meant.is_empty();
                seen.extend(known.iter().cloned());
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
        let names: Vec<&str> = seen.iter().take(LISTED).map(|entry| entry.name.as_str()).collect();
        let known = match names.as_slice() {
            [] => "there are none".to_owned(),
            names => format!("there are: {}", names.join(", ")),
        };
        return Err(format!("no kernel has `{name}` in its name; {known}"));
    }
    let has = |name: &str| seen.iter().any(|entry| entry.has_param(name));
    match args.param.iter().find(|param| !has(&param.name)) {
        Some(unknown) => Err(format!("no kernel has a parameter `{}`", unknown.name)),
        None => Ok(all),
    }
}

/// The kernels of a module that are meant.
fn choose(known: &[Entry], args: &KernelArgs) -> Vec<Entry> {
    let Some(name) = &args.entry else {
        return known.iter().filter(|entry| entry.synchronises).cloned().collect();
    };
    let exact: Vec<Entry> = known.iter().filter(|entry| entry.name == *name).cloned().collect();
    if !exact.is_empty() {
        return exact;
    }
    known.iter().filter(|entry| entry.name.contains(name.as_str())).cloned().collect()
}

/// Reads a single module, or says which status follows and why, for people.
pub(crate) fn read(input: &mut Input, time: Option<Duration>) -> Result<Vec<u8>, (Status, String)> {
    let name = input::display_name(&input.path);
    input.read(time).map_err(|why| (why.status(), format!("cannot read {name}: {why}")))
}

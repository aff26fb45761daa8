//! `barcheck view`: makes pages of counterexamples.

use super::args::ViewArgs;
use super::deadline::Deadline;
use super::output::{Colours, Status, complain, error_line, print, save};
use super::{exhibit, input, names, pages};
use std::io;
use std::path::{Path, PathBuf};

/// Runs the command.
pub(crate) fn run(args: &ViewArgs, colours: Colours) -> io::Result<Status> {
    let trouble = |message: &str| {
        complain(&error_line(colours.err, message));
        Status::Trouble
    };
    if args.traces.iter().filter(|path| input::is_standard_input(path)).count() > 1 {
        return Ok(trouble("standard input `-` can be read only once"));
    }
    let places = match places(args) {
        Ok(places) => places,
        Err(message) => return Ok(trouble(&message)),
    };
    let mut status = Status::Success;
    for (path, place) in args.traces.iter().zip(places) {
        let name = input::display_name(path);
        match page(path, args.anyway, &Deadline::new(args.time.timeout)) {
            Err((why, said)) => {
                let said = barcheck_counterexamples::harmless(&format!("cannot show {name}: {said}"));
                complain(&error_line(colours.err, said));
                status = status.max(why);
            }
            Ok(page) => status = status.max(deliver(&page, place.as_deref(), colours)?),
        }
    }
    Ok(status)
}

/// Where the pages go, in the order of the traces; `None` is standard output.
fn places(args: &ViewArgs) -> Result<Vec<Option<PathBuf>>, String> {
    let several = args.traces.len() > 1;
    let place = |trace: &PathBuf| match &args.output {
        Some(path) if input::is_standard_input(path) => None,
        Some(path) if several || path.is_dir() => {
            Some(path.join(beside(trace).file_name().unwrap_or_default()))
        }
        Some(path) => Some(path.clone()),
        None if input::is_standard_input(trace) => None,
        None => Some(beside(trace)),
    };
    let places: Vec<_> = args.traces.iter().map(place).collect();
    if several && args.output.as_deref().is_some_and(input::is_standard_input) {
        return Err("only one page can go to standard output".to_owned());
    }
    for (number, place) in places.iter().enumerate() {
        let Some(path) = place else { continue };
        if places[..number].contains(place) {
            return Err(format!("{} is to be written twice", names::shown(path)));
        }
        if args.traces.contains(path) {
            return Err(format!("the page would overwrite the trace {}", names::shown(path)));
        }
    }
    Ok(places)
}

/// The page beside a trace.
fn beside(trace: &Path) -> PathBuf {
    if input::is_standard_input(trace) { PathBuf::from("stdin.html") } else { trace.with_extension("html") }
}

/// The page of the trace in a file. The error says what kind of failure it is, and why.
fn page(path: &Path, anyway: bool, deadline: &Deadline) -> Result<String, (Status, String)> {
    let exhibit = exhibit::read(path, anyway, deadline)?;
    let page = pages::page(&exhibit.trace, exhibit.departure).map_err(|error| (Status::Trouble, error))?;
    deadline.check("made a page").map_err(|said| (Status::Inconclusive, said))?;
    Ok(page)
}

fn deliver(page: &str, place: Option<&Path>, colours: Colours) -> io::Result<Status> {
    let Some(path) = place else {
        print(page)?;
        return Ok(Status::Success);
    };
    save("page", page, path, colours)
}

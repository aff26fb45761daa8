//! `barcheck convert`: counterexamples in the formats of other programs, and as pictures.

use super::args::ConvertArgs;
use super::deadline::Deadline;
use super::exhibit::{self, Exhibit};
use super::input;
use super::output::{Colours, Status, complain, error_line, print, save};
use barcheck_counterexamples as counterexamples;
use std::io;

/// Runs the command.
pub(crate) fn run(args: &ConvertArgs, colours: Colours) -> io::Result<Status> {
    let name = input::display_name(&args.trace);
    let place = args.output.as_deref().filter(|path| !input::is_standard_input(path));
    if place.is_some_and(|place| input::is_same(place, &args.trace)) {
        let said = format_args!("{} would overwrite the trace", args.to.name());
        complain(&error_line(colours.err, said));
        return Ok(Status::Trouble);
    }
    let deadline = Deadline::new(args.time.timeout);
    let converted = exhibit::read(&args.trace, args.anyway, &deadline).and_then(|exhibit| {
        let Exhibit { trace, departure } = exhibit;
        let text = counterexamples::convert(&trace, args.to, departure.as_deref())
            .map_err(|error| (Status::Trouble, error.to_string()))?;
        deadline.check("converted").map_err(|said| (Status::Inconclusive, said))?;
        Ok(text)
    });
    match (converted, place) {
        (Err((status, said)), _) => {
            complain(&error_line(colours.err, format_args!("cannot convert {name}: {said}")));
            Ok(status)
        }
        (Ok(text), Some(path)) => save(args.to.name(), &text, path, colours),
        (Ok(text), None) => {
            print(&text)?;
            Ok(Status::Success)
        }
    }
}

//! `barcheck fmt`: rewrites protocols in the standard layout.

use super::args::FmtArgs;
use super::deadline::Deadline;
use super::input;
use super::output::{Colours, Status, complain, error_line, print};
use super::writing;
use barcheck_specs::bar;
use std::io;
use std::path::Path;

/// Runs the command.
pub(crate) fn run(args: &FmtArgs, colours: Colours) -> io::Result<Status> {
    let mut status = Status::Success;
    for path in &args.files {
        status = status.max(format_one(path, args, colours)?);
    }
    Ok(status)
}

fn format_one(path: &Path, args: &FmtArgs, colours: Colours) -> io::Result<Status> {
    let name = input::display_name(path);
    let trouble = |message: String| {
        complain(&error_line(colours.err, message));
        Status::Trouble
    };
    let deadline = Deadline::new(args.time.timeout);
    let source = match input::protocol_within(path, deadline.limit()) {
        Ok(source) => source,
        Err(why) => {
            trouble(format!("cannot read {name}: {why}"));
            return Ok(why.status());
        }
    };
    let formatted = match bar::format(&source) {
        Ok(formatted) => formatted,
        Err(diagnostics) => {
            let text = String::from_utf8_lossy(&source);
            complain(&barcheck_specs::render(&diagnostics, &name, &text, colours.err.colour()));
            return Ok(Status::Trouble);
        }
    };
    // What is late is not written: whoever has set a time has gone on without it.
    if let Err(said) = deadline.check("formatted") {
        complain(&error_line(colours.err, format!("{name}: {said}")));
        return Ok(Status::Inconclusive);
    }
    let differs = formatted.as_bytes() != source;
    if args.check {
        if !differs {
            return Ok(Status::Success);
        }
        print(&format!("{name}: not formatted\n"))?;
        return Ok(Status::Failure);
    }
    if input::is_standard_input(path) {
        print(&formatted)?;
    } else if differs && let Err(error) = writing::write(path, &formatted) {
        return Ok(trouble(format!("cannot write {name}: {error}")));
    }
    Ok(Status::Success)
}

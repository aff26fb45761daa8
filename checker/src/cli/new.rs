//! `barcheck new`: starting points for one's own protocols.

use super::args::NewArgs;
use super::input::is_standard_input;
use super::names::shown;
use super::output::{Colours, Status, complain, error_line, print};
use barcheck_model::program::Target;
use barcheck_specs::library::{Protocol, templates};
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Runs the command.
pub(crate) fn run(args: &NewArgs, colours: Colours) -> io::Result<Status> {
    let trouble = |message: &str| {
        complain(&error_line(colours.err, message));
        Ok(Status::Trouble)
    };
    let template = match template(&args.kind, args.target) {
        Ok(template) => template,
        Err(message) => return trouble(&message),
    };
    let path = args.output.clone().unwrap_or_else(|| PathBuf::from(format!("{}.bar", args.kind)));
    if is_standard_input(&path) {
        print(template.text)?;
        return Ok(Status::Success);
    }
    match create(&path, template.text) {
        Ok(()) => {
            let (said, next) = (colours.out.faint("protocol written to"), colours.out.faint("next:"));
            print(&format!("{said} {}\n{next} barcheck verify {}\n", shown(&path), shown(&path)))?;
            Ok(Status::Success)
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => trouble(&format!(
            "{} is there already, and is not overwritten: give -o another PATH",
            shown(&path)
        )),
        Err(error) => trouble(&format!("cannot write {}: {error}", shown(&path))),
    }
}

/// The starting point of a kind, for a target or the first that has it. The error is a message.
fn template(kind: &str, target: Option<Target>) -> Result<Protocol, String> {
    let of = |target: Target| templates().find(|template| template.parts() == (kind, target.name()));
    let has: Vec<Target> = Target::ALL.into_iter().filter(|target| of(*target).is_some()).collect();
    let wanted = target.or_else(|| has.first().copied());
    wanted.and_then(of).ok_or_else(|| {
        let names: Vec<_> = has.iter().map(|target| target.name()).collect();
        let wanted = wanted.map_or("any target", Target::name);
        format!("there is no `{kind}` for {wanted}; it is there for {}", names.join(", "))
    })
}

/// Writes a file that is not there yet.
fn create(path: &Path, text: &str) -> io::Result<()> {
    let mut file = File::options().write(true).create_new(true).open(path)?;
    file.write_all(text.as_bytes())
}

//! `barcheck export`: protocols as models for other model checkers.

use super::args::ExportArgs;
use super::output::{Colours, Status, complain, error_line, print, save};
use super::{input, protocol};
use barcheck::Levels;
use barcheck::export::{Exported, export};
use barcheck_model::machine::Options;
use barcheck_model::rule::{Level, Rule};
use std::io;
use std::sync::Arc;

/// Runs the command; `changes` are the levels that the user asks for.
pub(crate) fn run(args: &ExportArgs, changes: Vec<(Rule, Level)>, colours: Colours) -> io::Result<Status> {
    let name = input::display_name(&args.file);
    let place = args.output.as_deref().filter(|path| !input::is_standard_input(path));
    let trouble = |message: &str| {
        complain(&error_line(colours.err, message));
        Ok(Status::Trouble)
    };
    if place.is_some_and(|place| input::is_same(place, &args.file)) {
        return trouble("the model would overwrite the protocol");
    }
    let loaded = match protocol::load(&args.file, &args.define, colours) {
        Ok(loaded) => loaded,
        Err(said) => {
            complain(&said);
            return Ok(Status::Trouble);
        }
    };
    let options = Options { exited_threads: args.exited_threads };
    let levels = Levels { changes, strict: args.levels.strict };
    match export(Arc::new(loaded.program), options, &levels, (&name, &module(args)), args.to) {
        Err(error) => trouble(&format!("cannot export {name}: {error}")),
        Ok(Exported { text, beside, notes }) => {
            for note in notes {
                complain(&format!("{} {note}\n", colours.err.unsure("note:")));
            }
            let Some(path) = place else {
                // What stands after the end of a module is no part of it.
                let beside = beside.map(|(_, text)| text).unwrap_or_default();
                return print(&format!("{text}{beside}")).map(|()| Status::Success);
            };
            match (save("model", &text, path, colours)?, beside) {
                (Status::Success, Some((ending, text))) => {
                    save("configuration", &text, &path.with_extension(ending), colours)
                }
                (status, _) => Ok(status),
            }
        }
    }
}

/// The name of a module: that of the file that it is written to, in which TLA+ looks for it.
fn module(args: &ExportArgs) -> String {
    let path = args.output.as_deref().filter(|path| !input::is_standard_input(path)).unwrap_or(&args.file);
    let stem = path.file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default();
    let plain: String = stem.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if plain.chars().any(|c| c.is_ascii_alphabetic()) { plain } else { "protocol".to_owned() }
}

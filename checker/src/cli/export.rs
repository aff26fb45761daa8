//! `barcheck export`: protocols as models for other model checkers.

use super::args::{Changes, ExportArgs};
use super::input;
use super::output::{Colours, Status};
use super::protocol::{Made, Task};
use barcheck::export::{Exported, export};
use barcheck_model::machine::Options;
use std::io;
use std::sync::Arc;

/// Runs the command; `changes` are the levels that the user asks for.
pub(crate) fn run(args: &ExportArgs, changes: Changes, colours: Colours) -> io::Result<Status> {
    let ExportArgs { file, define, output, time, .. } = args;
    let task = Task { what: "model", file, define, output: output.as_ref(), time, colours };
    let options = Options { exited_threads: args.exited_threads };
    let levels = args.levels.levels(changes.rules);
    task.run(|loaded, name, patience| {
        let levels = barcheck::levels(&levels, &loaded.allows);
        let program = Arc::new(loaded.program);
        match export(program, options, &levels, (name, &module(args)), args.to, patience) {
            Ok(Exported { text, beside, notes }) => Ok(Made { text, beside, notes }),
            Err(error) => Err((Status::Trouble, format!("cannot export {name}: {error}"))),
        }
    })
}

/// The name of a module: that of the file that it is written to, in which TLA+ looks for it.
fn module(args: &ExportArgs) -> String {
    let path = args.output.as_deref().filter(|path| !input::is_standard_input(path)).unwrap_or(&args.file);
    let stem = path.file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default();
    let plain: String = stem.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if plain.chars().any(|c| c.is_ascii_alphabetic()) { plain } else { "protocol".to_owned() }
}

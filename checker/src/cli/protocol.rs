//! The one protocol of a command that does not decide it.

use super::input;
use super::output::{Colours, error_line};
use super::values::{self, Define};
use barcheck_specs::{LoadOptions, Loaded, Source, render};
use std::path::Path;

/// Reads a protocol, with what the user sets of its params. The error is for people, ended by a line break.
pub(crate) fn load(file: &Path, define: &[Define], colours: Colours) -> Result<Loaded, String> {
    let name = input::display_name(file);
    let bytes = input::protocol(file)
        .map_err(|why| error_line(colours.err, format_args!("cannot read {name}: {why}")))?;
    let defines = define.iter().map(|define| (define.name.clone(), define.value)).collect();
    let source = Source::new(&name, &bytes);
    let loaded = barcheck_specs::load(&source, &LoadOptions { defines })
        .map_err(|error| render(&error.diagnostics, &name, &error.text, colours.err.colour()))?;
    match define.iter().find(|define| !loaded.params.contains(&define.name)) {
        Some(unknown) => Err(error_line(colours.err, values::no_such_param(unknown, true, &loaded.params))),
        None => Ok(loaded),
    }
}

//! Commands that make a text of one protocol, without deciding it.

use super::args::TimeArgs;
use super::deadline::Deadline;
use super::input;
use super::output::{Colours, Status, complain, error_line, print, save};
use super::values::{self, Define};
use barcheck::Patience;
use barcheck_specs::{LoadOptions, Loaded, Source, load_within, render};
use std::io;
use std::path::{Path, PathBuf};

/// What is to be made of a protocol.
pub(crate) struct Task<'t> {
    /// What the text is.
    pub(crate) what: &'static str,
    /// The protocol.
    pub(crate) file: &'t Path,
    /// What the user sets of its params.
    pub(crate) define: &'t [Define],
    /// Where the text goes.
    pub(crate) output: Option<&'t PathBuf>,
    /// How long it may take.
    pub(crate) time: &'t TimeArgs,
    /// Of what is said.
    pub(crate) colours: Colours,
}

/// What was made.
pub(crate) struct Made {
    /// The text.
    pub(crate) text: String,
    /// What belongs into a file beside it, with the ending of that file's name.
    pub(crate) beside: Option<(&'static str, String)>,
    /// What the user should know.
    pub(crate) notes: Vec<String>,
}

/// What has gone wrong: the status that follows from it, and a message for people, ended by a line break.
type Failure = (Status, String);

impl Task<'_> {
    /// Reads the protocol, calls `make` with it and with its name for people, and writes what comes of that.
    /// The error of `make` is a message without a line break.
    pub(crate) fn run(
        &self,
        make: impl FnOnce(Loaded, &str, &Patience) -> Result<Made, (Status, String)>,
    ) -> io::Result<Status> {
        let place = self.output.map(PathBuf::as_path).filter(|path| !input::is_standard_input(path));
        match self.make(place, make) {
            Err((status, said)) => {
                complain(&said);
                Ok(status)
            }
            Ok(made) => self.deliver(made, place),
        }
    }

    fn make(
        &self,
        place: Option<&Path>,
        make: impl FnOnce(Loaded, &str, &Patience) -> Result<Made, (Status, String)>,
    ) -> Result<Made, Failure> {
        let line = |(status, said): (Status, String)| (status, error_line(self.colours.err, said));
        if place.is_some_and(|place| input::is_same(place, self.file)) {
            return Err(line((Status::Trouble, format!("the {} would overwrite the protocol", self.what))));
        }
        let deadline = Deadline::new(self.time.timeout);
        let name = input::display_name(self.file);
        let loaded = self.load(&deadline, &name)?;
        let late = || line((Status::Inconclusive, format!("{name}: {}", deadline.said("evaluated"))));
        match make(loaded, &name, deadline.patience()) {
            // What local computation there is may have been ended: nothing that was made of it is right.
            _ if deadline.patience().has_run_out() => Err(late()),
            made => made.map_err(line),
        }
    }

    /// Reads the protocol.
    fn load(&self, deadline: &Deadline, name: &str) -> Result<Loaded, Failure> {
        let line = |said: String| error_line(self.colours.err, said);
        let bytes = input::protocol_within(self.file, deadline.limit())
            .map_err(|why| (why.status(), line(format!("cannot read {name}: {why}"))))?;
        let defines = self.define.iter().map(|define| (define.name.clone(), define.value)).collect();
        let source = Source::new(name, &bytes);
        let loaded =
            load_within(&source, &LoadOptions { defines }, deadline.patience()).map_err(|error| {
                if error.is_late() {
                    return (Status::Inconclusive, line(format!("{name}: {}", deadline.said("read"))));
                }
                let said = render(&error.diagnostics, name, &error.text, self.colours.err.colour());
                (Status::Trouble, said)
            })?;
        match self.define.iter().find(|define| !loaded.params.contains(&define.name)) {
            Some(unknown) => {
                Err((Status::Trouble, line(values::no_such_param(&unknown.name, true, &loaded.params))))
            }
            None => Ok(loaded),
        }
    }

    /// Writes what was made.
    fn deliver(&self, Made { text, beside, notes }: Made, place: Option<&Path>) -> io::Result<Status> {
        for note in notes {
            complain(&format!("{} {note}\n", self.colours.err.unsure("note:")));
        }
        let Some(path) = place else {
            // Readers of the first text stop where it ends.
            let beside = beside.map(|(_, text)| text).unwrap_or_default();
            return print(&format!("{text}{beside}")).map(|()| Status::Success);
        };
        match (save(self.what, &text, path, self.colours)?, beside) {
            (Status::Success, Some((ending, text))) => {
                save("configuration", &text, &path.with_extension(ending), self.colours)
            }
            (status, _) => Ok(status),
        }
    }
}

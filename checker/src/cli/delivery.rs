//! Where the reports go: one to standard output, any number to files.

use super::args::VerifyArgs;
use super::assumed::notes;
use super::decided::Decided;
use super::files::Input;
use super::formats::{Reporter, reporter};
use super::human;
use super::input;
use super::names::shown;
use super::output::{Colours, Look, Palette, complain, error_line, print};
use super::tally::Tally;
use super::values::ReportFormat;
use super::writing::{self, Draft};
use super::written::Written;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// The reports of a run.
pub(crate) struct Delivery {
    out: Box<dyn Reporter>,
    /// What is wrong with a text goes to standard error.
    complains: bool,
    /// Notes are left out.
    quiet: bool,
    /// Nobody reads standard output any more.
    closed: bool,
    files: Vec<ReportFile>,
    err: Palette,
    failed: bool,
}

/// A report on its way to a file.
struct ReportFile {
    path: PathBuf,
    /// Nothing if something could not be written: it has been said, and the rest would make no sense.
    draft: Option<Draft>,
    reporter: Box<dyn Reporter>,
}

impl Delivery {
    /// The reports that are asked for. Their files are begun at once: that one cannot be written should be
    /// known before a long search, not after it. The error is a message.
    pub(crate) fn new(args: &VerifyArgs, inputs: &[Input], colours: Colours) -> Result<Self, String> {
        check_paths(args, inputs)?;
        let mut files = Vec::new();
        for report in &args.report {
            let path = &report.path;
            let draft = create(path).map_err(|error| format!("cannot write {}: {error}", shown(path)))?;
            let look = Look { unfold: args.unfold, ..Look::file() };
            let reporter = reporter(report.format, look, args.quiet, true);
            files.push(ReportFile { path: path.clone(), draft: Some(draft), reporter });
        }
        let look = Look { unfold: args.unfold, ..Look::terminal(colours.out) };
        Ok(Self {
            out: reporter(args.format, look, args.quiet, false),
            complains: args.format == ReportFormat::Human,
            quiet: args.quiet,
            closed: false,
            files,
            err: colours.err,
            failed: false,
        })
    }

    /// Passes on a file that is decided. The error is that of standard output, if nothing else is to be
    /// written.
    pub(crate) fn file(&mut self, decided: &Decided, traces: &[Written]) -> io::Result<()> {
        if self.complains {
            complain(&human::on_standard_error(decided, self.err));
        }
        let text = self.out.file(decided, traces);
        let written = self.each(&text, |reporter| reporter.file(decided, traces));
        if self.complains {
            // The verdict and its cause come first.
            complain(&notes(decided, self.quiet, self.err));
        }
        written
    }

    /// Writes what remains, and puts the reports into their places.
    pub(crate) fn end(&mut self, tally: &Tally) -> io::Result<()> {
        let text = self.out.end(tally);
        let printed = self.each(&text, |reporter| reporter.end(tally));
        for report in &mut self.files {
            let kept = report.draft.take().map_or(Ok(()), Draft::keep);
            self.failed |= report.has_failed(kept, self.err);
        }
        printed
    }

    /// Whether something could not be written.
    pub(crate) fn failed(&self) -> bool {
        self.failed
    }

    fn each(&mut self, out: &str, text: impl Fn(&mut dyn Reporter) -> String) -> io::Result<()> {
        for report in &mut self.files {
            let text = text(report.reporter.as_mut());
            let Some(draft) = &mut report.draft else { continue };
            let written = draft.write_all(text.as_bytes());
            self.failed |= report.has_failed(written, self.err);
        }
        if self.closed || out.is_empty() {
            return Ok(());
        }
        match print(out) {
            Err(error) if !self.files.is_empty() => {
                self.closed = true;
                if error.kind() != ErrorKind::BrokenPipe {
                    complain(&error_line(self.err, format_args!("cannot write the output: {error}")));
                    self.failed = true;
                }
                Ok(())
            }
            written => written,
        }
    }
}

impl ReportFile {
    /// Whether it could not be written. Then that is said, and no more is written to it.
    fn has_failed(&mut self, written: io::Result<()>, palette: Palette) -> bool {
        let Err(error) = written else { return false };
        let path = shown(&self.path);
        complain(&error_line(palette, format_args!("cannot write {path}: {error}")));
        self.draft = None;
        true
    }
}

/// A report must overwrite neither another nor what it is about.
fn check_paths(args: &VerifyArgs, inputs: &[Input]) -> Result<(), String> {
    for (number, report) in args.report.iter().enumerate() {
        let path = &report.path;
        let mut others =
            args.report[..number].iter().map(|earlier| &earlier.path).chain(&args.trace).chain(&args.html);
        if others.any(|other| is_same(other, path)) {
            return Err(format!("{} is to be written twice", shown(path)));
        }
        // What is not there yet is no protocol, whatever leads to it.
        let there = path.exists();
        if inputs.iter().any(|input| input.path == *path || (there && is_same(&input.path, path))) {
            return Err(format!("a report would overwrite the protocol {}", shown(path)));
        }
    }
    Ok(())
}

/// Begins a file, and makes the folder that it is to stand in.
fn create(path: &Path) -> io::Result<Draft> {
    writing::make_folder(path)?;
    Draft::new(path)
}

/// Whether two paths lead to one file, there already or yet to be made; devices take any number of reports.
fn is_same(one: &Path, other: &Path) -> bool {
    let is_device = other.exists() && !other.is_file() && !other.is_dir();
    !is_device && input::real(one) == input::real(other)
}

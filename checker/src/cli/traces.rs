//! Writes counterexamples to files.

use super::decided::Decided;
use super::names::shown;
use super::output::grouped;
use super::pages;
use super::report::json_line;
use super::writing;
use barcheck_counterexamples::Trace;
use barcheck_model::rule::{Level, Rule};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What a counterexample is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// JSON, for `--trace`.
    Trace,
    /// HTML, for `--html`.
    Page,
}

impl Form {
    /// The ending of its files.
    fn ending(self) -> &'static str {
        match self {
            Self::Trace => "json",
            Self::Page => "html",
        }
    }

    fn text(self, trace: &Trace) -> io::Result<String> {
        if trace.is_excerpt() {
            let (length, written) = (grouped(trace.length() as u64), grouped(trace.steps.len() as u64));
            let why = format!(
                "only {written} of the {length} steps of the counterexample are known, too few to replay it"
            );
            return Err(io::Error::other(why));
        }
        match self {
            Self::Trace => Ok(json_line(trace)),
            Self::Page => pages::page(trace, None).map_err(io::Error::other),
        }
    }
}

/// A file that holds a counterexample.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    /// As what.
    pub(crate) form: Form,
    /// Where.
    pub(crate) path: PathBuf,
}

impl Written {
    /// What to say of it, before its path.
    pub(crate) fn said(&self) -> &'static str {
        match self.form {
            Form::Trace => "trace written to",
            Form::Page => "page written to",
        }
    }
}

/// Where `--trace` or `--html` writes.
pub(crate) struct TraceSink {
    form: Form,
    path: PathBuf,
    folder: bool,
    /// The names given so far: two files of the same name in different folders must not overwrite each other.
    used: BTreeSet<String>,
}

impl TraceSink {
    /// A sink for PATH, which is a folder if there may be `several` counterexamples, or if it is one already.
    fn new(form: Form, path: PathBuf, several: bool) -> Self {
        let folder = several || path.is_dir();
        Self { form, path, folder, used: BTreeSet::new() }
    }

    /// The sinks for `--trace` and `--html`, as far as they are given.
    pub(crate) fn all(trace: &Option<PathBuf>, html: &Option<PathBuf>, several: bool) -> Vec<Self> {
        let wanted = [(Form::Trace, trace), (Form::Page, html)].into_iter();
        wanted.filter_map(|(form, path)| Some(Self::new(form, path.clone()?, several))).collect()
    }

    /// Writes the counterexamples of a file, or the way to what kept it from being decided. Returns the files
    /// written, for each in turn, and what went wrong, if anything.
    pub(crate) fn write(&mut self, decided: &Decided) -> (Vec<Written>, Option<String>) {
        let mut written = Vec::new();
        for (path, trace) in self.plan(decided) {
            if let Err(error) = self.write_one(&path, trace) {
                return (written, Some(format!("cannot write {}: {error}", shown(&path))));
            }
            written.push(Written { form: self.form, path });
        }
        (written, None)
    }

    /// Writes one counterexample of a file. The error says what went wrong.
    pub(crate) fn write_single(&mut self, file: &str, rule: Rule, trace: &Trace) -> Result<Written, String> {
        let path = if self.folder {
            let name = self.name(&stem(file), rule.name());
            self.path.join(name)
        } else {
            self.path.clone()
        };
        self.write_one(&path, trace).map_err(|error| format!("cannot write {}: {error}", shown(&path)))?;
        Ok(Written { form: self.form, path })
    }

    fn plan<'d>(&mut self, decided: &'d Decided) -> Vec<(PathBuf, &'d Trace)> {
        let findings = &decided.findings;
        let stop = decided.path_to_stop.as_ref().zip(decided.trouble());
        if self.folder {
            let kernel = decided.kernel.as_deref().map(|kernel| format!("-{}", short(kernel)));
            let stem = format!("{}{}", stem(&decided.name), kernel.unwrap_or_default());
            let found = findings.iter().map(|found| (found.rule.name(), &found.trace));
            let all = found.chain(stop.map(|(trace, trouble)| (trouble.name(), trace)));
            let mut place = |what| {
                let name = self.name(&stem, what);
                self.path.join(name)
            };
            return all.map(|(what, trace)| (place(what), trace)).collect();
        }
        let error = findings.iter().find(|found| found.level == Level::Error);
        let found = error.map(|found| &found.trace).or(decided.path_to_stop.as_ref());
        let one = found.or(findings.first().map(|found| &found.trace));
        one.map(|trace| (self.path.clone(), trace)).into_iter().collect()
    }

    fn name(&mut self, stem: &str, what: &str) -> String {
        let base = format!("{stem}-{what}");
        let ending = self.form.ending();
        let mut name = format!("{base}.{ending}");
        let mut number = 1;
        while !self.used.insert(name.clone()) {
            number += 1;
            name = format!("{base}-{number}.{ending}");
        }
        name
    }

    fn write_one(&self, path: &Path, trace: &Trace) -> io::Result<()> {
        if self.folder {
            fs::create_dir_all(&self.path)?;
        }
        writing::write(path, &self.form.text(trace)?)
    }
}

/// As much of a kernel's name as a file's name should have.
fn short(kernel: &str) -> String {
    kernel.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').take(60).collect()
}

fn stem(file: &str) -> String {
    if file == "-" {
        return "stdin".to_owned();
    }
    Path::new(file).file_stem().map_or_else(|| "protocol".to_owned(), |s| s.to_string_lossy().into_owned())
}

//! Writes counterexamples to files.

use super::decided::Decided;
use super::names::shown;
use super::output::{Look, grouped};
use super::pages::{self, Row};
use super::report::json_line;
use super::sweep;
use super::tally::Tally;
use super::writing;
use super::written::{Form, Written};
use barcheck_counterexamples::Trace;
use barcheck_model::rule::{Level, Rule};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The text of a counterexample in a form.
fn text_of(form: Form, trace: &Trace) -> io::Result<String> {
    if trace.is_excerpt() {
        let (length, written) = (grouped(trace.length() as u64), grouped(trace.steps.len() as u64));
        let why = format!(
            "only {written} of the {length} steps of the counterexample are known, too few to replay it"
        );
        return Err(io::Error::other(why));
    }
    match form {
        Form::Trace => Ok(json_line(trace)),
        Form::Page => pages::page(trace, None).map_err(io::Error::other),
    }
}

/// Where `--trace` or `--html` writes.
pub(crate) struct TraceSink {
    form: Form,
    path: PathBuf,
    folder: bool,
    /// The names given so far: two files of the same name in different folders must not overwrite each other.
    used: BTreeSet<String>,
    /// The files so far, for the page that lists them.
    rows: Vec<Row>,
}

impl TraceSink {
    /// A sink for PATH, which is a folder if there may be `several` counterexamples, or if it is one already.
    fn new(form: Form, path: PathBuf, several: bool) -> Self {
        let folder = several || path.is_dir();
        Self { form, path, folder, used: BTreeSet::new(), rows: Vec::new() }
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
        if self.form == Form::Page
            && let Err(error) = self.add_page(decided, &mut written)
        {
            return (written, Some(error));
        }
        (written, None)
    }

    /// Adds the page of what was proved, and the file to the page that lists all.
    fn add_page(&mut self, decided: &Decided, written: &mut Vec<Written>) -> Result<(), String> {
        // In the order in which they were written.
        let whats = decided.findings.iter().map(|found| found.rule.name());
        let whats = whats.chain(decided.trouble().map(|trouble| trouble.name()));
        let name = |file: &Written| file.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut pages: Vec<_> = whats.map(str::to_owned).zip(written.iter().map(name)).collect();
        let proof = pages::proof(decided).filter(|_| self.folder || written.is_empty());
        if let Some(page) = proof {
            let path = if self.folder {
                let name = self.name(&stem_of(decided), decided.verdict.name());
                pages.insert(0, (decided.verdict.name().to_owned(), name.clone()));
                self.path.join(name)
            } else {
                written.push(Written { form: self.form, path: self.path.clone() });
                self.path.clone()
            };
            self.save(&path, &page).map_err(|error| format!("cannot write {}: {error}", shown(&path)))?;
        }
        if self.folder {
            self.rows.push(Row::new(decided, pages));
        }
        Ok(())
    }

    /// Where the page is that lists all files, if there is one.
    fn index(&self) -> Option<PathBuf> {
        (self.form == Form::Page && self.folder).then(|| self.path.join("index.html"))
    }

    /// Where it would replace a file that somebody else has written.
    pub(crate) fn foreign_index(&self) -> Option<PathBuf> {
        self.index().filter(|path| !pages::is_ours(path))
    }

    /// Writes the page that lists all files, if there is one. The error says what went wrong.
    pub(crate) fn write_index(&self, tally: &Tally) -> Result<Option<PathBuf>, String> {
        let Some(path) = self.index() else { return Ok(None) };
        let page = pages::index(&self.rows, &tally.line(Look::file().palette));
        self.save(&path, &page).map_err(|error| format!("cannot write {}: {error}", shown(&path)))?;
        Ok(Some(path))
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
            let stem = stem_of(decided);
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
        let text = text_of(self.form, trace)?;
        self.save(path, &text)
    }

    fn save(&self, path: &Path, text: &str) -> io::Result<()> {
        if self.folder {
            fs::create_dir_all(&self.path)?;
        }
        writing::write(path, text)
    }
}

/// The beginning of the names of a file's counterexamples.
fn stem_of(decided: &Decided) -> String {
    let kernel = decided.kernel.as_deref().map(|kernel| format!("-{}", short(kernel))).unwrap_or_default();
    format!("{}{kernel}{}", stem(&decided.name), sweep::suffix(&decided.parameters))
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

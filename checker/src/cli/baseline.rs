//! Findings that are known: read from a file, looked up, and written to one.
//!
//! A line of the file is a fingerprint, a rule and a protocol's path, the path from the folder of the file
//! itself and with what is no letter, digit or `-._~/` as `%XX`; a kernel's name follows behind a `:`. What
//! comes after a `#` is for people. A fingerprint names neither place nor folder: the path tells files of one
//! name apart, and a finding that occurs twice has two lines.

use super::decided::{Decided, Entry, Known};
use super::input::{self, Unread, is_standard_input, real};
use super::location::encoded;
use super::names::shown;
use super::writing::Draft;
use barcheck::Check;
use barcheck_counterexamples::harmless;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::{Component, Path, PathBuf};

/// Digits of a fingerprint.
const DIGITS: usize = 16;

/// What stands above the findings.
const HEAD: &str = "\
# Findings that are known to barcheck, a line for each: fingerprint, rule, protocol. Written by
# `barcheck verify --write-baseline`; `barcheck verify --baseline` does not fail for them.
";

/// The findings that are known.
#[derive(Debug)]
pub(crate) struct Baseline {
    path: PathBuf,
    /// By protocol, in the order of the file.
    entries: BTreeMap<String, Vec<Entry>>,
}

impl Baseline {
    /// Reads a baseline. The error is a message with file and, where it is malformed, line.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let name = shown(path);
        let bytes = input::trace(path, None).map_err(|why: Unread| format!("cannot read {name}: {why}"))?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
            format!("{name}:{line}: this is not UTF-8, and no baseline")
        })?;
        let mut entries: BTreeMap<String, Vec<Entry>> = BTreeMap::new();
        for (number, line) in (1..).zip(text.lines()) {
            if let Some(entry) = entry(number, line).map_err(|why| format!("{name}:{number}: {why}"))? {
                entries.entry(entry.protocol.clone()).or_default().push(entry);
            }
        }
        Ok(Self { path: path.to_owned(), entries })
    }

    /// What it is called.
    pub(crate) fn name(&self) -> String {
        shown(&self.path)
    }

    /// What it says of a protocol that was decided. A line stands for one finding: of two that have one
    /// fingerprint, the first is the one that is known.
    pub(crate) fn known(&self, decided: &Decided) -> Known {
        let protocol = about(&self.path, decided);
        let mut left = self.entries.get(&protocol).cloned().unwrap_or_default();
        let mut take = |fingerprint: &str| {
            let at = left.iter().position(|entry| entry.fingerprint == fingerprint);
            at.map(|at| left.remove(at)).is_some()
        };
        let findings = decided.findings.iter().map(|found| take(&found.fingerprint)).collect();
        let remarks = decided.remarks.iter().map(|remark| take(&remark.fingerprint)).collect();
        let is_searched = decided.trouble().is_none() && decided.uncovered.is_none();
        let missing = if is_searched { left } else { Vec::new() };
        Known { findings, remarks, missing, baseline: shown(&self.path) }
    }

    /// The lines about protocols that are there no more, each with what it is about.
    pub(crate) fn about_nothing(&self) -> Vec<(usize, String)> {
        let place = real(&self.path);
        let folder = place.parent().unwrap_or(Path::new(""));
        let gone = |protocol: &&String| *protocol != STDIN && !folder.join(decoded(file(protocol))).exists();
        let gone = self.entries.iter().filter(|(protocol, _)| gone(protocol));
        let mut lines: Vec<_> = gone
            .flat_map(|(_, entries)| entries)
            .map(|entry| (entry.line, harmless(&decoded(&entry.protocol).to_string_lossy())))
            .collect();
        lines.sort();
        lines
    }
}

/// What stands for standard input; no path of a protocol reads like it.
const STDIN: &str = "<stdin>";

/// The finding in a line, if there is one. The error says what is wrong with it.
fn entry(line: usize, text: &str) -> Result<Option<Entry>, String> {
    let text = text.split_once('#').map_or(text, |(before, _)| before);
    let words: Vec<&str> = text.split_whitespace().collect();
    let short = |word: &str| harmless(&word.chars().take(40).collect::<String>());
    let [fingerprint, rule, protocol] = words[..] else {
        return match words.len() {
            0 => Ok(None),
            n => Err(format!("expected a fingerprint, a rule and a protocol, found {n} words")),
        };
    };
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    if fingerprint.len() != DIGITS || !fingerprint.bytes().all(is_digit) {
        let found = short(fingerprint);
        return Err(format!("expected a fingerprint of {DIGITS} hexadecimal digits, found `{found}`"));
    }
    let check = Check::from_name(rule).ok_or_else(|| format!("there is no rule `{}`", short(rule)))?;
    let (fingerprint, protocol) = (fingerprint.to_owned(), protocol.to_owned());
    Ok(Some(Entry { line, fingerprint, check, protocol }))
}

/// A baseline in the making.
#[derive(Debug)]
pub(crate) struct Record {
    path: PathBuf,
    draft: Draft,
    lines: Vec<String>,
}

impl Record {
    /// A baseline that is to be written. That it cannot be should be known before a long search.
    pub(crate) fn new(path: &Path) -> io::Result<Self> {
        super::writing::make_folder(path)?;
        Ok(Self { path: path.to_owned(), draft: Draft::new(path)?, lines: Vec::new() })
    }

    /// What it will be called.
    pub(crate) fn name(&self) -> String {
        shown(&self.path)
    }

    /// Adds what was found.
    pub(crate) fn add(&mut self, decided: &Decided) {
        let protocol = about(&self.path, decided);
        let found = decided.findings.iter().map(|f| (&f.fingerprint, f.rule.name(), &f.message));
        let said = decided
            .remarks
            .iter()
            .map(|remark| (&remark.fingerprint, remark.lint.name(), &remark.diagnostic.message));
        for (fingerprint, rule, message) in found.chain(said) {
            let mut line = format!("{fingerprint} {rule} {protocol}");
            let _ = write!(line, " # {}", harmless(message).replace('\n', " "));
            self.lines.push(line);
        }
    }

    /// Writes it; returns the number of findings.
    pub(crate) fn keep(mut self) -> io::Result<usize> {
        self.draft.write_all(HEAD.as_bytes())?;
        for line in &self.lines {
            self.draft.write_all(line.as_bytes())?;
            self.draft.write_all(b"\n")?;
        }
        self.draft.keep()?;
        Ok(self.lines.len())
    }
}

/// How a baseline names what was decided.
fn about(baseline: &Path, decided: &Decided) -> String {
    let file = reference(baseline, &decided.path);
    match &decided.kernel {
        Some(kernel) => format!("{file}:{}", encoded(kernel.as_bytes())),
        None => file,
    }
}

/// The part of such a name that is the file's.
fn file(protocol: &str) -> &str {
    protocol.split_once(':').map_or(protocol, |(file, _)| file)
}

/// How a baseline names a protocol: the way from its own folder.
fn reference(baseline: &Path, protocol: &Path) -> String {
    if is_standard_input(protocol) {
        return STDIN.to_owned();
    }
    let (from, to) = (real(baseline), real(protocol));
    let from: Vec<_> = from.parent().map(|folder| folder.components().collect()).unwrap_or_default();
    let to: Vec<_> = to.components().collect();
    let common = from.iter().zip(&to).take_while(|(from, to)| from == to).count();
    let up = from[common..].iter().map(|_| "..".to_owned());
    let down = to[common..].iter().map(|part| match part {
        Component::RootDir => String::new(),
        part => encoded(part.as_os_str().as_encoded_bytes()),
    });
    up.chain(down).collect::<Vec<_>>().join("/")
}

/// The path that a reference stands for.
fn decoded(reference: &str) -> PathBuf {
    let mut bytes = Vec::with_capacity(reference.len());
    let mut rest = reference.as_bytes();
    while let [first, others @ ..] = rest {
        let digits = others.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits.filter(|_| *first == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &others[2..] } else { others };
    }
    path(bytes)
}

#[cfg(unix)]
fn path(bytes: Vec<u8>) -> PathBuf {
    use std::os::unix::ffi::OsStringExt as _;
    PathBuf::from(std::ffi::OsString::from_vec(bytes))
}

#[cfg(not(unix))]
fn path(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_fingerprint_a_rule_and_a_protocol() {
        let line = "0123456789abcdef deadlock a%20b/ring.bar # warp 0 waits";
        let found = entry(7, line).expect("it is well formed").expect("and no comment");
        assert_eq!((found.line, found.fingerprint.as_str()), (7, "0123456789abcdef"));
        assert_eq!(found.check.name(), "deadlock");
        assert_eq!(decoded(&found.protocol), PathBuf::from("a b/ring.bar"));
        for comment in ["", "   ", "# all of it", "  # this"] {
            assert_eq!(entry(1, comment), Ok(None));
        }
        for (line, why) in [
            ("0123456789abcdef deadlock", "found 2 words"),
            ("0123456789abcdef deadlock a b", "found 4 words"),
            ("0123456789ABCDEF deadlock a", "16 hexadecimal digits"),
            ("0123 deadlock a", "found `0123`"),
            ("0123456789abcdef dead-lock a", "no rule `dead-lock`"),
        ] {
            assert!(entry(1, line).is_err_and(|said| said.contains(why)), "{line}");
        }
    }

    #[test]
    fn protocols_are_named_from_where_the_baseline_lies() {
        let name = |baseline: &str, protocol: &str| reference(Path::new(baseline), Path::new(protocol));
        assert_eq!(name("/no/such/base.txt", "/no/such/ring.bar"), "ring.bar");
        assert_eq!(name("/no/such/base.txt", "/no/such/a b/ring.bar"), "a%20b/ring.bar");
        assert_eq!(name("/no/such/ci/base.txt", "/no/such/x/#1.bar"), "../x/%231.bar");
        assert_eq!(name("base.txt", "src/../x.bar"), "x.bar");
        assert_eq!(name("base.txt", "-"), STDIN);
        assert_eq!(decoded("%zz%4"), PathBuf::from("%zz%4"));
    }
}

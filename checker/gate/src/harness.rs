//! Protocols as tests of a crate: what [`gate!`](crate::gate!) expands to.

use super::child::is_child;
use super::effort::{Effort, MOST_UNDER_LOOM, With};
use super::explore::explore_here;
use super::protocol::Protocol;
use super::verdict::{Gated, explore};
use barcheck_counterexamples::{self as counterexamples, Style, Trace};
use barcheck_decide::{
    Budgets, Decision, LoadOptions, Options, Reason, Settings, Source, Trouble, Verdict, decide,
};
use barcheck_model::machine::{self, ExitedThreads};
use barcheck_model::rule::Level;
use barcheck_specs::naming::{in_short, meant};
use barcheck_specs::{Entry, entries};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The test function that is running, and the crate it belongs to.
#[derive(Clone, Copy, Debug)]
pub struct Here {
    /// The path of its module, the crate included.
    pub module: &'static str,
    /// Its name.
    pub name: &'static str,
    /// The folder of the crate's manifest: protocols are named from there.
    pub folder: &'static str,
}

/// A protocol that is tested, and how. The numbers are meant for a test that runs with every build; a nightly
/// job may raise them.
#[derive(Clone, Debug)]
pub struct Gate {
    file: String,
    defines: BTreeMap<String, i64>,
    exited_threads: ExitedThreads,
    seconds: f64,
    preemptions: Option<usize>,
    executions: u64,
    seed: u64,
    entry: Option<String>,
}

/// The threads of a CTA, in up to three directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cta([u32; 3]);

impl From<u32> for Cta {
    fn from(x: u32) -> Self {
        Self([x, 1, 1])
    }
}

impl From<[u32; 2]> for Cta {
    fn from([x, y]: [u32; 2]) -> Self {
        Self([x, y, 1])
    }
}

impl From<[u32; 3]> for Cta {
    fn from(size: [u32; 3]) -> Self {
        Self(size)
    }
}

impl Gate {
    /// The protocol of a file, named from the folder of the crate's manifest.
    #[must_use]
    pub fn new(file: impl Into<String>) -> Self {
        let Effort { preemptions, seed, .. } = Effort::default();
        Self {
            file: file.into(),
            defines: BTreeMap::new(),
            exited_threads: ExitedThreads::Hold,
            seconds: 5.0,
            preemptions,
            executions: 1_000,
            seed,
            entry: None,
        }
    }

    /// Sets a `param` of the protocol.
    #[must_use]
    pub fn define(mut self, name: &str, value: i64) -> Self {
        self.defines.insert(name.to_owned(), value);
        self
    }

    /// Of a module of compiled kernels, the one of this name or at this position from 0, or those with it in
    /// their names; without it, all that have barriers.
    #[must_use]
    pub fn entry(mut self, name: &str) -> Self {
        self.entry = Some(name.to_owned());
        self
    }

    /// The threads of a kernel's CTA: `cta(256)`, `cta([16, 16])`.
    #[must_use]
    pub fn cta(mut self, size: impl Into<Cta>) -> Self {
        let Cta(size) = size.into();
        for (name, length) in ["cta.x", "cta.y", "cta.z"].into_iter().zip(size) {
            self.defines.insert(name.to_owned(), i64::from(length));
        }
        self
    }

    /// Fixes a parameter of a kernel, by its name, or its position from 0. With `..` behind the name the
    /// value is what it is at least: `param("n..", 1)`.
    #[must_use]
    pub fn param(self, name: &str, value: i64) -> Self {
        self.define(&format!("param.{name}"), value)
    }

    /// Reads PTX as of version 9.1: warps that wait at a barrier with a thread count are released once every
    /// other warp has exited.
    #[must_use]
    pub fn exited_threads_release(mut self) -> Self {
        self.exited_threads = ExitedThreads::Release;
        self
    }

    /// Wall-clock seconds for loom and for shuttle each (5); the exhaustive check gets ten times as much.
    #[must_use]
    pub fn seconds(mut self, seconds: f64) -> Self {
        self.seconds = seconds;
        self
    }

    /// Loom runs every schedule with at most this many preemptions, instead of raising the bound until time
    /// is up.
    #[must_use]
    pub fn preemptions(mut self, most: usize) -> Self {
        self.preemptions = Some(most);
        self
    }

    /// Schedules for shuttle (1,000).
    #[must_use]
    pub fn executions(mut self, executions: u64) -> Self {
        self.executions = executions;
        self
    }

    /// Where shuttle's chance begins.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The test that the model satisfies every rule, in every interleaving.
    ///
    /// # Panics
    /// It does not, or that could not be decided; the message is the explained counterexample.
    pub fn exhaustive(&self, here: Here) {
        let limit = Duration::try_from_secs_f64(self.seconds * 10.0).unwrap_or(Duration::MAX);
        let budgets = Budgets { max_states: None, max_memory: Some(2 << 30), timeout: Some(limit) };
        let options = Options {
            settings: Settings { budgets, ..Settings::default() },
            readings: self.readings(),
            load: LoadOptions { defines: self.defines.clone() },
            ..Options::default()
        };
        let bytes = self.read(here);
        for defines in self.each(&bytes) {
            let mut options = options.clone();
            options.load.defines = defines;
            self.proved(here, &decide(&Source::new(&self.file, &bytes), &options));
        }
    }

    /// It is a proof.
    fn proved(&self, here: Here, decision: &Decision) {
        if decision.trouble() == Some(Trouble::Malformed) {
            panic!("{}", barcheck_specs::render(&decision.diagnostics, &self.file, &decision.text, false));
        }
        let reason = decision.reason.as_ref().map(Reason::line).unwrap_or_default();
        let violation = decision.findings.iter().find(|found| found.level == Level::Error);
        let why = match (decision.verdict, violation) {
            (Verdict::Verified, _) => return,
            (Verdict::Violated, Some(found)) => {
                self.explained(here, &found.trace, "in the model, by exhaustive search")
            }
            (Verdict::Inconclusive, _) => {
                format!("inconclusive after {} states: {reason}", decision.statistics.states)
            }
            (Verdict::Error | Verdict::Violated, _) => reason,
        };
        panic!("{}: {why}", self.name_with(decision.kernel.as_deref().zip(decision.entry)));
    }

    /// The test that loom finds nothing: in every schedule, or in those with a bounded number of preemptions.
    ///
    /// # Panics
    /// Loom finds a violation; the message is the explained counterexample.
    pub fn under_loom(&self, here: Here) {
        if is_child() {
            explore_here();
        }
        for protocol in self.protocols(here) {
            let agents = protocol.program.agents.len();
            if agents > MOST_UNDER_LOOM {
                let name = self.name_of(&protocol);
                println!("skipped: loom runs at most {MOST_UNDER_LOOM} agents, and {name} has {agents}");
                continue;
            }
            self.explored(here, &protocol, With::Loom);
        }
    }

    /// The test that shuttle finds nothing in schedules chosen at random.
    ///
    /// # Panics
    /// Shuttle finds a violation; the message is the explained counterexample, with the schedule that shows
    /// it again.
    pub fn under_shuttle(&self, here: Here) {
        if is_child() {
            explore_here();
        }
        for protocol in self.protocols(here) {
            self.explored(here, &protocol, With::Shuttle);
        }
    }

    fn read(&self, here: Here) -> Vec<u8> {
        let path = Path::new(here.folder).join(&self.file);
        std::fs::read(&path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()))
    }

    fn readings(&self) -> machine::Options {
        machine::Options { exited_threads: self.exited_threads }
    }

    fn protocols(&self, here: Here) -> Vec<Protocol> {
        let bytes = self.read(here);
        let each = self.each(&bytes).into_iter();
        let read = each.map(|defines| Protocol::parse(&self.file, &bytes, &defines, self.readings()));
        read.map(|read| read.unwrap_or_else(|wrong| panic!("{wrong}"))).collect()
    }

    /// The values with which each kernel of a module is read; a file that is no module is read once.
    fn each(&self, bytes: &[u8]) -> Vec<BTreeMap<String, i64>> {
        // What is wrong with the text is said when it is read.
        let known = entries(&Source::new(&self.file, bytes)).unwrap_or_default();
        if known.is_empty() {
            return vec![self.defines.clone()];
        }
        let meant = meant(&known, self.entry.as_deref());
        let wanted = self.entry.as_deref().unwrap_or("a barrier");
        assert!(!meant.is_empty(), "{}: no kernel has `{wanted}`", self.file);
        let with = |entry: &Entry| {
            let mut defines = self.defines.clone();
            defines.insert("entry.index".to_owned(), i64::try_from(entry.index).unwrap_or(i64::MAX));
            defines
        };
        meant.into_iter().map(with).collect()
    }

    fn name_of(&self, protocol: &Protocol) -> String {
        self.name_with(protocol.kernel().zip(protocol.entry()))
    }

    /// The name of the file, and of a kernel in it.
    fn name_with(&self, kernel: Option<(&str, usize)>) -> String {
        match kernel {
            Some((name, index)) => format!("{}, kernel {}", self.file, in_short(name, index)),
            None => self.file.clone(),
        }
    }

    fn explored(&self, here: Here, protocol: &Protocol, with: With) {
        let effort = Effort {
            seconds: self.seconds,
            preemptions: self.preemptions,
            executions: self.executions,
            seed: self.seed,
            ..Effort::default()
        };
        // The parent's own test, and nothing else, in a process of its own.
        let (_, module) = here.module.split_once("::").unwrap_or(("", ""));
        let test = if module.is_empty() { here.name.to_owned() } else { format!("{module}::{}", here.name) };
        let program =
            std::env::current_exe().unwrap_or_else(|error| panic!("cannot find this test again: {error}"));
        let mut command = Command::new(program);
        command.args([&test, "--exact", "--nocapture", "--include-ignored"]);
        match explore(protocol, with, &effort, command) {
            Ok(gated) => self.judge(here, &self.name_of(protocol), &gated),
            Err(trouble) => panic!("{}: {trouble}", self.name_of(protocol)),
        }
    }

    fn judge(&self, here: Here, name: &str, gated: &Gated) {
        let with = gated.with.name();
        if let Some(violation) = &gated.violation {
            let how = format!("by {with}, in execution {}", gated.executions);
            let mut text = self.explained(here, &violation.trace, &how);
            if let Some(schedule) = &violation.schedule {
                let _ = write!(text, "\nschedule for `barcheck gate --with {with} --schedule`: {schedule}");
            }
            panic!("{name}: {text}");
        }
        // Shown by `cargo test -- --nocapture`: a test that passes is a proof only as far as this goes.
        println!("{name}: {}", gated.extent_in_words());
        // What threads cannot run is left to the exhaustive test; what was to be run and was not must not
        // pass.
        let explored = gated.unfit.is_some() || gated.has_explored();
        assert!(explored, "{name}: in {} s, {}", self.seconds, gated.extent_in_words());
    }

    /// The counterexample in words, and where it was written.
    fn explained(&self, here: Here, trace: &Trace, how: &str) -> String {
        let narrative = counterexamples::narrative(trace, &Style::default());
        let mut text = format!("violated ({how})\n{narrative}");
        match self.write(here, trace) {
            Ok(path) => {
                let _ = write!(text, "\ntrace written to {}", path.display());
            }
            Err(error) => {
                let _ = write!(text, "\nthe trace could not be written: {error}");
            }
        }
        text
    }

    /// Writes a trace to the folder `$BARCHECK_TRACES` or, without it, `target/barcheck` of the crate.
    fn write(&self, here: Here, trace: &Trace) -> io::Result<PathBuf> {
        let folder = match std::env::var_os("BARCHECK_TRACES") {
            Some(folder) => PathBuf::from(folder),
            None => Path::new(here.folder).join("target").join("barcheck"),
        };
        std::fs::create_dir_all(&folder)?;
        let stem = Path::new(&self.file).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let rule = trace.outcome.rule.as_deref().unwrap_or("error");
        let path = folder.join(format!("{stem}-{rule}-{}.json", here.name));
        // Whoever reads while another test writes reads the old file or the new one, and never half of it.
        let mut beside = tempfile::Builder::new().prefix(".trace-").tempfile_in(&folder)?;
        beside.write_all(trace.to_json().map_err(io::Error::other)?.as_bytes())?;
        beside.as_file().sync_all()?;
        readable(beside.as_file())?;
        beside.persist(&path).map_err(|refused| refused.error)?;
        Ok(path)
    }
}

/// Lets everybody read what only its maker may: CI jobs collect what others have written.
fn readable(file: &File) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;

        file.set_permissions(std::fs::Permissions::from_mode(0o644))?;
    }
    Ok(())
}

/// Makes tests of a protocol: one line in a crate's tests that fails when the protocol breaks.
///
/// `barcheck::gate!("protocols/ring.bar");` makes three tests where it stands, so that a file of tests or a
/// module holds it once:
///
/// * `exhaustive`: the model checker covers every interleaving: a proof, for the protocol as described;
/// * `under_loom`: the protocol runs on executable barriers under loom, as far as its time allows (up to four
///   agents that end, and no warp of which parts go on side by side; others are left to `exhaustive`, as the
///   test's output says): a second opinion, from barriers and an explorer that share nothing with the model;
/// * `under_shuttle`: the same in schedules chosen at random, for any number of agents: no proof.
///
/// A failure's message is the explained counterexample, and the trace is written to the folder
/// `$BARCHECK_TRACES`, or else to `target/barcheck` of the crate, for `barcheck replay` and for a CI job to
/// keep. The name of the file is relative to the crate's `Cargo.toml`. Options follow as calls on
/// [`Gate`](crate::Gate); one with a single value may be written `seconds = 20.0`. Of a module of compiled
/// kernels (`.ptx`) every kernel with barriers is tested, or those that `entry` names. What of a kernel
/// cannot run on threads, as parts of a warp that go on side by side, is left to `exhaustive`, and the test's
/// output names it.
///
/// ```no_run
/// # extern crate barcheck_gate as barcheck;
/// mod ring {
///     barcheck::gate!("protocols/ring.bar", define("ROUNDS", 4), seconds(20.0));
/// }
/// mod attention {
///     barcheck::gate!("kernels/attention.ptx", entry = "attention", cta = 256, param("n", 64));
/// }
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! gate {
    ($file:expr $(, $option:ident $(($($value:expr),*))? $(= $set:expr)?)* $(,)?) => {
        $crate::gate!(@test exhaustive, $file $(, $option ($($($value),*)? $($set)?))*);
        $crate::gate!(@test under_loom, $file $(, $option ($($($value),*)? $($set)?))*);
        $crate::gate!(@test under_shuttle, $file $(, $option ($($($value),*)? $($set)?))*);
    };
    (@test $name:ident, $file:expr $(, $option:ident($($value:expr),*))*) => {
        #[test]
        fn $name() {
            $crate::Gate::new($file)$(.$option($($value),*))*.$name($crate::Here {
                module: module_path!(),
                name: stringify!($name),
                folder: env!("CARGO_MANIFEST_DIR"),
            });
        }
    };
}

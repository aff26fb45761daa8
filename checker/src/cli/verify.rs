//! `barcheck verify`: decides one file after the other and reports each as soon as it is decided.

use super::args::{Changes, KernelArgs, SearchArgs, VerifyArgs};
use super::baseline::{Baseline, Record};
use super::bounded;
use super::decided::{Decided, Known};
use super::delivery::Delivery;
use super::expect::{self, Expectation};
use super::files::{self, Input};
use super::input::Unread;
use super::names::shown;
use super::output::{Colours, Status, complain, counted, error_line};
use super::sweep::{self, Combination, Sweep};
use super::tally::Tally;
use super::traces::TraceSink;
use super::watch::{self, Watch};
use super::written::Written;
use super::{input, kernels, memory, values};
use barcheck::{
    Budgets, ByLocation, Decision, LoadOptions, Options, Reason, Settings, Source, Trouble, Verdict,
    decide_under,
};
use barcheck_model::machine;
use barcheck_specs::head::{Head, WRONG_HEAD, head};
use barcheck_specs::{Diagnostic, LineIndex, Span, WITHOUT_MEMORY, params};
use std::collections::BTreeSet;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Runs the command. `changes` are the levels changed, in the order of the command line.
pub(crate) fn run(args: &VerifyArgs, changes: Changes, colours: Colours) -> io::Result<Status> {
    if args.files.iter().filter(|path| input::is_standard_input(path)).count() > 1 {
        return Ok(usage(colours, "standard input `-` can be read only once"));
    }
    watch::listen();
    let mut inputs = files::expand(&args.files);
    let options = options(args, changes);
    let sweep = match Sweep::new(&args.define) {
        Ok(sweep) => sweep,
        Err(message) => return Ok(usage(colours, &message)),
    };
    // All of them, whatever the part: a definition is right or wrong for the whole list.
    if let Err(message) = check_defines(&sweep, &mut inputs, args.search.timeout) {
        return Ok(usage(colours, &message));
    }
    let mut inputs = match kernels::split(inputs, &args.kernel, args.search.timeout) {
        Ok(inputs) => inputs,
        Err(message) => return Ok(usage(colours, &message)),
    };
    let baseline = match known(args) {
        Ok(baseline) => baseline,
        Err(message) => {
            complain(&error_line(colours.err, message));
            return Ok(Status::Trouble);
        }
    };
    let record = match record(args, &inputs) {
        Ok(record) => record,
        Err(message) => return Ok(usage(colours, &message)),
    };
    if sweep.varies() && (baseline.is_some() || record.is_some()) {
        return Ok(usage(
            colours,
            "a baseline is that of one combination of values: give each `-D` one value",
        ));
    }
    let several = inputs.len() > 1 || sweep.varies() || args.files.iter().any(|path| files::is_folder(path));
    let delivery = match Delivery::new(args, &inputs, colours) {
        Ok(delivery) => delivery,
        Err(message) => return Ok(usage(colours, &message)),
    };
    let tally = Tally::new(args.partition, inputs.len(), args.expect, sweep.varies());
    if let Some(partition) = args.partition {
        inputs = files::part(inputs, partition);
    }
    let alone = !(several || options.settings.all || args.expect);
    let sinks = TraceSink::all(&args.trace, &args.html, !alone);
    if let Some(path) = sinks.iter().find_map(TraceSink::foreign_index) {
        let said = "is there already, and is not one that barcheck has written";
        return Ok(usage(colours, &format!("{} {said}: give --html another folder", shown(&path))));
    }
    let (verdict, output) = (Status::Success, Status::Success);
    let mut run = Run { colours, sinks, baseline, record, delivery, verdict, output, tally };
    let question = Question { options, sweep, expect: args.expect, quiet: args.quiet };
    match run.decide_all(inputs, &question) {
        Ok(()) => {}
        // Whoever read the report has seen enough; what was not decided must not pass for verified.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
        Err(error) => return Err(error),
    }
    let verdict = if args.exit_zero { Status::Success } else { run.verdict };
    Ok(verdict.max(run.output))
}

fn usage(colours: Colours, message: &str) -> Status {
    complain(&error_line(colours.err, message));
    complain("\nFor more information, try 'barcheck verify --help'.\n");
    Status::Trouble
}

fn options(args: &VerifyArgs, changes: Changes) -> Options {
    let budgets = Budgets {
        max_states: args.search.max_states,
        max_memory: Some(args.search.max_memory.unwrap_or_else(memory::default_budget)),
        timeout: args.search.timeout,
    };
    let settings = Settings {
        // A known finding must not hide a new one.
        all: args.all || args.baseline.is_some() || args.write_baseline.is_some(),
        levels: args.levels.levels(changes.rules),
        budgets,
        reduction: args.search.reduction,
        threads: args.search.threads,
        many_states: None,
        learnt_bytes: None,
        compact: args.search.compact,
        spill: spill_folder(&args.search),
        checkpoint: args.search.checkpoint.clone(),
        by_location: ByLocation::Auto,
    };
    let readings = machine::Options { exited_threads: args.search.exited_threads };
    let mut load = LoadOptions::default();
    args.kernel.tell(&mut load, None);
    if args.no_memory {
        load.defines.insert(WITHOUT_MEMORY.to_owned(), 1);
    }
    let (lints, coverage) = (changes.lints, args.coverage);
    let deny_data_dependent = args.levels.denies_data_dependent();
    let require_memory = args.require_memory;
    Options { settings, readings, load, lints, coverage, deny_data_dependent, require_memory }
}

/// The findings that are known, if some are. The error is a message.
fn known(args: &VerifyArgs) -> Result<Option<Baseline>, String> {
    args.baseline.as_deref().map(Baseline::read).transpose()
}

/// The baseline that is to be written, if one is. The error is a message.
fn record(args: &VerifyArgs, inputs: &[Input]) -> Result<Option<Record>, String> {
    let Some(path) = &args.write_baseline else { return Ok(None) };
    if inputs.iter().any(|known| input::is_same(&known.path, path)) {
        return Err(format!("the baseline would overwrite the protocol {}", shown(path)));
    }
    let reports = args.report.iter().map(|report| &report.path);
    if reports.chain(&args.trace).chain(&args.html).any(|other| input::real(other) == input::real(path)) {
        return Err(format!("{} is to be written twice", shown(path)));
    }
    Record::new(path).map(Some).map_err(|error| format!("cannot write {}: {error}", shown(path)))
}

/// Where states go that have no room in memory.
fn spill_folder(args: &SearchArgs) -> Option<PathBuf> {
    (!args.no_spill).then(|| args.spill.clone().unwrap_or_else(roomy_folder))
}

/// A folder for large temporary files: `/tmp` is often kept in memory, `/var/tmp` is not (Filesystem
/// Hierarchy Standard 3.0, 5.15).
fn roomy_folder() -> PathBuf {
    let on_disk = Path::new("/var/tmp");
    if std::env::var_os("TMPDIR").is_none() && on_disk.is_dir() {
        on_disk.to_owned()
    } else {
        std::env::temp_dir()
    }
}

/// Reads every file to see that each name defined is a `param` of one of them. A file that cannot be read
/// might have any name, and is reported anyway.
fn check_defines(sweep: &Sweep, inputs: &mut [Input], time: Option<Duration>) -> Result<(), String> {
    if sweep.names().next().is_none() {
        return Ok(());
    }
    let mut known = BTreeSet::new();
    let mut unread = false;
    for input in &mut *inputs {
        let read = input.read(time);
        let name = input.path.to_string_lossy();
        match read.as_ref().ok().and_then(|bytes| params(&Source::new(&name, bytes))) {
            Some(params) => known.extend(params),
            None => unread = true,
        }
        input.known = Some(read);
    }
    let unknown = sweep.names().find(|name| !known.contains(*name));
    match unknown.filter(|_| !unread) {
        Some(unknown) => Err(values::no_such_param(unknown, inputs.len() == 1, &known)),
        None => Ok(()),
    }
}

/// What is asked of each file.
struct Question {
    /// Without what `-D` sets.
    options: Options,
    /// What `-D` sets.
    sweep: Sweep,
    /// Whether it comes to what its head says.
    expect: bool,
    /// Without progress.
    quiet: bool,
}

/// The command on its way.
struct Run {
    colours: Colours,
    /// Where counterexamples are kept.
    sinks: Vec<TraceSink>,
    delivery: Delivery,
    /// The findings that are known.
    baseline: Option<Baseline>,
    /// Where those found are written, to be known.
    record: Option<Record>,
    /// What the verdicts come to.
    verdict: Status,
    /// What else went wrong: output that cannot be written, files that nobody asked for any more.
    output: Status,
    tally: Tally,
}

impl Run {
    fn decide_all(&mut self, inputs: Vec<Input>, question: &Question) -> io::Result<()> {
        let mut left = inputs.len();
        for mut input in inputs {
            let combinations = question.combinations(&mut input);
            left += combinations.len() - 1;
            for combination in combinations {
                let decided = question.decide(&mut input, combination);
                left -= 1;
                self.take(decided).inspect_err(|_| {
                    if left > 0 {
                        self.output = self.output.max(Status::Inconclusive);
                    }
                })?;
            }
        }
        self.write_index();
        self.delivery.end(&self.tally)?;
        self.end_baselines();
        if self.delivery.failed() {
            self.output = self.output.max(Status::Trouble);
        }
        Ok(())
    }

    /// Reports what was decided. The error is that of standard output.
    fn take(&mut self, mut decided: Decided) -> io::Result<()> {
        self.look_up(&mut decided);
        self.verdict = self.verdict.max(status_of(&decided));
        if decided.trouble() == Some(Trouble::Internal) {
            self.output = self.output.max(Status::Trouble);
        }
        self.tally.count(&decided);
        self.complain_of_defects(&decided);
        let written = self.write_traces(&decided);
        self.delivery.file(&decided, &written)
    }

    /// Finds out which findings are known, or makes them known.
    fn look_up(&mut self, decided: &mut Decided) {
        if let Some(record) = &mut self.record {
            record.add(decided);
            decided.known = Some(Known::all(decided));
        }
        if let Some(baseline) = &self.baseline {
            decided.known = Some(baseline.known(decided));
        }
    }

    /// Says what of a baseline is about nothing any more, and puts a new one into its place.
    fn end_baselines(&mut self) {
        if let Some(baseline) = &self.baseline {
            for (line, protocol) in baseline.about_nothing() {
                let warning = self.colours.err.unsure("warning");
                complain(&format!("{warning}: {}:{line}: {protocol} is not there\n", baseline.name()));
            }
        }
        let Some(record) = self.record.take() else { return };
        let name = record.name();
        if watch::interrupted() {
            self.output = self.output.max(Status::Inconclusive);
            return complain(&error_line(
                self.colours.err,
                format_args!("{name} is not written: interrupted"),
            ));
        }
        match record.keep() {
            Ok(findings) => {
                let findings = counted(findings as u64, "finding");
                complain(&format!("{} to {name}\n", self.colours.err.faint(format!("{findings} written"))));
            }
            Err(error) => {
                complain(&error_line(self.colours.err, format_args!("cannot write {name}: {error}")));
                self.output = self.output.max(Status::Trouble);
            }
        }
    }

    fn complain_of_defects(&self, decided: &Decided) {
        for defect in &decided.defects {
            complain(&format!(
                "{}: {defect}\nThis is a defect of barcheck. Please report it with the protocol and the command line.\n",
                self.colours.err.bad("internal error"),
            ));
        }
    }

    /// Writes the page that lists all files, if there are pages in a folder.
    fn write_index(&mut self) {
        for sink in &self.sinks {
            match sink.write_index(&self.tally) {
                Ok(Some(path)) => self.tally.index = Some(path),
                Ok(None) => {}
                Err(error) => {
                    complain(&error_line(self.colours.err, error));
                    self.output = self.output.max(Status::Trouble);
                }
            }
        }
    }

    /// Writes the counterexamples, and returns where they are.
    fn write_traces(&mut self, decided: &Decided) -> Vec<Written> {
        let mut all = Vec::new();
        for sink in &mut self.sinks {
            let (written, error) = sink.write(decided);
            if let Some(error) = error {
                complain(&error_line(self.colours.err, error));
                self.output = self.output.max(Status::Trouble);
            }
            all.extend(written);
        }
        all
    }
}

impl Question {
    /// The combinations of values for which a file is decided: at least one.
    fn combinations(&self, input: &mut Input) -> Vec<Combination> {
        if !self.sweep.varies() {
            return self.sweep.combinations(None);
        }
        let read = input.read(self.options.settings.budgets.timeout);
        let name = input.path.to_string_lossy();
        let params = read.as_ref().ok().and_then(|bytes| params(&Source::new(&name, bytes)));
        // It is read once, and decided several times.
        input.known = Some(read);
        self.sweep.combinations(params.as_ref())
    }

    /// Decides a file, unless the user has interrupted.
    fn decide(&self, input: &mut Input, combination: Combination) -> Decided {
        let Combination { defines, parameters } = combination;
        let mut options = self.options.clone();
        options.load.defines.extend(defines);
        if let Some(entry) = &input.entry {
            KernelArgs::default().tell(&mut options.load, Some(entry.index));
        }
        let name = input.path.to_string_lossy().into_owned();
        let mark = memory::Mark::set();
        let (mut decision, options, expectation) = self.decision(input, &name, &parameters, options);
        let taken = &mut decision.statistics.peak_memory_bytes;
        *taken = mark.most(*taken);
        let missed = || {
            let reason = decision.reason.as_ref().map(Reason::line).unwrap_or_default();
            Expectation::missed(format!("{}: {reason}", decision.verdict.name()))
        };
        let expectation = expectation.or_else(|| self.expect.then(missed));
        // One of which nothing could be read is a kernel, too.
        if let Some(entry) = &input.entry {
            (decision.kernel, decision.entry) = (Some(entry.name.clone()), Some(entry.index));
        }
        let is_met = expectation.as_ref().is_some_and(Expectation::is_met);
        let bounded = if is_met || watch::interrupted() { None } else { bounded::note(&decision, &options) };
        Decided { path: input.path.clone(), decision, options, parameters, expectation, known: None, bounded }
    }

    fn decision(
        &self,
        input: &mut Input,
        name: &str,
        parameters: &[(String, i64)],
        options: Options,
    ) -> (Decision, Options, Option<Expectation>) {
        if watch::interrupted() {
            return (Decision::not_begun(name, &options), options, None);
        }
        let shown = input::display_name(&input.path);
        let watch = Watch::new(&format!("{shown}{}", sweep::suffix(parameters)), !self.quiet);
        let read = input.read(options.settings.budgets.timeout);
        if self.sweep.varies() {
            input.known = Some(read.clone());
        }
        let decision = match read {
            Err(Unread::Unreadable(why)) => Decision::unreadable(name, why, &options),
            Err(Unread::Late(limit)) => Decision::not_read(name, limit, &options),
            Err(Unread::Interrupted) => Decision::not_begun(name, &options),
            Ok(bytes) if self.expect => {
                return decide_with_head(&Source::new(name, &bytes), options, &watch);
            }
            Ok(bytes) => decide_under(&Source::new(name, &bytes), &options, &watch),
        };
        (decision, options, None)
    }
}

/// Decides a protocol as its head asks, and compares.
fn decide_with_head(
    source: &Source<'_>,
    options: Options,
    watch: &Watch,
) -> (Decision, Options, Option<Expectation>) {
    let text = String::from_utf8_lossy(source.bytes).into_owned();
    let read = head(&text).and_then(|head| match head {
        Some(head) => unknown_param(source, &text, &head).map_or(Ok(Some(head)), |wrong| Err(wrong.into())),
        None => Ok(None),
    });
    match read {
        Err(wrong) => {
            let place = wrong.place(&LineIndex::new(&text));
            let why = format!("its head cannot be read: line {}: {}", place.line, wrong.message);
            let decision = Decision::malformed(source.name, text, vec![*wrong], &options);
            (decision, options, Some(Expectation::missed(why)))
        }
        Ok(head) => {
            let options = expect::options(&options, head.as_ref());
            let mut decision = decide_under(source, &options, watch);
            let expectation = expect::compare(&mut decision, head.as_ref());
            (decision, options, Some(expectation))
        }
    }
}

/// What is wrong with a head that sets what is no `param`.
fn unknown_param(source: &Source<'_>, text: &str, head: &Head) -> Option<Diagnostic> {
    // What is wrong with the text is said when it is decided.
    let known = params(source)?;
    let unknown = head.defines.keys().find(|name| !known.contains(*name))?;
    let at = text.find(&format!("{unknown}=")).unwrap_or_default();
    let start = u32::try_from(at).unwrap_or_default();
    let span = Span::new(start, start + u32::try_from(unknown.len()).unwrap_or_default());
    Some(Diagnostic::error(WRONG_HEAD, values::no_such_param(unknown, true, &known), span))
}

fn status_of(decided: &Decided) -> Status {
    match decided.verdict {
        _ if decided.is_as_expected() => Status::Success,
        _ if decided.expectation.is_some() => Status::Failure,
        // What is left to be searched might be new.
        Verdict::Violated if decided.has_nothing_new() && decided.uncovered.is_some() => Status::Inconclusive,
        Verdict::Violated if decided.has_nothing_new() => Status::Success,
        Verdict::Verified => Status::Success,
        Verdict::Violated => Status::Failure,
        Verdict::Inconclusive => Status::Inconclusive,
        Verdict::Error => Status::Trouble,
    }
}

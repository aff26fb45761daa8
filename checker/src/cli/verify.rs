//! `barcheck verify`: decides one file after the other and reports each as soon as it is decided.

use super::args::{KernelArgs, SearchArgs, VerifyArgs};
use super::decided::Decided;
use super::delivery::Delivery;
use super::files::{self, Input};
use super::input::Unread;
use super::output::{Colours, Status, complain, error_line};
use super::tally::Tally;
use super::traces::{TraceSink, Written};
use super::watch::{self, Watch};
use super::{input, kernels, memory, values};
use barcheck::{Budgets, Decision, LoadOptions, Options, Settings, Source, Trouble, Verdict, decide_under};
use barcheck_model::machine;
use barcheck_model::rule::{Level, Rule};
use barcheck_specs::load;
use std::collections::BTreeSet;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Runs the command. `changes` are the levels changed, in the order of the command line.
pub(crate) fn run(args: &VerifyArgs, changes: Vec<(Rule, Level)>, colours: Colours) -> io::Result<Status> {
    if args.files.iter().filter(|path| input::is_standard_input(path)).count() > 1 {
        return Ok(usage(colours, "standard input `-` can be read only once"));
    }
    watch::listen();
    let mut inputs = files::expand(&args.files);
    let options = options(args, changes);
    // All of them, whatever the part: a definition is right or wrong for the whole list.
    if let Err(message) = check_defines(args, &mut inputs, &options.load) {
        return Ok(usage(colours, &message));
    }
    let mut inputs = match kernels::split(inputs, &args.kernel, args.search.timeout) {
        Ok(inputs) => inputs,
        Err(message) => return Ok(usage(colours, &message)),
    };
    let several = inputs.len() > 1 || args.files.iter().any(|path| files::is_folder(path));
    let delivery = match Delivery::new(args, &inputs, colours) {
        Ok(delivery) => delivery,
        Err(message) => return Ok(usage(colours, &message)),
    };
    let tally = Tally::new(args.partition, inputs.len());
    if let Some(partition) = args.partition {
        inputs = files::part(inputs, partition);
    }
    let mut run = Run {
        colours,
        sinks: TraceSink::all(&args.trace, &args.html, several || args.all),
        delivery,
        verdict: Status::Success,
        output: Status::Success,
        tally,
    };
    match run.decide_all(inputs, &options, args.quiet) {
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

fn options(args: &VerifyArgs, changes: Vec<(Rule, Level)>) -> Options {
    let budgets = Budgets {
        max_states: args.search.max_states,
        max_memory: Some(args.search.max_memory.unwrap_or_else(memory::default_budget)),
        timeout: args.search.timeout,
    };
    let settings = Settings {
        all: args.all,
        levels: args.levels.levels(changes),
        budgets,
        reduction: args.search.reduction,
        threads: args.search.threads,
        many_states: None,
        learnt_bytes: None,
        compact: args.search.compact,
        spill: spill_folder(&args.search),
        checkpoint: args.search.checkpoint.clone(),
    };
    let defines = args.define.iter().map(|define| (define.name.clone(), define.value)).collect();
    let readings = machine::Options { exited_threads: args.search.exited_threads };
    let mut load = LoadOptions { defines };
    args.kernel.tell(&mut load, None);
    let deny_data_dependent = args.levels.denies_data_dependent();
    Options { settings, readings, load, deny_data_dependent }
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
fn check_defines(args: &VerifyArgs, inputs: &mut [Input], options: &LoadOptions) -> Result<(), String> {
    if args.define.is_empty() {
        return Ok(());
    }
    let mut known = BTreeSet::new();
    let mut unread = false;
    for input in &mut *inputs {
        let read = input.read(args.search.timeout);
        let name = input.path.to_string_lossy();
        match read.as_ref().map(|bytes| load(&Source::new(&name, bytes), options)) {
            Ok(Ok(loaded)) => known.extend(loaded.params),
            Ok(Err(_)) | Err(_) => unread = true,
        }
        input.known = Some(read);
    }
    let Some(unknown) = args.define.iter().find(|define| !known.contains(&define.name)) else {
        return Ok(());
    };
    if unread {
        return Ok(());
    }
    Err(values::no_such_param(unknown, inputs.len() == 1, &known))
}

/// The command on its way.
struct Run {
    colours: Colours,
    /// Where counterexamples are kept.
    sinks: Vec<TraceSink>,
    delivery: Delivery,
    /// What the verdicts come to.
    verdict: Status,
    /// What else went wrong: output that cannot be written, files that nobody asked for any more.
    output: Status,
    tally: Tally,
}

impl Run {
    fn decide_all(&mut self, inputs: Vec<Input>, options: &Options, quiet: bool) -> io::Result<()> {
        let mut left = inputs.len();
        for mut input in inputs {
            let decided = decide(&mut input, options, quiet);
            self.verdict = self.verdict.max(status_of(decided.verdict));
            if decided.trouble() == Some(Trouble::Internal) {
                self.output = self.output.max(Status::Trouble);
            }
            left -= 1;
            self.tally.count(decided.verdict);
            if decided.kernel.is_some() {
                self.tally.has_kernels();
            }
            self.complain_of_defects(&decided);
            let written = self.write_traces(&decided);
            self.delivery.file(&decided, &written).inspect_err(|_| {
                if left > 0 {
                    self.output = self.output.max(Status::Inconclusive);
                }
            })?;
        }
        self.delivery.end(&self.tally)?;
        if self.delivery.failed() {
            self.output = self.output.max(Status::Trouble);
        }
        Ok(())
    }

    fn complain_of_defects(&self, decided: &Decided) {
        for defect in &decided.defects {
            complain(&format!(
                "{}: {defect}\nThis is a defect of barcheck. Please report it with the protocol and the command line.\n",
                self.colours.err.bad("internal error"),
            ));
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

/// Decides a file, unless the user has interrupted.
fn decide(input: &mut Input, options: &Options, quiet: bool) -> Decided {
    let entry = input.entry.take();
    let decision = match entry {
        None => decision(input, options, quiet),
        Some(entry) => {
            let mut options = options.clone();
            KernelArgs::default().tell(&mut options.load, Some(entry.index));
            let mut decision = decision(input, &options, quiet);
            decision.kernel = Some(entry.name);
            decision
        }
    };
    Decided { path: input.path.clone(), decision }
}

fn decision(input: &mut Input, options: &Options, quiet: bool) -> Decision {
    let name = input.path.to_string_lossy().into_owned();
    if watch::interrupted() {
        return Decision::not_begun(&name, options);
    }
    let watch = Watch::new(&input::display_name(&input.path), !quiet);
    match input.read(options.settings.budgets.timeout) {
        Err(Unread::Unreadable(why)) => Decision::unreadable(&name, why, options),
        Err(Unread::Late(limit)) => Decision::not_read(&name, limit, options),
        Err(Unread::Interrupted) => Decision::not_begun(&name, options),
        Ok(bytes) => decide_under(&Source::new(&name, &bytes), options, &watch),
    }
}

fn status_of(verdict: Verdict) -> Status {
    match verdict {
        Verdict::Verified => Status::Success,
        Verdict::Violated => Status::Failure,
        Verdict::Inconclusive => Status::Inconclusive,
        Verdict::Error => Status::Trouble,
    }
}

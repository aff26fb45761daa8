//! `barcheck verify`: decides one file after the other and reports each as soon as it is decided.

use super::args::{Format, VerifyArgs};
use super::decide::{self, Decided, Search};
use super::output::{Colours, Status, complain, error_line, print};
use super::traces::TraceSink;
use super::{human, input, memory, watch};
use barcheck::{Budgets, Levels, Settings, Verdict};
use barcheck_model::machine::Options;
use barcheck_model::rule::{Level, Rule};
use barcheck_specs::bar::{self, LoadOptions};
use std::collections::BTreeSet;
use std::io::{self, ErrorKind};
use std::path::PathBuf;

/// A file to decide.
struct Input {
    path: PathBuf,
    /// What it holds, if it has been read already: pipes can be read only once.
    read: Option<Result<Vec<u8>, String>>,
}

impl Input {
    fn read(&mut self) -> Result<Vec<u8>, String> {
        self.read.take().unwrap_or_else(|| input::protocol(&self.path))
    }
}

/// Runs the command. `changes` are the levels changed, in the order of the command line.
pub(crate) fn run(args: &VerifyArgs, changes: Vec<(Rule, Level)>, colours: Colours) -> io::Result<Status> {
    let mut inputs: Vec<_> = args.files.iter().map(|path| Input { path: path.clone(), read: None }).collect();
    if args.files.iter().filter(|path| input::is_standard_input(path)).count() > 1 {
        return Ok(usage(colours, "standard input `-` can be read only once"));
    }
    let search = search(args, changes);
    if let Err(message) = check_defines(args, &mut inputs, &search.load) {
        return Ok(usage(colours, &message));
    }
    watch::listen();
    let mut run = Run {
        args,
        colours,
        sink: args.trace.clone().map(|path| TraceSink::new(path, args.files.len() > 1 || args.all)),
        status: Status::Success,
        tally: human::Tally::default(),
        apart: false,
    };
    match run.decide_all(inputs, &search) {
        Ok(()) => Ok(run.status),
        // Whoever read the report has seen enough; what was not decided must not pass for verified.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(run.status),
        Err(error) => Err(error),
    }
}

fn usage(colours: Colours, message: &str) -> Status {
    complain(&error_line(colours.err, message));
    complain("\nFor more information, try 'barcheck verify --help'.\n");
    Status::Trouble
}

fn search(args: &VerifyArgs, changes: Vec<(Rule, Level)>) -> Search {
    let budgets = Budgets {
        max_states: args.search.max_states,
        max_memory: Some(args.search.max_memory.unwrap_or_else(memory::default_budget)),
        timeout: args.search.timeout,
    };
    let settings = Settings {
        all: args.all,
        levels: Levels { changes, strict: args.levels.strict },
        budgets,
        reduction: args.search.reduction,
    };
    let defines = args.define.iter().map(|define| (define.name.clone(), define.value)).collect();
    Search {
        settings,
        options: Options { exited_threads: args.search.exited_threads },
        load: LoadOptions { defines },
        progress: !args.quiet,
    }
}

/// Reads every file to see that each name defined is a `param` of one of them. A file that cannot be read might
/// have any name, and is reported anyway.
fn check_defines(args: &VerifyArgs, inputs: &mut [Input], load: &LoadOptions) -> Result<(), String> {
    if args.define.is_empty() {
        return Ok(());
    }
    let mut known = BTreeSet::new();
    let mut unread = false;
    for input in inputs {
        let read = input.read();
        match read.as_ref().map(|bytes| bar::load(bytes, load)) {
            Ok(Ok(loaded)) => known.extend(loaded.params),
            Ok(Err(_)) | Err(_) => unread = true,
        }
        input.read = Some(read);
    }
    let Some(unknown) = args.define.iter().find(|define| !known.contains(&define.name)) else {
        return Ok(());
    };
    if unread {
        return Ok(());
    }
    let files = if args.files.len() == 1 { "the file" } else { "no FILE" };
    let verb = if args.files.len() == 1 { "has no" } else { "has a" };
    let known: Vec<_> = known.iter().map(|name| format!("`{name}`")).collect();
    let there_are = match known.as_slice() {
        [] => "there are no params".to_owned(),
        [one] => format!("there is {one}"),
        _ => format!("there are {}", known.join(", ")),
    };
    Err(format!("{files} {verb} `param {}` to set with -D; {there_are}", unknown.name))
}

/// The command on its way.
struct Run<'a> {
    args: &'a VerifyArgs,
    colours: Colours,
    sink: Option<TraceSink>,
    status: Status,
    tally: human::Tally,
    /// What was printed last is long: the next file stands apart from it.
    apart: bool,
}

impl Run<'_> {
    fn decide_all(&mut self, inputs: Vec<Input>, search: &Search) -> io::Result<()> {
        let mut left = inputs.len();
        for mut input in inputs {
            let decided = if watch::interrupted() {
                decide::not_begun(&input.path, search)
            } else {
                let read = input.read();
                decide::decide(&input.path, read, search)
            };
            self.status = self.status.max(status_of(decided.report.verdict));
            left -= 1;
            let written = self.write_traces(&decided);
            self.report(&decided, &written).inspect_err(|_| {
                if left > 0 {
                    self.status = self.status.max(Status::Inconclusive);
                }
            })?;
        }
        if self.args.format == Format::Human && !self.args.quiet && self.args.files.len() > 1 {
            print(&self.tally.line(self.colours.out))?;
        }
        Ok(())
    }

    /// Writes the counterexamples, and returns where they are.
    fn write_traces(&mut self, decided: &Decided) -> Vec<PathBuf> {
        let Some(sink) = &mut self.sink else { return Vec::new() };
        let (written, error) = sink.write(&decided.report);
        if let Some(error) = error {
            complain(&error_line(self.colours.err, error));
            self.status = self.status.max(Status::Trouble);
        }
        written
    }

    fn report(&mut self, decided: &Decided, written: &[PathBuf]) -> io::Result<()> {
        self.tally.count(decided.report.verdict);
        for defect in &decided.defects {
            complain(&format!(
                "{}: {defect}\nThis is a defect of barcheck. Please report it with the protocol and the command line.\n",
                self.colours.err.bad("internal error"),
            ));
        }
        if self.args.format == Format::Json {
            return print(&decided.report.json());
        }
        complain(&human::on_standard_error(decided, self.colours.err));
        let text = human::on_standard_output(decided, written, self.args.quiet, self.colours.out);
        if text.is_empty() {
            return Ok(());
        }
        let gap = if self.apart { "\n" } else { "" };
        self.apart = !decided.report.findings.is_empty();
        print(&format!("{gap}{text}"))
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

//! `barcheck gate`: runs protocols on executable barriers under loom, shuttle or the operating system's
//! threads.

use super::args::{Format, GateArgs};
use super::files::{self, Input};
use super::output::{Colours, Look, Palette, Status, complain, counted, error_line, print};
use super::settled::{self, Given};
use super::traces::TraceSink;
use super::written::Written;
use super::{input, kernels, memory, names, narrative};
use barcheck::Verdict;
use barcheck::gate::{self, Effort, Extent, Gated, MOST_UNDER_LOOM, Protocol, Unread, Violation, With};
use barcheck_model::machine::Options;
use barcheck_model::program::Target;
use barcheck_specs::LoadOptions;
use serde::Serialize;
use std::fmt::Write as _;
use std::io;
use std::path::Path;
use std::process::Command;

/// Runs the command.
pub(crate) fn run(args: &GateArgs, colours: Colours) -> io::Result<Status> {
    if args.schedule.is_some() && args.with != Some(With::Shuttle) {
        complain(&error_line(colours.err, "--schedule is what shuttle replays: give --with shuttle"));
        return Ok(Status::Trouble);
    }
    let mut status = Status::Success;
    let inputs = match kernels::split(files::expand(&args.files), &args.kernel, args.timeout) {
        Ok(inputs) => inputs,
        Err(message) => {
            complain(&error_line(colours.err, message));
            return Ok(Status::Trouble);
        }
    };
    let mut sinks = TraceSink::all(&args.trace, &args.html, inputs.len() > 1);
    for mut input in inputs {
        let path = input.path.clone();
        let path = path.as_path();
        let broken = |why: String| (Status::Trouble, error_line(colours.err, named(path, &why)));
        let result = text(&mut input, args).and_then(|text| run_one(&text, args, &broken));
        match result {
            Ok(Ran { protocol, gated, given }) => {
                status = status.max(status_of(&gated));
                let (written, errors) = write(&mut sinks, path, &gated);
                for error in errors {
                    complain(&error_line(colours.err, error));
                    status = status.max(Status::Trouble);
                }
                match args.format {
                    Format::Json => print(&json(path, &protocol, (&gated, &given)))?,
                    Format::Human => print(&human(path, &protocol, (&gated, &given), &written, colours.out))?,
                }
            }
            Err((failed, said)) => {
                complain(&said);
                status = status.max(failed);
            }
        }
    }
    Ok(status)
}

/// Writes the counterexample to each sink. Returns the files written, and what went wrong with others.
fn write(sinks: &mut [TraceSink], path: &Path, gated: &Gated) -> (Vec<Written>, Vec<String>) {
    let (mut written, mut errors) = (Vec::new(), Vec::new());
    let Some(Violation { rule, trace, .. }) = &gated.violation else { return (written, errors) };
    for sink in sinks {
        match sink.write_single(&path.to_string_lossy(), *rule, trace) {
            Ok(file) => written.push(file),
            Err(error) => errors.push(error),
        }
    }
    (written, errors)
}

fn named(path: &Path, why: &str) -> String {
    format!("{}: {why}", input::display_name(path))
}

/// Loom explores everything it can, but only few agents.
fn suited(protocol: &Protocol) -> With {
    if protocol.agents() <= MOST_UNDER_LOOM { With::Loom } else { With::Shuttle }
}

/// A text, and what is said of it.
struct Text {
    name: String,
    path: String,
    bytes: Vec<u8>,
    load: LoadOptions,
}

/// What was run.
struct Ran {
    protocol: Protocol,
    gated: Gated,
    /// Values of parameters with which it was run, beyond those that were asked for.
    given: Given,
}

/// What went wrong, for people, ended by a line break.
type Failed = (Status, String);

fn text(input: &mut Input, args: &GateArgs) -> Result<Text, Failed> {
    let name = input::display_name(&input.path);
    let unreadable = |why: input::Unread| (why.status(), format!("error: cannot read {name}: {why}\n"));
    let bytes = input.read(args.timeout).map_err(unreadable)?;
    let mut load = LoadOptions::default();
    load.defines.extend(args.define.iter().map(|define| (define.name.clone(), define.value)));
    args.kernel.tell(&mut load, input.entry.as_ref().map(|entry| entry.index));
    Ok(Text { name, path: names::shown(&input.path), bytes, load })
}

/// Runs a protocol. A kernel of which it is in doubt whether it has a violation is run with those values of
/// its parameters with which it has one for certain, if the model knows of some.
fn run_one(text: &Text, args: &GateArgs, broken: &dyn Fn(String) -> Failed) -> Result<Ran, Failed> {
    let run = |load: &LoadOptions| {
        let protocol = protocol(text, load, args)?;
        let with = args.with.unwrap_or_else(|| suited(&protocol));
        let mut gated = explore(&protocol, with, args).map_err(broken)?;
        // Nobody has asked for loom.
        if args.with.is_none() && with == With::Loom && (gated.unfit.is_some() || gated.gave_up.is_some()) {
            let instead = Some(gated.extent_in_words());
            let sample = explore(&protocol, With::Shuttle, args).map_err(broken)?;
            gated = Gated { instead, ..sample };
        }
        Ok::<_, Failed>((protocol, gated))
    };
    let (protocol, mut gated) = run(&text.load)?;
    if gated.doubt.is_some() {
        let decision = settled::decided(&text.name, &text.bytes, &text.load, args);
        if decision.verdict == Verdict::Violated && !decision.given.is_empty() {
            let (protocol, gated) = run(&settled::with(&text.load, &decision.given))?;
            if gated.violation.is_some() {
                return Ok(Ran { protocol, gated, given: decision.given });
            }
        }
        settled::tell(&mut gated, &decision);
    }
    Ok(Ran { protocol, gated, given: Given::new() })
}

/// Reads a protocol. The error is for people, ended by a line break.
fn protocol(text: &Text, load: &LoadOptions, args: &GateArgs) -> Result<Protocol, Failed> {
    let options = Options { exited_threads: args.exited_threads };
    let read = Protocol::read(&text.path, &text.bytes, &load.defines, options);
    read.map_err(|unread| match unread {
        Unread::Wrong(said) => (Status::Trouble, said),
        Unread::Beyond(said) => (Status::Inconclusive, format!("cannot be run on threads: {said}\n")),
    })
}

fn explore(protocol: &Protocol, with: With, args: &GateArgs) -> Result<Gated, String> {
    let defaults = Effort::default();
    let effort = Effort {
        seconds: args.timeout.map_or(defaults.seconds, |timeout| timeout.as_secs_f64()),
        memory: memory::default_budget(),
        preemptions: args.preemptions,
        executions: args.executions.unwrap_or(defaults.executions),
        seed: args.seed,
        schedule: args.schedule.clone(),
        all: args.all,
    };
    let program =
        std::env::current_exe().map_err(|error| format!("cannot find this program again: {error}"))?;
    gate::explore(protocol, with, &effort, Command::new(program))
}

fn status_of(gated: &Gated) -> Status {
    match gated.violation {
        Some(_) => Status::Failure,
        None if gated.has_explored() => Status::Success,
        None => Status::Inconclusive,
    }
}

fn human(
    path: &Path,
    protocol: &Protocol,
    (gated, given): (&Gated, &Given),
    written: &[Written],
    palette: Palette,
) -> String {
    let head = match verdict(gated) {
        word @ "passed" => palette.good(word),
        word @ "violated" => palette.bad(word),
        word => palette.unsure(word),
    };
    let kernel =
        protocol.kernel().map(|kernel| format!(", kernel {}", names::kernel(kernel, protocol.entry())));
    let (name, kernel) = (input::display_name(path), kernel.unwrap_or_default());
    let mut text = format!("{head} {name}{kernel} ({}): ", protocol.target());
    let Some(violation) = &gated.violation else {
        let _ = writeln!(text, "{}", gated.extent_in_words());
        if gated.combinations > 1 {
            let _ = writeln!(
                text,
                "  with each of {}",
                format_args!("{} of its choices", counted(gated.combinations, "combination"))
            );
        }
        return text;
    };
    let executions = counted(gated.executions, "execution");
    let _ = writeln!(text, "{} finds `{}` after {executions}", gated.with.name(), violation.rule);
    let _ = writeln!(text, "\n{}", violation.trace.outcome.message);
    if !given.is_empty() {
        let _ = writeln!(text, "  it comes about with {}", settled::in_words(given));
    }
    text.push_str(&narrative::narrative(&violation.trace, Look::terminal(palette)));
    if let Some(schedule) = &violation.schedule {
        let _ = writeln!(text, "  {} {schedule}", palette.faint("replay with --with shuttle --schedule"));
    }
    for file in written {
        let _ = writeln!(text, "  {} {}", palette.faint(file.said()), names::shown(&file.path));
    }
    text
}

fn verdict(gated: &Gated) -> &'static str {
    match status_of(gated) {
        Status::Failure => "violated",
        Status::Success => "passed",
        Status::Inconclusive | Status::Trouble => "inconclusive",
    }
}

/// What `--format json` prints for a FILE.
#[derive(Serialize)]
struct Report<'a> {
    format: &'static str,
    file: String,
    kernel: Option<&'a str>,
    target: &'static str,
    verdict: &'static str,
    with: &'static str,
    extent: Option<Extent>,
    executions: u64,
    combinations: u64,
    reason: Option<&'a str>,
    rules: Vec<&'static str>,
    rule: Option<&'static str>,
    message: Option<&'a str>,
    given: &'a Given,
    schedule: Option<&'a str>,
    trace: Option<&'a barcheck_counterexamples::Trace>,
}

fn json(path: &Path, protocol: &Protocol, (gated, given): (&Gated, &Given)) -> String {
    let target: Target = protocol.target();
    let violation: Option<&Violation> = gated.violation.as_ref();
    let report = Report {
        format: "barcheck-gate/1",
        file: path.to_string_lossy().into_owned(),
        kernel: protocol.kernel(),
        target: target.name(),
        verdict: verdict(gated),
        with: gated.with.name(),
        extent: gated.extent,
        executions: gated.executions,
        combinations: gated.combinations,
        reason: gated.unfit.as_deref().or(gated.gave_up.as_deref()).or(gated.doubt.as_deref()),
        rules: gated.rules.iter().map(|rule| rule.name()).collect(),
        rule: violation.map(|violation| violation.rule.name()),
        message: violation.map(|violation| violation.trace.outcome.message.as_str()),
        given,
        schedule: violation.and_then(|violation| violation.schedule.as_deref()),
        trace: violation.map(|violation| &violation.trace),
    };
    let mut line =
        serde_json::to_string(&report).unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}"));
    line.push('\n');
    line
}

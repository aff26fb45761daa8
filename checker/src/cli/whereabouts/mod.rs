//! `barcheck where`: whether a protocol can be in a state, by which schedule, and what everybody waits for.

mod nearby;
mod report;

use super::args::WhereArgs;
use super::deadline::Deadline;
use super::files::{self, Input};
use super::output::{Colours, Look, Status, complain, error_line, print};
use super::report::json_line;
use super::watch::{self, Watch};
use super::writing;
use super::written::Form;
use super::{input, kernels, memory, pages, values};
use barcheck::whereabouts::{Answer, Unanswered, Whereabouts, find};
use barcheck::{Budgets, LoadOptions, Options, Seek, Settings, Source};
use barcheck_counterexamples::Trace;
use barcheck_model::machine;
use barcheck_specs::{LoadError, load_within, params, render};
use std::io;
use std::path::Path;

/// Runs the command.
pub(crate) fn run(args: &WhereArgs, colours: Colours) -> io::Result<Status> {
    watch::listen();
    let name = input::display_name(&args.file);
    let trouble = |message: String| (Status::Trouble, message);
    let found = chosen(args, &name).map_err(trouble).and_then(|mut input| {
        let bytes = kernels::read(&mut input, args.budgets.timeout)?;
        let options = options(args, &input, &name, &bytes).map_err(trouble)?;
        Ok((bytes, options))
    });
    let (bytes, options) = match found {
        Ok(found) => found,
        Err((status, message)) => {
            complain(&error_line(colours.err, message));
            return Ok(status);
        }
    };
    let seek = match (args.hang, args.state) {
        (true, _) => Seek::Deadlock,
        (_, true) => Seek::State,
        _ => Seek::Either,
    };
    let path = args.file.to_string_lossy();
    let watch = Watch::new(&name, true);
    let mark = memory::Mark::set();
    let mut found = find_meant(&Source::new(&path, &bytes), args, (seek, &options, &watch), colours);
    drop(watch);
    if let Ok(found) = &mut found {
        let taken = &mut found.statistics.peak_memory_bytes;
        *taken = mark.most(*taken);
    }
    match found {
        Ok(found) => answer(args, &name, &found, colours),
        Err(why) => {
            let (status, message) = unanswered(why, &name, colours);
            complain(&message);
            Ok(status)
        }
    }
}

/// Looks for places. A line in the loop of a wait is taken for the wait; of another at which there is nothing
/// it is said what is near.
fn find_meant(
    source: &Source<'_>,
    args: &WhereArgs,
    (seek, options, watch): (Seek, &Options, &Watch),
    colours: Colours,
) -> Result<Whereabouts, Unanswered> {
    let why = match find(source, &args.at, seek, options, watch) {
        Err(Unanswered::Wrong(why)) => why,
        found => return found,
    };
    let deadline = Deadline::new(args.budgets.timeout);
    let Ok(loaded) = load_within(source, &options.load, deadline.patience()) else {
        return Err(Unanswered::Wrong(why));
    };
    let Some(meant) = nearby::meant(&loaded, &args.at) else {
        let nearest = nearby::nearest(&loaded, &args.at).map(|nearest| format!("; {nearest}"));
        return Err(Unanswered::Wrong(why + &nearest.unwrap_or_default()));
    };
    for remark in &meant.remarks {
        complain(&format!("{}: {remark}\n", colours.err.strong("note")));
    }
    find(source, &meant.at, seek, options, watch)
}

/// The protocol or kernel that is meant. The error is a message.
fn chosen(args: &WhereArgs, name: &str) -> Result<Input, String> {
    if files::is_folder(&args.file) {
        return Err(format!("{name} is a folder: give one file"));
    }
    let inputs = files::expand(std::slice::from_ref(&args.file));
    let mut inputs = kernels::split(inputs, &args.kernel, args.budgets.timeout)?;
    if let [_, _, ..] = inputs.as_slice() {
        return Err(kernels::several(name, &inputs));
    }
    inputs.pop().ok_or_else(|| format!("{name} has no kernel"))
}

/// What is asked besides. The error is a message.
fn options(args: &WhereArgs, input: &Input, name: &str, bytes: &[u8]) -> Result<Options, String> {
    let mut load = LoadOptions::default();
    load.defines.extend(args.define.iter().map(|define| (define.name.clone(), define.value)));
    if let Some(known) = params(&Source::new(name, bytes))
        && let Some(unknown) = args.define.iter().find(|define| !known.contains(&define.name))
    {
        return Err(values::no_such_param(&unknown.name, true, &known));
    }
    args.kernel.tell(&mut load, input.entry.as_ref().map(|entry| entry.index));
    let budgets = Budgets {
        max_states: args.budgets.max_states,
        max_memory: Some(args.budgets.max_memory.unwrap_or_else(memory::default_budget)),
        timeout: args.budgets.timeout,
    };
    let settings = Settings { budgets, ..Settings::default() };
    let readings = machine::Options { exited_threads: args.exited_threads };
    Ok(Options { settings, readings, load, ..Options::default() })
}

fn unanswered(why: Unanswered, name: &str, colours: Colours) -> (Status, String) {
    match why {
        Unanswered::Wrong(message) => {
            (Status::Trouble, error_line(colours.err, format!("{name}: {message}")))
        }
        Unanswered::Unread(error) if error.is_late() => {
            let said = format!("{name}: no time was left to read it; raise --timeout");
            (Status::Inconclusive, error_line(colours.err, said))
        }
        Unanswered::Unread(error) => {
            let LoadError { diagnostics, text, .. } = &error;
            let said = render(diagnostics, name, text, colours.err.colour());
            let beyond = error.not_followed().is_some();
            (if beyond { Status::Inconclusive } else { Status::Trouble }, said)
        }
        Unanswered::Defect(how) => {
            let said = format!(
                "{}: {how}\nThis is a defect of barcheck. Please report it with the protocol.\n",
                colours.err.bad("internal error")
            );
            (Status::Trouble, said)
        }
    }
}

fn answer(args: &WhereArgs, name: &str, found: &Whereabouts, colours: Colours) -> io::Result<Status> {
    let mut status = match found.answer {
        Answer::Hangs | Answer::Reachable => Status::Success,
        Answer::Unreachable => Status::Failure,
        Answer::Inconclusive => Status::Inconclusive,
    };
    match args.format {
        super::args::Format::Json => print(&json_line(&report::json(&args.file.to_string_lossy(), found)))?,
        super::args::Format::Human => print(&report::human(name, found, Look::terminal(colours.out)))?,
    }
    let Some(shown) = &found.shown else { return Ok(status) };
    for (form, path) in [(Form::Trace, &args.trace), (Form::Page, &args.html)] {
        let Some(path) = path else { continue };
        if let Err(why) = write(form, path, &args.file, &shown.trace) {
            complain(&error_line(colours.err, format!("cannot write {}: {why}", super::names::shown(path))));
            status = Status::Trouble;
        }
    }
    Ok(status)
}

/// Writes a run in a form. The error says why not.
fn write(form: Form, path: &Path, file: &Path, trace: &Trace) -> Result<(), String> {
    if input::is_same(path, file) {
        return Err("it would overwrite the protocol".to_owned());
    }
    if trace.is_excerpt() {
        return Err("the run is too long to be kept whole".to_owned());
    }
    let text = match form {
        Form::Trace => json_line(trace),
        Form::Page => pages::page(trace, None)?,
    };
    writing::write(path, &text).map_err(|error| error.to_string())
}

//! The command line `barcheck`.
//!
//! Knows files, streams, colours and exit statuses; what a protocol means, whether it holds and how a
//! counterexample reads is for the crates below to say.

mod accesses;
mod args;
mod assumed;
mod baseline;
mod because;
mod bounded;
mod convert;
mod coverage;
mod deadline;
mod decided;
mod delivery;
mod doctor;
mod examples;
mod exhibit;
mod expect;
mod explain;
mod export;
mod extract;
mod extraction;
mod files;
mod fmt;
mod formats;
mod gate;
mod graph;
mod human;
mod input;
mod kernels;
mod location;
mod memory;
mod names;
mod narrative;
mod new;
mod notices;
mod origin;
mod output;
mod pages;
mod place;
mod protocol;
mod rendered;
mod replay;
mod report;
mod rules;
mod settled;
mod show;
mod sweep;
mod table;
mod tally;
mod traces;
mod values;
mod verify;
mod view;
mod watch;
mod whereabouts;
mod writing;
mod written;

use args::{Cli, Command};
use clap::error::{ContextKind, ContextValue};
use clap::{ArgMatches, CommandFactory, FromArgMatches};
use output::{Colours, Status, complain, error_line, print};
use std::io::{self, ErrorKind};
use std::process::ExitCode;

/// Runs the command line of this process.
pub(crate) fn main() -> ExitCode {
    if barcheck::gate::is_child() {
        barcheck::gate::explore_here();
    }
    writing::heed_limits();
    std::panic::set_hook(Box::new(|info| {
        complain(&format!(
            "internal error: {info}\nThis is a defect of barcheck. Please report it with the protocol and the command line.\n"
        ));
    }));
    let parsed = Cli::command()
        .try_get_matches()
        .and_then(|matches| Cli::from_arg_matches(&matches).map(|cli| (cli, matches)));
    let (cli, matches) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => {
            // The stream may be closed; the status says what there is to say.
            let _ = error.print();
            if let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) {
                complain(&command_for(word));
            }
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let colours = Colours::new(cli.color);
    match run(&cli.command, &matches, colours) {
        Ok(status) => status.into(),
        // Whoever read the output has seen enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            complain(&error_line(colours.err, format_args!("cannot write the output: {error}")));
            Status::Trouble.into()
        }
    }
}

/// What to type where a file stands instead of a command; nothing for what is no file.
fn command_for(word: &str) -> String {
    let name = barcheck_counterexamples::harmless(word);
    let name = if name.contains(char::is_whitespace) { format!("'{name}'") } else { name };
    let format = barcheck_specs::Format::of_name(std::path::Path::new(word));
    if let Some(format) = format {
        let what = if format.has_entries() { "these kernels" } else { "this protocol" };
        format!("to decide {what}: `barcheck verify {name}`\n")
    } else if word.ends_with(".json") {
        format!("to step through this counterexample: `barcheck show {name}`\n")
    } else if std::path::Path::new(word).is_dir() {
        format!("to decide all protocols in this folder: `barcheck verify {name}`\n")
    } else {
        String::new()
    }
}

/// Runs a command. The error is that of an output that cannot be written to.
fn run(command: &Command, matches: &ArgMatches, colours: Colours) -> io::Result<Status> {
    match command {
        Command::Verify(args) => {
            let matches = matches.subcommand_matches("verify").unwrap_or(matches);
            verify::run(args, args::level_changes(&args.levels, matches), colours)
        }
        Command::Extract(args) => extract::run(args, colours),
        Command::Doctor(args) => doctor::run(args, colours),
        Command::Where(args) => whereabouts::run(args, colours),
        Command::Gate(args) => gate::run(args, colours),
        Command::Replay(args) => replay::run(args, colours),
        Command::View(args) => view::run(args, colours),
        Command::Convert(args) => convert::run(args, colours),
        Command::Graph(args) => graph::run(args, colours),
        Command::Export(args) => {
            let matches = matches.subcommand_matches("export").unwrap_or(matches);
            export::run(args, args::level_changes(&args.levels, matches), colours)
        }
        Command::Show(args) => show::run(args, colours),
        Command::Fmt(args) => fmt::run(args, colours),
        Command::New(args) => new::run(args, colours),
        Command::Examples(args) => examples::run(args, colours),
        Command::Explain(args) => explain::run(args, colours),
        Command::Rules(args) => rules::rules(args, colours),
        Command::Clauses(args) => rules::clauses(args, colours),
        Command::Completions { shell } => completions(*shell),
    }
}

fn completions(shell: clap_complete::Shell) -> io::Result<Status> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "barcheck", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(Status::Success)
}

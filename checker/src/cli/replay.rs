//! `barcheck replay`: runs counterexamples through the model again.

use super::args::{Format, ReplayArgs};
use super::input;
use super::output::{Colours, Status, complain, counted, error_line, print};
use super::report::json_line;
use barcheck::{Replayed, replay};
use barcheck_counterexamples::harmless;
use serde::Serialize;
use std::io;
use std::path::Path;

#[derive(Serialize)]
struct JsonReplay<'a> {
    format: &'static str,
    file: &'a str,
    outcome: &'static str,
    /// Why, unless it is confirmed.
    reason: Option<&'a str>,
    protocol: Option<&'a str>,
    rule: Option<&'a str>,
    steps: Option<usize>,
}

/// Runs the command.
pub(crate) fn run(args: &ReplayArgs, colours: Colours) -> io::Result<Status> {
    if args.traces.iter().filter(|path| input::is_standard_input(path)).count() > 1 {
        complain(&error_line(colours.err, "standard input `-` can be read only once"));
        return Ok(Status::Trouble);
    }
    let mut status = Status::Success;
    for path in &args.traces {
        let replayed = match input::trace(path) {
            Ok(bytes) => replay(&bytes).0,
            Err(error) => Replayed::Unreadable(error),
        };
        status = status.max(match &replayed {
            Replayed::Confirmed(_) => Status::Success,
            Replayed::Departs(..) => Status::Failure,
            Replayed::Unreadable(_) => Status::Trouble,
        });
        match args.format {
            Format::Json => print(&json(path, &replayed))?,
            Format::Human => tell(&input::display_name(path), &replayed, colours)?,
        }
    }
    Ok(status)
}

fn json(path: &Path, replayed: &Replayed) -> String {
    let (outcome, reason, about) = match replayed {
        Replayed::Confirmed(about) => ("confirmed", None, Some(about)),
        Replayed::Departs(about, reason) => ("departs", Some(reason.as_str()), Some(about)),
        Replayed::Unreadable(reason) => ("unreadable", Some(reason.as_str()), None),
    };
    json_line(&JsonReplay {
        format: "barcheck-replay/1",
        file: &path.to_string_lossy(),
        outcome,
        reason,
        protocol: about.map(|about| about.protocol.as_str()),
        rule: about.and_then(|about| about.rule.as_deref()),
        steps: about.map(|about| about.steps),
    })
}

fn tell(name: &str, replayed: &Replayed, colours: Colours) -> io::Result<()> {
    match replayed {
        Replayed::Confirmed(about) => print(&format!(
            "{} {}\n",
            colours.out.good("confirmed"),
            harmless(&format!(
                "{name}: {}; {} of {}",
                about.headline,
                counted(about.steps as u64, "step"),
                about.protocol
            )),
        )),
        Replayed::Departs(_, reason) => {
            print(&format!("{} {}\n", colours.out.bad("departs"), harmless(&format!("{name}: {reason}"))))
        }
        Replayed::Unreadable(reason) => {
            complain(&error_line(colours.err, harmless(&format!("cannot replay {name}: {reason}"))));
            Ok(())
        }
    }
}

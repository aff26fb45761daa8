//! `barcheck replay`: runs counterexamples through the model again.

use super::args::{Format, ReplayArgs};
use super::deadline::Deadline;
use super::input::{self, Unread};
use super::output::{Colours, Status, complain, counted, error_line, print};
use super::report::json_line;
use barcheck::{Replayed, replay_within};
use barcheck_counterexamples::harmless;
use barcheck_model::rule::Level;
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
    /// The level that the trace gives to its rule, where it is not the usual one.
    level: Option<&'static str>,
    /// That one.
    usual_level: Option<&'static str>,
}

/// Runs the command.
pub(crate) fn run(args: &ReplayArgs, colours: Colours) -> io::Result<Status> {
    if args.traces.iter().filter(|path| input::is_standard_input(path)).count() > 1 {
        complain(&error_line(colours.err, "standard input `-` can be read only once"));
        return Ok(Status::Trouble);
    }
    let mut status = Status::Success;
    for path in &args.traces {
        let deadline = Deadline::new(args.time.timeout);
        let replayed = match input::trace(path, deadline.limit()) {
            Ok(bytes) => replay_within(&bytes, deadline.patience()).0,
            Err(Unread::Late(_)) => Replayed::Late,
            Err(why) => Replayed::Unreadable(why.to_string()),
        };
        let late = deadline.said("replayed");
        status = status.max(match &replayed {
            Replayed::Confirmed(_) => Status::Success,
            Replayed::Late => Status::Inconclusive,
            Replayed::Departs(..) => Status::Failure,
            Replayed::Unreadable(_) => Status::Trouble,
        });
        match args.format {
            Format::Json => print(&json(path, &replayed, &late))?,
            Format::Human => tell(&input::display_name(path), &replayed, &late, colours)?,
        }
    }
    Ok(status)
}

fn json(path: &Path, replayed: &Replayed, late: &str) -> String {
    let (outcome, reason, about) = match replayed {
        Replayed::Confirmed(about) => ("confirmed", None, Some(about)),
        Replayed::Departs(about, reason) => ("departs", Some(reason.as_str()), Some(about)),
        Replayed::Unreadable(reason) => ("unreadable", Some(reason.as_str()), None),
        Replayed::Late => ("inconclusive", Some(late), None),
    };
    let levels = about.and_then(|about| about.chosen_level);
    json_line(&JsonReplay {
        format: "barcheck-replay/1",
        file: &path.to_string_lossy(),
        outcome,
        reason,
        protocol: about.map(|about| about.protocol.as_str()),
        rule: about.and_then(|about| about.rule.as_deref()),
        steps: about.map(|about| about.steps),
        level: levels.map(|(chosen, _)| chosen.name()),
        usual_level: levels.map(|(_, usual)| usual.name()),
    })
}

/// What is said of a level that is not the usual one.
fn level_in_words((chosen, usual): (Level, Level)) -> String {
    let (chosen, usual) = (chosen.name(), usual.name());
    format!("; whoever made it has chosen the level `{chosen}` instead of `{usual}`")
}

fn tell(name: &str, replayed: &Replayed, late: &str, colours: Colours) -> io::Result<()> {
    match replayed {
        Replayed::Confirmed(about) => print(&format!(
            "{} {}\n",
            colours.out.good("confirmed"),
            harmless(&format!(
                "{name}: {}; {} of {}{}",
                about.headline,
                counted(about.steps as u64, "step"),
                about.protocol,
                about.chosen_level.map(level_in_words).unwrap_or_default(),
            )),
        )),
        Replayed::Departs(_, reason) => {
            print(&format!("{} {}\n", colours.out.bad("departs"), harmless(&format!("{name}: {reason}"))))
        }
        Replayed::Late => {
            complain(&error_line(colours.err, harmless(&format!("cannot replay {name}: {late}"))));
            Ok(())
        }
        Replayed::Unreadable(reason) => {
            complain(&error_line(colours.err, harmless(&format!("cannot replay {name}: {reason}"))));
            if name.ends_with(".bar") {
                complain(
                    "  a trace is written by `barcheck verify --trace FILE`, where something is violated\n",
                );
            }
            Ok(())
        }
    }
}

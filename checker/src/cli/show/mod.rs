//! `barcheck show`: steps through a counterexample in the terminal, or prints its narrative.

mod draw;
mod filter;
mod keys;
mod menu;
mod state;
mod terminal;
#[cfg(test)]
mod tests;
mod text;
mod theme;

use super::args::ShowArgs;
use super::deadline::Deadline;
use super::exhibit::{self, Exhibit};
use super::output::{Colours, Look, Status, complain, error_line, print};
use super::{input, pages};
use barcheck_counterexamples::{self as counterexamples, Style, Timeline};
use state::Viewer;
use std::io::{self, IsTerminal};
use theme::Theme;

/// Runs the command.
pub(crate) fn run(args: &ShowArgs, colours: Colours) -> io::Result<Status> {
    let exhibit = match exhibit::read(&args.trace, args.anyway, &Deadline::new(args.time.timeout)) {
        Ok(exhibit) => exhibit,
        Err((status, said)) => {
            let name = input::display_name(&args.trace);
            let said = counterexamples::harmless(&format!("cannot show {name}: {said}"));
            complain(&error_line(colours.err, said));
            return Ok(status);
        }
    };
    let look = Look::terminal(colours.out);
    if args.plain || !io::stdout().is_terminal() || dumb() {
        print(&narrative(&exhibit, look))?;
        return Ok(Status::Success);
    }
    let theme = Theme { colour: look.palette.colour(), unicode: look.unicode };
    let notes = pages::notes(&exhibit.trace, exhibit.departure);
    let mut viewer = Viewer::new(Timeline::of(&exhibit.trace), notes, theme);
    if let Err(error) = terminal::show(&mut viewer) {
        let said = format!("the terminal cannot be used: {error}; --plain prints the narrative instead");
        complain(&error_line(colours.err, said));
        return Ok(Status::Trouble);
    }
    Ok(Status::Success)
}

/// Whether the terminal says that it can do nothing but print.
fn dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|name| name == "dumb")
}

/// The whole narrative: every step, then how it ends and why.
fn narrative(exhibit: &Exhibit, look: Look) -> String {
    let style = Style {
        colour: look.palette.colour(),
        width: look.width,
        unicode: look.unicode,
        headline: true,
        all: true,
    };
    let told = counterexamples::narrative(&exhibit.trace, &style);
    match &exhibit.departure {
        None => told,
        Some(reason) => {
            let reason = counterexamples::harmless(reason);
            let warning = look.palette.bad("departs from the model, so what follows may not be so:");
            format!("{warning} {reason}\n\n{told}")
        }
    }
}

//! `barcheck graph`: protocols as graphs.

use super::args::GraphArgs;
use super::output::{Colours, Status, complain, error_line, print, save};
use super::{input, protocol};
use barcheck_counterexamples::{self as counterexamples, GraphView};
use barcheck_model::machine::{NotUnfolded, Options};
use std::io;
use std::sync::Arc;

/// Positions of an automaton that is drawn, at most: more can hardly be looked at.
const MOST_DRAWN: usize = 1_000;
/// The same where only a summary of it is drawn.
const MOST_SUMMED_UP: usize = 20_000;

/// Runs the command.
pub(crate) fn run(args: &GraphArgs, colours: Colours) -> io::Result<Status> {
    let name = input::display_name(&args.file);
    let place = args.output.as_deref().filter(|path| !input::is_standard_input(path));
    let trouble = |message: &str| {
        complain(&error_line(colours.err, message));
        Ok(Status::Trouble)
    };
    if place.is_some_and(|place| input::is_same(place, &args.file)) {
        return trouble("the graph would overwrite the protocol");
    }
    let loaded = match protocol::load(&args.file, &args.define, colours) {
        Ok(loaded) => loaded,
        Err(said) => {
            complain(&said);
            return Ok(Status::Trouble);
        }
    };
    let usual = if args.what == GraphView::Automata { MOST_DRAWN } else { MOST_SUMMED_UP };
    let most = args.max_states.map_or(usual, |most| usize::try_from(most).unwrap_or(usize::MAX));
    match counterexamples::graph(Arc::new(loaded.program), Options::default(), &name, args.what, most) {
        Ok(dot) => match place {
            Some(path) => save("graph", &dot, path, colours),
            None => print(&dot).map(|()| Status::Success),
        },
        Err(error) => {
            let more = match error.why {
                NotUnfolded::TooLarge | NotUnfolded::Stopped => {
                    "; --max-states N allows more, -D may set a smaller `param`"
                }
                _ => "",
            };
            let said = format_args!("cannot draw {name}: {error}{more}");
            complain(&error_line(colours.err, said));
            Ok(Status::Inconclusive)
        }
    }
}

//! `barcheck graph`: protocols as graphs.

use super::args::GraphArgs;
use super::output::{Colours, Status};
use super::protocol::{Made, Task};
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
    let GraphArgs { file, define, output, time, .. } = args;
    let task = Task { what: "graph", file, define, output: output.as_ref(), time, colours };
    let usual = if args.what == GraphView::Automata { MOST_DRAWN } else { MOST_SUMMED_UP };
    let most = args.max_states.map_or(usual, |most| usize::try_from(most).unwrap_or(usize::MAX));
    task.run(|loaded, name, patience| {
        let program = Arc::new(loaded.program);
        match counterexamples::graph(program, Options::default(), name, args.what, most, patience) {
            Ok(text) => Ok(Made { text, beside: None, notes: Vec::new() }),
            Err(error) => {
                let more = match error.why {
                    NotUnfolded::TooLarge | NotUnfolded::Stopped => {
                        "; --max-states N allows more, -D may set a smaller `param`"
                    }
                    _ => "",
                };
                Err((Status::Inconclusive, format!("cannot draw {name}: {error}{more}")))
            }
        }
    })
}

//! A protocol as a graph: what its agents can do by themselves, and which barriers they share.

mod automata;
mod kinds;
mod usage;

use std::fmt;
use std::sync::Arc;

use barcheck_model::Patience;
use barcheck_model::machine::{Machine, NotUnfolded, Options};
use barcheck_model::program::Program;

use kinds::kinds;

/// All automata together may be so many times as large as one.
const MOST_KINDS: usize = 16;

/// What is drawn of a protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// Who arrives and waits on which barrier.
    Usage,
    /// Who waits for whom to arrive.
    Waits,
    /// What each kind of agent can do, step by step.
    Automata,
}

/// Why a protocol has no graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphError {
    /// The agents whose automaton cannot be worked out, for people: `warps 0-3`.
    pub agents: String,
    /// How many configurations were allowed.
    pub most: usize,
    /// Why.
    pub why: NotUnfolded,
}

impl fmt::Display for GraphError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { agents, most, why } = self;
        match why {
            NotUnfolded::TooLarge => write!(
                f,
                "the automaton of {agents} does not stay within {most} states: long loops and results of \
                 reductions make many, a counter in an endless loop makes infinitely many"
            ),
            NotUnfolded::ManyChoices => {
                write!(
                    f,
                    "the automaton of {agents} cannot be drawn: a choice in it has too many alternatives"
                )
            }
            NotUnfolded::Stopped => {
                write!(f, "the automata of all agents, {agents} among them, are too large together")
            }
        }
    }
}

impl std::error::Error for GraphError {}

/// A protocol as a graph in DOT; `file` is what it is called, and `most` the number of configurations that an
/// automaton may have.
///
/// # Errors
/// An automaton has more configurations than that, or cannot be listed; or patience has run out.
pub fn graph(
    program: Arc<Program>,
    options: Options,
    file: &str,
    view: View,
    most: usize,
    patience: &Patience,
) -> Result<String, GraphError> {
    let mut machine = Machine::within(program, options, patience.clone());
    // Many agents that are not alike take many times the memory of one.
    let mut left = most.saturating_mul(MOST_KINDS);
    let mut goes_on = || {
        left = left.saturating_sub(1);
        left > 0 && !patience.is_over()
    };
    machine.merge_alike(most, &mut goes_on);
    let kinds = kinds(&machine);
    for kind in &kinds {
        let unfolded = machine.unfolded(kind.representative, most, &mut goes_on);
        if let Err(why) = unfolded {
            return Err(GraphError { agents: kind.name.clone(), most, why });
        }
    }
    Ok(match view {
        View::Automata => automata::draw(&machine, &kinds, file),
        View::Usage => usage::draw(&machine, &kinds, file),
        View::Waits => usage::draw_waits(&machine, &kinds, file),
    })
}

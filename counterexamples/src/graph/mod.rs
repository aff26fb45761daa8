//! A protocol as a graph: what its agents can do by themselves, and which barriers they share.

mod automata;
mod usage;

use std::fmt;
use std::sync::Arc;

use barcheck_model::machine::{Machine, NotUnfolded, Options};
use barcheck_model::program::{AgentId, Program};

use crate::names;

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
                "the automaton of {agents} does not stay within {most} states: long loops and results of reductions \
                 make many, a counter in an endless loop makes infinitely many"
            ),
            NotUnfolded::ReadsState => write!(
                f,
                "the automaton of {agents} cannot be drawn: it reads a barrier's state, which depends on all others"
            ),
            NotUnfolded::ManyChoices => {
                write!(
                    f,
                    "the automaton of {agents} cannot be drawn: a choice in it has too many alternatives"
                )
            }
            NotUnfolded::Stopped => write!(f, "the automaton of {agents} was not worked out to its end"),
        }
    }
}

impl std::error::Error for GraphError {}

/// Agents that behave alike.
struct Kind {
    representative: AgentId,
    agents: Vec<u32>,
    /// `warps 1-3 (consumer)`.
    name: String,
}

/// A protocol as a graph in DOT; `file` is what it is called, and `most` the number of configurations that an automaton
/// may have.
///
/// # Errors
/// An automaton has more configurations than that, or cannot be listed.
pub fn graph(
    program: Arc<Program>,
    options: Options,
    file: &str,
    view: View,
    most: usize,
) -> Result<String, GraphError> {
    let mut machine = Machine::new(program, options);
    machine.merge_alike(most, &mut || true);
    let kinds = kinds(&machine);
    for kind in &kinds {
        let unfolded = machine.unfolded(kind.representative, most, &mut || true);
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

/// The kinds of agents, in the order of their first ones.
fn kinds(machine: &Machine) -> Vec<Kind> {
    let program = machine.program();
    let first = machine.agents().filter(|agent| machine.alike(*agent).next() == Some(*agent));
    first
        .map(|representative| {
            let agents: Vec<u32> = machine.alike(representative).map(|agent| agent.0).collect();
            let mut name = names::agents(program.target.agent_noun(), &agents);
            if let Some(role) = &program.roles[program.agents[representative.index()].index()].name {
                name = format!("{name} ({role})");
            }
            Kind { representative, agents, name }
        })
        .collect()
}

/// What stands above every graph.
fn title(machine: &Machine, file: &str, says: &str) -> Vec<String> {
    let program = machine.program();
    let count = program.agents.len();
    let noun = program.target.agent_noun();
    let plural = if count == 1 { "" } else { "s" };
    vec![format!("{file}: {}, {count} {noun}{plural}", program.target.name()), says.to_owned()]
}

//! What has blown up, when a search had to be given up.

use barcheck_model::agent::{LaneValues, Value};
use barcheck_model::machine::{Automaton, ConfigId, Machine, Sequence};
use barcheck_model::program::{AgentId, Program, SequenceId};
use std::collections::HashSet;

/// Automata below this size are no reason to give up.
const NOTABLE: usize = 1000;

/// Values of locals that are looked at, in all: this is for a word in a message, when time may be up.
const MOST_VALUES: usize = 1 << 18;

/// The local whose values are most numerous among an automaton's configurations, if that automaton is
/// large against the search as a whole; otherwise `None`: it is the interleavings that are many.
pub(crate) fn blow_up(machine: &Machine, states: u64) -> Option<String> {
    blow_up_beyond(machine, states, NOTABLE)
}

/// The same, where automata below some size are no reason.
pub(crate) fn blow_up_beyond(machine: &Machine, states: u64, notable: usize) -> Option<String> {
    let (class, automaton) = machine.automata().iter().enumerate().max_by_key(|(_, a)| a.len())?;
    if automaton.len() < notable || (automaton.len() as u64).saturating_mul(50) < states {
        return None;
    }
    let agent = machine.agents().find(|agent| machine.class(*agent) == class)?;
    let code = machine.program().code(agent);
    let most = MOST_VALUES / code.locals.len().max(1);
    let counts =
        code.locals.iter().enumerate().map(|(local, info)| (distinct(automaton, local, most), &info.name));
    let (values, name) = counts.max_by_key(|(values, _)| *values)?;
    let who = machine.program().agent_name(agent);
    if values < notable / 10 {
        return Some(format!("the configurations of {who} (at least {})", automaton.len()));
    }
    Some(format!("the values of `{name}` in {who} (at least {values})"))
}

/// Decisions that are not many yet.
const FEW_DECISIONS: usize = 12;

/// The sequence of uniform decisions of which some agent has made many that another has yet to make, if there
/// is one among some states.
pub(crate) fn backlog<'s>(machine: &Machine, states: impl Iterator<Item = &'s [Sequence]>) -> Option<String> {
    let ahead = |sequences: &'s [Sequence]| sequences.iter().enumerate().max_by_key(|(_, s)| s.ahead.len());
    let (index, sequence) = states.filter_map(ahead).max_by_key(|(_, sequence)| sequence.ahead.len())?;
    let decisions = sequence.ahead.len();
    if decisions < FEW_DECISIONS {
        return None;
    }
    let spelt = spelt(machine.program(), index);
    let first = sequence.position.iter().enumerate().max_by_key(|(_, position)| **position)?.0;
    let first = machine.program().agent_name(AgentId::from_index(first));
    Some(format!(
        "the decisions of `{spelt}` that {first} has made and others have yet to make ({decisions}): give \
         decisions that agents make at different rates names of their own"
    ))
}

/// That some agent makes decisions that others will never have caught up with.
pub(crate) fn no_end(program: &Program, (SequenceId(sequence), ahead): (SequenceId, AgentId)) -> String {
    format!(
        "there are states without end: the decisions of `{}` that {} has made and others have yet to make \
         become more and more",
        spelt(program, sequence as usize),
        program.agent_name(ahead)
    )
}

/// How a sequence of decisions is asked for.
fn spelt(program: &Program, sequence: usize) -> String {
    match program.sequences.get(sequence).and_then(|name| name.as_deref()) {
        None | Some("") => "uniform ?".to_owned(),
        Some(name) => format!("uniform {name} ?"),
    }
}

/// Number of distinct values of a local among the first configurations of an automaton.
fn distinct(automaton: &Automaton, local: usize, most: usize) -> usize {
    let mut values: HashSet<&Value> = HashSet::new();
    for id in 0..u32::try_from(automaton.len().min(most)).unwrap_or(u32::MAX) {
        for fragment in &automaton.config(ConfigId(id)).fragments {
            match &fragment.locals[local] {
                LaneValues::Same(value) => drop(values.insert(value)),
                LaneValues::Each(each) => values.extend(each.iter()),
            }
        }
    }
    values.len()
}

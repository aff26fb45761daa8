//! Paths that end in a cycle: lassos. They show that an agent is stuck.

use super::{permuted, real};
use barcheck_model::machine::{Advanced, Choice, Detail, Finding, Log, Machine, Path, State};
use barcheck_model::program::AgentId;
use barcheck_model::rule::Rule;

/// A cycle up to symmetry is repeated until the real agents are back where they were, this often at most.
const MOST_ROUNDS: usize = 5040;

/// Agents that are stuck, as findings, one for each place at which they stand.
pub(crate) fn findings<K>(machine: &Machine, state: &State<K>, names: &[AgentId]) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    for agent in names {
        let pc = machine.stands_at(state, *agent);
        let place = machine.place(*agent, pc);
        if found.iter().any(|f| machine.place(f.agent, f.pc) == place) {
            continue;
        }
        let config = machine.config(state, *agent);
        let parked = || config.fragments.iter().find_map(|f| f.parked).map(|p| p.what.id);
        let barrier = config.waiting.map(|w| w.barrier).or_else(parked);
        let here = |other: &&AgentId| machine.place(**other, machine.stands_at(state, **other)) == place;
        let agents = names.iter().filter(here).copied().collect();
        let finding =
            Finding { rule: Rule::StuckAgent, agent: *agent, pc, agents, barrier, detail: Detail::None };
        found.push(finding);
    }
    found
}

/// Steps of agents at certain places, and where each agent goes when the state after them is sorted.
pub(crate) struct Segment {
    pub(crate) choices: Vec<Choice>,
    pub(crate) permutation: Vec<u32>,
}

/// Repeats the cycle until the group is really back in the state where it began.
pub(crate) fn unroll(
    machine: &mut Machine,
    mut steps: Vec<Choice>,
    who: &[AgentId],
    cycle: &[Segment],
) -> Option<Path> {
    let first = steps.len() + cycle.iter().map(|segment| segment.choices.len()).sum::<usize>();
    let mut state = state_after(machine, None, &steps)?;
    // It may take a round until what the way there has left behind is forgotten.
    let mut begins = vec![(state.clone(), steps.len())];
    let mut who = who.to_vec();
    for _ in 0..MOST_ROUNDS {
        let from = steps.len();
        for segment in cycle {
            steps.extend(segment.choices.iter().map(|choice| real(*choice, &who)));
            who = permuted(&who, &segment.permutation);
        }
        state = state_after(machine, Some(state), &steps[from..])?;
        if let Some((_, begin)) = begins.iter().find(|(begin, _)| *begin == state) {
            return Some(Path { steps, cycle_from: Some(*begin) });
        }
        begins.push((state.clone(), steps.len()));
    }
    // The agents keep changing places for longer than anybody would read: the path shows one round.
    steps.truncate(first);
    Some(Path { steps, cycle_from: None })
}

/// The state after some steps, from the initial state if none is given.
pub(crate) fn state_after(machine: &mut Machine, from: Option<State>, steps: &[Choice]) -> Option<State> {
    let mut state = from.unwrap_or_else(|| machine.initial());
    let mut log = Log::default();
    for choice in steps {
        log.events.clear();
        log.noted.clear();
        match machine.advance(&mut state, *choice, &mut log) {
            Advanced::NoEffect | Advanced::Progress => {}
            Advanced::Disabled | Advanced::Error(_) => return None,
        }
    }
    Some(state)
}

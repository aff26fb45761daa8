//! Lassos, which are runs without end: a path into a cycle, the stem, and the cycle.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use barcheck_model::machine::{Choice, Path, State};
use barcheck_model::rule::Rule;

use super::order;
use super::walker::Walker;
use crate::build::What;

/// A shorter stem, or a shorter cycle, by states of the path alone: what nobody can be freed
/// from in one of them, nobody can in the others that follow it.
pub(super) fn shorten(
    walker: &mut Walker<'_>,
    steps: &[Choice],
    from: usize,
    what: What<'_>,
) -> Option<Path> {
    let What::Finding(finding, _) = what else { return None };
    if finding.rule != Rule::StuckAgent || from >= steps.len() {
        return None;
    }
    let (mut stem, mut cycle) = first_cycle(&states(walker, steps)?, steps, from);
    without_cycles(&states(walker, &stem)?, &mut stem);
    let initial = walker.initial();
    order::gather(walker, &initial, &mut stem, None);
    let entered = walker.passage(&initial, stem.iter().copied(), None)?.state;
    order::gather(walker, &entered, &mut cycle, None);
    let closed = walker.passage(&entered, cycle.iter().copied(), None)?.state;
    let cycle_from = Some(stem.len());
    stem.append(&mut cycle);
    // States were told apart by numbers that two may share by accident.
    let stuck = walker.machine.config(&entered, finding.agent).is_blocked();
    (stuck && closed == entered).then_some(Path { steps: stem, cycle_from })
}

/// The states before each step and after the last, as numbers.
fn states(walker: &mut Walker<'_>, steps: &[Choice]) -> Option<Vec<u64>> {
    let mut state = walker.initial();
    let mut states = vec![number(&state)];
    for choice in steps {
        state = walker.passage(&state, [*choice], None)?.state;
        states.push(number(&state));
    }
    Some(states)
}

fn number(state: &State) -> u64 {
    let mut hash = DefaultHasher::new();
    state.hash(&mut hash);
    hash.finish()
}

/// The cycle that is closed first, entered as early as the path comes by one of its states: the stem, and
/// the cycle.
fn first_cycle(states: &[u64], steps: &[Choice], from: usize) -> (Vec<Choice>, Vec<Choice>) {
    let mut seen = HashMap::new();
    let closes = |(at, state): (usize, &u64)| seen.insert(*state, at).map(|before| (before, at));
    let closed = states.iter().enumerate().skip(from).find_map(closes);
    let (begin, end) = closed.unwrap_or((from, steps.len()));
    let on_the_cycle = |state: &u64| states[begin..end].iter().position(|other| other == state);
    let entry = states[..begin].iter().enumerate().find_map(|(at, state)| Some((at, on_the_cycle(state)?)));
    let (entry, place) = entry.unwrap_or((begin, 0));
    let cycle = [&steps[begin + place..end], &steps[begin..begin + place]].concat();
    (steps[..entry].to_vec(), cycle)
}

/// Leaves out what leads back to a state passed before.
fn without_cycles(states: &[u64], stem: &mut Vec<Choice>) {
    let last: HashMap<u64, usize> = states.iter().enumerate().map(|(at, state)| (*state, at)).collect();
    let mut shorter = Vec::new();
    let mut at = 0;
    while at < states.len() {
        at = last[&states[at]];
        shorter.extend(stem.get(at));
        at += 1;
    }
    *stem = shorter;
}

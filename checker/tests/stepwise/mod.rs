//! The states of a protocol as the model gives them, one step after the other: nothing is numbered, packed or
//! remembered.

use barcheck_model::machine::{Choice, End, Machine, Options, State, StepOutcome};
use barcheck_model::program::Program;
use barcheck_model::rule::Rule;
use std::collections::{BTreeSet, HashSet, VecDeque};
use std::sync::Arc;

/// What there is to find.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Reached {
    pub(crate) states: u64,
    pub(crate) transitions: u64,
    pub(crate) rules: BTreeSet<Rule>,
}

/// Everything that a protocol can do; `None` if there are more states than this.
pub(crate) fn reach(program: Arc<Program>, options: Options, most: usize) -> Option<Reached> {
    let mut machine = Machine::new(program, options);
    let initial = machine.initial();
    let mut reached = Reached { states: 1, ..Reached::default() };
    if machine.fault(&initial).is_some() {
        return Some(reached);
    }
    let mut met = HashSet::from([initial.clone()]);
    let mut open = VecDeque::from([initial]);
    while let Some(state) = open.pop_front() {
        reached.rules.extend(machine.judge(&state).into_iter().map(|finding| finding.rule));
        for choice in choices(&machine, &state) {
            reached.transitions += 1;
            let (next, noted) = match machine.step(&state, choice) {
                StepOutcome::Disabled => {
                    reached.transitions -= 1;
                    continue;
                }
                StepOutcome::NoEffect => continue,
                StepOutcome::Progress(progressed) => (Some(progressed.state), Vec::new()),
                StepOutcome::Noted(progressed, noted) => (Some(progressed.state), noted),
                StepOutcome::Error(end) => match *end {
                    End::Violation(finding) => (None, vec![finding]),
                    End::Fault { noted, .. } | End::Cut { noted, .. } => (None, noted),
                },
            };
            reached.rules.extend(noted.into_iter().map(|finding| finding.rule));
            if let Some(next) = next.filter(|next| met.insert(next.clone())) {
                open.push_back(next);
            }
        }
        if met.len() > most {
            return None;
        }
    }
    reached.states = met.len() as u64;
    Some(reached)
}

/// The steps that agents may take, and the landings.
fn choices(machine: &Machine, state: &State) -> Vec<Choice> {
    let mut choices: Vec<Choice> = state.landings().collect();
    for agent in machine.agents() {
        for (index, made) in (0..).zip(machine.moves(state, agent)) {
            let picks = machine.picks(state, agent, made);
            let picks = picks.map(|pick| u32::try_from(pick).expect("not so many choices"));
            choices.extend(picks.map(|pick| Choice::of(agent, index, pick)));
        }
    }
    choices
}

//! Whether a run could have gone on to a proper end, had the data been other.
//!
//! A deadlock that comes about with every choice of unknown data false, and with every one true, need not be
//! one for certain: data that says when a loop ends is neither. So runs are tried that make the decisions of
//! the whole group as the counterexample does, and take what is unknown by chance. One that ends well shows
//! that the deadlock rests on the data.

use barcheck_counterexamples::Trace;
use barcheck_model::agent::Choices;
use barcheck_model::machine::{self, Choice, Machine, State, StepOutcome};
use barcheck_model::program::{AgentId, Program};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Runs that are tried, and steps that they make together, at most.
const RUNS: u64 = 400;
const STEPS: u64 = 100_000;

/// Whether one of the runs that are tried comes to a proper end.
pub(crate) fn may_end_well(program: &Arc<Program>, readings: machine::Options, trace: &Trace) -> bool {
    let mut runs =
        Runs { machine: Machine::new(Arc::clone(program), readings), made: BTreeMap::new(), left: STEPS };
    runs.learn(trace);
    (1..=RUNS).any(|seed| runs.ends_well(Chance(seed)))
}

struct Runs {
    machine: Machine,
    /// The decisions of the whole group, by sequence and position in it.
    made: BTreeMap<(usize, u32), u32>,
    left: u64,
}

/// How often each agent has consulted each sequence.
type Asked = BTreeMap<(usize, AgentId), u32>;

impl Runs {
    /// The decisions of the whole group that a run makes.
    fn learn(&mut self, trace: &Trace) {
        let mut state = self.machine.initial();
        let mut asked = Asked::new();
        for step in &trace.steps {
            let (agent, index, pick) = (AgentId(step.agent), step.choice.index, step.choice.pick);
            if step.choice.lands {
                let Some(next) = self.step(&state, Choice::landing(agent, index)) else { return };
                state = next;
                continue;
            }
            if let Some(position) = self.consulted(&state, agent, index, &mut asked) {
                self.made.insert(position, pick);
            }
            let Some(next) = self.step(&state, Choice::of(agent, index, pick)) else { return };
            state = next;
        }
    }

    /// The position in a sequence of decisions that a move makes, if it makes one.
    fn consulted(
        &self,
        state: &State,
        agent: AgentId,
        index: u32,
        asked: &mut Asked,
    ) -> Option<(usize, u32)> {
        let made = self.machine.moves(state, agent).get(index as usize)?;
        let Choices::Uniform(sequence) = made.choices else { return None };
        let count = asked.entry((sequence.index(), agent)).or_default();
        *count += 1;
        Some((sequence.index(), *count))
    }

    /// The state after a step that leads to another one.
    fn step(&mut self, state: &State, choice: Choice) -> Option<State> {
        match self.machine.step(state, choice) {
            StepOutcome::Progress(next) | StepOutcome::Noted(next, _) => Some(next.state),
            StepOutcome::Disabled | StepOutcome::NoEffect | StepOutcome::Error(_) => None,
        }
    }

    /// Whether a run ends with nothing found, in which everybody takes steps in turn.
    fn ends_well(&mut self, mut chance: Chance) -> bool {
        let mut state = self.machine.initial();
        let mut asked = Asked::new();
        loop {
            let mut goes_on = false;
            let agents: Vec<AgentId> = self.machine.agents().collect();
            for agent in agents {
                for index in 0..self.machine.moves(&state, agent).len() {
                    let Some(left) = self.left.checked_sub(1) else { return false };
                    self.left = left;
                    let Some(choice) = self.choose(&state, (agent, index), &mut asked, &mut chance) else {
                        continue;
                    };
                    if let Some(next) = self.step(&state, choice) {
                        (state, goes_on) = (next, true);
                        break;
                    }
                }
            }
            loop {
                let landing = state.landings().next();
                let Some(landing) = landing else { break };
                let Some(next) = self.step(&state, landing) else { return false };
                (state, goes_on) = (next, true);
            }
            if !goes_on {
                return self.machine.judge(&state).is_empty();
            }
        }
    }

    /// A way to make a move: as is known, or by chance.
    fn choose(
        &self,
        state: &State,
        (agent, index): (AgentId, usize),
        asked: &mut Asked,
        chance: &mut Chance,
    ) -> Option<Choice> {
        let index = u32::try_from(index).ok()?;
        let picks = self.machine.picks(state, agent, &self.machine.moves(state, agent)[index as usize]);
        let known =
            self.consulted(state, agent, index, asked).and_then(|position| self.made.get(&position).copied());
        let pick = match known {
            Some(pick) => u64::from(pick),
            None => picks.start + chance.below(picks.end.saturating_sub(picks.start).max(1)),
        };
        Some(Choice::of(agent, index, u32::try_from(pick).ok()?))
    }
}

/// Numbers by chance (Marsaglia, Xorshift RNGs, 2003), the same in each run of the program.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit
    }
}

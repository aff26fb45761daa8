//! Whether a run could have gone on to a proper end, had the data been other.
//!
//! A deadlock that comes about with every choice of unknown data false, and with every one true, need not be
//! one for certain: data that says when a loop ends is neither. So runs are tried that make the decisions of
//! the whole group as the counterexample does, and take what is unknown at random. One in which everybody
//! gets to the end shows that the deadlock rests on the data. Where there is no time to try them it may.

use barcheck_counterexamples::Trace;
use barcheck_model::Patience;
use barcheck_model::agent::Choices;
use barcheck_model::machine::{self, Choice, Machine, State, StepOutcome};
use barcheck_model::program::{AgentId, Program};
use barcheck_model::rule::Rule;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Runs that are tried, and steps that they make together, and each of them, at most.
const RUNS: u64 = 400;
const STEPS: u64 = 100_000;
const STEPS_OF_ONE: u64 = STEPS / 20;

/// Whether one of the runs that are tried comes to its end, or there is no time to try them.
pub(crate) fn may_end_well(
    program: &Arc<Program>,
    readings: machine::Options,
    trace: &Trace,
    patience: &Patience,
) -> bool {
    let machine = Machine::within(Arc::clone(program), readings, patience.clone());
    let mut runs = Runs { machine, made: BTreeMap::new(), left: STEPS };
    runs.learn(trace);
    (1..=RUNS).any(|seed| patience.is_over() || runs.ends_well(Random(seed)))
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

    /// Whether a run comes to its end, in which everybody takes steps in turn.
    fn ends_well(&mut self, mut random: Random) -> bool {
        let mut state = self.machine.initial();
        let mut asked = Asked::new();
        let least = self.left.saturating_sub(STEPS_OF_ONE);
        loop {
            let mut goes_on = false;
            let agents: Vec<AgentId> = self.machine.agents().collect();
            for agent in agents {
                for index in 0..self.machine.moves(&state, agent).len() {
                    if self.left == least {
                        return false;
                    }
                    self.left -= 1;
                    let Some(choice) = self.choose(&state, (agent, index), &mut asked, &mut random) else {
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
                return self.is_over(&state);
            }
            if self.machine.patience().is_over() {
                return false;
            }
        }
    }

    /// Whether everybody has come to the end. What is left over then is another matter.
    fn is_over(&self, state: &State) -> bool {
        self.machine.agents().all(|agent| self.machine.moves(state, agent).is_empty())
            && self.machine.judge(state).iter().all(|found| found.rule != Rule::Deadlock)
    }

    /// A way to make a move: as is known, or at random.
    fn choose(
        &self,
        state: &State,
        (agent, index): (AgentId, usize),
        asked: &mut Asked,
        random: &mut Random,
    ) -> Option<Choice> {
        let index = u32::try_from(index).ok()?;
        let picks = self.machine.picks(state, agent, &self.machine.moves(state, agent)[index as usize]);
        let known =
            self.consulted(state, agent, index, asked).and_then(|position| self.made.get(&position).copied());
        let pick = match known {
            Some(pick) => u64::from(pick),
            None => picks.start + random.below(picks.end.saturating_sub(picks.start).max(1)),
        };
        Some(Choice::of(agent, index, u32::try_from(pick).ok()?))
    }
}

/// Random numbers (Marsaglia, Xorshift RNGs, 2003), the same in each run of the program.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit
    }
}

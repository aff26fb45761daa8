//! Whether a run could have gone on to a proper end, had the data been other.
//!
//! A violation that comes about with every choice of unknown data false, and with every one true, need not be
//! one for certain: data that says when a loop ends is neither, nor is what holds for one thread alone. So
//! runs are tried that make the decisions of the whole group as the counterexample does, and take what is
//! unknown at random, and where that comes to no end otherwise, the last choice first. One in which everybody
//! gets to the end shows that the violation rests on the data. It may, too, where there are too many to try
//! all.

use barcheck_counterexamples::Trace;
use barcheck_model::Patience;
use barcheck_model::agent::Choices;
use barcheck_model::machine::{self, Choice, Machine, State, StepOutcome};
use barcheck_model::program::{AgentId, Program};
use barcheck_model::rule::Rule;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Runs that are begun, and steps that they make together, and each of them, at most.
const RUNS: u64 = 400;
const STEPS: u64 = 200_000;
const STEPS_OF_ONE: u64 = STEPS / 4;

/// Ways of a choice that are tried, at most.
const MOST_WAYS: u64 = 8;

/// Whether one of the runs that are tried comes to its end, or there are too many of them.
pub(crate) fn may_end_well(
    program: &Arc<Program>,
    readings: machine::Options,
    (rule, trace): (Rule, &Trace),
    patience: &Patience,
) -> bool {
    let machine = Machine::within(Arc::clone(program), readings, patience.clone());
    let mut runs = Runs { machine, rule, made: BTreeMap::new(), left: STEPS };
    runs.learn(trace);
    let mut is_certain = false;
    for seed in 1..=RUNS {
        match runs.ends_well(Random(seed)) {
            _ if patience.is_over() => return true,
            Some(true) => return true,
            Some(false) => is_certain = true,
            None if runs.left == 0 => break,
            None => {}
        }
    }
    !is_certain
}

struct Runs {
    machine: Machine,
    /// The rule that is not to be violated in the end.
    rule: Rule,
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

    /// Whether a run comes to its end, in which everybody takes steps in turn, or one that takes what is
    /// unknown otherwise. `None` if not all of them could be tried.
    fn ends_well(&mut self, mut random: Random) -> Option<bool> {
        let mut run = Run { state: self.machine.initial(), asked: Asked::new(), next: 0 };
        let mut open: Vec<Open> = Vec::new();
        let least = self.left.saturating_sub(STEPS_OF_ONE);
        loop {
            if self.left <= least || self.machine.patience().is_over() {
                return None;
            }
            if self.advance(&mut run, &mut open, &mut random) {
                continue;
            }
            if self.is_over(&run.state) {
                return Some(true);
            }
            // The last choice of which not all has been tried.
            loop {
                let Some(last) = open.last_mut() else { return Some(false) };
                match last.others.pop() {
                    Some(choice) => {
                        run = last.before.clone();
                        self.left = self.left.saturating_sub(1);
                        if let Some(next) = self.step(&run.state, choice) {
                            run.state = next;
                            break;
                        }
                    }
                    None => drop(open.pop()),
                }
            }
        }
    }

    /// Makes a step of the next agent that can make one, or else lets something land. Whether there was one.
    fn advance(&mut self, run: &mut Run, open: &mut Vec<Open>, random: &mut Random) -> bool {
        let agents: Vec<AgentId> = self.machine.agents().collect();
        for at in 0..agents.len() {
            let at = (run.next + at) % agents.len();
            for index in 0..self.machine.moves(&run.state, agents[at]).len() {
                self.left = self.left.saturating_sub(1);
                let asked = run.asked.clone();
                let Some(mut ways) = self.ways(run, (agents[at], index), random) else { continue };
                let Some(next) = ways.pop().and_then(|first| self.step(&run.state, first)) else {
                    run.asked = asked;
                    continue;
                };
                run.next = at + 1;
                if !ways.is_empty() {
                    open.push(Open { before: run.clone(), others: ways });
                }
                run.state = next;
                return true;
            }
        }
        let landing = run.state.landings().next();
        let landed = landing.and_then(|landing| self.step(&run.state, landing));
        landed.map(|next| run.state = next).is_some()
    }

    /// Whether everybody has come to the end. What else is left over then is another matter.
    fn is_over(&self, state: &State) -> bool {
        self.machine.agents().all(|agent| self.machine.moves(state, agent).is_empty())
            && self
                .machine
                .judge(state)
                .iter()
                .all(|found| ![Rule::Deadlock, self.rule].contains(&found.rule))
    }

    /// The ways to make a move, the last of which is to be tried first: the one that is known, or all.
    fn ways(
        &self,
        run: &mut Run,
        (agent, index): (AgentId, usize),
        random: &mut Random,
    ) -> Option<Vec<Choice>> {
        let made = self.machine.moves(&run.state, agent)[index].clone();
        let index = u32::try_from(index).ok()?;
        let picks = self.machine.picks(&run.state, agent, &made);
        let known = self
            .consulted(&run.state, agent, index, &mut run.asked)
            .and_then(|position| self.made.get(&position).copied());
        let of = |pick: u64| Some(Choice::of(agent, index, u32::try_from(pick).ok()?));
        match (known, made.choices) {
            (Some(pick), _) => Some(vec![of(pick.into())?]),
            // What all decide together is not taken otherwise by one of them.
            (None, Choices::Uniform(_)) => Some(vec![of(random.of(&picks))?]),
            (None, _) => {
                let first = random.of(&picks);
                let others = some_of(picks).into_iter().filter(|pick| *pick != first);
                others.chain([first]).map(of).collect()
            }
        }
    }
}

/// Some ways of a choice: all if they are few, else those at both ends and in the middle, where the lanes of
/// a warp that go one way are few or all but few.
fn some_of(picks: std::ops::Range<u64>) -> Vec<u64> {
    let (from, to) = (picks.start, picks.end);
    if to.saturating_sub(from) <= MOST_WAYS {
        return picks.collect();
    }
    let middle = from + (to - from) / 2;
    vec![from, from + 1, middle - 1, middle, middle + 1, to - 2, to - 1]
}

/// A run so far, and the agent whose turn it is.
#[derive(Clone)]
struct Run {
    state: State,
    asked: Asked,
    next: usize,
}

/// A choice: where it was made, and how else it can be.
struct Open {
    before: Run,
    others: Vec<Choice>,
}

/// Random numbers (Marsaglia, Xorshift RNGs, 2003), the same in each run of the program.
struct Random(u64);

impl Random {
    /// One of these numbers.
    fn of(&mut self, range: &std::ops::Range<u64>) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        range.start + (self.0 >> 11) % range.end.saturating_sub(range.start).max(1)
    }
}

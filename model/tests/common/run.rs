//! Runs of a program, step by step.

use super::flows::assert_same_by_locations;
use super::words::{findings, outcome_name};
use barcheck_model::agent::{Config, LaneValues, Value};
use barcheck_model::machine::{Choice, Finding, Machine, Options, State, StepOutcome};
use barcheck_model::program::{AgentId, LocalId, Program};
use std::sync::Arc;

/// A program and the state that a run has reached.
pub(crate) struct Run {
    pub(crate) machine: Machine,
    pub(crate) state: State,
}

impl Run {
    pub(crate) fn new(program: Program) -> Self {
        Self::with(program, Options::default())
    }

    pub(crate) fn with(program: Program, options: Options) -> Self {
        let mut machine = Machine::new(Arc::new(program), options);
        let state = machine.initial();
        Self { machine, state }
    }

    /// Makes one step, if there is such a step, and says what became of it.
    pub(crate) fn choose(&mut self, agent: u32, index: u32, pick: u32) -> StepOutcome {
        let choice = Choice::of(AgentId(agent), index, pick);
        let outcome = self.machine.step(&self.state, choice);
        let noted = if let StepOutcome::Noted(_, noted) = &outcome { &noted[..] } else { &[] };
        if let StepOutcome::Progress(progressed) | StepOutcome::Noted(progressed, _) = &outcome {
            assert_same_by_locations(
                &mut self.machine,
                &self.state,
                choice,
                (&progressed.state.memory, noted),
            );
            self.state = progressed.state.clone();
        }
        outcome
    }

    /// The first move of an agent, with the first choice.
    pub(crate) fn step(&mut self, agent: u32) -> String {
        outcome_name(&self.choose(agent, 0, 0))
    }

    /// Steps, each written as `agent`, `agent.move` or `agent.move.pick`; says how the last one went.
    pub(crate) fn play(&mut self, steps: &str) -> String {
        self.log(steps).pop().unwrap_or_default()
    }

    /// The same; says how each of them went.
    pub(crate) fn log(&mut self, steps: &str) -> Vec<String> {
        steps
            .split_whitespace()
            .map(|step| {
                let mut parts = step.split('.').map(|part| part.parse().expect("a number"));
                let agent = parts.next().expect("an agent");
                let (index, pick) = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
                outcome_name(&self.choose(agent, index, pick))
            })
            .collect()
    }

    /// What an agent has left in flight first lands, and says what became of it.
    pub(crate) fn land(&mut self, agent: u32) -> String {
        let outcome = self.machine.step(&self.state, Choice::landing(AgentId(agent), 0));
        if let StepOutcome::Progress(progressed) | StepOutcome::Noted(progressed, _) = &outcome {
            self.state = progressed.state.clone();
        }
        outcome_name(&outcome)
    }

    /// The findings of the rules about states.
    pub(crate) fn judged(&self) -> Vec<Finding> {
        self.machine.judge(&self.state)
    }

    pub(crate) fn judgement(&self) -> String {
        findings(&self.judged()).trim_start().to_owned()
    }

    pub(crate) fn config(&self, agent: u32) -> &Config {
        self.machine.config(&self.state, AgentId(agent))
    }

    /// Number of moves that an agent has.
    pub(crate) fn moves(&self, agent: u32) -> usize {
        self.machine.moves(&self.state, AgentId(agent)).len()
    }

    /// What a local of an agent's first fragment holds in its first lane.
    pub(crate) fn value(&self, agent: u32, local: u32) -> Value {
        self.lane_value(agent, local, self.config(agent).fragments[0].lanes.trailing_zeros())
    }

    /// What a local holds in a lane.
    pub(crate) fn lane_value(&self, agent: u32, local: u32, lane: u32) -> Value {
        let held = |f: &&barcheck_model::agent::Fragment| f.lanes >> lane & 1 == 1;
        let fragment = self.config(agent).fragments.iter().find(held).expect("the lane is live");
        LaneValues::get(&fragment.locals[LocalId(local).index()], lane).clone()
    }
}

/// How the last of these steps goes, from the initial state of a program.
pub(crate) fn last(program: Program, steps: &str) -> String {
    Run::new(program).play(steps)
}

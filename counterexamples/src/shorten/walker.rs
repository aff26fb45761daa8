//! Making steps on the model, within a budget.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use barcheck_model::barrier::BarrierId;
use barcheck_model::machine::{Choice, End, Event, Finding, Machine, Options, State, StepOutcome};
use barcheck_model::program::{AgentId, Program};
use barcheck_model::rule::Rule;

use crate::build::limits::Limits;

/// Steps between two looks at the clock.
const BETWEEN_LOOKS: usize = 1024;

/// The model, and what may still be spent on it.
pub(super) struct Walker<'g> {
    pub(super) machine: Machine,
    initial: State,
    left: usize,
    steps: usize,
    idles: bool,
    /// Whether there is time left.
    goes_on: &'g dyn Fn() -> bool,
}

/// What a step leads to.
pub(super) enum Step {
    /// Another state.
    On { state: State, noted: Vec<Finding>, arrived: Vec<BarrierId> },
    /// The end of the path.
    End(End),
}

/// What making several steps leads to.
#[derive(PartialEq)]
pub(super) struct Passage {
    pub(super) state: State,
    /// What was noted on the way, and at which barriers, in order.
    noted: Vec<(Rule, Option<BarrierId>)>,
    /// Who arrived last at the barrier that is watched.
    last: Option<AgentId>,
}

impl<'g> Walker<'g> {
    /// A walker that may copy so many agents from one state to the next.
    pub(super) fn new(program: Arc<Program>, options: Options, budget: usize, limits: &Limits<'g>) -> Self {
        let mut machine = Machine::within(program, options, limits.patience());
        let initial = machine.initial();
        Self { machine, initial, left: budget, steps: 0, idles: false, goes_on: limits.goes_on }
    }

    pub(super) fn initial(&self) -> State {
        self.initial.clone()
    }

    /// Whether the last step has changed nothing.
    pub(super) fn idles(&self) -> bool {
        self.idles
    }

    /// What may still be spent.
    pub(super) fn left(&self) -> usize {
        self.left
    }

    /// Takes the price of a step; `false` if there is not enough left.
    pub(super) fn pay(&mut self) -> bool {
        self.steps += 1;
        if self.steps.is_multiple_of(BETWEEN_LOOKS) && !(self.goes_on)() {
            self.left = 0;
        }
        let price = self.initial.agents.len().max(1);
        let enough = self.left >= price;
        self.left = self.left.saturating_sub(price);
        enough
    }

    /// Makes a step, if there is such a step and it can be paid for.
    pub(super) fn step(&mut self, state: &State, choice: Choice) -> Option<Step> {
        if !self.pay() {
            return None;
        }
        self.idles = false;
        let (progressed, noted) = match self.machine.step(state, choice) {
            StepOutcome::Disabled => return None,
            StepOutcome::NoEffect => {
                self.idles = true;
                return Some(Step::On { state: state.clone(), noted: Vec::new(), arrived: Vec::new() });
            }
            StepOutcome::Progress(progressed) => (progressed, Vec::new()),
            StepOutcome::Noted(progressed, noted) => (progressed, noted),
            StepOutcome::Error(end) => return Some(Step::End(*end)),
        };
        let arrived = progressed.events.iter().filter_map(|event| match event {
            Event::Arrived(barrier) => Some(*barrier),
            _ => None,
        });
        Some(Step::On { arrived: arrived.collect(), state: progressed.state, noted })
    }

    /// Makes steps of which none ends the path.
    pub(super) fn passage(
        &mut self,
        from: &State,
        steps: impl IntoIterator<Item = Choice>,
        watched: Option<BarrierId>,
    ) -> Option<Passage> {
        let mut passage = Passage { state: from.clone(), noted: Vec::new(), last: None };
        for choice in steps {
            let Some(Step::On { state, noted, arrived }) = self.step(&passage.state, choice) else {
                return None;
            };
            passage.state = state;
            passage.noted.extend(noted.iter().map(|finding| (finding.rule, finding.barrier)));
            if watched.is_some_and(|barrier| arrived.contains(&barrier)) {
                passage.last = Some(choice.agent());
            }
        }
        passage.noted.sort_unstable();
        Some(passage)
    }

    /// Where everybody stands, and how the barriers are, as a number: locals and memory are left out. Two
    /// states may have the same number by accident.
    pub(super) fn standing(&self, state: &State) -> u64 {
        let mut hash = DefaultHasher::new();
        self.standing_of_agents(state).hash(&mut hash);
        state.barriers.hash(&mut hash);
        hash.finish()
    }

    /// The same of agents alone.
    pub(super) fn standing_of_agents(&self, state: &State) -> u64 {
        let mut hash = DefaultHasher::new();
        for agent in self.machine.agents() {
            let config = self.machine.config(state, agent);
            config.waiting.map(|wait| (wait.barrier, wait.at)).hash(&mut hash);
            for fragment in &config.fragments {
                (fragment.lanes, fragment.pc, fragment.parked, fragment.spins).hash(&mut hash);
            }
            config.fragments.len().hash(&mut hash);
        }
        hash.finish()
    }
}

//! Runs that go round for ever.
//!
//! After each turn, what the future depends on is compared with what it was at one earlier turn, which is replaced at the turns that are
//! powers of two: a cycle is found before the run has gone round three times after its beginning, or the cycle's length (Brent's method).

use super::run::Run;
use barcheck_model::agent::Config;
use barcheck_model::barrier::{BarrierId, Seat};
use barcheck_model::machine::AnyBarrier;
use barcheck_model::program::AgentId;
use std::collections::VecDeque;
use std::sync::Arc;

/// An earlier turn.
#[derive(Debug)]
struct Saved {
    /// By value: numbers of configurations do not last.
    configs: Vec<Arc<Config>>,
    seats: Vec<Vec<(BarrierId, Seat)>>,
    barriers: Vec<(BarrierId, AnyBarrier)>,
    allocated: Option<u32>,
    ready: VecDeque<AgentId>,
    /// Who knew what, see [`super::clocks::Clocks::abstracted`].
    facts: Vec<u64>,
    /// Steps made before.
    steps: usize,
}

/// Looks out for a cycle.
#[derive(Debug, Default)]
pub(super) struct Watch {
    turns: u64,
    saved: Option<Saved>,
}

impl Watch {
    /// Called after each turn. If the run has come to where it was before, the number of steps that it had made then.
    pub(super) fn cycle(&mut self, run: &Run) -> Option<usize> {
        self.turns += 1;
        if let Some(saved) = &self.saved
            && saved.is_like(run)
            && saved.facts == run.state.memory.abstracted(run.marks())
        {
            return Some(saved.steps);
        }
        if self.turns.is_power_of_two() {
            self.saved = Some(Saved {
                configs: configs(run).cloned().collect(),
                seats: run.state.agents.iter().map(|agent| agent.seats.clone()).collect(),
                barriers: run.state.barriers.clone(),
                allocated: run.state.allocated,
                ready: run.ready.clone(),
                facts: run.state.memory.abstracted(run.marks()),
                steps: run.path.len(),
            });
        }
        None
    }
}

impl Saved {
    fn is_like(&self, run: &Run) -> bool {
        let state = &run.state;
        self.ready.front() == run.ready.front()
            && self.barriers == state.barriers
            && self.allocated == state.allocated
            && self.ready == run.ready
            && self.configs.iter().zip(configs(run)).all(|(a, b)| Arc::ptr_eq(a, b) || a == b)
            && self.seats.iter().zip(&state.agents).all(|(seats, agent)| *seats == agent.seats)
    }
}

fn configs(run: &Run) -> impl Iterator<Item = &Arc<Config>> {
    let automaton = |agent: AgentId| &run.machine.automata()[run.machine.class(agent)];
    let agents = run.machine.agents().zip(&run.state.agents);
    agents.map(move |(agent, state)| automaton(agent).shared_config(state.config))
}

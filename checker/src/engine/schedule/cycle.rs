//! Runs that go round for ever.
//!
//! After each turn, what the future depends on is compared with what it was at one earlier turn, which is replaced at the turns that are
//! powers of two: a cycle is found before the run has gone round three times after its beginning, or the cycle's length (Brent's method).

use super::clocks::Clocks;
use super::run::Run;
use barcheck_model::barrier::BarrierId;
use barcheck_model::machine::{AgentState, AnyBarrier, State};
use barcheck_model::program::AgentId;
use std::collections::VecDeque;

/// An earlier turn.
#[derive(Debug)]
struct Saved {
    agents: Vec<AgentState>,
    barriers: Vec<(BarrierId, AnyBarrier)>,
    allocated: Option<u32>,
    ready: VecDeque<AgentId>,
    /// Who knew what, see [`Clocks::abstracted`].
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
            && saved.is_like(&run.state, &run.ready)
            && saved.facts == run.state.memory.abstracted(run.marks())
        {
            return Some(saved.steps);
        }
        if self.turns.is_power_of_two() {
            self.saved = Some(Saved {
                agents: run.state.agents.clone(),
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
    fn is_like(&self, state: &State<Clocks>, ready: &VecDeque<AgentId>) -> bool {
        self.ready.front() == ready.front()
            && self.agents == state.agents
            && self.barriers == state.barriers
            && self.allocated == state.allocated
            && self.ready == *ready
    }
}

//! Runs that come to a cycle.
//!
//! After each turn, what the future depends on is compared with what it was at one earlier turn, which is
//! replaced at the turns that are powers of two: a cycle is found before the run has gone through it three
//! times after its beginning, or the cycle's length (Brent's method).

use super::clocks::Clocks;
use barcheck_model::agent::Config;
use barcheck_model::barrier::{BarrierId, Seat};
use barcheck_model::machine::{Actor, AnyBarrier, Machine, Pending, State};
use barcheck_model::program::AgentId;
use std::collections::VecDeque;
use std::sync::Arc;

/// Where a run is, after a turn.
#[derive(Clone, Copy)]
pub(super) struct Now<'r> {
    pub(super) machine: &'r Machine,
    pub(super) state: &'r State<Clocks>,
    /// Those that have a step, in the order of their turns.
    pub(super) ready: &'r VecDeque<Actor>,
    /// Steps made so far.
    pub(super) steps: usize,
}

/// An earlier turn.
#[derive(Debug)]
struct Saved {
    /// By value: numbers of configurations do not last.
    configs: Vec<Arc<Config>>,
    seats: Vec<Vec<(BarrierId, Seat)>>,
    barriers: Vec<(BarrierId, AnyBarrier)>,
    allocated: Option<u32>,
    pending: Vec<Pending>,
    ready: VecDeque<Actor>,
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
    /// Called after each turn; `facts` says who knows what. If the run has come to where it was before, the
    /// number of steps that it had made then.
    pub(super) fn cycle(&mut self, now: &Now<'_>, facts: impl Fn() -> Vec<u64>) -> Option<usize> {
        self.turns += 1;
        if let Some(saved) = &self.saved
            && saved.is_like(now)
            && saved.facts == facts()
        {
            return Some(saved.steps);
        }
        if self.turns.is_power_of_two() {
            self.saved = Some(Saved {
                configs: configs(now).cloned().collect(),
                seats: now.state.agents.iter().map(|agent| agent.seats.to_vec()).collect(),
                barriers: now.state.barriers.clone(),
                allocated: now.state.allocated,
                pending: now.state.pending.clone(),
                ready: now.ready.clone(),
                facts: facts(),
                steps: now.steps,
            });
        }
        None
    }
}

impl Saved {
    fn is_like(&self, now: &Now<'_>) -> bool {
        let state = now.state;
        self.ready.front() == now.ready.front()
            && self.barriers == state.barriers
            && self.allocated == state.allocated
            && self.pending == state.pending
            && self.ready == *now.ready
            && self.configs.iter().zip(configs(now)).all(|(a, b)| Arc::ptr_eq(a, b) || a == b)
            && self.seats.iter().zip(&state.agents).all(|(seats, agent)| seats[..] == agent.seats[..])
    }
}

fn configs<'r>(now: &Now<'r>) -> impl Iterator<Item = &'r Arc<Config>> {
    let machine = now.machine;
    let automaton = move |agent: AgentId| &machine.automata()[machine.class(agent)];
    let agents = machine.agents().zip(&now.state.agents);
    agents.map(move |(agent, state)| automaton(agent).shared_config(state.config))
}

//! A few random runs, made once a search turns out to be large: they meet most of the components that
//! the search will meet, so that its states need not be moved again and again as numbers grow.
//!
//! Nothing is concluded from them: they only number components. The choices come from a fixed sequence.

use crate::successors::tables::Tables;
use barcheck_model::machine::{Choice, State, StepOutcome};
use barcheck_model::program::AgentId;

/// States after which a search counts as large.
pub(crate) const LARGE: usize = 20_000;
const RUNS: usize = 4;
const MOST_STEPS: usize = 1000;

/// Makes the runs; `false` if they end early since `goes_on` says so.
pub(crate) fn rehearse(tables: &mut Tables, goes_on: &dyn Fn() -> bool) -> bool {
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..RUNS {
        let mut state = tables.machine.initial();
        let mut numbers = tables.number(&state);
        for _ in 0..MOST_STEPS {
            if !goes_on() {
                return false;
            }
            let Some(after) = next(tables, &state, &mut random) else { break };
            numbers = tables.number_after((&state, &numbers), &after);
            state = after;
        }
    }
    true
}

/// A random step that leads on, if there is one.
fn next(tables: &mut Tables, state: &State, random: &mut u64) -> Option<State> {
    // The first that can go on, from a random one.
    let count = tables.machine.agents().count();
    let first = below(random, count as u64) as usize;
    let agents = (first..count).chain(0..first).map(AgentId::from_index);
    let ready =
        agents.map(|agent| (agent, tables.machine.moves(state, agent))).find(|(_, moves)| !moves.is_empty());
    let Some((agent, moves)) = ready else {
        let landing = state.landings().next()?;
        return after(tables, state, landing);
    };
    let index = below(random, moves.len() as u64);
    let picks = tables.machine.picks(state, agent, &moves[index as usize]);
    let pick = picks.start + below(random, picks.end - picks.start);
    let (index, pick) = (u32::try_from(index).ok()?, u32::try_from(pick).ok()?);
    after(tables, state, Choice::of(agent, index, pick))
}

/// The state after a step that leads on.
fn after(tables: &mut Tables, state: &State, choice: Choice) -> Option<State> {
    match tables.machine.step(state, choice) {
        StepOutcome::Progress(progressed) | StepOutcome::Noted(progressed, _) => Some(progressed.state),
        StepOutcome::Disabled | StepOutcome::NoEffect | StepOutcome::Error(_) => None,
    }
}

/// The next number of the sequence (xorshift), brought below `n`.
fn below(random: &mut u64, n: u64) -> u64 {
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    *random % n.max(1)
}

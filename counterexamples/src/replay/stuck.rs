//! That an agent stays blocked whatever happens: a bounded reachability check of the states that follow a
//! cycle.
//!
//! This is the one place of the crate that looks at more than one run. It finds nothing: it only confirms,
//! breadth first, that the agent is blocked in every state that can be reached, and says whether those were
//! all.

use std::collections::{HashSet, VecDeque};

use barcheck_model::machine::{self, Machine, StepOutcome};
use barcheck_model::program::AgentId;

use crate::build::record::Departure;

/// States explored at most.
const MOST_STATES: usize = 20_000;

/// How far it was confirmed that nothing unblocks an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// States explored from the cycle on; the agent is blocked in all of them.
    pub states: usize,
    /// These are all states that can be reached from there.
    pub complete: bool,
}

/// The agent is blocked in a state.
pub(super) fn check_blocked(
    machine: &Machine,
    state: &machine::State,
    agent: AgentId,
    step: Option<usize>,
) -> Result<(), Departure> {
    if machine.config(state, agent).is_blocked() {
        return Ok(());
    }
    let name = machine.program().agent_name(agent);
    Err(Departure {
        step,
        what: "who is stuck".to_owned(),
        expected: format!("{name} blocked for ever"),
        found: format!("{name} is not blocked"),
    })
}

/// Explores what can follow a state, as far as the limit allows: the agent must stay blocked.
pub(super) fn stays_blocked(
    machine: &mut Machine,
    from: machine::State,
    agent: AgentId,
) -> Result<Stuck, Departure> {
    let mut known = HashSet::from([from.clone()]);
    let mut frontier = VecDeque::from([from]);
    while let Some(state) = frontier.pop_front() {
        check_blocked(machine, &state, agent, None)?;
        for choice in choices(machine, &state) {
            let next = match machine.step(&state, choice) {
                StepOutcome::Progress(progressed) | StepOutcome::Noted(progressed, _) => progressed.state,
                // A path that ends does not unblock anybody.
                StepOutcome::Disabled | StepOutcome::NoEffect | StepOutcome::Error(_) => continue,
            };
            if known.contains(&next) {
                continue;
            }
            if known.len() >= MOST_STATES {
                return Ok(Stuck { states: known.len(), complete: false });
            }
            known.insert(next.clone());
            frontier.push_back(next);
        }
    }
    Ok(Stuck { states: known.len(), complete: true })
}

/// The steps possible in a state. Where a choice has more alternatives than states may be explored, so many
/// of them.
fn choices(machine: &Machine, state: &machine::State) -> Vec<machine::Choice> {
    let mut all = Vec::new();
    for agent in machine.agents() {
        for (index, made) in (0..).zip(machine.moves(state, agent)) {
            let picks = machine.picks(state, agent, made).take(MOST_STATES + 1);
            all.extend(
                picks
                    .filter_map(|p| u32::try_from(p).ok())
                    .map(|pick| machine::Choice::of(agent, index, pick)),
            );
        }
    }
    all.extend(state.landings());
    all
}

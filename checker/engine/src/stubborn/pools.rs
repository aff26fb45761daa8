//! Pools, of which some agents give and others take.
//!
//! Why the order of these steps does not matter stands in [`crate::schedule`], with its history of barriers:
//! if no giving has a taking in its past, and all takings have found enough in the end. The first is a
//! function of the state here, since what agents know of takings is part of it. The second shows where a path
//! ends: nobody waits for a pool there. One whose agents go on for ever while one of them waits is a
//! violation itself.

use super::happens_before::{HappensBefore, Mark};
use crate::verdict::answer::Undecided;
use barcheck_model::agent::Move;
use barcheck_model::barrier::Part;
use barcheck_model::machine::{Event, Machine, State};
use barcheck_model::program::{AgentId, Pc};

/// Whether a move is about a pool; an error if it might do something else in another order.
pub(super) fn before(
    machine: &Machine,
    state: &State<HappensBefore>,
    agent: AgentId,
    made: &Move,
) -> Result<bool, Undecided> {
    let Some(action) = made.action.on_barrier() else { return Ok(false) };
    match action.part() {
        Part::Gives => {
            let knows =
                state.memory.knows_some(machine.layout(), agent, action.barrier(), |m| m == Mark::Taken);
            if knows { Err(Undecided::Unordered(agent, made.pc)) } else { Ok(true) }
        }
        part => Ok(part == Part::Takes),
    }
}

/// What has happened at a step on a pool.
pub(super) fn follow(machine: &Machine, state: &mut State<HappensBefore>, agent: AgentId, events: &[Event]) {
    for event in events {
        match event {
            Event::Passed(barrier) if machine.program().is_pool(*barrier) => {
                state.memory.add(*barrier, Mark::Taken, machine.layout().time(agent));
            }
            _ => {}
        }
    }
}

/// Somebody who waits for what others give.
pub(super) fn waiting(machine: &Machine, state: &State<HappensBefore>) -> Option<(AgentId, Pc)> {
    let waits = |agent: &AgentId| {
        let waiting = machine.config(state, *agent).waiting;
        waiting.is_some_and(|waiting| machine.program().is_pool(waiting.barrier))
    };
    let agent = machine.agents().find(waits)?;
    Some((agent, machine.stands_at(state, agent)))
}

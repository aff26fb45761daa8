//! What an emulated run did at barriers is a run of the protocol that was extracted: no state at a barrier is
//! missing from it.

use super::cta::{Did, Event};
use barcheck_model::agent::Move;
use barcheck_model::barrier::Part;
use barcheck_model::machine::{Advanced, Choice, Event as Happened, Log, Machine, Options, State};
use barcheck_model::program::{AgentId, Program};
use std::collections::HashSet;
use std::sync::Arc;

/// States that are kept for one step of a run.
const STATES: usize = 500;

/// What comes of a run in the protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Followed {
    /// It is a run of the protocol.
    Yes,
    /// The protocol ends by a violation on the way, or there are too many ways.
    GivenUp,
    /// The protocol has no such run: the number of the event, and what it is.
    No(usize, String),
}

/// Follows a run in the protocol. Warps have the numbers of its agents.
pub fn follow(program: &Arc<Program>, events: &[Event]) -> Followed {
    // What others do to mbarrier objects, and what lands, is no event, and would have to be made on the way.
    if !program.objects.is_empty() {
        return Followed::GivenUp;
    }
    let mut machine = Machine::new(Arc::clone(program), Options::default());
    let mut states = HashSet::from([machine.initial()]);
    for (index, event) in events.iter().enumerate() {
        let gives = states.iter().any(|state| somebody_gives(&mut machine, state));
        let Some(next) = after(&mut machine, states, event) else { return Followed::GivenUp };
        // That others have given registers is no event either.
        if next.is_empty() && gives {
            return Followed::GivenUp;
        }
        if next.is_empty() {
            return Followed::No(index, format!("{event:?}"));
        }
        states = next;
    }
    Followed::Yes
}

/// Whether an agent may give registers now.
fn somebody_gives(machine: &mut Machine, state: &State) -> bool {
    let gives = |made: &Move| made.action.on_barrier().is_some_and(|action| action.part() == Part::Gives);
    let agents: Vec<AgentId> = machine.agents().collect();
    agents.into_iter().any(|agent| machine.moves(state, agent).iter().any(gives))
}

/// The states behind an event; nothing where the protocol ends, or cannot be followed.
fn after(machine: &mut Machine, from: HashSet<State>, event: &Event) -> Option<HashSet<State>> {
    let agent = AgentId::from_index(event.warp);
    let mut open: Vec<State> = from.iter().cloned().collect();
    let mut seen = from;
    let mut behind = HashSet::new();
    while let Some(state) = open.pop() {
        if machine.fault(&state).is_some() || seen.len() + behind.len() > STATES {
            return None;
        }
        if event.did == Did::Exit && is_gone(machine, &state, agent) {
            behind.insert(state);
            continue;
        }
        for (index, made) in machine.moves(&state, agent).to_vec().iter().enumerate() {
            let line = machine.place(agent, made.pc).line as usize;
            for pick in machine.picks(&state, agent, made) {
                let mut next = state.clone();
                let mut log = Log::default();
                let choice = Choice::of(agent, u32::try_from(index).ok()?, u32::try_from(pick).ok()?);
                match machine.advance(&mut next, choice, &mut log) {
                    Advanced::Disabled | Advanced::NoEffect => continue,
                    Advanced::Error(_) => return None,
                    Advanced::Progress => {}
                }
                let arrived = log.events.iter().find_map(|happened| match happened {
                    Happened::Arrived(barrier) => Some(u64::from(barrier.0)),
                    _ => None,
                });
                match (arrived, &event.did) {
                    (Some(id), Did::Arrive(with)) => {
                        if id == with.id && (line == event.line || !event.is_aligned) {
                            behind.insert(next);
                        }
                    }
                    (Some(_), Did::Exit) => {}
                    (None, _) => {
                        if seen.insert(next.clone()) {
                            open.push(next);
                        }
                    }
                }
            }
        }
    }
    Some(behind)
}

fn is_gone(machine: &Machine, state: &State, agent: AgentId) -> bool {
    machine.config(state, agent).fragments.is_empty()
}

//! One schedule for each outcome of choices, with what they share explored once.
//!
//! Agents conflict with one another only where timing decides something at a barrier or in memory. Where it
//! does not, all that is left open are choices, and each belongs to one agent, or to all of them alike
//! (`uniform ?`). So in every state it is enough to make the steps of *one* agent that has any, all of them:
//! they are a stubborn set (Valmari), in its simplest form a persistent set (Godefroid). The agents'
//! interleavings are never explored.
//!
//! # The argument
//!
//! Fix how every choice goes: what each agent decides at its first choice, at its second, and so on, in which
//! order the separated lanes of a warp move, and the outcomes of each uniform sequence. What is left is a
//! protocol without choices, for which [`crate::schedule`] shows: if at every arrival of some maximal run the
//! generation before is in the past of whoever arrives, then all maximal runs make the same steps, form the
//! same generations, and violate the same rules. Here the causal past is part of the state, as a causal past
//! that travels with arrivals and releases ([`happens_before`]), so the check is a function of the state;
//! where it fails, the answer is [`Undecided`], and a search decides.
//!
//! So every path of the whole system, with the choices that it makes, consists of steps of the run that is
//! made here for these choices:
//!
//! * While the agent whose steps are made here is not the next one of the path, its step commutes with what
//!   the path does meanwhile: no other agent's step changes what it can do, and an arrival joins the same
//!   generation whenever it comes.
//! * The outcome of its choice is the path's own if the path makes it later, and any if it does not. All
//!   outcomes are explored.
//! * Nobody is left out for ever ([`proviso`]): an agent that has closed a cycle waits for all others that
//!   have a step, and makes none but those that others have decided. So a step of the path comes in the end.
//!
//! What is pending is an actor of its own with a single step, its landing, which no other step takes away. It
//! is made before any other, and is a persistent set by itself: whoever arrives at its barrier afterwards has
//! the landing in its past, or the answer is [`Undecided`].
//!
//! Hence a violation at a step and a state at the end of all steps are found here if they are found anywhere,
//! with the exceptions that [`crate::schedule`] lists, which make the answer one about a single violation.
//!
//! `stuck-agent` speaks of continuations: an agent that no continuation unblocks, while one runs for ever. If
//! a state s is so, let p be a path to it and q one that runs on for ever. The run made here for the choices
//! of p and q makes the steps of p, and comes to a state t that follows s: nobody unblocks the agent there.
//! It goes on for ever, since it makes the steps of q. So it comes to a cycle of states in which the agent is
//! blocked and from which nothing that is explored here unblocks it. The other way round: what some path
//! unblocks after a state, the run made here for that path's choices unblocks too.
//!
//! Of a pool some agents give registers and others take them; who takes first does not matter as long as
//! there is enough for all: see [`pools`].
//!
//! Runs for different choices come to the same states again and again; from there on they are explored once.
//! States are kept where a choice begins or the proviso lets everybody go on, and the steps between them, of
//! which each is the only one, are made without being kept.
//!
//! A choice that decides about accesses alone is no choice at all, and one that decides nothing yet is made
//! when it does: see [`merges`].
//!
//! Agents of one automaton are interchanged as in [`crate::successors::canonical`]: choosing an agent and the
//! proviso treat all agents of a kind alike, up to their order, and any order will do.
//!
//! Where it would break: if an agent's step could take away or add a step of another agent that is not
//! blocked. No barrier does, `uniform ?` fixes a later decision as it would have fixed the agent's own,
//! B2R.BAR and R2B.BAR are excluded, and so are fragments of a BCU warp that stand at barriers with others
//! still running: one blocks them all.

mod budget;
mod endless;
mod explore;
mod happens_before;
mod locate;
mod merges;
mod node;
mod paths;
mod phases;
mod pools;
mod proviso;
mod region;
mod states;
mod stuck;
mod turns;
mod violations;

pub(super) use crate::packed::freed::free_beside;
use crate::settings::{Control, Settings};
use crate::verdict::answer::{Answer, Undecided};
use barcheck_model::machine::Machine;
use barcheck_model::program::{AgentId, Pc};
use explore::{Asks, Exploration};
use merges::Merges;
use std::time::Instant;

/// Makes one run for each outcome of choices, and decides what can be decided from these. Once these have
/// turned out to be many, and once more when they are very many, `is_known` says whether somebody else has
/// found something meanwhile, so that there is no need to go on. It is told how often it has been asked.
pub(super) fn answer(
    machine: Machine,
    settings: &Settings,
    control: &dyn Control,
    started: Instant,
    is_known: &mut dyn FnMut(usize) -> bool,
) -> (Machine, Answer) {
    if machine.exits_release() {
        return (machine, Answer::Undecided(Undecided::ExitsRelease));
    }
    // What was found with more merges could not be shown: once more with fewer, in the end path by path.
    let (mut machine, mut asks) = (machine, Asks { is_known, asked: 0 });
    for merges in [Some(Merges::new(true)), Some(Merges::new(false)), None] {
        let mut exploration = Exploration::new(machine, settings, control, started, merges);
        let ending = exploration.explore(&mut asks);
        let answer = locate::answer(&mut exploration, ending);
        let bytes = exploration.bytes();
        let Exploration { components, nodes, numbers, machine: left, .. } = exploration;
        machine = left;
        free_beside(bytes, (components, nodes, numbers));
        if let Some(answer) = answer {
            return (machine, answer);
        }
    }
    // What cannot be shown even so is not believed, and nothing else is.
    (machine, Answer::Undecided(Undecided::Unfollowed(AgentId(0), Pc(0))))
}

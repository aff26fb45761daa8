//! One schedule where one is enough.
//!
//! Where the protocol leaves nothing open, all its runs may be permutations of one another. This engine makes one run, checks
//! that this is so, and has then decided every rule, in time linear in the length of the run.
//!
//! # The argument
//!
//! Let R be the run made, and let the *past* of a step be what vector clocks say: the agent's own earlier steps, and for
//! each generation that released or notified the agent, the pasts of all arrivals in it (and, if it waited for every live
//! agent, of all exits before it). While R is made, the following is checked; where something does not hold, the answer is
//! [`Undecided`], and a search decides.
//!
//! 1. No agent ever has more than one move, and no move has more than one outcome to pick. (Choices, lanes that have separated.)
//! 2. Whenever an agent makes an arrival on a barrier, all arrivals of the generation before it, if there was one, are in the
//!    agent's past *before* that step: the agent cannot even stand at this arrival in an earlier generation. (It is not enough to know the
//!    arrival that came last in R: in another order another one does.)
//! 3. No state of a barrier is read or written as a value (B2R.BAR, R2B.BAR), and exits release nothing that
//!    has a count of its own (`--exited-threads release`).
//!
//! Then every state that the protocol can reach is what R makes of some set of its steps that is closed under pasts. By induction over
//! the length of a path to the state: let the path have made the steps I, and let agent Y move next. Y's configuration is
//! the one it has in R after the same steps, since a configuration depends on the agent's own steps and on what the generations
//! it took part in told it: results of reductions, which do not depend on the order of arrivals. So by (1) Y's move is its
//! next step e in R. If e arrives in generation g of a barrier, then by (2) all arrivals of earlier generations are in I, and none of later ones
//! is, because these have e in their past. So e joins exactly the arrivals of g that are in I: it completes g if and only if
//! these are all the others, whoever comes last. Whether arrivals agree (counts, classes, operators, instances) is a question about
//! pairs of one generation, whatever their order. A barrier that waits for every live agent counts exits too: an agent that exits takes
//! part in no generation that is still open, and all generations of that barrier that complete without it need its exit, in R and in any other
//! order. Every other step touches its own agent alone, or memory.
//!
//! From this: all maximal runs make the same steps. They end in the same deadlock, or none, or in the same cycle with the same agents blocked for
//! ever. By (2) no state has more agents standing at a generation than R put into it: there is no `arrival-race`. Every violation at a step, and
//! everything noted at one, belongs to the step, not to the order, with these exceptions:
//!
//! * Two conflicting accesses are ordered in every run if one is in the other's past, and adjacent in some run otherwise: `data-race` is found in R
//!   whenever it is found anywhere. But which access is then the latest depends on the order, and with it what `missing-fence` finds.
//! * `reuse-before-free` asks whether a consumer's wait for one generation comes before a signal of a later one. It is
//!   found in some run unless that wait is in the signal's past.
//! * A step that violates an ending rule cuts R short: what other agents would have done besides is not known.
//!
//! So after one of these the run is an answer only to the question for *one* violation; for all of them a search has to follow.
//! What R found is a violation in any case, with a run that shows it.
//!
//! Where it would break: if an arrival's effect depended on who arrived before it in its generation, or if a release told its agents
//! about the order of arrivals. Neither is so in any of the five systems, apart from B2R.BAR, which is excluded by (3).
//!
//! # Runs without end
//!
//! Agents take turns, so that every agent which has a step makes one again and again. The future depends on: configurations, seats, barriers, whose turn it is,
//! and, of each access and each completion that may still matter, on who knows it. When all of these are as they were at an earlier turn, the run has
//! come to a cycle, and goes round for ever: nothing new will be found. An agent that is blocked throughout the cycle stays blocked in every
//! run, since all runs make the same steps: `stuck-agent`.

mod clocks;
mod cycle;
mod locate;
mod run;

use crate::settings::{Control, Settings};
use crate::verdict::{Found, Inconclusive, Statistics};
use barcheck_model::agent::Fault;
use barcheck_model::machine::{ExitedThreads, Machine};
use barcheck_model::program::{AgentId, Pc, Target};
use std::time::Instant;

/// What one schedule says about a protocol.
#[derive(Debug)]
pub(super) enum Answer {
    /// Everything is decided: these are all rules violated. A rule that ends paths and was lowered below error leaves it open what follows.
    Decided(Vec<Found>, Option<Inconclusive>, Statistics),
    /// This is violated; what else may be is not known.
    Violated(Vec<Found>, Statistics),
    /// A budget is used up.
    GaveUp(Inconclusive, Statistics),
    /// One schedule is not enough.
    Undecided(Undecided),
}

/// Why one schedule is not enough.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Undecided {
    /// An agent comes to an instruction that can go in several ways.
    Choice(AgentId, Pc),
    /// Lanes of an agent that have separated move in any order.
    Lanes(AgentId, Pc),
    /// An instruction reads or writes a barrier's state.
    BarrierState(AgentId, Pc),
    /// An arrival could fall into an earlier generation of its barrier.
    Unordered(AgentId, Pc),
    /// Exits may release barriers with a count (`--exited-threads release`).
    ExitsRelease,
    /// The run violates something after which it does not say what else may be violated.
    CutShort(AgentId, Pc),
    /// Something cannot be evaluated or followed.
    Unfollowed(AgentId, Pc),
    /// There are more agents than the engine provides for.
    TooManyAgents,
}

impl Undecided {
    /// In words; `place` says where an instruction is.
    #[must_use]
    pub(super) fn describe(&self, place: &dyn Fn(AgentId, Pc) -> String) -> String {
        let at = |what: &str, agent: &AgentId, pc: &Pc| format!("{what} {}", place(*agent, *pc));
        match self {
            Self::Choice(agent, pc) => at("the protocol leaves a choice open", agent, pc),
            Self::Lanes(agent, pc) => at("lanes of one warp move by themselves", agent, pc),
            Self::BarrierState(agent, pc) => at("a barrier's state is read or written", agent, pc),
            Self::Unordered(agent, pc) => {
                at("timing could put an arrival into an earlier generation", agent, pc)
            }
            Self::ExitsRelease => "exits may release barriers with a count".to_owned(),
            Self::CutShort(agent, pc) => at("a violation hides what may follow", agent, pc),
            Self::Unfollowed(agent, pc) => at("a path cannot be followed", agent, pc),
            Self::TooManyAgents => "there are too many agents".to_owned(),
        }
    }
}

/// Makes one run and decides what can be decided from it.
pub(super) fn answer(
    machine: Machine,
    settings: &Settings,
    control: &dyn Control,
    started: Instant,
) -> (Machine, Answer) {
    let release = machine.options().exited_threads == ExitedThreads::Release;
    if release && machine.program().target == Target::Ptx {
        return (machine, Answer::Undecided(Undecided::ExitsRelease));
    }
    if u16::try_from(machine.program().agents.len()).is_err() {
        return (machine, Answer::Undecided(Undecided::TooManyAgents));
    }
    let mut run = run::Run::new(machine);
    let end = run.to_the_end(settings, control, started);
    let answer = locate::answer(&mut run, end, settings, started);
    (run.into_machine(), answer)
}

/// How the run ended.
#[derive(Debug)]
enum Ending {
    /// Nobody has a step any more, or the run goes round for ever.
    Complete,
    /// A rule that ends paths is violated, or a race makes the rest of the run say less.
    Violated,
    /// A budget is used up.
    GaveUp(Inconclusive),
    /// One schedule is not enough.
    Undecided(Undecided),
}

/// An evaluation error is a reason to search: only a search knows whether it is the first thing to happen.
fn unfollowed(agent: AgentId, fault: &Fault) -> Ending {
    Ending::Undecided(Undecided::Unfollowed(agent, fault.at))
}

//! One schedule where one is enough.
//!
//! Where the protocol leaves nothing open, all its runs may be permutations of one another. This engine makes
//! one run, checks that this is so, and has then decided every rule, in time linear in the length of the run.
//!
//! # The argument
//!
//! Let R be the run made, and let the *causal past* of a step be what vector clocks say: the agent's own
//! earlier steps, and for each generation that released or notified the agent, the pasts of all arrivals in
//! it (and, if it waited for every live agent, of all exits before it). While R is made, the following is
//! checked; where something does not hold, the answer is [`Undecided`], and a search decides.
//!
//! 1. No agent ever has more than one move, and no move has more than one outcome to pick. (Choices, lanes
//!    that have separated.)
//! 2. Whenever an agent makes an arrival on a barrier, all arrivals of the generation before it, if there was
//!    one, are in the agent's past *before* that step: the agent cannot even stand at this arrival in an
//!    earlier generation. (It is not enough to know the arrival that came last in R: in another order another
//!    one does.) And a consumer that signals has used up the notification of the generation before
//!    (`nbarrier`, `xegpu`): otherwise its wait may come before or after the completion, see
//!    [`crate::independence`].
//! 3. What is pending is an actor of its own with a single step, its landing. If that completes a generation,
//!    it is among the steps that whoever arrives in the next one must have in its past.
//! 4. No state of a barrier is read or written as a value (B2R.BAR, R2B.BAR), and exits release nothing that
//!    has a count of its own (`--exited-threads release`).
//!
//! Then every state that the protocol can reach is what R makes of some set of its steps that is closed under
//! pasts. By induction over the length of a path to the state: let the path have made the steps I, and let
//! agent Y move next. Y's configuration is the one it has in R after the same steps, since a configuration
//! depends on the agent's own steps and on what the generations it took part in told it: results of
//! reductions, which do not depend on the order of arrivals. So by (1) Y's move is its next step e in R. If e
//! arrives in generation g of a barrier, then by (2) all arrivals of earlier generations are in I, and none
//! of later ones is, because these have e in their past. So e joins exactly the arrivals of g that are in I:
//! it completes g if and only if these are all the others, whoever comes last. Whether arrivals agree
//! (counts, classes, operators, instances) is a question about pairs of one generation, whatever their order.
//! A barrier that waits for every live agent counts exits too: an agent that exits takes part in no
//! generation that is still open, and all generations of that barrier that complete without it need its exit,
//! in R and in any other order. Every other step touches its own agent alone, or memory.
//!
//! From this: all maximal runs make the same steps. They end in the same deadlock, or none, or in the same
//! cycle with the same agents blocked for ever. By (2) no state has more agents standing at a generation than
//! R put into it: there is no `arrival-race`. Every violation at a step, and everything noted at one, belongs
//! to the step, not to the order, with these exceptions:
//!
//! * Two conflicting accesses are ordered in every run if one is in the other's past, and adjacent in some
//!   run otherwise: `data-race` is found in R whenever it is found anywhere. But which access is then the
//!   latest depends on the order, and with it what `missing-fence` finds, where that can be violated at all
//!   and is not found anyway ([`crate::independence::Races`]).
//! * `reuse-before-free` asks whether a consumer's wait for one generation comes before a signal of a later
//!   one. It is found in some run unless that wait is in the signal's past.
//! * A step that violates an ending rule cuts R short: what other agents would have done besides is not
//!   known.
//!
//! So after one of these the run is an answer only to the question for *one* violation; for all of them a
//! search has to follow. What R found is a violation in any case, with a run that shows it.
//!
//! Where it would break: if an arrival's effect depended on who arrived before it in its generation, or if a
//! release told its agents about the order of arrivals. Neither is so in any of the five systems, apart from
//! B2R.BAR, which is excluded by (4), and from arrivals that must not be the last of their phase
//! (`.noComplete`): each must be in the past of something else in it, as the history of barriers has it.
//!
//! # Errors of evaluation
//!
//! Where an agent comes to a step whose operands cannot be evaluated, every path ends with that step. So the
//! agent stays where it is, with a step that it does not make, and R goes on with the others: the states are
//! those before the error, and what the others violate there is found. Such a step does nothing else, and
//! takes nobody along. An error of local computation *after* a step is another matter: who is the last to
//! complete a generation, and makes others fail, depends on the order. A search decides then.
//!
//! # Runs without end
//!
//! Agents take turns, so that every agent which has a step makes one again and again. The future depends on:
//! configurations, seats, barriers, whose turn it is, and, of each access and each completion that may still
//! matter, on who knows it. When all of these are as they were at an earlier turn, the run has come to a
//! cycle, and stays in it for ever: nothing new will be found. An agent that is blocked throughout the cycle
//! stays blocked in every run, since all runs make the same steps: `stuck-agent`.

mod clocks;
mod cycle;
mod estimate;
mod history;
mod latest;
mod locate;
mod plane;
mod run;

use crate::settings::{Control, Settings};
use crate::verdict::answer::{Answer, Undecided};
use barcheck_model::machine::Machine;
use std::time::Instant;

/// Agents at most: with the places for what is pending they have numbers of 16 bits.
const MOST_AGENTS: usize = u16::MAX as usize - 1024;

/// Makes one run and decides what can be decided from it.
pub(super) fn answer(
    machine: Machine,
    settings: &Settings,
    control: &dyn Control,
    started: Instant,
) -> (Machine, Answer) {
    if machine.exits_release() {
        return (machine, Answer::Undecided(Undecided::ExitsRelease));
    }
    if machine.program().agents.len() > MOST_AGENTS {
        return (machine, Answer::Undecided(Undecided::TooManyAgents));
    }
    let mut run = run::Run::new(machine);
    let end = run.run(settings, control, started);
    let answer = locate::answer(&mut run, end, settings, started);
    (run.into_machine(), answer)
}

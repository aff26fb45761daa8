//! Which steps may come in another order than they do in a run, and do something else then.
//!
//! Source: the semantics page, section 4. Steps of different agents conflict at barriers in these ways:
//!
//! * Arrivals that can fall into different generations. Whoever makes an arrival must know, from barriers passed before, that the barrier's earlier
//!   generation is complete: how that is known is up to the engine.
//! * Anything that reads or writes a barrier's state as a value (B2R.BAR, R2B.BAR), with every arrival at it.
//! * The wait for one generation with the completion of the next, which makes `lost-notification` (`nbarrier`, `xegpu`). A consumer has its wait
//!   behind it when it signals for the next generation, or the order is open.

use super::answer::Undecided;
use barcheck_model::agent::{Action, BarrierAction, Move};
use barcheck_model::barrier::BarrierId;
use barcheck_model::machine::{Standing, State};
use barcheck_model::program::{AgentId, SplitKind};

/// The barrier at which a move arrives, if it does; an error if what the move does depends on the order of steps however
/// much is known.
pub(super) fn arrival<K>(
    state: &State<K>,
    agent: AgentId,
    made: &Move,
) -> Result<Option<BarrierId>, Undecided> {
    match &made.action {
        Action::Barrier(BarrierAction::ReadState(_) | BarrierAction::WriteState(..)) => {
            Err(Undecided::BarrierState(agent, made.pc))
        }
        Action::Barrier(BarrierAction::Signal(what))
            if what.kind.consumes() && state.agents[agent.index()].seat(what.id).notified =>
        {
            Err(Undecided::Unordered(agent, made.pc))
        }
        Action::Barrier(BarrierAction::Split(split)) if split.kind != SplitKind::Wait => {
            Ok(Some(split.barrier))
        }
        action => Ok(Standing::of(action).map(|at| at.barrier)),
    }
}

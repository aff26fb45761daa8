//! Which steps may come in another order than they do in a run, and do something else then.
//!
//! Source: the semantics page, section 4. Steps of different agents conflict at barriers in these ways:
//!
//! * Arrivals that can fall into different generations. Whoever makes an arrival must know, from barriers
//!   passed before, that the barrier's earlier generation is complete: how that is known is up to the engine.
//! * Anything that reads or writes a barrier's state as a value (B2R.BAR, R2B.BAR), with every arrival at it.
//! * An arrival that must not complete its generation (`.noComplete`), with everything that may: arrivals,
//!   bytes and landings of the same generation commute otherwise, but where nothing of it has to come after
//!   this one, in some order it is the last, and a rule is violated.
//! * The wait for one generation with the completion of the next, which makes `lost-notification`
//!   (`nbarrier`, `xegpu`). A consumer has its wait behind it when it signals for the next generation, or the
//!   order is open.

use crate::verdict::answer::Undecided;
use barcheck_model::agent::Move;
use barcheck_model::barrier::{BarrierId, Part};
use barcheck_model::machine::{Event, State};
use barcheck_model::program::{AgentId, Pc, Program};
use barcheck_model::rule::Rule;

/// The barrier at which a move arrives, if it does; an error if what the move does depends on the order of
/// steps however much is known.
pub(crate) fn arrival<K>(
    state: &State<K>,
    agent: AgentId,
    made: &Move,
) -> Result<Option<BarrierId>, Undecided> {
    let Some(action) = made.action.on_barrier() else { return Ok(None) };
    let barrier = action.barrier();
    if action.may_overtake_wait(state.agents[agent.index()].seat(barrier)) {
        return Err(Undecided::Unordered(agent, made.pc));
    }
    match action.part() {
        // What comes after it would be another step in another order.
        Part::MovesState | Part::Asks => Err(Undecided::BarrierState(agent, made.pc)),
        Part::Arrives => Ok(Some(barrier)),
        Part::Waits => Ok(None),
        Part::Observes | Part::Counts | Part::Begins | Part::Gives | Part::Takes => {
            Err(Undecided::Unordered(agent, made.pc))
        }
    }
}

/// The CTAs of a cluster that something that happens concerns.
pub(crate) fn concerned(program: &Program, event: &Event) -> Vec<u32> {
    let home = |barrier: BarrierId| program.home(barrier).map(|home| home.cta);
    match event {
        Event::Arrived(barrier) | Event::Counted(barrier) | Event::Begun(barrier) => {
            home(*barrier).into_iter().collect()
        }
        Event::Issued(pending) => home(pending.operation.barrier()).into_iter().collect(),
        Event::Accessed(locations) => locations.iter().filter_map(|at| program.home_of(*at)).collect(),
        _ => Vec::new(),
    }
}

/// Whether a data race leaves it open what else is violated.
///
/// Of two accesses that race, another order has another one as the latest, and with the latest
/// `missing-fence` compares. It is open whether that rule is violated, unless it has been found anyway, or
/// what is known in time is known in memory too: so it is for `ptx`, as long as no generation takes in what
/// agents that have exited knew. None with a count of its own does. If none of the others does in one order,
/// none does in any: whoever had not exited had arrived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Races {
    time_is_memory: bool,
    /// Generations may take in what agents that have exited knew.
    counts_exits: bool,
    met: Option<(AgentId, Pc)>,
}

impl Races {
    pub(crate) fn of(program: &Program) -> Self {
        Self { time_is_memory: program.time_is_memory(), counts_exits: program.counts_exits(), met: None }
    }

    /// An access races.
    pub(crate) fn meet(&mut self, agent: AgentId, pc: Pc) {
        self.met.get_or_insert((agent, pc));
    }

    /// What has happened at a step; `some_exited` says whether some agent has exited.
    pub(crate) fn follow(&mut self, events: &[Event], some_exited: impl FnOnce() -> bool) {
        if self.time_is_memory
            && self.counts_exits
            && events.iter().any(|event| matches!(event, Event::Completed(..)))
        {
            self.time_is_memory = !some_exited();
        }
    }

    /// The race that hides something, given all rules found.
    pub(crate) fn hide(&self, mut found: impl Iterator<Item = Rule>) -> Option<(AgentId, Pc)> {
        self.met.filter(|_| !self.time_is_memory && !found.any(|rule| rule == Rule::MissingFence))
    }
}

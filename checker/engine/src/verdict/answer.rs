//! What engines are asked, what an engine that makes few runs says about a protocol, and why it may say
//! nothing.

use crate::settings::{Control, Progress, Settings};
use crate::verdict::{Found, Inconclusive, ReachedFault, Statistics};
use barcheck_model::Patience;
use barcheck_model::agent::Fault;
use barcheck_model::machine::{Machine, Options, Slice};
use barcheck_model::program::{AgentId, Pc, Program};
use std::sync::Arc;
use std::time::Instant;

/// Configurations worked out, in all, to find agents that behave alike although their code mentions who they
/// are.
const MOST_UNFOLDED: usize = 50_000;

/// Locals of an agent that are nothing unusual.
const USUAL_LOCALS: u64 = 64;

/// A protocol to decide.
pub(crate) struct Question<'q> {
    pub(crate) program: Arc<Program>,
    pub(crate) options: Options,
    pub(crate) settings: &'q Settings,
    pub(crate) control: &'q dyn Control,
    pub(crate) started: Instant,
    /// For local computation: until time is up, or the user ends it.
    pub(crate) patience: Patience,
    /// What of the protocol is asked about, if not all of it.
    pub(crate) slice: Option<Arc<Slice>>,
}

impl Question<'_> {
    /// The same protocol, asked about otherwise.
    pub(crate) fn with<'q>(&'q self, settings: &'q Settings, options: Options) -> Question<'q> {
        let (control, started) = (self.control, self.started);
        let (program, patience, slice) = (self.program.clone(), self.patience.clone(), self.slice.clone());
        Question { program, options, settings, control, started, patience, slice }
    }

    /// The protocol's transition system.
    pub(crate) fn machine(&self) -> Machine {
        let (program, slice) = (self.program.clone(), self.slice.clone());
        Machine::sliced(program, self.options, self.patience.clone(), slice)
    }

    /// The same, with agents that behave alike in one class.
    pub(crate) fn machine_of_classes(&self) -> Machine {
        let mut machine = self.machine();
        let timeout = self.settings.budgets.timeout;
        let in_time = || timeout.is_none_or(|limit| self.started.elapsed() < limit);
        let most = MOST_UNFOLDED / machine.automata().len().max(1);
        machine.merge_alike(most, &mut || in_time() && self.control.goes_on(Progress::default()));
        machine
    }
}

/// Steps between two looks at the budgets, where usually there are so many: fewer where agents have so many
/// locals that every new configuration takes much memory.
pub(crate) fn between_looks(machine: &Machine, usual: u64) -> u64 {
    let locals = machine.program().roles.iter().map(|role| role.code.locals.len()).max();
    (usual / (1 + locals.unwrap_or(0) as u64 / USUAL_LOCALS)).max(1)
}

/// What the runs made say about a protocol.
#[derive(Debug)]
pub(crate) enum Answer {
    /// Everything is decided: these are all rules violated. A rule that ends paths and was lowered below
    /// error leaves it open what follows.
    Decided(Vec<Found>, Option<Inconclusive>, Statistics),
    /// The same where an evaluation error is reached: nothing follows it.
    Faulty(ReachedFault, Vec<Found>, Option<Inconclusive>, Statistics),
    /// This is violated; what else may be is not known.
    Violated(Vec<Found>, Statistics),
    /// A budget is used up.
    GaveUp(Inconclusive, Statistics),
    /// The runs made are not enough.
    Undecided(Undecided),
}

/// Why one schedule is not enough.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Undecided {
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
    /// More is pending at a time than the engine provides for.
    TooManyPending(AgentId, Pc),
    /// An operation may land after everybody has exited.
    InFlight(AgentId, Pc),
}

impl Undecided {
    /// Whose instruction it is about, or the first agent.
    pub(crate) fn agent(&self) -> AgentId {
        match self {
            Self::Choice(agent, _)
            | Self::Lanes(agent, _)
            | Self::BarrierState(agent, _)
            | Self::Unordered(agent, _)
            | Self::CutShort(agent, _)
            | Self::Unfollowed(agent, _)
            | Self::TooManyPending(agent, _)
            | Self::InFlight(agent, _) => *agent,
            Self::ExitsRelease | Self::TooManyAgents => AgentId(0),
        }
    }

    /// In words; `place` says where an instruction is.
    #[must_use]
    pub(crate) fn describe(&self, place: &dyn Fn(AgentId, Pc) -> String) -> String {
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
            Self::InFlight(agent, pc) => at("everybody may have exited before it lands", agent, pc),
            Self::TooManyPending(agent, pc) => at("too much is pending at a time", agent, pc),
        }
    }
}

/// How the run ended.
#[derive(Debug)]
pub(crate) enum Ending {
    /// Nobody has a step any more, or the run has come to a cycle.
    Complete,
    /// A rule that ends paths is violated, or a race makes the rest of the run say less.
    Violated,
    /// A budget is used up.
    GaveUp(Inconclusive),
    /// One schedule is not enough.
    Undecided(Undecided),
}

/// An evaluation error is a reason to search: only a search knows whether it is the first thing to happen.
pub(crate) fn unfollowed(agent: AgentId, fault: &Fault) -> Ending {
    Ending::Undecided(Undecided::Unfollowed(agent, fault.at))
}

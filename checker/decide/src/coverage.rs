//! Who can execute what, as far as it depends on each agent alone.

use crate::question::Options;
use barcheck_counterexamples::{self as counterexamples, Noun, trace};
use barcheck_model::Patience;
use barcheck_model::machine::{Bounds, Coverage, Executed, Machine, Rounds};
use barcheck_model::program::{Code, Pc, Place, Program, RoleId};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// How much may be worked out: what takes more is not told of. Half a second, about.
const BOUNDS: Bounds = Bounds { configs: 50_000, bytes: 64 << 20, operations: 5_000_000 };

/// How often local computation that takes long may ask whether to go on: another half of a second.
const QUESTIONS: u32 = 4_000;

/// The part of the budget of memory that may be taken for it.
const SHARE: u64 = 4;

/// What the agents of a role can execute, whatever the others do: more than what happens in any run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleCoverage {
    /// The role's name, if it has one.
    pub role: Option<String>,
    /// Its agents.
    pub agents: Vec<u32>,
    /// The same in words.
    pub who: String,
    /// The place of its block's head.
    pub place: Place,
    /// Nothing is missing. Otherwise it was too much to be worked out, and nothing follows from what is not
    /// listed.
    pub complete: bool,
    /// The instructions on barriers, in the order of the text.
    pub barriers: Vec<BarrierCoverage>,
    /// The loops that count from one number to another, in the order of the text.
    pub loops: Vec<LoopCoverage>,
}

/// By whom an instruction on barriers can be executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BarrierCoverage {
    /// Where it stands.
    pub place: Place,
    /// As written.
    pub instruction: String,
    /// Who can execute it.
    pub agents: Vec<u32>,
    /// The same in words.
    pub who: String,
    /// On which barriers; none if its operands are refused, or if it concerns none.
    pub barriers: Vec<trace::Barrier>,
}

/// How many rounds of a loop that counts are made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopCoverage {
    /// Where its head stands.
    pub place: Place,
    /// Its head as written.
    pub head: String,
    /// The most that any agent begins, each time that it comes to the loop.
    pub made: u64,
    /// As many as its bounds allow.
    pub written: u64,
}

/// What agents can come to, by role.
pub(crate) fn worked_out(program: &Arc<Program>, options: &Options, patience: &Patience) -> Vec<Coverage> {
    let most = options.settings.budgets.max_memory.map_or(u64::MAX, |most| most / SHARE);
    let bytes = usize::try_from(most).unwrap_or(usize::MAX).min(BOUNDS.bytes);
    // Counted, not timed: what is said of a protocol must not depend on how busy a machine is.
    let (asked, outer) = (AtomicU32::new(0), patience.clone());
    let is_over = move || asked.fetch_add(1, Ordering::Relaxed) >= QUESTIONS || outer.is_over();
    let local = Patience::new(is_over);
    let mut machine = Machine::within(Arc::clone(program), options.readings, local.clone());
    let bounds = Bounds { bytes, ..BOUNDS };
    let mut coverage = machine.coverage(bounds, options.coverage, &mut || !patience.is_over());
    if local.has_run_out() || patience.has_run_out() {
        // Local computation may have been ended on the way.
        coverage.iter_mut().for_each(|coverage| coverage.complete = false);
    }
    coverage
}

/// The same in the terms of the text.
pub(crate) fn told(program: &Program, coverage: &[Coverage]) -> Vec<RoleCoverage> {
    let roles = program.roles.iter().zip(coverage).enumerate();
    let role = |(id, (role, coverage)): (usize, (&barcheck_model::program::Role, &Coverage))| {
        let id = RoleId::from_index(id);
        let agents = (0..).zip(&program.agents).filter(|(_, role)| **role == id);
        let agents: Vec<u32> = agents.map(|(agent, _)| agent).collect();
        RoleCoverage {
            role: role.name.clone(),
            who: counterexamples::agents(Noun::of(program), &agents),
            agents,
            place: role.place,
            complete: coverage.complete,
            barriers: coverage.barriers.iter().map(|e| barrier(program, &role.code, e)).collect(),
            loops: coverage.rounds.iter().map(|rounds| loop_of(&role.code, rounds)).collect(),
        }
    };
    roles.map(role).collect()
}

fn barrier(program: &Program, code: &Code, executed: &Executed) -> BarrierCoverage {
    let (place, instruction) = written(code, executed.pc);
    let agents: Vec<u32> = executed.agents.iter().map(|agent| agent.0).collect();
    BarrierCoverage {
        place,
        instruction,
        who: counterexamples::agents(Noun::of(program), &agents),
        agents,
        barriers: executed.barriers.iter().map(|id| counterexamples::barrier(program, *id)).collect(),
    }
}

fn loop_of(code: &Code, rounds: &Rounds) -> LoopCoverage {
    let (place, head) = written(code, rounds.test);
    LoopCoverage { place, head, made: rounds.made, written: rounds.written }
}

fn written(code: &Code, pc: Pc) -> (Place, String) {
    (code.places[pc.index()], code.texts[pc.index()].clone())
}

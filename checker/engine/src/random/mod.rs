//! Random scheduling (PCT), to find a violation that a search would come to late or never.
//!
//! When timing decides something, the protocol is most often broken, and a run in which one agent is fast
//! while another is delayed shows it. So agents get priorities, whoever comes first in them makes the steps,
//! and at a few moments the one that is in front falls behind all others (as in PCT: Burckhardt, Kothari,
//! Musuvathi and Nagarakatte, ASPLOS 2010). Nothing is concluded where nothing is found. The numbers come
//! from a fixed sequence, so that a protocol gets the same answer every time.

use crate::settings::{Control, Progress, Settings};
use crate::verdict::{Found, ReachedFault};
use barcheck_model::agent::{Action, Move};
use barcheck_model::machine::{Actor, Advanced, Choice, End, Finding, Log, Machine, Path, State};
use barcheck_model::program::AgentId;
use barcheck_model::rule::Level;
use std::time::Instant;

/// Steps of all runs together, at most.
const MOST_STEPS: usize = 400_000;
/// Steps of one run, at most.
const MOST_STEPS_OF_ONE: usize = 40_000;
/// Moments in a run at which whoever is in front falls behind, at most.
const MOST_CHANGES: u64 = 4;
/// Steps between two looks at the clock.
const BETWEEN_LOOKS: usize = 1024;

/// What a run shows.
pub(crate) enum Shown {
    /// A violation at level error.
    Violation(Found),
    /// Something that cannot be evaluated.
    Fault(ReachedFault),
}

impl Shown {
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Violation(found) => &found.path,
            Self::Fault(fault) => &fault.path,
        }
    }
}

/// A violation at level error, if some run shows one, with the run; otherwise an evaluation error, if some
/// run shows one. `first` has the highest priority in the first run.
pub(crate) fn find(
    machine: &mut Machine,
    settings: &Settings,
    control: &dyn Control,
    started: Instant,
    first: AgentId,
) -> Option<Shown> {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let agents: Vec<Actor> = machine.agents().map(Actor::Agent).collect();
    let (mut left, mut length) = (MOST_STEPS, 64);
    let first = Actor::Agent(first);
    let mut priorities: Vec<Actor> = agents.iter().copied().filter(|agent| *agent != first).collect();
    priorities.insert(0, first);
    let mut changes: Vec<usize> = Vec::new();
    let (mut fault, mut is_late) = (None, false);
    while left > 0 {
        let mut run = Run { machine, settings, priorities, changes, is_late, path: Vec::new() };
        let goes_on = |steps: usize| {
            let in_time = settings.budgets.timeout.is_none_or(|limit| started.elapsed() < limit);
            let made = (MOST_STEPS - left + steps) as u64;
            in_time && control.goes_on(Progress { transitions: made, ..Progress::default() })
        };
        match run.make(&mut random, left.min(MOST_STEPS_OF_ONE), &goes_on) {
            Some(Shown::Fault(found)) => drop(fault.get_or_insert(found)),
            Some(found) => return Some(found),
            None => {}
        }
        let made = run.path.len();
        if !goes_on(made) {
            break;
        }
        length = made.max(length);
        // However short a run was, runs come to an end.
        left = left.saturating_sub(made.max(64));
        priorities = shuffled(&agents, &mut random);
        is_late = !is_late;
        let count = random.below(MOST_CHANGES + 1);
        changes = (0..count).map(|_| random.below(length as u64) as usize).collect();
    }
    fault.map(Shown::Fault)
}

struct Run<'r> {
    machine: &'r mut Machine,
    settings: &'r Settings,
    /// Who comes first makes the steps. What is pending has a place of its own, for each agent that has left
    /// something.
    priorities: Vec<Actor>,
    /// At these steps whoever is in front falls behind.
    changes: Vec<usize>,
    /// What is pending lands where nobody else has a step: behind the last exit, if nobody waits for it.
    is_late: bool,
    path: Vec<Choice>,
}

impl Run<'_> {
    fn make(&mut self, random: &mut Random, most: usize, goes_on: &dyn Fn(usize) -> bool) -> Option<Shown> {
        let mut state = self.machine.initial();
        if self.machine.fault(&state).is_some() {
            return None;
        }
        let mut log = Log::default();
        while self.path.len() < most
            && (!self.path.len().is_multiple_of(BETWEEN_LOOKS) || goes_on(self.path.len()))
        {
            if let Some(found) = self.error(self.machine.judge(&state)) {
                return Some(found);
            }
            let in_front = self.in_front(&state)?;
            if self.changes.contains(&self.path.len()) {
                let actor = self.priorities.remove(in_front);
                self.priorities.push(actor);
            }
            let choice = self.choose(&state, self.priorities[self.in_front(&state)?], random);
            log.events.clear();
            log.noted.clear();
            self.path.push(choice);
            match self.machine.advance(&mut state, choice, &mut log) {
                Advanced::Progress => {}
                // Whatever changes nothing would be made again and again.
                Advanced::NoEffect | Advanced::Disabled => return None,
                Advanced::Error(end) => {
                    return match *end {
                        End::Violation(finding) => self.error(vec![finding]),
                        End::Fault { agent, fault, .. } => {
                            let path = Path { steps: self.path.clone(), cycle_from: None };
                            Some(Shown::Fault(ReachedFault { agent, fault, path }))
                        }
                        End::Cut { .. } => None,
                    };
                }
            }
            if let Some(found) = self.error(std::mem::take(&mut log.noted)) {
                return Some(found);
            }
            self.make_room(&state, random);
        }
        None
    }

    /// What agents have left pending for the first time gets a place in the priorities.
    fn make_room(&mut self, state: &State, random: &mut Random) {
        for left in state.pending.chunk_by(|a, b| a.agent == b.agent) {
            let actor = Actor::Pending(left[0].agent);
            if !self.priorities.contains(&actor) {
                let last = self.priorities.len();
                let place = if self.is_late { last } else { random.below(last as u64 + 1) as usize };
                self.priorities.insert(place, actor);
            }
        }
    }

    /// The place in the priorities of the first that has a step.
    fn in_front(&self, state: &State) -> Option<usize> {
        self.priorities.iter().position(|actor| match actor {
            Actor::Agent(agent) => self.machine.moves(state, *agent).iter().any(is_step),
            Actor::Pending(agent) => !state.pending_of(*agent).is_empty(),
        })
    }

    /// One of the steps that somebody has.
    fn choose(&self, state: &State, actor: Actor, random: &mut Random) -> Choice {
        let number = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
        let agent = match actor {
            Actor::Agent(agent) => agent,
            Actor::Pending(agent) => {
                let left = state.pending_of(agent).len() as u64;
                return Choice::landing(agent, number(random.below(left)));
            }
        };
        let moves = self.machine.moves(state, agent);
        let steps: Vec<usize> = (0..moves.len()).filter(|index| is_step(&moves[*index])).collect();
        let index = steps[random.below(steps.len() as u64) as usize];
        let picks = self.machine.picks(state, agent, &moves[index]);
        let pick = picks.start + random.below(picks.end - picks.start);
        Choice::of(agent, number(index as u64), number(pick))
    }

    /// The first of these that is an error.
    fn error(&self, found: Vec<Finding>) -> Option<Shown> {
        let target = self.machine.program().target;
        let level = |finding: &Finding| self.settings.levels.of(finding.rule, target);
        let finding = found.into_iter().find(|finding| level(finding) == Level::Error)?;
        let path = Path { steps: self.path.clone(), cycle_from: None };
        Some(Shown::Violation(Found { level: Level::Error, finding, path }))
    }
}

/// An endless local loop spins without changing anything: whoever is in one lets the others go by.
fn is_step(made: &Move) -> bool {
    made.action != Action::Spin
}

fn shuffled(agents: &[Actor], random: &mut Random) -> Vec<Actor> {
    let mut shuffled = agents.to_vec();
    for end in (1..shuffled.len()).rev() {
        shuffled.swap(end, random.below(end as u64 + 1) as usize);
    }
    shuffled
}

/// A sequence of numbers (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n.max(1)
    }
}

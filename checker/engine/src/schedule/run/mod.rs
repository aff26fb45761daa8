//! One run of the protocol: agents take turns, and vector clocks tell what comes before what in every order.

mod events;

use super::cycle::{Now, Watch};
use super::estimate;
use super::history::{Before, History};
use super::{clocks::Clocks, plane::Moment};
use crate::independence::{Races, arrival};
use crate::settings::{Control, Progress, Settings};
use crate::verdict::Inconclusive;
use crate::verdict::answer::{Ending, Undecided, between_looks, unfollowed};
use crate::verdict::blow_up::{blow_up, blow_up_beyond};
use barcheck_model::agent::{Action, Choices, Move};
use barcheck_model::barrier::{BarrierId, Part};
use barcheck_model::machine::{Actor, Advanced, Choice, End, Event, Finding, Log, Machine, Pending, State};
use barcheck_model::program::{AgentId, Pc, Place};
use barcheck_model::rule::{Level, Rule};
use std::collections::{BTreeMap, VecDeque};
use std::time::Instant;

/// Steps that an agent makes at most before the next has its turn.
const TURN: usize = 32;
/// Steps of a run at most, unless the user sets another budget: minutes. A run that goes on for so long has
/// something in it that grows without end.
const MOST_STEPS: u64 = 200_000_000;
/// Turns between two looks at the budgets.
const BETWEEN_LOOKS: u64 = 256;
/// Looks between two estimates of how much is made.
const BETWEEN_ESTIMATES: u64 = 4;
/// Configurations known at most, all agents together, before those that are behind are forgotten: few enough
/// for the caches…
const MOST_CONFIGS: usize = 1 << 12;
/// … unless there are so many classes of agents that this many for each are more. Loops of that length are
/// gone through from memory.
const CONFIGS_OF_CLASS: usize = 1 << 5;

/// Bytes of configurations, likewise.
const MOST_CONFIG_BYTES: usize = 16 << 20;

/// One finding is kept for each rule, place and barrier.
pub(super) type Key = (Rule, Place, Option<BarrierId>);

/// Something found at a step.
#[derive(Clone, Debug)]
pub(super) struct Violation {
    pub(super) finding: Finding,
    /// The number of the step in the path.
    pub(super) step: usize,
}

/// A run, as far as it has come.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) machine: Machine,
    pub(super) state: State<Clocks>,
    log: Log,
    /// Who made each step: an agent, or a place for what is pending (see [`Moment`]). Every step is the only
    /// one that its actor had.
    pub(super) path: Vec<u16>,
    /// What has landed, with the numbers of the steps.
    pub(super) landed: Vec<(usize, Pending)>,
    /// Those that have a step, in the order of their turns: for each thing that is pending its agent stands
    /// here once more.
    pub(super) ready: VecDeque<Actor>,
    is_ready: Vec<bool>,
    /// Agents in an endless local loop.
    spinning: Vec<AgentId>,
    /// Agents that stand at a step that cannot be evaluated, and stay there.
    pub(super) faulty: Vec<AgentId>,
    /// By number of the barrier.
    history: Vec<History>,
    /// The last landing on each barrier, if it is in the past of no exit, with whose it is.
    in_flight: BTreeMap<(BarrierId, bool), (Moment, AgentId, Pc)>,
    /// The last step of each agent that concerns another CTA, if it is in the past of no exit there.
    remote: BTreeMap<(AgentId, u32), (Moment, Pc)>,
    pub(super) violations: BTreeMap<Key, Violation>,
    /// After this, what the run finds besides may depend on the order.
    hides: Option<(AgentId, Pc)>,
    races: Races,
    some_exited: bool,
    /// How often configurations have been forgotten.
    forgotten: u64,
    /// What had blown up at one of these times, the latest whose number is a power of two.
    blow_up: Option<String>,
    /// Where the run comes to a cycle: the number of steps before the first of the cycle.
    pub(super) cycle_from: Option<usize>,
    /// How much is made, in percent, if that can be said.
    percent: Option<u8>,
    pub(super) peak_bytes: u64,
}

/// What became of an agent's turn to make a step.
enum Stepped {
    Moved,
    Idle,
    Spins,
    Ended(Ending),
}

impl Run {
    pub(super) fn new(mut machine: Machine) -> Self {
        let program = machine.program().clone();
        let clocks = Clocks::new(&program, machine.layout());
        let state = machine.initial_with(clocks);
        let agents = program.agents.len();
        // Agents without a program have exited from the start, without a step.
        let some_exited = machine.agents().any(|agent| machine.config(&state, agent).has_exited());
        Self {
            ready: (0..agents).map(AgentId::from_index).map(Actor::Agent).collect(),
            is_ready: vec![true; agents],
            machine,
            state,
            log: Log::default(),
            path: Vec::new(),
            landed: Vec::new(),
            spinning: Vec::new(),
            faulty: Vec::new(),
            history: Vec::new(),
            in_flight: BTreeMap::new(),
            remote: BTreeMap::new(),
            violations: BTreeMap::new(),
            hides: None,
            races: Races::of(&program),
            some_exited,
            forgotten: 0,
            blow_up: None,
            cycle_from: None,
            percent: None,
            peak_bytes: 0,
        }
    }

    pub(super) fn into_machine(self) -> Machine {
        self.machine
    }

    /// Runs until nobody has a step, the run comes to a cycle, or there is a reason to end it. An error found
    /// before that is an error, however the run ends.
    pub(super) fn run(&mut self, settings: &Settings, control: &dyn Control, started: Instant) -> Ending {
        match self.run_on(settings, control, started) {
            Ending::GaveUp(_) | Ending::Undecided(_) if self.has_error(settings) => Ending::Violated,
            ending => ending,
        }
    }

    fn run_on(&mut self, settings: &Settings, control: &dyn Control, started: Instant) -> Ending {
        if let Some((agent, fault)) = self.machine.fault(&self.state) {
            return unfollowed(agent, fault);
        }
        let mut watch = Watch::default();
        let mut turns = 0_u64;
        let between_looks = between_looks(&self.machine, BETWEEN_LOOKS);
        while let Some(actor) = self.ready.pop_front() {
            let ending = match actor {
                Actor::Agent(agent) => {
                    self.is_ready[agent.index()] = false;
                    self.turn(agent, settings)
                }
                Actor::Pending(agent) => self.land(agent, settings),
            };
            if let Some(ending) = ending {
                return ending;
            }
            turns += 1;
            if turns.is_multiple_of(BETWEEN_LOOKS * BETWEEN_ESTIMATES) {
                self.percent = estimate::percent(&self.machine, &self.state);
            }
            if turns.is_multiple_of(between_looks) {
                self.forget_configs();
                if let Some(reason) = self.is_over_budget(settings, control, started) {
                    return Ending::GaveUp(reason);
                }
            }
            let facts = || self.state.memory.abstracted(self.marks());
            let now = Now {
                machine: &self.machine,
                state: &self.state,
                ready: &self.ready,
                steps: self.path.len(),
            };
            if let Some(from) = watch.cycle(&now, facts) {
                self.cycle_from = Some(from);
                break;
            }
        }
        if let (None, Some(agent)) = (self.cycle_from, self.spinning.first()) {
            self.cycle_from = Some(self.path.len());
            self.path.push(entry(agent.0));
        }
        if let Some((agent, pc)) = self.comes_late(settings) {
            return Ending::Undecided(Undecided::InFlight(agent, pc));
        }
        let found = self.violations.keys().map(|(rule, ..)| *rule);
        self.hides.or_else(|| self.races.hide(found)).map_or(Ending::Complete, cut_short)
    }

    /// What might come in another order after its CTA has exited, or to whoever waits for what others give.
    fn comes_late(&self, settings: &Settings) -> Option<(AgentId, Pc)> {
        let program = self.machine.program();
        let has_exited = |cta: u32| {
            self.machine.agents_of(cta).all(|agent| self.machine.config(&self.state, agent).has_exited())
        };
        let is_asked = |is_commit| {
            let rule = Rule::at_exit(is_commit);
            rule.holds_for(program.target) && self.level(settings, rule) >= Level::Warning
        };
        let at_pool = |agent: &AgentId| {
            let waiting = self.machine.config(&self.state, *agent).waiting;
            waiting.is_some_and(|waiting| program.is_pool(waiting.barrier))
        };
        if let Some(agent) = self.machine.agents().find(at_pool) {
            return Some((agent, self.machine.stands_at(&self.state, agent)));
        }
        let landings = self.in_flight.iter().filter(|((barrier, is_commit), (_, agent, _))| {
            (is_asked(*is_commit) || !program.shares(*agent, *barrier))
                && program.home(*barrier).is_some_and(|home| has_exited(home.cta))
        });
        let mut landings = landings.map(|(_, (_, agent, pc))| (*agent, *pc));
        let mut others = self.remote.iter().filter(|((_, cta), _)| has_exited(*cta));
        landings.next().or_else(|| others.next().map(|((agent, _), (_, pc))| (*agent, *pc)))
    }

    fn has_error(&self, settings: &Settings) -> bool {
        self.violations.values().any(|s| self.level(settings, s.finding.rule) == Level::Error)
    }

    fn level(&self, settings: &Settings, rule: Rule) -> Level {
        settings.levels.of(rule, self.machine.program().target)
    }

    /// An agent makes its steps, as far as it can and may.
    fn turn(&mut self, agent: AgentId, settings: &Settings) -> Option<Ending> {
        for _ in 0..TURN {
            match self.step(agent, settings) {
                Stepped::Moved => {}
                Stepped::Idle => return None,
                Stepped::Spins => {
                    self.spinning.push(agent);
                    return None;
                }
                Stepped::Ended(ending) => return Some(ending),
            }
        }
        if !self.machine.moves(&self.state, agent).is_empty() {
            self.make_ready(agent);
        }
        None
    }

    fn make_ready(&mut self, agent: AgentId) {
        if !std::mem::replace(&mut self.is_ready[agent.index()], true) {
            self.ready.push_back(Actor::Agent(agent));
        }
    }

    fn step(&mut self, agent: AgentId, settings: &Settings) -> Stepped {
        let made = match self.machine.moves(&self.state, agent) {
            [] => return Stepped::Idle,
            [made] => made,
            [made, ..] => return Stepped::Ended(Ending::Undecided(Undecided::Lanes(agent, made.pc))),
        };
        if !matches!(made.choices, Choices::One | Choices::Open(1)) {
            return Stepped::Ended(Ending::Undecided(Undecided::Choice(agent, made.pc)));
        }
        match made.action {
            Action::Spin => return Stepped::Spins,
            Action::Fault(_) => {
                self.faulty.push(agent);
                return Stepped::Idle;
            }
            _ => {}
        }
        let pc = made.pc;
        if let Some(why) = self.unordered(agent, made, settings) {
            match why {
                Undecided::CutShort(..) => drop(self.hides.get_or_insert((agent, pc))),
                why => return Stepped::Ended(Ending::Undecided(why)),
            }
        }
        let before = self.before(agent, made);
        self.state.memory.tick(agent);
        let step = Choice::of(agent, 0, 0);
        self.advance(step, agent.0, (pc, before), settings).map_or(Stepped::Moved, Stepped::Ended)
    }

    /// Why a move might come elsewhere, or find something else, in another order of the same steps.
    fn unordered(&self, agent: AgentId, made: &Move, settings: &Settings) -> Option<Undecided> {
        if let Some((barrier, part)) = self.on_phases(made) {
            if part == Part::Asks {
                return Some(Undecided::BarrierState(agent, made.pc));
            }
            let history = self.history.get(barrier.0 as usize)?;
            let is_open = history.is_open(&self.state.memory, agent, part);
            return is_open.then_some(Undecided::Unordered(agent, made.pc));
        }
        if let Some((barrier, part)) = on_pool(made) {
            let history = self.history.get(barrier.0 as usize)?;
            let is_open = history.is_open(&self.state.memory, agent, part);
            return is_open.then_some(Undecided::Unordered(agent, made.pc));
        }
        let barrier = match arrival(&self.state, agent, made) {
            Ok(barrier) => barrier?,
            Err(why) => return Some(why),
        };
        let history = self.history.get(barrier.0 as usize)?;
        if !self.state.memory.knows_all(agent, &history.completed) {
            return Some(Undecided::Unordered(agent, made.pc));
        }
        let unknown = history.waits.iter().any(|wait| !self.state.memory.knows(agent, *wait));
        let is_asked = || self.level(settings, Rule::ReuseBeforeFree) >= Level::Warning;
        (unknown && is_asked()).then_some(Undecided::CutShort(agent, made.pc))
    }

    /// The barrier with phases that a move is about, and what it is to it.
    fn on_phases(&self, made: &Move) -> Option<(BarrierId, Part)> {
        let action = made.action.on_barrier()?;
        let barrier = action.barrier();
        self.machine.layout().has_phases(barrier).then(|| (barrier, action.part()))
    }

    /// What an agent knows before it comes to a barrier with phases.
    fn before(&self, agent: AgentId, made: &Move) -> Option<(Part, Before)> {
        let (barrier, part) = self.on_phases(made)?;
        let history = self.history.get(barrier.0 as usize);
        let before = history.map_or(Before::FIRST, |history| history.before_wait(&self.state.memory, agent));
        Some((part, before.of(made.action.on_barrier()?)))
    }

    /// The first of what an agent has left pending lands.
    fn land(&mut self, agent: AgentId, settings: &Settings) -> Option<Ending> {
        let pending = self.state.pending_of(agent).first().copied()?;
        let actor = self.state.memory.land(pending)?;
        self.landed.push((self.path.len(), pending));
        self.advance(Choice::landing(agent, 0), actor, (pending.pc, None), settings)
    }

    /// Makes the only step that an actor has.
    fn advance(
        &mut self,
        choice: Choice,
        actor: u32,
        (pc, before): (Pc, Option<(Part, Before)>),
        settings: &Settings,
    ) -> Option<Ending> {
        self.log.events.clear();
        let agent = choice.agent();
        let step = self.path.len();
        self.path.push(entry(actor));
        let advanced = self.machine.advance(&mut self.state, choice, &mut self.log);
        if let Advanced::Error(end) = advanced {
            return Some(self.end(*end, step));
        }
        if let Err(why) = self.follow_events(choice, actor, (pc, before)) {
            return Some(Ending::Undecided(why));
        }
        self.races.follow(&self.log.events, || self.some_exited);
        if self.log.noted.is_empty() {
            return None;
        }
        let mut is_error = false;
        let mut noted = std::mem::take(&mut self.log.noted);
        for finding in noted.drain(..) {
            is_error |= self.level(settings, finding.rule) == Level::Error;
            if finding.rule == Rule::DataRace {
                self.races.meet(agent, pc);
            }
            self.record(finding, step);
        }
        self.log.noted = noted;
        (is_error && !settings.all).then_some(Ending::Violated)
    }

    /// The path ends at a step.
    fn end(&mut self, end: End, step: usize) -> Ending {
        match end {
            End::Violation(finding) => {
                let at = (finding.agent, finding.pc);
                self.record(finding, step);
                cut_short(at)
            }
            End::Fault { agent, fault, .. } => unfollowed(agent, &fault),
            End::Cut { agent, at, .. } => Ending::Undecided(Undecided::Unfollowed(agent, at)),
        }
    }

    fn record(&mut self, finding: Finding, step: usize) {
        let place = self.machine.place(finding.agent, finding.pc);
        let key = (finding.rule, place, finding.barrier);
        self.violations.entry(key).or_insert(Violation { finding, step });
    }

    /// Makes the next step of a run that has been made before: an agent's, or a landing.
    pub(super) fn repeat(&mut self, agent: AgentId, landing: Option<Pending>) {
        let choice = match landing {
            None => {
                self.state.memory.tick(agent);
                Choice::of(agent, 0, 0)
            }
            Some(pending) => {
                self.state.memory.land(pending);
                Choice::landing(agent, 0)
            }
        };
        self.log.events.clear();
        self.log.noted.clear();
        self.machine.advance(&mut self.state, choice, &mut self.log);
        for event in &self.log.events {
            if let Event::Issued(pending) = event {
                self.state.memory.issue(*pending);
            }
        }
    }

    /// What has landed at a step, if it was a landing.
    pub(super) fn landing_at(&self, step: usize) -> Option<Pending> {
        let at = self.landed.binary_search_by_key(&step, |(step, _)| *step).ok()?;
        Some(self.landed[at].1)
    }

    /// The steps that must still be known of, each with a number for what it is.
    pub(super) fn marks(&self) -> impl Iterator<Item = (u64, Moment)> + '_ {
        (0_u64..).zip(&self.history).flat_map(|(barrier, history)| {
            history.marks().map(move |(kind, moment)| (kind << 32 | barrier, moment))
        })
    }

    /// Configurations that nobody is in any more are forgotten, once they are many: a run does not come back
    /// to them.
    pub(super) fn forget_configs(&mut self) {
        let automata = self.machine.automata();
        let known: usize = automata.iter().map(|automaton| automaton.len()).sum();
        let many = known > MOST_CONFIGS.max(CONFIGS_OF_CLASS * automata.len());
        // Those that agents are in remain, so it is of no use to forget before there are twice as many.
        let large = known > 2 * self.is_ready.len() && self.machine.bytes() > MOST_CONFIG_BYTES;
        if many || large {
            self.forgotten += 1;
            if self.forgotten.is_power_of_two() {
                // Where there are many classes, none of them has come far; the largest has at least its
                // share.
                self.blow_up = blow_up_beyond(&self.machine, known as u64, known / automata.len());
            }
            self.machine.forget_configs(&mut self.state);
        }
    }

    fn bytes(&self) -> u64 {
        (self.machine.bytes() + self.path.capacity() * 2) as u64 + self.state.memory.bytes()
    }

    fn is_over_budget(
        &mut self,
        settings: &Settings,
        control: &dyn Control,
        started: Instant,
    ) -> Option<Inconclusive> {
        let steps = self.path.len() as u64;
        let bytes = self.bytes();
        self.peak_bytes = self.peak_bytes.max(bytes);
        let budgets = settings.budgets;
        let blow_up = || blow_up(&self.machine, steps).or_else(|| self.blow_up.clone());
        // Clocks have 31 bits, and a look comes late by some turns.
        let most = budgets.max_states.unwrap_or(MOST_STEPS).min(1 << 30);
        if steps >= most {
            return Some(Inconclusive::States(most, blow_up()));
        }
        let is_over = budgets.memory().is_some_and(|most| bytes > most);
        if let Some(most) = budgets.max_memory.filter(|_| is_over) {
            return Some(Inconclusive::Memory(most, blow_up()));
        }
        if let Some(limit) = budgets.timeout.filter(|limit| started.elapsed() >= *limit) {
            return Some(Inconclusive::Time(limit, blow_up()));
        }
        let progress = Progress {
            states: steps + 1,
            transitions: steps,
            depth: steps,
            frontier: self.ready.len() as u64,
            memory_bytes: bytes,
            percent: self.percent,
        };
        (!control.goes_on(progress)).then_some(Inconclusive::Interrupted)
    }
}

/// What a move is to something of which some give and others take.
fn on_pool(made: &Move) -> Option<(BarrierId, Part)> {
    let action = made.action.on_barrier()?;
    matches!(action.part(), Part::Gives | Part::Takes).then(|| (action.barrier(), action.part()))
}

/// An actor, as a path keeps it.
fn entry(actor: u32) -> u16 {
    u16::try_from(actor).unwrap_or(u16::MAX)
}

/// The run does not say everything.
fn cut_short((agent, pc): (AgentId, Pc)) -> Ending {
    Ending::Undecided(Undecided::CutShort(agent, pc))
}

//! An interactive run: step after step, with what each state allows and shows.
//!
//! It is written down by the same recorder as a trace, so that the two never differ.

use std::sync::Arc;

use barcheck_model::Patience;
use barcheck_model::agent::Action;
use barcheck_model::machine::{self, Machine, Options};
use barcheck_model::program::{AgentId, Pc, Program};
use barcheck_model::rule::{Level, Rule};

use crate::build::record::{Departure, Place, Reached, Recorder, ended_early};
use crate::build::{SourceInfo, assemble, bare, ends};
use crate::explain;
use crate::names::{self, Noun};
use crate::render::events;
use crate::trace::{self, Outcome, OutcomeKind, State, Step, Trace};
use crate::wording;

/// Things found on one run that are kept, at most.
const MOST_FOUND: usize = 100;

/// Steps between marks, and marks at most.
const STRIDE: usize = 100;
const MOST_MARKS: usize = 200;

/// A run under way.
pub struct Walk {
    recorder: Recorder,
    source: SourceInfo,
    /// A rule whose level is not the one that it has by default.
    level: Option<(Rule, Level)>,
    initial: State,
    steps: Vec<Step>,
    reached: Reached,
    /// All that could be said of the present, without words, what weighs most first.
    shows: Vec<Outcome>,
    found: Vec<Found>,
    marks: Vec<Mark>,
}

/// A state of the run, to begin from when the run is taken back.
struct Mark {
    steps: usize,
    place: Place,
    shows: Vec<Outcome>,
    found: usize,
}

/// Something that the run has shown, after `step` steps for the first time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The number of steps.
    pub step: usize,
    /// What it is, in words.
    pub outcome: Outcome,
}

/// A step that could be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Possible {
    /// The step, as a trace would have it.
    pub step: Step,
    /// What happens, in words, event by event.
    pub words: Vec<String>,
    /// Rules that are violated at the step or in the state after it.
    pub violates: Vec<Rule>,
    /// Nobody makes it: what it takes to let something land that is in flight, in words.
    pub landing: Option<String>,
    /// It leads nowhere: one more iteration of a local loop without end.
    pub spins: bool,
}

/// What can be done next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Next {
    /// The steps, by agent.
    pub possible: Vec<Possible>,
    /// Agents with more choices than are listed.
    pub capped: Vec<u32>,
}

/// Where a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It can go on.
    Open,
    /// Every agent has exited.
    Finished,
    /// The last step has ended it, or no agent has a step.
    Over,
}

impl Walk {
    /// A run that begins. `level` is a rule whose level the user has changed.
    #[must_use]
    pub fn new(
        program: Arc<Program>,
        options: Options,
        source: SourceInfo,
        level: Option<(Rule, Level)>,
    ) -> Self {
        Self::within(program, options, source, level, Patience::default())
    }

    /// The same as long as patience lasts: once it is over, what the run does is not to be looked at.
    #[must_use]
    pub fn within(
        program: Arc<Program>,
        options: Options,
        source: SourceInfo,
        level: Option<(Rule, Level)>,
        patience: Patience,
    ) -> Self {
        let recorder = Recorder::new(program, options, patience);
        let initial = recorder.whole();
        let mut walk = Self {
            recorder,
            source,
            level,
            initial,
            steps: Vec::new(),
            reached: Reached::State(Vec::new()),
            shows: Vec::new(),
            found: Vec::new(),
            marks: Vec::new(),
        };
        walk.look();
        walk.mark();
        walk
    }

    fn mark(&mut self) {
        let (steps, found) = (self.steps.len(), self.found.len());
        self.marks.push(Mark { steps, found, place: self.recorder.place(), shows: self.shows.clone() });
    }

    /// The steps made.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The model's state after them; that before the last, if it ended the run.
    #[must_use]
    pub fn state(&self) -> &machine::State {
        &self.recorder.state
    }

    /// What the run has shown so far, in the order in which it did.
    #[must_use]
    pub fn found(&self) -> &[Found] {
        &self.found
    }

    /// Makes a step.
    ///
    /// # Errors
    /// There is no such step in this state, or the run has ended.
    pub fn step(&mut self, choice: machine::Choice) -> Result<(), Departure> {
        if matches!(self.reached, Reached::End(_)) {
            return Err(ended_early(self.steps.len()));
        }
        let (step, reached) = self.recorder.step(choice)?;
        self.steps.push(step);
        self.reached = reached;
        self.look();
        let last = self.marks.last().map_or(0, |mark| mark.steps);
        let open = matches!(self.reached, Reached::State(_));
        if open && self.steps.len() >= last + STRIDE && self.marks.len() < MOST_MARKS {
            self.mark();
        }
        Ok(())
    }

    /// Takes back all but the first `steps` steps.
    ///
    /// # Errors
    /// None in practice: what was done before can be done again.
    pub fn take_back(&mut self, steps: usize) -> Result<(), Departure> {
        if steps >= self.steps.len() {
            return Ok(());
        }
        // The first mark is the beginning.
        self.marks.truncate(self.marks.partition_point(|mark| mark.steps <= steps).max(1));
        let Some(mark) = self.marks.last() else { return Ok(()) };
        self.recorder.go_back(mark.place.clone());
        self.reached = Reached::State(Vec::new());
        self.shows.clone_from(&mark.shows);
        self.found.truncate(mark.found);
        let again = self.steps.split_off(mark.steps);
        for step in again.into_iter().take(steps - mark.steps) {
            self.step(step.again())?;
        }
        Ok(())
    }

    /// Looks at where the run has come to.
    fn look(&mut self) {
        let mut shows = ends(&mut self.recorder, &self.reached, false, &self.steps);
        for outcome in &mut shows {
            self.set_level(outcome);
        }
        shows.retain(|outcome| weight(outcome) >= REPORTED);
        shows.sort_by_key(|outcome| std::cmp::Reverse(weight(outcome)));
        self.shows = shows;
        for outcome in self.shows.clone() {
            let known = |found: &Found| {
                let found = &found.outcome;
                (found.kind, &found.rule, found.barrier, &found.agents)
                    == (outcome.kind, &outcome.rule, outcome.barrier, &outcome.agents)
            };
            if self.found.len() < MOST_FOUND && !self.found.iter().any(known) {
                let outcome = self.in_words(outcome).outcome;
                self.found.push(Found { step: self.steps.len(), outcome });
            }
        }
    }

    fn set_level(&self, outcome: &mut Outcome) {
        let Some(rule) = outcome.rule.as_deref().and_then(Rule::from_name) else { return };
        let target = self.recorder.program().target;
        let level = match self.level {
            Some((of, level)) if of == rule => level,
            _ => rule.default_level(target),
        };
        outcome.level = Some(level.name().to_owned());
    }

    /// The run as the trace of an outcome.
    fn in_words(&self, outcome: Outcome) -> Trace {
        let mut trace =
            assemble(&self.recorder, &self.source, self.initial.clone(), self.steps.clone(), outcome);
        explain::fill(&mut trace);
        trace
    }

    /// The run as a trace of what weighs most in the present, and whether that is anything: of a run that
    /// shows nothing the outcome is not to be looked at.
    #[must_use]
    pub fn trace(&self) -> (Trace, bool) {
        if let Some(outcome) = self.shows.first() {
            return (self.in_words(outcome.clone()), true);
        }
        let nothing = bare(&self.recorder, OutcomeKind::Cut, AgentId(0), Pc(0));
        (assemble(&self.recorder, &self.source, self.initial.clone(), self.steps.clone(), nothing), false)
    }

    /// Where the run stands.
    #[must_use]
    pub fn standing(&self) -> Standing {
        let machine = &self.recorder.machine;
        let state = &self.recorder.state;
        if matches!(self.reached, Reached::End(_)) || machine.fault(state).is_some() {
            Standing::Over
        } else if !state.pending.is_empty() {
            Standing::Open
        } else if machine.agents().all(|agent| machine.config(state, agent).has_exited()) {
            Standing::Finished
        } else if machine.agents().all(|agent| machine.moves(state, agent).is_empty()) {
            Standing::Over
        } else {
            Standing::Open
        }
    }

    /// Those that are blocked, in words; nothing if nobody is.
    #[must_use]
    pub fn blocked(&self) -> String {
        let (machine, state) = (&self.recorder.machine, &self.recorder.state);
        let blocked = machine.agents().filter(|agent| machine.config(state, *agent).is_blocked());
        let blocked: Vec<u32> = blocked.map(|agent| agent.0).collect();
        if blocked.is_empty() { String::new() } else { names::agents(Noun::of(machine.program()), &blocked) }
    }

    /// What can be done next; of one agent at most `most` choices.
    pub fn next(&mut self, most: usize) -> Next {
        let mut next = Next::default();
        if self.standing() != Standing::Open {
            return next;
        }
        let mut trace = self.skeleton();
        for agent in self.recorder.machine.agents() {
            let mut choices = choices(&self.recorder.machine, &self.recorder.state, agent, most + 1);
            if choices.len() > most {
                next.capped.push(agent.0);
                choices.truncate(most);
            }
            next.possible.extend(choices.into_iter().filter_map(|choice| self.possible(choice, &mut trace)));
        }
        next
    }

    /// The first step that an agent could make, if any; one that leads nowhere only if there is no other.
    pub fn first(&mut self, agent: AgentId) -> Option<machine::Choice> {
        if self.standing() != Standing::Open {
            return None;
        }
        let machine = &self.recorder.machine;
        let all = choices(machine, &self.recorder.state, agent, 64);
        let moves = machine.moves(&self.recorder.state, agent);
        let acts = |choice: &machine::Choice| {
            choice.is_landing()
                || moves.get(choice.index as usize).is_some_and(|made| made.action != Action::Spin)
        };
        all.iter().copied().find(acts).or_else(|| all.first().copied())
    }

    /// All agents.
    pub fn agents(&self) -> impl Iterator<Item = AgentId> + use<> {
        self.recorder.machine.agents()
    }

    /// Whether a step leaves a choice to whoever makes it.
    #[must_use]
    pub fn decides(&self, choice: machine::Choice) -> bool {
        let all = choices(&self.recorder.machine, &self.recorder.state, choice.agent(), 3);
        all.iter().filter(|other| other.actor == choice.actor).count() > 1
    }

    /// A trace without steps, for the names in it.
    fn skeleton(&self) -> Trace {
        let nothing = bare(&self.recorder, OutcomeKind::Cut, AgentId(0), Pc(0));
        assemble(&self.recorder, &SourceInfo::default(), State::default(), Vec::new(), nothing)
    }

    fn landing(&self, choice: machine::Choice) -> Option<String> {
        let left = self.recorder.state.pending_of(choice.agent());
        let pending = left.get(choice.index as usize).filter(|_| choice.is_landing())?;
        Some(wording::land(self.recorder.program(), pending))
    }

    fn possible(&mut self, choice: machine::Choice, trace: &mut Trace) -> Option<Possible> {
        let place = self.recorder.place();
        let landing = self.landing(choice);
        let made = self.recorder.step(choice);
        // What cannot be made is no choice.
        let possible = made.ok().map(|(step, reached)| {
            trace.barriers = self.recorder.barriers();
            let words = step.events.iter().map(|event| events::in_words(trace, event)).collect();
            let mut shows = ends(&mut self.recorder, &reached, false, &self.steps);
            shows.iter_mut().for_each(|outcome| self.set_level(outcome));
            shows.retain(|outcome| weight(outcome) >= REPORTED);
            let rule = |outcome: &Outcome| Rule::from_name(outcome.rule.as_deref()?);
            let mut violates: Vec<Rule> = shows.iter().filter_map(rule).collect();
            violates.dedup();
            let spins = step.events.contains(&trace::Event::Spun {});
            Possible { step, words, violates, landing, spins }
        });
        self.recorder.go_back(place);
        possible
    }
}

/// The weight of a warning: what weighs less is reported on request only.
const REPORTED: u8 = 3;

/// Violations by their level; faults and what cannot be followed end a run, and so say more.
fn weight(outcome: &Outcome) -> u8 {
    match (outcome.kind, outcome.level.as_deref()) {
        (OutcomeKind::Fault | OutcomeKind::Cut, _) => 5,
        (_, Some("error")) => 4,
        (_, Some("warning")) => 3,
        (_, Some("pedantic")) => 2,
        _ => 1,
    }
}

/// What an agent could do, and what it has left pending could do, `most` at most.
fn choices(machine: &Machine, state: &machine::State, agent: AgentId, most: usize) -> Vec<machine::Choice> {
    let of = |(index, made)| {
        let picks = machine.picks(state, agent, made).take(most);
        picks.filter_map(|p| u32::try_from(p).ok()).map(move |pick| machine::Choice::of(agent, index, pick))
    };
    let moves = (0..).zip(machine.moves(state, agent)).flat_map(of);
    moves.chain(state.landings().filter(|choice| choice.agent() == agent)).take(most).collect()
}

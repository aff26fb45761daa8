//! Running the model along a path, and writing down what it does.

use std::fmt;
use std::sync::Arc;

use barcheck_model::Patience;
use barcheck_model::agent::{Action, Move};
use barcheck_model::barrier::BarrierId;
use barcheck_model::machine::{self, Advanced, End, Finding, Log, Machine, Options, StepOutcome};
use barcheck_model::program::{AgentId, Op, Program};

use crate::build::said::Said;
use crate::build::snapshot;
use crate::build::unfollowed::{cut_message, fault_message};
use crate::names;
use crate::trace::{Choice, Event, State, Step};
use crate::wording::{self, Reader};

/// Configurations known at most, before those that nobody is in are forgotten …
const MOST_CONFIGS: usize = 1 << 12;
/// … unless there are so many classes of agents that this many for each are more.
const CONFIGS_OF_CLASS: usize = 1 << 5;

/// Where a trace and the model part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Departure {
    /// The index of the step, `None` where it is not about one.
    pub step: Option<usize>,
    /// What is different.
    pub what: String,
    /// What the trace, or the path, says.
    pub expected: String,
    /// What the model does.
    pub found: String,
}

impl fmt::Display for Departure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(step) = self.step {
            write!(f, "step {} (index {step}): ", step + 1)?;
        }
        write!(f, "{} differs: expected {}, found {}", self.what, self.expected, self.found)
    }
}

impl std::error::Error for Departure {}

/// A path goes on after a step that ends it.
pub(crate) fn ended_early(index: usize) -> Departure {
    Departure {
        step: Some(index),
        what: "the length of the path".to_owned(),
        expected: "another step".to_owned(),
        found: "the step before it ends the path".to_owned(),
    }
}

/// What a step leads to.
#[derive(Debug)]
pub(crate) enum Reached {
    /// Another state; findings that do not end the path.
    State(Vec<Finding>),
    /// The end of the path.
    End(Box<End>),
}

/// The model on its way, and what a trace has said of it so far.
pub(crate) struct Recorder {
    pub(crate) machine: Machine,
    pub(crate) state: machine::State,
    said: Said,
    log: Log,
}

impl Step {
    /// How to make it again.
    #[must_use]
    pub fn again(&self) -> machine::Choice {
        let (agent, Choice { index, pick, lands }) = (AgentId(self.agent), self.choice);
        if lands { machine::Choice::landing(agent, index) } else { machine::Choice::of(agent, index, pick) }
    }
}

/// What a choice means.
enum Chosen {
    /// A move of an agent.
    Move(Move),
    /// Something lands.
    Landing(machine::Pending),
}

/// A place to come back to.
#[derive(Clone)]
pub(crate) struct Place {
    state: machine::State,
    said: Said,
}

impl Recorder {
    pub(crate) fn new(program: Arc<Program>, options: Options, patience: Patience) -> Self {
        let mut machine = Machine::within(program, options, patience);
        let state = machine.initial();
        Self { machine, state, said: Said::default(), log: Log::default() }
    }

    pub(crate) fn program(&self) -> &Arc<Program> {
        self.machine.program()
    }

    /// The present state of every agent.
    pub(crate) fn whole(&self) -> State {
        let agents = self.machine.agents().map(|a| snapshot::agent(&self.machine, &self.state, a)).collect();
        State {
            agents,
            barriers: self.said.barriers.values().filter_map(|said| said.shown.clone()).collect(),
        }
    }

    /// The barriers that occurred, by their names.
    pub(crate) fn barriers(&self) -> Vec<crate::trace::Barrier> {
        self.said.barriers.keys().map(|id| wording::barrier(self.program(), *id)).collect()
    }

    fn departs(&self, what: &str, expected: String, found: String) -> Departure {
        Departure { step: Some(self.said.steps), what: what.to_owned(), expected, found }
    }

    /// What a choice means.
    fn chosen(&self, choice: machine::Choice) -> Result<Chosen, Departure> {
        let group = self.program().agents.len();
        if choice.agent().index() >= group {
            let found = format!("a group of {group} agents");
            return Err(self.departs("the agent", format!("agent {}", choice.agent().0), found));
        }
        let name = || self.program().agent_name(choice.agent());
        if choice.is_landing() {
            let left = self.state.pending_of(choice.agent());
            let chosen = left.get(choice.index as usize).map(|pending| Chosen::Landing(*pending));
            let found = || format!("{} operations of {} pending", left.len(), name());
            return chosen.ok_or_else(|| self.departs("the step", "a landing".to_owned(), found()));
        }
        let moves = self.machine.moves(&self.state, choice.agent());
        let Some(made) = moves.get(choice.index as usize) else {
            let now = snapshot::agent(&self.machine, &self.state, choice.agent());
            let found = format!("{} {}", name(), now.in_words());
            let wanted = format!("a step of {} (move {})", name(), choice.index);
            return Err(self.departs("the step", wanted, found));
        };
        let picks = self.machine.picks(&self.state, choice.agent(), made);
        if !picks.contains(&u64::from(choice.pick)) {
            let found = format!("choices from {} to below {}", picks.start, picks.end);
            return Err(self.departs("the choice", format!("choice {}", choice.pick), found));
        }
        Ok(Chosen::Move(made.clone()))
    }

    /// Makes a step and writes it down.
    pub(crate) fn step(&mut self, choice: machine::Choice) -> Result<(Step, Reached), Departure> {
        let chosen = self.chosen(choice)?;
        let (mut step, action) = match &chosen {
            Chosen::Move(made) => (self.described(choice, made), Some(&made.action)),
            Chosen::Landing(pending) => (self.landing(choice, *pending), None),
        };
        let reached = match self.machine.step(&self.state, choice) {
            StepOutcome::Disabled => {
                let found = "no such step".to_owned();
                return Err(self.departs("the step", step.resolved, found));
            }
            StepOutcome::NoEffect => {
                step.events.push(Event::Spun {});
                Reached::State(Vec::new())
            }
            StepOutcome::Progress(progressed) => {
                self.progress(&mut step, action, *progressed);
                Reached::State(Vec::new())
            }
            StepOutcome::Noted(progressed, noted) => {
                self.progress(&mut step, action, *progressed);
                step.events.extend(noted.iter().map(violated));
                Reached::State(noted)
            }
            StepOutcome::Error(end) => {
                step.events.extend(self.ended(&end));
                Reached::End(end)
            }
        };
        if let Some(operands) = &step.operands {
            self.said.barriers.entry(BarrierId(operands.barrier)).or_default();
        }
        self.said.steps += 1;
        Ok((step, reached))
    }

    /// Makes a step that does not end the path, and writes nothing down. What happens is handed out.
    pub(crate) fn pass(&mut self, choice: machine::Choice) -> Result<&[machine::Event], Departure> {
        self.advance(choice)?;
        for event in &self.log.events {
            self.said.passes(choice.agent(), event);
        }
        Ok(&self.log.events)
    }

    /// Makes a step that does not end the path, and writes down where it is made and what happens: neither
    /// the values of its operands nor the state that it leads to.
    pub(crate) fn sketch(&mut self, choice: machine::Choice) -> Result<Step, Departure> {
        let chosen = self.chosen(choice)?;
        let (mut step, action) = match &chosen {
            Chosen::Move(made) => (self.sketched(choice, made), Some(&made.action)),
            Chosen::Landing(pending) => (self.landing(choice, *pending), None),
        };
        if !self.advance(choice)? {
            step.events.push(Event::Spun {});
        }
        let log = std::mem::take(&mut self.log);
        for event in &log.events {
            self.said.passes(choice.agent(), event);
            self.event(&mut step.events, action, event);
        }
        step.events.extend(log.noted.iter().map(violated));
        step.events.shrink_to_fit();
        self.log = log;
        Ok(step)
    }

    /// Makes a step that does not end the path, and whether it does anything. What happens is in the log.
    fn advance(&mut self, choice: machine::Choice) -> Result<bool, Departure> {
        let moves = match self.program().agents.get(choice.agent().index()) {
            Some(_) if !choice.is_landing() => self.machine.moves(&self.state, choice.agent()),
            _ => &[],
        };
        let made = moves.get(choice.index as usize);
        let named = made.and_then(|made| Some((made.action.barrier()?, made)));
        let named = named.filter(|(id, _)| !self.said.barriers.contains_key(id));
        let shown = named.and_then(|(_, made)| wording::operands(self.program(), &made.action));
        self.log.events.clear();
        self.log.noted.clear();
        let has_effect = match self.machine.advance(&mut self.state, choice, &mut self.log) {
            Advanced::Progress => true,
            Advanced::NoEffect => false,
            Advanced::Disabled => {
                let why = self.chosen(choice).err();
                let made = || self.departs("the step", "a step".to_owned(), "no such step".to_owned());
                return Err(why.unwrap_or_else(made));
            }
            Advanced::Error(_) => return Err(ended_early(self.said.steps + 1)),
        };
        if let Some(operands) = shown {
            self.said.barriers.entry(BarrierId(operands.barrier)).or_default();
        }
        self.said.stale = true;
        self.said.steps += 1;
        Ok(has_effect)
    }

    /// Forgets configurations in which nobody is any more, once they are many: a path does not come back to
    /// most of them. States kept elsewhere lose their meaning.
    pub(crate) fn forget(&mut self) {
        let automata = self.machine.automata();
        let known: usize = automata.iter().map(|automaton| automaton.len()).sum();
        if known > MOST_CONFIGS.max(CONFIGS_OF_CLASS * automata.len()) {
            self.machine.forget_configs(&mut self.state);
        }
    }

    /// The present, to come back to.
    pub(crate) fn place(&self) -> Place {
        Place { state: self.state.clone(), said: self.said.clone() }
    }

    /// Goes back.
    pub(crate) fn go_back(&mut self, place: Place) {
        self.state = place.state;
        self.said = place.said;
    }

    /// The step as far as it is known before it is made.
    fn described(&self, choice: machine::Choice, made: &Move) -> Step {
        let agent = choice.agent();
        let config = self.machine.config(&self.state, agent);
        let program = self.program();
        let resolved = config.fragments.get(made.fragment).map_or_else(String::new, |fragment| {
            Reader { program, agent, fragment }.resolved(made.pc, made, choice.pick)
        });
        let operands = wording::operands(program, &made.action);
        Step { resolved, operands, ..self.sketched(choice, made) }
    }

    /// The same without the values of its operands.
    fn sketched(&self, choice: machine::Choice, made: &Move) -> Step {
        let agent = choice.agent();
        let whole = self.machine.config(&self.state, agent).live_lanes() == made.lanes;
        Step {
            index: self.said.steps,
            agent: agent.0,
            lanes: (!whole).then(|| names::lanes(made.lanes)),
            choice: Choice { index: choice.index, pick: choice.pick, lands: false },
            instruction: snapshot::written(self.program(), agent, made.pc),
            resolved: String::new(),
            operands: None,
            location: snapshot::location(self.machine.place(agent, made.pc)),
            events: self.decided(agent, made, choice.pick).into_iter().collect(),
            changes: State::default(),
        }
    }

    /// The same for a landing.
    fn landing(&self, choice: machine::Choice, pending: machine::Pending) -> Step {
        let machine::Pending { agent, pc, .. } = pending;
        let instruction = snapshot::written(self.program(), agent, pc);
        Step {
            index: self.said.steps,
            agent: agent.0,
            lanes: None,
            choice: Choice { index: choice.index, pick: 0, lands: true },
            resolved: format!("lands: {instruction}"),
            instruction,
            operands: None,
            location: snapshot::location(self.machine.place(agent, pc)),
            events: Vec::new(),
            changes: State::default(),
        }
    }

    /// A decision's value.
    fn decided(&self, agent: AgentId, made: &Move, pick: u32) -> Option<Event> {
        if made.action != Action::Decide {
            return None;
        }
        let low = match self.program().code(agent).ops.get(made.pc.index()) {
            Some(Op::Any(_, low, _)) => {
                let fragment = self.machine.config(&self.state, agent).fragments.get(made.fragment)?;
                Reader { program: self.program(), agent, fragment }.first_lane(low).unwrap_or(0)
            }
            _ => 0,
        };
        Some(Event::Decided { value: low.saturating_add(i64::from(pick)) })
    }

    /// What a step does, and the state that it leads to.
    fn progress(&mut self, step: &mut Step, action: Option<&Action>, progressed: machine::Progressed) {
        for event in &progressed.events {
            self.said.hears(AgentId(step.agent), event);
            self.event(&mut step.events, action, event);
        }
        let before = std::mem::replace(&mut self.state, progressed.state);
        let stale = std::mem::take(&mut self.said.stale);
        let mut changed = Vec::new();
        for agent in self.machine.agents() {
            let is_changed = before.agents[agent.index()] != self.state.agents[agent.index()]
                || before.pending_of(agent) != self.state.pending_of(agent);
            if is_changed {
                changed.push(agent);
            }
            if is_changed || stale {
                step.changes.agents.push(snapshot::agent(&self.machine, &self.state, agent));
            }
        }
        for (id, _) in &self.state.barriers {
            self.said.barriers.entry(*id).or_default();
        }
        // Who exits counts for every barrier.
        let exits = |agent: &AgentId| {
            self.machine.config(&before, *agent).has_exited()
                != self.machine.config(&self.state, *agent).has_exited()
        };
        let all = stale || changed.iter().any(exits);
        for (id, said) in &mut self.said.barriers {
            let seat = |state: &machine::State, agent: &AgentId| state.agents[agent.index()].seat(*id);
            let touched = all
                || said.shown.as_ref().is_none_or(|shown| shown.generation != said.generation)
                || before.barrier(*id) != self.state.barrier(*id)
                || changed.iter().any(|agent| seat(&before, agent) != seat(&self.state, agent));
            if !touched {
                continue;
            }
            let past = said.past(self.machine.program(), *id, &mut self.said.locals);
            let now = snapshot::barrier(&self.machine, &self.state, *id, &past);
            let untouched = !now.active && now.generation == 0 && now.notified.is_empty();
            if said.shown.as_ref() != Some(&now) && (said.shown.is_some() || !untouched) {
                step.changes.barriers.push(now.clone());
                said.shown = Some(now);
            }
        }
    }

    /// Writes down what happens, once it has been heard.
    fn event(&self, events: &mut Vec<Event>, action: Option<&Action>, event: &machine::Event) {
        use machine::Event as Model;
        let program = self.program();
        let seen = match event {
            Model::Parked(id) => Event::Parked { barrier: id.0 },
            Model::Arrived(id) => Event::Arrived { barrier: id.0 },
            Model::Blocked(id) => Event::Blocked { barrier: id.0 },
            Model::Passed(id) => Event::Passed { barrier: id.0 },
            Model::Completed(id, result) => {
                let generation = self.said.barriers.get(id).map_or(0, |said| said.generation);
                Event::Completed { barrier: id.0, generation, result: *result }
            }
            Model::Released(agent, id) => {
                if let Some(agents) = gathered(events, |e| match e {
                    Event::Released { agents, .. } => Some(agents),
                    _ => None,
                }) {
                    agents.push(agent.0);
                    return;
                }
                Event::Released { barrier: id.0, agents: vec![agent.0] }
            }
            Model::Notified(agent, id) => {
                if let Some(agents) = gathered(events, |e| match e {
                    Event::Notified { agents, .. } => Some(agents),
                    _ => None,
                }) {
                    agents.push(agent.0);
                    return;
                }
                Event::Notified { barrier: id.0, agents: vec![agent.0] }
            }
            Model::Asked(id, complete) => Event::Asked { barrier: id.0, complete: *complete },
            Model::Counted(id) => Event::Counted { barrier: id.0 },
            Model::Begun(id) => Event::Begun { barrier: id.0 },
            Model::Issued(left) => wording::issued(program, &left.operation),
            Model::Landed(pending) => Event::Landed { barrier: pending.operation.barrier().0 },
            Model::LanesExited(lanes) => Event::LanesExited { lanes: names::lanes(*lanes) },
            Model::Exited => Event::Exited {},
            Model::Accessed(locations) => Event::Accessed {
                access: match action {
                    Some(Action::Access(kind, _)) => wording::access_name(*kind).to_owned(),
                    Some(Action::Proxy(action)) => {
                        let transfer = action.transfer();
                        transfer.map_or("", |of| wording::access_name(of.access())).to_owned()
                    }
                    _ => String::new(),
                },
                locations: locations.iter().map(|l| program.location_name(*l)).collect(),
            },
            // Its value is written down before the step is made.
            Model::Decided(_) => return,
            Model::StateMoved => Event::StateMoved {},
            Model::Fenced => Event::Fenced {},
        };
        events.push(seen);
    }

    fn ended(&self, end: &End) -> Vec<Event> {
        let (noted, last) = match end {
            End::Violation(finding) => (&[][..], violated(finding)),
            End::Fault { agent, fault, noted } => {
                (&noted[..], Event::Failed { message: fault_message(self.program(), *agent, &fault.kind) })
            }
            End::Cut { reason, noted, .. } => (&noted[..], Event::Cut { message: cut_message(reason) }),
        };
        noted.iter().map(violated).chain([last]).collect()
    }
}

/// The agents of an event that stands there already since the latest completion: whom one completion
/// releases, and whom it notifies, stands together.
fn gathered<'e>(
    events: &'e mut [Event],
    of: impl Fn(&'e mut Event) -> Option<&'e mut Vec<u32>>,
) -> Option<&'e mut Vec<u32>> {
    let since = events.iter_mut().rev().take_while(|e| !matches!(e, Event::Completed { .. }));
    since.filter_map(of).next()
}

fn violated(finding: &Finding) -> Event {
    Event::Violated {
        rule: finding.rule.name().to_owned(),
        barrier: finding.barrier.map(|id| id.0),
        agents: finding.agents.iter().map(|a| a.0).collect(),
    }
}

//! One step of the group.

mod around;
mod in_flight;
mod proxy;
mod waits;

use around::Group;

use super::outcome::{Advanced, End, Event, Log, Progressed, StepOutcome};
use super::state::Site;
use super::{Choice, ConfigId, CutReason, Detail, Finding, Label, Machine, Pending, State};
use crate::agent::{Action, Choices, Fault, FaultKind, Outcome};
use crate::barrier::{
    self, AnyBarrier, Applied, Arrival, BarrierAction, BarrierId, Completion, Effect, Part, Progress,
    Refusal, Seat,
};
use crate::memory::Knowledge;
use crate::program::{AgentId, SequenceId};
use crate::rule::Rule;

/// A step in the making.
struct Making<'m, K> {
    machine: &'m mut Machine,
    state: &'m mut State<K>,
    agent: AgentId,
    /// The agent's configuration before the step.
    from: ConfigId,
    index: u32,
    pick: u32,
    /// What lands, if it is no step of the agent's own.
    landing: Option<Pending>,
    log: &'m mut Log,
    /// Local computation has failed in some agent.
    failed: bool,
}

impl Machine {
    /// Makes one step.
    pub fn step(&mut self, state: &State, choice: Choice) -> StepOutcome {
        let mut next = state.clone();
        let mut log = Log::default();
        match self.advance(&mut next, choice, &mut log) {
            Advanced::Disabled => StepOutcome::Disabled,
            Advanced::NoEffect => StepOutcome::NoEffect,
            Advanced::Error(end) => StepOutcome::Error(end),
            Advanced::Progress => {
                let Log { events, is_about_others, noted } = log;
                let progressed = Box::new(Progressed { state: next, events, is_about_others });
                match noted.is_empty() {
                    true => StepOutcome::Progress(progressed),
                    false => StepOutcome::Noted(progressed, noted),
                }
            }
        }
    }

    /// Makes one step, in place. What happens is added to the log.
    pub fn advance<K: Knowledge>(&mut self, state: &mut State<K>, choice: Choice, log: &mut Log) -> Advanced {
        let Choice { actor, index, pick } = choice;
        let agent = actor.agent();
        if agent.index() >= state.agents.len() {
            return Advanced::Disabled;
        }
        if choice.is_landing() {
            return self.land(state, choice, log);
        }
        let Some(made) = self.moves(state, agent).get(index as usize) else {
            return Advanced::Disabled;
        };
        if !self.picks(state, agent, made).contains(&u64::from(pick)) {
            return Advanced::Disabled;
        }
        if matches!(made.action, Action::Spin) {
            return Advanced::NoEffect;
        }
        let at = made.pc;
        let from = state.agents[agent.index()].config;
        let mut making =
            Making { machine: self, state, agent, from, index, pick, landing: None, log, failed: false };
        // clause: barcheck.one-rule
        match making.run() {
            Err(Refusal::Violation(rule)) => Advanced::Error(Box::new(End::Violation(making.finding(rule)))),
            Err(Refusal::NotModelled(what)) => {
                let reason = CutReason::NotModelled(what);
                Advanced::Error(Box::new(End::Cut { agent, at, reason, noted: Vec::new() }))
            }
            Ok(()) => making.finish(),
        }
    }

    /// What an agent has left pending lands.
    fn land<K: Knowledge>(&mut self, state: &mut State<K>, choice: Choice, log: &mut Log) -> Advanced {
        let Choice { actor, index, pick } = choice;
        let agent = actor.agent();
        let Some(pending) = (pick == 0).then(|| state.take_pending(agent, index)).flatten() else {
            return Advanced::Disabled;
        };
        let from = state.agents[agent.index()].config;
        let landing = Some(pending);
        let mut making =
            Making { machine: self, state, agent, from, index, pick, landing, log, failed: false };
        match making.run_landing(pending) {
            Err(Refusal::Violation(rule)) => Advanced::Error(Box::new(End::Violation(making.finding(rule)))),
            Err(Refusal::NotModelled(what)) => {
                let reason = CutReason::NotModelled(what);
                Advanced::Error(Box::new(End::Cut { agent, at: pending.pc, reason, noted: Vec::new() }))
            }
            Ok(()) => making.finish(),
        }
    }

    /// Forgets uniform decisions that nobody has yet to make.
    pub(super) fn settle_sequences<K>(&self, state: &mut State<K>) {
        for index in 0..state.sequences.len() {
            let id = SequenceId::from_index(index);
            let mut sequence = state.sequences[index].clone();
            sequence.forget(|agent| {
                let role = self.program.agents[agent.index()];
                let config = self.config(state, agent);
                config.fragments.iter().any(|f| self.facts[role.index()].may_consult(f.pc, id))
            });
            state.sequences[index] = sequence;
        }
    }

    /// Turns what stopped local computation into the end of a path.
    #[must_use]
    pub fn end_of_fault(&self, agent: AgentId, fault: &Fault, noted: Vec<Finding>) -> End {
        match &fault.kind {
            FaultKind::Endless(local) => {
                let name = local.map(|local| self.program.code(agent).locals[local.index()].name.clone());
                End::Cut { agent, at: fault.at, reason: CutReason::Endless(name), noted }
            }
            _ => End::Fault { agent, fault: fault.clone(), noted },
        }
    }
}

impl<K: Knowledge> Making<'_, K> {
    fn finding(&self, rule: Rule) -> Finding {
        if let Some(Pending { agent, pc, operation }) = self.landing {
            let (agents, barrier) = (vec![agent], Some(operation.barrier()));
            return Finding { rule, agent, pc, agents, barrier, detail: Detail::None };
        }
        let made = self.machine.made(self.agent, self.from, self.index);
        let detail = match made.action {
            Action::Refuse(_, value) => Detail::Operand(value),
            _ => Detail::None,
        };
        Finding {
            rule,
            agent: self.agent,
            pc: made.pc,
            agents: vec![self.agent],
            barrier: made.action.barrier(),
            detail,
        }
    }

    fn note(&mut self, rules: &[Rule]) {
        for rule in rules {
            let finding = self.finding(*rule);
            self.log.noted.push(finding);
        }
    }

    fn finish(self) -> Advanced {
        if self.failed
            && let Some((agent, fault)) = self.machine.fault(self.state)
        {
            let fault = fault.clone();
            let noted = std::mem::take(&mut self.log.noted);
            return Advanced::Error(Box::new(self.machine.end_of_fault(agent, &fault, noted)));
        }
        self.log.is_about_others |= self.machine.settle_iterations(self.state, self.agent);
        self.machine.settle_sequences(self.state);
        if self.state.memory.settles() {
            let live: Vec<_> = self.machine.agents().filter(|a| !self.has_exited(*a)).collect();
            self.state.memory.forget_settled(self.machine.layout, &live);
        }
        Advanced::Progress
    }

    fn has_exited(&self, agent: AgentId) -> bool {
        self.machine.automata[self.machine.class(agent)].has_exited(self.state.agents[agent.index()].config)
    }

    fn run(&mut self) -> Result<(), Refusal> {
        let made = self.machine.made(self.agent, self.from, self.index);
        match &made.action {
            Action::Spin => {}
            Action::Decide => {
                if let Choices::Uniform(sequence) = made.choices {
                    self.state.sequences[sequence.index()].decide(self.agent, self.pick != 0);
                }
                self.go_on_after(Event::Decided(self.pick));
            }
            Action::Exit(arrival) => {
                let (arrives, lanes) = (arrival.is_some(), made.lanes);
                self.exit(arrives, lanes)?;
            }
            Action::Assert(true) => self.go_on(Outcome::Pass),
            // clause: barcheck.assertion
            Action::Assert(false) => return Err(Rule::Assertion.into()),
            Action::Access(kind, locations) => {
                let (kind, locations) = (*kind, locations.clone());
                for location in &locations {
                    if let Some(cta) = self.machine.program.home_of(*location) {
                        self.in_time_for(cta)?;
                    }
                }
                let conflicts = self.state.memory.access(self.machine.layout, self.agent, kind, &locations);
                self.note_conflicts(kind, conflicts);
                self.go_on_after(Event::Accessed(locations));
            }
            Action::Fence(fence) => {
                let machine = &*self.machine;
                self.state.memory.fence(machine.layout, &machine.program, self.agent, *fence);
                self.go_on_after(Event::Fenced);
            }
            Action::Proxy(action) => {
                let action = action.clone();
                self.proxy(&action);
            }
            Action::MemoryBarrier(scope, semantics) => {
                let machine = &*self.machine;
                let memory = &mut self.state.memory;
                memory.memory_barrier(machine.layout, &machine.program, self.agent, *scope, *semantics);
                self.go_on_after(Event::Fenced);
            }
            Action::Park(parked, _) => {
                let (barrier, notes) = (parked.what.id, parked.what.notes());
                self.note(notes);
                self.go_on_after(Event::Parked(barrier));
            }
            Action::Barrier(_) => self.barrier()?,
            Action::Alloc(count) => {
                self.state.allocated = Some(barrier::allocate(*count, self.state.allocated)?);
                self.go_on_after(Event::StateMoved);
            }
            Action::Init(..) | Action::Fetch(_) | Action::SaveCopy(_) | Action::RestoreCopy(_) => {
                self.go_on_after(Event::StateMoved);
            }
            Action::Refuse(rule, _) => return Err((*rule).into()),
            Action::NotModelled(what) => return Err(Refusal::NotModelled(*what)),
            Action::Fault(kind) => {
                let fault = Fault { at: made.pc, kind: kind.clone() };
                self.fail(fault);
            }
        }
        Ok(())
    }

    /// Local evaluation fails at this very step: the agent's configuration records it, and the path ends.
    fn fail(&mut self, fault: Fault) {
        let config = self.state.agents[self.agent.index()].config;
        let (context, automaton) = self.machine.parts(self.agent);
        let mut failed = automaton.config(config).clone();
        failed.fault = Some(fault);
        self.state.agents[self.agent.index()].config = automaton.intern(context, failed);
        self.failed = true;
    }

    /// What happens is all that others see of the move.
    fn go_on_after(&mut self, event: Event) {
        self.log.events.push(event);
        self.go_on(Outcome::Pass);
    }

    /// The acting agent's configuration after its move.
    fn go_on(&mut self, outcome: Outcome) {
        self.lead(self.agent, Label::Made(self.index, self.pick, outcome));
    }

    /// An agent's configuration changes.
    fn lead(&mut self, agent: AgentId, label: Label) {
        let config = &mut self.state.agents[agent.index()].config;
        *config = self.machine.follow(agent, *config, label);
        self.failed |= self.machine.has_failed(agent, *config);
    }

    /// The instruction on a barrier that the step is.
    fn barrier(&mut self) -> Result<(), Refusal> {
        let Some(action) = self.action() else { return Ok(()) };
        let site = self.state.site(action.barrier());
        if let Some(home) = self.machine.program.home(site.id) {
            self.in_time_for(home.cta)?;
        }
        let around = Group { machine: self.machine, state: self.state };
        let (begins, ordering) = (action.part() == Part::Begins, action.ordering());
        let applied = action.apply(self.state.at(site), self.seat(site), self.pick, &around)?;
        self.live(site.id, begins);
        match applied {
            Applied::Arrives(effect, how) => self.arrive(site, effect, how),
            Applied::Issues(effect, how, operation) => {
                self.arrive(site, effect, how)?;
                self.leave(operation)
            }
            Applied::Leaves(effect, operation) => {
                self.take_seat(site, effect);
                self.leave(operation)
            }
            Applied::LeavesCounted(effect, operation) => {
                self.take_seat(site, effect);
                self.leave(operation)?;
                self.log.events.push(Event::Counted(site.id));
                Ok(())
            }
            Applied::Counts(effect) => self.count(site, effect),
            Applied::Waits(effect, acquires) => {
                self.wait(site, effect, acquires);
                Ok(())
            }
            Applied::Asks(effect, complete) => {
                self.ask(site, effect, complete.then_some(ordering));
                Ok(())
            }
            Applied::Reads => {
                self.log.events.push(Event::StateMoved);
                self.go_on(Outcome::Read(barrier::state_as_value(self.state.at(site))));
                Ok(())
            }
            Applied::Writes(next) => {
                self.state.set_barrier(site, next);
                self.go_on_after(if begins { Event::Begun(site.id) } else { Event::StateMoved });
                if begins {
                    self.state.outdate_tokens(site.id);
                    self.state.memory.begin(self.machine.layout, site.id);
                }
                Ok(())
            }
        }
    }

    #[inline]
    fn action(&self) -> Option<&BarrierAction> {
        self.machine.made(self.agent, self.from, self.index).action.on_barrier()
    }

    /// What the acting agent has to do with a barrier.
    fn seat(&self, site: Site) -> Seat {
        self.state.agents[self.agent.index()].seat(site.id)
    }

    /// An arrival that the barrier has accepted.
    fn arrive(&mut self, site: Site, effect: Effect<AnyBarrier>, how: Arrival) -> Result<(), Refusal> {
        let machine = &*self.machine;
        self.state.memory.arrive(machine.layout, &machine.program, site.id, self.agent, how);
        self.log.events.push(Event::Arrived(site.id));
        let completed = effect.completed;
        self.take_seat(site, effect);
        match completed {
            Some(completion) => self.complete(site.id, completion),
            None => Ok(()),
        }
    }

    fn take_seat(&mut self, site: Site, effect: Effect<AnyBarrier>) {
        self.state.set_barrier(site, effect.barrier);
        self.state.agents[self.agent.index()].set_seat(site.id, effect.seat);
        self.note(effect.notes);
        if effect.progress == Progress::Block {
            self.log.events.push(Event::Blocked(site.id));
            self.go_on(Outcome::Block);
        } else {
            self.go_on(Outcome::Pass);
        }
    }

    /// A generation completes: those who wait go on, consumers that do not wait yet are notified.
    fn complete(&mut self, id: BarrierId, completion: Completion) -> Result<(), Refusal> {
        let (layout, target) = (self.machine.layout, self.machine.program.target);
        self.log.events.push(Event::Completed(id, completion.result));
        if completion.nobody_waits && target.facts().notes_nobody_waits {
            // clause: barcheck.nobody-waits
            // The barrier need not be the step's own: an exit completes others.
            let finding = Finding { barrier: Some(id), ..self.finding(Rule::NobodyWaits) };
            self.log.noted.push(finding);
        }
        // clause: barcheck.exit-in-time
        if completion.takes_in_exited {
            let exited: Vec<_> = self.exited().filter(|agent| self.is_taken_in(*agent, id)).collect();
            self.state.memory.take_in_exited(layout, id, &exited);
        }
        self.state.memory.complete_phase(layout, id);
        let mut unwaited = false;
        for agent in self.machine.agents() {
            // clause: ptx.registers-inc
            if !self.is_enough(agent, completion) {
                continue;
            }
            let state = &mut self.state.agents[agent.index()];
            let Some(at) = state.seats.iter().position(|(barrier, _)| *barrier == id) else {
                continue;
            };
            let seat = state.seats[at].1;
            let after = target.complete(seat)?;
            state.set_seat_at(at, after);
            if seat.waiting {
                self.release(agent, id, completion.result);
            } else if after.notified && !seat.notified {
                self.log.events.push(Event::Notified(agent, id));
                self.state.memory.notify(layout, id, agent);
            }
            unwaited |= after.notified;
        }
        self.state.memory.end_generation(layout, id, unwaited);
        Ok(())
    }

    fn release(&mut self, agent: AgentId, id: BarrierId, result: Option<u32>) {
        self.log.events.push(Event::Released(agent, id));
        let (acquires, unfetched) = {
            let config = self.machine.config(self.state, agent);
            (config.waiting.and_then(|w| w.acquires), config.copy.is_some_and(|(_, fetched)| !fetched))
        };
        if result.is_some() && unfetched {
            // clause: bcu.red-overwrites
            let mut finding = self.finding(Rule::ResultOverwritten);
            finding.barrier = Some(id);
            finding.pc = self.machine.stands_at(self.state, agent);
            finding.agent = agent;
            finding.agents = vec![agent];
            self.log.noted.push(finding);
        }
        let machine = &*self.machine;
        self.state.memory.release(machine.layout, &machine.program, id, agent, acquires);
        self.lead(agent, Label::Released(result));
    }

    fn exit(&mut self, arrives: bool, lanes: u32) -> Result<(), Refusal> {
        self.log.events.push(Event::LanesExited(lanes));
        if arrives {
            return self.barrier();
        }
        self.go_on(Outcome::Pass);
        if !self.has_exited(self.agent) {
            return Ok(());
        }
        self.log.events.pop();
        self.log.events.push(Event::Exited);
        self.leave_stores();
        let seats = self.state.agents[self.agent.index()].seats.clone();
        for (id, seat) in seats {
            // clause: barcheck.missing-wait
            if self.machine.program.target.owes_wait(seat) {
                let mut finding = self.finding(Rule::MissingWait);
                finding.barrier = Some(id);
                self.log.noted.push(finding);
            }
            let seat = Seat { produced_last: false, ..seat };
            self.state.agents[self.agent.index()].set_seat(id, seat);
        }
        self.complete_by_exit()
    }

    /// Barriers that wait for every live agent may be complete now that one has exited.
    fn complete_by_exit(&mut self) -> Result<(), Refusal> {
        let barriers = self.state.barriers.clone();
        for (id, barrier) in barriers {
            let around = Group { machine: self.machine, state: self.state };
            if let Some((after, completion)) = barrier.completed_by_exit(id, &around) {
                self.state.set_barrier(self.state.site(id), after);
                self.complete(id, completion)?;
            }
        }
        Ok(())
    }

    /// Whether the generation waited for the exit of an agent that has exited. Who has arrived and then
    /// exited may have done so later.
    fn is_taken_in(&self, agent: AgentId, barrier: BarrierId) -> bool {
        let seat = self.state.agents[agent.index()].seat(barrier);
        self.machine.program.shares(agent, barrier) && !(seat.arrived && seat.consumer)
    }

    fn exited(&self) -> impl Iterator<Item = AgentId> + '_ {
        self.machine.agents().filter(|agent| self.has_exited(*agent))
    }
}

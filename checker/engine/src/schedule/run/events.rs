//! What the events of a step say of the order of steps.

use super::Run;
use crate::independence;
use crate::schedule::history::{Before, History};
use crate::schedule::plane::Moment;
use crate::verdict::answer::Undecided;
use barcheck_model::barrier::{BarrierId, Part};
use barcheck_model::machine::{Actor, Choice, Event};
use barcheck_model::program::{AgentId, Pc};

impl Run {
    /// What has happened at a step; an error if it might have been something else in another order.
    pub(super) fn follow_events(
        &mut self,
        choice: Choice,
        actor: u32,
        (pc, before): (Pc, Option<(Part, Before)>),
    ) -> Result<(), Undecided> {
        let now = self.state.memory.moment(actor);
        let agent = choice.agent();
        let mover = (!choice.is_landing()).then_some(agent);
        let has_waits = self.machine.program().target.facts().waits_free;
        let layout = self.machine.layout();
        for index in 0..self.log.events.len() {
            match self.log.events[index] {
                // Nobody has arrived there.
                Event::Completed(barrier, _) if self.is_pool(barrier) => {}
                Event::Completed(barrier, _) => {
                    let history = slot(&mut self.history, barrier);
                    // An exit completes generations without arriving in them.
                    history.gathering.add(now);
                    if layout.has_phases(barrier) {
                        if !history.complete_phase() {
                            return Err(Undecided::Unordered(agent, pc));
                        }
                        continue;
                    }
                    std::mem::swap(&mut history.completed, &mut history.gathering);
                    history.gathering.clear();
                    history.waits = std::mem::take(&mut history.early_waits);
                }
                Event::Released(released, _) if Some(released) != mover => self.make_ready(released),
                // Whether its CTA exits before it has landed depends on the order.
                Event::Issued(pending) if pending.operation.reads() => {
                    return Err(Undecided::InFlight(agent, pc));
                }
                Event::Issued(pending) => {
                    if !self.state.memory.issue(pending) {
                        return Err(Undecided::TooManyPending(agent, pc));
                    }
                    self.ready.push_back(Actor::Pending(pending.agent));
                }
                Event::Landed(pending) => {
                    let barrier = pending.operation.barrier();
                    // Whoever knows of this landing knows of those before it.
                    let kind = (barrier, pending.operation.is_arrival());
                    self.in_flight.insert(kind, (now, agent, pc));
                    slot(&mut self.history, barrier).gathering.add(now);
                }
                Event::Passed(barrier) if self.is_pool(barrier) => {
                    slot(&mut self.history, barrier).waits.push(now);
                }
                Event::Passed(barrier) if has_waits => slot(&mut self.history, barrier).waits.push(now),
                Event::Exited => self.follow_exit(agent),
                Event::Blocked(barrier) if has_waits => {
                    slot(&mut self.history, barrier).early_waits.push(now);
                }
                Event::Arrived(barrier) if !layout.has_phases(barrier) => {
                    slot(&mut self.history, barrier).gathering.add(now);
                }
                _ => {}
            }
            if mover.is_some() {
                self.follow_remote(index, (agent, pc), now);
            }
            let follows = before.is_none_or(|before| self.follow_phases(index, now, before));
            if !follows || self.is_open_after(index) {
                return Err(Undecided::Unordered(agent, pc));
            }
        }
        Ok(())
    }

    fn is_pool(&self, barrier: BarrierId) -> bool {
        self.machine.program().is_pool(barrier)
    }

    /// An agent has exited: what it knows of has come in time.
    fn follow_exit(&mut self, agent: AgentId) {
        self.some_exited = true;
        let memory = &self.state.memory;
        let (program, cta) = (self.machine.program(), self.machine.program().cta_of(agent));
        self.in_flight.retain(|(barrier, _), (landing, ..)| {
            !(program.shares(agent, *barrier) && memory.knows(agent, *landing))
        });
        self.remote.retain(|(_, at), (step, _)| *at != cta || !memory.knows(agent, *step));
        let cluster = program.cluster_barrier().0 as usize;
        if let Some(history) = self.history.get_mut(cluster) {
            history.exit(memory, agent);
        }
    }

    /// The same of a step that concerns another CTA.
    fn follow_remote(&mut self, index: usize, (agent, pc): (AgentId, Pc), now: Moment) {
        let program = self.machine.program();
        if program.ctas <= 1 {
            return;
        }
        let own = program.cta_of(agent);
        let ctas = independence::concerned(program, &self.log.events[index]);
        for cta in ctas.into_iter().filter(|cta| *cta != own) {
            self.remote.insert((agent, cta), (now, pc));
        }
    }

    /// The same of a step on a barrier with phases. It comes before what the step completes.
    fn follow_phases(&mut self, index: usize, now: Moment, (part, before): (Part, Before)) -> bool {
        let agent = AgentId(now.actor);
        let clocks = &self.state.memory;
        match self.log.events[index] {
            Event::Arrived(barrier) => {
                let history = slot(&mut self.history, barrier);
                history.belongs(clocks, agent, now, true);
                if before.must_not_complete {
                    history.follow(now);
                }
            }
            Event::Counted(barrier) => {
                let history = slot(&mut self.history, barrier);
                history.belongs(clocks, agent, now, false);
                history.announce(now);
            }
            Event::Issued(pending) => {
                let history = slot(&mut self.history, pending.operation.barrier());
                history.belongs(clocks, agent, now, part == Part::Arrives);
            }
            Event::Begun(barrier) => slot(&mut self.history, barrier).begin(now),
            Event::Passed(barrier) => {
                slot(&mut self.history, barrier).observe(now);
                return before.passes;
            }
            Event::Blocked(barrier) => {
                slot(&mut self.history, barrier).block(now);
                return before.blocks;
            }
            _ => {}
        }
        true
    }

    /// Whether what becomes of a barrier may depend on the order of what belongs to its phase, now that
    /// something has been added to that.
    fn is_open_after(&self, index: usize) -> bool {
        let barrier = match self.log.events[index] {
            Event::Arrived(barrier) | Event::Counted(barrier) => barrier,
            Event::Landed(pending) => pending.operation.barrier(),
            Event::Issued(pending) => return !pending.operation.is_awaited(),
            _ => return false,
        };
        let history = self.history.get(barrier.0 as usize);
        self.state.barrier(barrier).is_some_and(|state| {
            let is_open = history.is_some_and(History::has_open_announcements);
            state.depends_on_order() || state.has_all_arrivals() && is_open
        })
    }
}

/// What is kept of a barrier.
fn slot(history: &mut Vec<History>, barrier: BarrierId) -> &mut History {
    let index = barrier.0 as usize;
    if history.len() <= index {
        history.resize_with(index + 1, History::default);
    }
    &mut history[index]
}

//! What the groups of all systems are made of: a lock for each barrier, one more for what the barriers have
//! in common, and a mailbox for each agent.
//!
//! An instruction takes the lock of its barrier once. One that blocks then waits at its agent's mailbox until
//! whoever completes the generation has put its result there; the result of a later generation cannot take
//! its place, since the agent must wake before it can arrive again.
//!
//! The aim is few operations that loom can order in more than one way, for its executions grow exponentially
//! with them. The measure is a ring of one producer, one consumer, two stages and four rounds: with one lock
//! and condition variables for the whole group it takes 52,668 executions; with a lock and a condition
//! variable for each barrier 4,320, as whoever is woken takes the lock once more; with a lock and a condition
//! variable for each agent to wait at 29,960, as they are operations too. To unpark is no operation that loom
//! orders: 3,780, and 1,512 without the two exits. Besides, nobody holds a lock while it waits, so that
//! loom's panic at a deadlock unwinds and does not abort the process.
//!
//! loom sees the locks, too: of two instructions on one barrier, what is done before the first counts as
//! ordered before what is done after the second, even where the barrier orders nothing. As loom also tries
//! the other order, a race hides only where that is impossible.
//!
//! Only what depends on exits takes the common lock as well, and always first. An exit then takes the locks
//! of all barriers that it could complete, in ascending order, before it changes anything, so that it is one
//! step. What an agent alone knows (what it has saved, which waits it owes) is kept in its own hand, without
//! a lock.

use super::observer::{Effect, Event, Observer, Stop, Violation};
use super::runtime::Runtime;
use barcheck_model::rule::Rule;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A group: what its barriers have in common, `G`, and its barriers, each a `B`. A blocked agent waits for a
/// `D`.
pub(super) struct Group<R: Runtime, G: Send + 'static, B: Send + 'static, D: Send + 'static> {
    common: R::Mutex<G>,
    barriers: Vec<R::Mutex<B>>,
    mailboxes: Vec<Mutex<Mailbox<R, D>>>,
    observer: Box<dyn Observer>,
    // Not one of the runtime's: it is looked at under a lock, which orders it.
    aborted: AtomicBool,
    exits: Mutex<Exits>,
}

/// Where an agent that blocks finds what a completion lays down for it.
struct Mailbox<R: Runtime, D> {
    /// The agent's thread, while it waits.
    waiter: Option<R::Thread>,
    delivered: Option<D>,
}

/// Who has yet to exit, and which barriers those have used who did not.
struct Exits {
    live: usize,
    used: Barriers,
}

/// A set of barriers, by their bits.
pub(super) type Barriers = u64;

/// How an instruction goes on.
pub(super) enum Turn<D> {
    /// Without waiting.
    Done(D),
    /// With what a completion lays down.
    Blocked,
}

/// What an instruction tells of itself.
pub(super) struct Report<D> {
    completed: Vec<(u32, Vec<(usize, D)>)>,
    notes: Vec<(usize, Rule, Option<u32>)>,
}

impl<D> Report<D> {
    fn new() -> Self {
        Self { completed: Vec::new(), notes: Vec::new() }
    }

    /// A finding about `agent` after which the path goes on.
    pub(super) fn note(&mut self, agent: usize, rule: Rule, barrier: u32) {
        self.notes.push((agent, rule, Some(barrier)));
    }

    /// `barrier` completes and lets the blocked agents `released` go on, each with its result.
    pub(super) fn complete(&mut self, barrier: u32, released: Vec<(usize, D)>) {
        self.completed.push((barrier, released));
    }
}

/// An instruction of one agent.
#[derive(Clone, Copy)]
pub(super) struct Step {
    pub(super) agent: usize,
    /// The name of the instruction.
    pub(super) name: &'static str,
    /// The barrier it names, if there is one of that number.
    pub(super) barrier: Option<u32>,
    /// It is no instruction but the landing of one: of those that the agent has left in flight, the number of
    /// this one.
    pub(super) lands: Option<u32>,
}

impl Step {
    /// An instruction of an agent.
    pub(super) fn of(agent: usize, name: &'static str, barrier: Option<u32>) -> Self {
        Self { agent, name, barrier, lands: None }
    }
}

impl<R: Runtime, G: Send + 'static, B: Send + 'static, D: Send + 'static> Group<R, G, B, D> {
    /// A group of so many agents.
    pub(super) fn new(
        agents: usize,
        common: G,
        barriers: impl IntoIterator<Item = B>,
        observer: impl Observer + 'static,
    ) -> Self {
        let mailbox = || Mutex::new(Mailbox { waiter: None, delivered: None });
        Self {
            common: R::mutex(common),
            barriers: barriers.into_iter().map(R::mutex).collect(),
            mailboxes: std::iter::repeat_with(mailbox).take(agents).collect(),
            observer: Box::new(observer),
            aborted: AtomicBool::new(false),
            exits: Mutex::new(Exits { live: agents, used: 0 }),
        }
    }

    /// An instruction on the barrier it names, which takes and gives `common` only if asked to.
    ///
    /// It changes nothing if it is misuse.
    pub(super) fn execute<M: Violation>(
        &self,
        step: Step,
        with_common: bool,
        act: impl FnOnce(Option<&mut G>, &mut B, &mut Report<D>) -> Result<Turn<D>, M>,
    ) -> Result<D, Stop<M>> {
        let mut common = with_common.then(|| R::lock(&self.common));
        let mut barrier = R::lock(&self.barriers[step.barrier.expect("a barrier") as usize]);
        self.go_on()?;
        let mut report = Report::new();
        let turn = act(common.as_deref_mut(), &mut barrier, &mut report);
        let effect = if matches!(turn, Ok(Turn::Blocked)) { Effect::Blocked } else { effect(&turn) };
        self.tell(step, effect, &report);
        let turn = turn.map_err(Stop::Misuse)?;
        if matches!(turn, Turn::Blocked) {
            self.mailbox(step.agent).waiter = Some(R::current());
        }
        drop((common, barrier));
        self.deliver(report);
        match turn {
            Turn::Done(result) => Ok(result),
            Turn::Blocked => self.wait(step.agent),
        }
    }

    /// An instruction that changes what barriers have in common and may complete some of them: `choose`
    /// changes the one, and says which barriers `act` is to look at.
    pub(super) fn across<M>(
        &self,
        step: Step,
        choose: impl FnOnce(&mut G) -> Barriers,
        mut act: impl FnMut(&mut G, u32, &mut B, &mut Report<D>),
    ) -> Result<(), Stop<M>> {
        let mut common = R::lock(&self.common);
        self.go_on()?;
        let chosen = choose(&mut common);
        let barriers = self.barriers.iter().zip(0_u32..).filter(|(_, barrier)| chosen >> barrier & 1 == 1);
        let mut held: Vec<_> = barriers.map(|(lock, barrier)| (barrier, R::lock(lock))).collect();
        let mut report = Report::new();
        for (barrier, state) in &mut held {
            act(&mut common, *barrier, state, &mut report);
        }
        self.tell(step, Effect::Done, &report);
        drop((common, held));
        self.deliver(report);
        Ok(())
    }

    /// An instruction that touches `common` alone.
    pub(super) fn in_common<T, M: Violation>(
        &self,
        step: Step,
        act: impl FnOnce(&mut G) -> Result<T, M>,
    ) -> Result<T, Stop<M>> {
        let mut common = R::lock(&self.common);
        self.go_on()?;
        let result = act(&mut common);
        self.tell(step, effect(&result), &Report::<D>::new());
        result.map_err(Stop::Misuse)
    }

    /// What belongs to a step that is told elsewhere and changes `common`, which is held meanwhile.
    pub(super) fn within_common<T>(&self, act: impl FnOnce(&mut G) -> T) -> T {
        act(&mut R::lock(&self.common))
    }

    /// What belongs to a step that is told elsewhere, by `act`, and changes a barrier, which is held
    /// meanwhile.
    pub(super) fn within<T>(&self, barrier: u32, act: impl FnOnce(&mut B, &mut Report<D>) -> T) -> T {
        let mut state = R::lock(&self.barriers[barrier as usize]);
        let mut report = Report::new();
        let result = act(&mut state, &mut report);
        self.tell_results(&report);
        drop(state);
        self.deliver(report);
        result
    }

    /// Looks at every barrier, in ascending order.
    pub(super) fn look(&self, mut at: impl FnMut(u32, &B)) {
        for (lock, barrier) in self.barriers.iter().zip(0_u32..) {
            at(barrier, &R::lock(lock));
        }
    }

    /// An instruction of which the others learn nothing: without any lock. Findings are about its agent.
    pub(super) fn alone<T, M: Violation>(
        &self,
        step: Step,
        result: Result<T, M>,
        notes: impl IntoIterator<Item = (Rule, Option<u32>)>,
    ) -> Result<T, Stop<M>> {
        self.go_on()?;
        let notes = notes.into_iter().map(|(rule, barrier)| (step.agent, rule, barrier)).collect();
        self.tell(step, effect(&result), &Report::<D> { completed: Vec::new(), notes });
        result.map_err(Stop::Misuse)
    }

    /// Counts an exit, after which `agent` does nothing more. The last one finds barriers that still hold
    /// arrivals.
    ///
    /// This counter is none of the runtime's, since the order of exits makes no difference to it, and whoever
    /// is last is alone.
    pub(super) fn leave(&self, agent: usize, used: Barriers, holds_arrivals: impl Fn(&B) -> bool) {
        let used = {
            let mut exits = self.exits.lock().unwrap_or_else(PoisonError::into_inner);
            exits.live = exits.live.saturating_sub(1);
            exits.used |= used;
            if exits.live > 0 {
                return;
            }
            exits.used
        };
        for (lock, barrier) in self.barriers.iter().zip(0_u32..) {
            if used >> barrier & 1 == 1 && holds_arrivals(&R::lock(lock)) {
                self.observer.note(agent, Rule::DanglingArrival, Some(barrier));
            }
        }
    }

    /// Gives the group up: who is blocked, and whoever executes an instruction from now on, is told so.
    pub(super) fn abort(&self) {
        self.aborted.store(true, Ordering::SeqCst);
        for agent in 0..self.mailboxes.len() {
            self.wake(agent);
        }
    }

    fn deliver(&self, report: Report<D>) {
        for (agent, result) in report.completed.into_iter().flat_map(|(_, released)| released) {
            self.mailbox(agent).delivered = Some(result);
            self.wake(agent);
        }
    }

    /// Lets `agent` look into its mailbox, if it waits there.
    fn wake(&self, agent: usize) {
        // The mailbox is closed again before the runtime may give way to another thread.
        let waiter = self.mailbox(agent).waiter.take();
        if let Some(thread) = waiter {
            R::unpark(&thread);
        }
    }

    fn wait<M>(&self, agent: usize) -> Result<D, Stop<M>> {
        loop {
            let delivered = self.mailbox(agent).delivered.take();
            if let Some(result) = delivered {
                return Ok(result);
            }
            self.go_on()?;
            R::park();
        }
    }

    fn mailbox(&self, agent: usize) -> MutexGuard<'_, Mailbox<R, D>> {
        self.mailboxes[agent].lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn go_on<M>(&self) -> Result<(), Stop<M>> {
        if self.aborted.load(Ordering::SeqCst) { Err(Stop::Aborted) } else { Ok(()) }
    }

    fn tell<T>(&self, step: Step, effect: Effect, report: &Report<T>) {
        let Step { agent, name: instruction, barrier, lands } = step;
        let event = Event { instruction, barrier, effect };
        match lands {
            None => self.observer.step(agent, &event),
            Some(number) => self.observer.landed(agent, number, &event),
        }
        self.tell_results(report);
    }

    fn tell_results<T>(&self, report: &Report<T>) {
        for (agent, rule, barrier) in &report.notes {
            self.observer.note(*agent, *rule, *barrier);
        }
        for (barrier, released) in &report.completed {
            let released: Vec<usize> = released.iter().map(|(agent, _)| *agent).collect();
            self.observer.completed(*barrier, &released);
        }
    }
}

fn effect<T, M: Violation>(result: &Result<T, M>) -> Effect {
    result.as_ref().map_or_else(|misuse| Effect::Refused(misuse.rule()), |_| Effect::Done)
}

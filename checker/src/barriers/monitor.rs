//! What the five systems share: one lock around the state of a group, a condition variable for each of its barriers,
//! and the observer.
//!
//! An instruction takes the lock once. One that blocks waits on its barrier's condition variable until whoever
//! completes the generation has laid down its result for it; the result of the next generation cannot take its place,
//! since the agent must wake before it can arrive again.

use super::runtime::Runtime;
use barcheck_model::rule::Rule;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// What a system's instructions are not meant to be used for.
pub trait Violation: std::error::Error + Clone + Eq + Send + Sync + 'static {
    /// The rule that the instruction violates: the first that applies, in the order of the semantics.
    fn rule(&self) -> Rule;
}

/// Why an instruction did not go through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop<M> {
    /// The instruction must not be used like this. It has changed nothing.
    Misuse(M),
    /// The group was given up by `abort`.
    Aborted,
}

impl<M: Violation> Stop<M> {
    /// The rule that was violated; none if the group was given up.
    pub fn rule(&self) -> Option<Rule> {
        match self {
            Self::Misuse(misuse) => Some(misuse.rule()),
            Self::Aborted => None,
        }
    }
}

impl<M: fmt::Display> fmt::Display for Stop<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Misuse(misuse) => misuse.fmt(f),
            Self::Aborted => f.write_str("the group was given up"),
        }
    }
}

impl<M: Violation> std::error::Error for Stop<M> {}

/// An instruction that an agent has executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The instruction, in the words of its system without operands: `sync`, `signal`, `exit`.
    pub instruction: &'static str,
    /// The barrier it names; none if it names none, or none that exists.
    pub barrier: Option<u32>,
    /// What became of it.
    pub effect: Effect,
}

/// What became of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The agent goes on.
    Done,
    /// The agent waits. It goes on with a completion, which is no event of its own.
    Blocked,
    /// Misuse of this rule: nothing has changed.
    Refused(Rule),
}

/// Who is told what happens in a group.
///
/// The calls for one barrier come in the order of what happens there, those for one agent in the order of its
/// program, and each before any agent goes on because of it. An observer that brings all calls into one sequence
/// therefore has a linearisation. It must not use the group.
pub trait Observer: Send + Sync {
    /// `agent` has executed an instruction: once for each, when it takes effect, begins to block or is refused.
    fn step(&self, agent: usize, event: &Event) {
        let _ = (agent, event);
    }

    /// `rule` applies to what `agent` has just done, and its program goes on.
    fn note(&self, agent: usize, rule: Rule, barrier: Option<u32>) {
        let _ = (agent, rule, barrier);
    }

    /// By the step just told, a generation of `barrier` is complete, and the `released` agents that blocked on it go on.
    fn completed(&self, barrier: u32, released: &[usize]) {
        let _ = (barrier, released);
    }
}

/// Nobody.
impl Observer for () {}

impl<O: Observer + ?Sized> Observer for Arc<O> {
    fn step(&self, agent: usize, event: &Event) {
        (**self).step(agent, event);
    }

    fn note(&self, agent: usize, rule: Rule, barrier: Option<u32>) {
        (**self).note(agent, rule, barrier);
    }

    fn completed(&self, barrier: u32, released: &[usize]) {
        (**self).completed(barrier, released);
    }
}

/// The state `S` of a group, of which one agent at a time executes an instruction. A blocked one waits for a `D`.
pub(super) struct Monitor<R: Runtime, S: Send + 'static, D: Send + 'static> {
    group: R::Mutex<Group<S, D>>,
    wakers: Vec<R::Condvar>,
    observer: Box<dyn Observer>,
}

struct Group<S, D> {
    state: S,
    /// What a completed generation has laid down for each agent that it releases.
    delivered: Vec<Option<D>>,
    aborted: bool,
}

/// How an instruction goes on.
pub(super) enum Turn<D> {
    /// Without waiting.
    Done(D),
    /// After a completion at this barrier.
    Blocked(usize),
}

/// What an instruction tells of itself while it has the state.
pub(super) struct Report<'g, D> {
    delivered: &'g mut [Option<D>],
    completed: Vec<(u32, Vec<usize>)>,
    notes: Vec<(Rule, Option<u32>)>,
    wake: BTreeSet<usize>,
}

impl<D> Report<'_, D> {
    /// A finding after which the path goes on.
    pub(super) fn note(&mut self, rule: Rule, barrier: Option<u32>) {
        self.notes.push((rule, barrier));
    }

    /// `barrier` completes and lets the blocked agents `released` go on, each with its result.
    pub(super) fn complete(&mut self, barrier: u32, released: Vec<(usize, D)>) {
        let agents = released.iter().map(|(agent, _)| *agent).collect();
        if !released.is_empty() {
            self.wake.insert(barrier as usize);
        }
        for (agent, result) in released {
            self.delivered[agent] = Some(result);
        }
        self.completed.push((barrier, agents));
    }
}

impl<R: Runtime, S: Send + 'static, D: Send + 'static> Monitor<R, S, D> {
    pub(super) fn new(state: S, agents: usize, barriers: usize, observer: Box<dyn Observer>) -> Self {
        let delivered = std::iter::repeat_with(|| None).take(agents).collect();
        Self {
            group: R::mutex(Group { state, delivered, aborted: false }),
            wakers: std::iter::repeat_with(R::condvar).take(barriers).collect(),
            observer,
        }
    }

    /// `agent` executes an instruction, and blocks if it must.
    pub(super) fn execute<M: Violation>(
        &self,
        agent: usize,
        (instruction, barrier): (&'static str, Option<u32>),
        act: impl FnOnce(&mut S, &mut Report<'_, D>) -> Result<Turn<D>, M>,
    ) -> Result<D, Stop<M>> {
        let mut guard = R::lock(&self.group);
        let group = &mut *guard;
        if group.aborted {
            return Err(Stop::Aborted);
        }
        let mut report = Report {
            delivered: &mut group.delivered,
            completed: Vec::new(),
            notes: Vec::new(),
            wake: BTreeSet::new(),
        };
        let turn = act(&mut group.state, &mut report);
        let effect = match &turn {
            Ok(Turn::Done(_)) => Effect::Done,
            Ok(Turn::Blocked(_)) => Effect::Blocked,
            Err(misuse) => Effect::Refused(misuse.rule()),
        };
        self.observer.step(agent, &Event { instruction, barrier, effect });
        for (rule, barrier) in report.notes {
            self.observer.note(agent, rule, barrier);
        }
        for (barrier, released) in &report.completed {
            self.observer.completed(*barrier, released);
        }
        for waker in report.wake {
            R::notify_all(&self.wakers[waker]);
        }
        let waker = match turn.map_err(Stop::Misuse)? {
            Turn::Done(result) => return Ok(result),
            Turn::Blocked(barrier) => &self.wakers[barrier],
        };
        loop {
            guard = R::wait(waker, guard);
            if let Some(result) = guard.delivered[agent].take() {
                return Ok(result);
            }
            if guard.aborted {
                return Err(Stop::Aborted);
            }
        }
    }

    /// Gives the group up: who is blocked, and whoever executes an instruction from now on, is told so.
    pub(super) fn abort(&self) {
        R::lock(&self.group).aborted = true;
        self.wakers.iter().for_each(R::notify_all);
    }
}
